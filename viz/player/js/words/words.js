// Labels that need more than values put into a template; the templates are in viz/player/words.py and come with the options.
// Sentences about a run are neither here nor there: they are made in Python and travel with the run.
const TOLD = {
  blocksLabel: (usage, count) => `${count} KV blocks: ${usage.used} in use, ${usage.shared} of them shared, ${count - usage.used} free`,
  cellSpoken: (id, readers, ref, fill, size) => readers === null ? `block ${id}, free`
    : `block ${id}, ${readers.length ? readers.join(" and ") : "no reader"}, ref ${ref}, ${fill} of ${size} filled`,
  blockName: (id, host) => (host === null ? `Block ${id}` : `Host block h${host}`),
  promptFact: request => `${formatNumber(request.prompt_len)} + ${plural(request.output_len, "token")}${request.n > 1 ? ` × ${request.n}` : ""}`,
  blocksOf: (count, shared) => formatNumber(count) + (shared ? `, ${formatNumber(shared)} shared` : ""),
  life: {
    iteration: number => (number ? "it. " + formatNumber(number) : ""),
    shared: list => `${list.join(", ")} ${list.length > 1 ? "read" : "reads"} it too`,
    request: ({kind, sequence, block, target, amount}, run) => {
      const who = sequence >= 0 && run.requests[run.requestOf[sequence]].n > 1 ? run.sequenceName(sequence) + ": " : "";
      const unit = run.tracks.strips ? "slot" : "block";
      return {arrived: "arrives", rejected: "refused", admitted: "admitted", resumed: "admitted again", finished: "finished",
        preempted: `preempted, must recompute ${plural(amount, "token")}`, allocated: `${who}${amount === 1 && unit === "block" ? "block " + block : plural(amount, unit)}`,
        shared: `${who}shares the prompt's blocks`, copied: `${who}copy of ${block} in ${target}`, written_in_place: `${who}writes ${block} in place`,
        released: `${who}gives back ${plural(amount, unit)}`, moved_out: `block ${block} to the host`, moved_in: `block ${block} from the host`}[kind];
    },
  },
  stripsLabel: ({count, used, size}) => `${count} strips: ${used} slots hold tokens, ${size} are reserved`,
  queueRemark: (shown, count) => (shown < count ? `first ${shown} of ${formatNumber(count)}` : "first come, first served"),
  madeRoom: name => (name === null ? "needed a block, none was free" : `made room for ${name}`),
  timelineRows: (shown, near, count, isPlaces) =>
    isPlaces ? `${shown} of ${plural(near, "place")}` : `${shown} of ${formatNumber(near)} here, ${plural(count, "request")} in all`,
  laneText: request => `${formatNumber(request.prompt_len)} + ${formatNumber(request.output_len)}`,
  laneTextLong: request =>
    `${formatNumber(request.prompt_len)} + ${formatNumber(request.output_len)} tokens` + (request.n > 1 ? `, ${request.n} samples` : ""),
  metricUnit: (unit, size, value) => (size ? `of ${formatNumber(size)}` : !unit ? "" : value === 1 ? unit : unit + "s"),
  iteration: step => `Iteration ${formatNumber(step + 1)}`,
  after: step => `after iteration ${formatNumber(step + 1)}`,
  inIteration: step => `iteration ${formatNumber(step + 1)}`,
  change: (number, count, isMain) => `${isMain ? "main change," : "change"} ${number} of ${count}`,
  widestPlace: run => `iteration ${formatNumber(run.numSteps)} · main change, 9 of 9`,
  ofRun: run => plural(run.numSteps, "iteration"),
  shown: name => (name === "start" ? "the start" : name === "end" ? "the end" : `frame ${name}`),
  summary: summaryText,
  subtitle: subtitleText,
  problems: {
    frame_step: (text, shown, run) =>
      `**Frame ${text} is beyond the end of this run,** whose frames are 0 to ${run.numSteps - 1}. Shown is ${shown}.`,
  },
  tick: (what, count, where) => `${what}${count > 1 ? ` ×${count}, from` : ","} ${where}`,
};

// The labels of a language: templates with values in them become functions, those of TOLD come beside them.
function wordsOf(table, told = TOLD) {
  const words = {...told};
  for (const [name, text] of Object.entries(table)) {
    if (typeof text === "string") words[name] = /\{\d/.test(text) ? (...values) => fill(text, values) : text;
    else words[name] = Array.isArray(text) ? text : wordsOf(text, told[name] ?? {});
  }
  return words;
}

// "{0}" as it is, "{0,}" as a number, "{0 token}" as a number with its noun.
function fill(template, values) {
  return template.replace(/\{(\d)(,?) ?([^}]*)\}/g, (_, index, isNumber, noun) => {
    const value = values[index];
    return noun ? plural(value, noun) : isNumber ? formatNumber(value) : value;
  });
}

// Why a request waits, from the last word of the scheduler about it.
function reasonText(decision, run) {
  const reason = VOCABULARY.reasons[decision.reason];
  const resource = VOCABULARY.resources[decision.resource];
  const {needed, available} = decision;
  const free = `${formatNumber(available)} ${available === 1 ? "is" : "are"} free`;
  if (reason === "behind_head") return decision.other >= 0 ? `would fit, but is behind ${run.requestName(decision.other)}` : "is not at the head";
  if (reason === "batch_running") return "waits for the end of the batch";
  if (reason === "batch_not_full") return `the batch starts with ${plural(needed, "request")}, ${available} wait`;
  if (reason === "no_seat") return `needs ${plural(needed, "seat")}, ${free}`;
  if (reason === "no_token") return `needs ${plural(needed, "token")}, ${formatNumber(available)} left in this step`;
  if (reason === "no_block" && resource === "slots") return `needs ${plural(needed, "slot")}, largest hole ${formatNumber(available)}`;
  if (reason === "no_block") return `needs ${plural(needed, "block")}${needed > available ? "" : " above the watermark"}, ${free}`;
  return reason.replaceAll("_", " ");
}

function rejectionText(decision) {
  const {needed, available} = decision;
  const resource = VOCABULARY.resources[decision.resource];
  if (!needed && !available) return VOCABULARY.reasons[decision.reason].replaceAll("_", " ");
  return `needs ${formatNumber(needed)} ${resource}, the limit is ${formatNumber(available)}`;
}

// "All 4 requests finished after 62 iterations; 3 copies, nobody was preempted." "A was refused: it needs 42 blocks, the limit is 8."
function summaryText(frame) {
  const {run} = frame;
  const [finished, copies, preempted] = ["finished", "copied", "preempted"].map(kind => run.happeningsOf(kind).length);
  const refused = run.happeningsOf("rejected").map(i => run.happenings.request[i]);
  const all = run.requests.length, count = plural(all, "request");
  const decision = refused.length === 1 && frame.decision(refused[0]);
  const was = refused.length === 1 ? `${run.requestName(refused[0])} was refused` : `${formatNumber(refused.length)} were refused`;
  if (all && refused.length === all) return `**${all > 1 ? `All ${count} were refused` : was}**${decision ? `: it ${rejectionText(decision)}` : ""}.`;
  const who = finished < all ? `${formatNumber(finished)} of ${count} finished` : all > 1 ? `All ${count} finished` : "The request finished";
  const facts = [refused.length && was, copies && plural(copies, "copy", "copies"), preempted ? plural(preempted, "preemption") : "nobody was preempted"];
  return `**${who}** after ${plural(run.numSteps, "iteration")}; ${facts.filter(Boolean).join(", ")}.`;
}

function subtitleText(run, managers) {
  const {policy, kv_manager: manager} = run.header.settings ?? {};
  const size = run.tracks.strips ? `${formatNumber(run.poolSize)} slots` : `${plural(run.poolSize, "block")} of ${run.blockSize}`;
  const memory = run.poolSize ? size : "unlimited memory";
  const facts = [policy && `${policy} batching`, managers[manager], memory, plural(run.requests.length, "request")];
  return facts.filter(Boolean).join(" · ");
}
