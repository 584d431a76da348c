// Labels of the player's own controls and headings, one table a language. Sentences about a run are not here: they are
// made in Python and travel with the run.
const WORDS = {
  en: {
    player: title => `Player: ${title}`,
    blocks: "KV blocks",
    blocksRemark: size => `physical memory, one square is ${plural(size, "token slot")}`,
    blocksLabel: (usage, count) => `${count} KV blocks: ${usage.used} in use, ${usage.shared} of them shared, ${count - usage.used} free`,
    notPublished: "This run does not publish them.",
    copySlots: count => `copy ${plural(count, "slot")}`,
    private: "one reader", shared: "shared", free: "free", changed: "changed now", selected: "selected", underPointer: "under the pointer", latest: "latest change",
    wholePool: "whole pool", poolPart: (first, count) => `from block ${formatNumber(first)} of ${formatNumber(count)}; Esc shows all`,
    host: "host", hostUse: (used, count) => `${formatNumber(used)} of ${plural(count, "block")} in use`,
    cellSpoken: (id, readers, ref, fill, size) => readers === null ? `block ${id}, free`
      : `block ${id}, ${readers.length ? readers.join(" and ") : "no reader"}, ref ${ref}, ${fill} of ${size} filled`,
    inspector: "Details", nothingChosen: "Click a block, a row or a name to see its life.",
    blockName: (id, host) => (host === null ? `Block ${id}` : `Host block h${host}`),
    requestTitle: id => `Request ${id}`, sequenceTitle: name => `Sequence ${name}`,
    facts: {readers: "Readers", references: "References", written: "Written", holds: "Holds", prompt: "Asks for", status: "Now", why: "Because",
      output: "Output", stored: "Stored", blocks: "Blocks"},
    none: "nobody", nothing: "nothing",
    ofSlots: (fill, size) => `${fill} of ${plural(size, "slot")}`,
    ofTokens: (count, all) => `${formatNumber(count)} of ${plural(all, "token")}`, tokens: count => plural(count, "token"),
    promptTokens: (first, last) => `prompt tokens ${first}–${last}`, outputTokens: (first, last) => `output tokens ${first}–${last}`,
    promptFact: request => `${formatNumber(request.prompt_len)} + ${plural(request.output_len, "token")}${request.n > 1 ? ` × ${request.n}` : ""}`,
    place: number => `place ${number}`, blocksOf: (count, shared) => formatNumber(count) + (shared ? `, ${formatNumber(shared)} shared` : ""),
    lifeTitle: "Its life so far", stillToCome: "still to come",
    life: {
      somebody: "somebody", iteration: number => (number ? "it. " + formatNumber(number) : ""),
      written: who => `${who} writes it`, shared: list => `${list.join(", ")} ${list.length > 1 ? "read" : "reads"} it too`,
      copiedTo: (target, who) => `copied to ${target} for ${who}`, copyOf: (block, who) => `copy of ${block} for ${who}`,
      inPlace: who => `${who} writes here, no copy`, movedTo: id => `moves to block ${id}`, movedFrom: id => `comes from block ${id}`,
      freed: who => `${who} lets go, free again`, readersLess: count => `${plural(count, "reader")} fewer`,
      readersMore: count => `${plural(count, "reader")} more`, prefill: count => `prefill of ${plural(count, "token")}`,
      request: ({kind, sequence, block, target, amount}, run) => {
        const who = sequence >= 0 && run.requests[run.requestOf[sequence]].n > 1 ? run.sequenceName(sequence) + ": " : "";
        const unit = run.tracks.strips ? "slot" : "block";
        return {arrived: "arrives", rejected: "refused", admitted: "admitted", resumed: "admitted again", finished: "finished",
          preempted: `preempted, must recompute ${plural(amount, "token")}`, allocated: `${who}${amount === 1 && unit === "block" ? "block " + block : plural(amount, unit)}`,
          shared: `${who}shares the prompt's blocks`, copied: `${who}copy of ${block} in ${target}`, written_in_place: `${who}writes ${block} in place`,
          released: `${who}gives back ${plural(amount, unit)}`, moved_out: `block ${block} to the host`, moved_in: `block ${block} from the host`}[kind];
      },
    },
    log: "Log", logKey: "details or log (e)", logRemark: count => plural(count, "event"), nothingHappened: "Nothing has happened.",
    seats: "places", seatsLabel: "Rows are the places of the batch", findRequest: "find a request", notFound: text => `There is no request “${text}”.`,
    zoomIn: "Zoom in (+)", zoomOut: "Zoom out (-)", busy: most => `share of the ${plural(most, "place")} that is busy`,
    legend: {
      full: "full", open: "being written", shared: "shared", copied: "copy", free: "free", now: "changed now",
      private: "one reader", privateOpen: "being written",
      wait: "waiting", prefill: "prefill", decode: "decode", end: "finished", preempted: "preempted", idle: "idle place",
      tokens: "tokens", reserved: "reserved", unused: "never used", hole: "hole",
    },
    strips: "KV memory",
    stripsRemark: "one contiguous strip for each sequence",
    stripsLabel: ({count, used, size}) => `${count} strips: ${used} slots hold tokens, ${size} are reserved`,
    stripList: "Reservations",
    stripListRemark: "slots used of slots reserved",
    stripUse: (used, size) => `${formatNumber(used)} of ${formatNumber(size)}`,
    tables: "Block tables",
    tablesRemark: "logical block → physical block",
    tablesLabel: count => `Block tables of ${plural(count, "sequence")}`,
    nobodyRuns: "Nobody runs.",
    more: count => `and ${formatNumber(count)} more`,
    queue: "Waiting",
    queueRemark: (shown, count) => (shown < count ? `first ${shown} of ${formatNumber(count)}` : "first come, first served"),
    nobodyWaits: "Nobody waits.",
    promptOf: count => `${formatNumber(count)}-token prompt`,
    recompute: count => `must recompute ${plural(count, "token")}`,
    madeRoom: name => (name === null ? "needed a block, none was free" : `made room for ${name}`),
    behind: name => `is behind ${name}`,
    timeline: "Batch timeline",
    timelineRemark: "one column is one iteration; pale is still to come",
    timelineTime: "one column is one iteration, as wide as it takes",
    timelineRows: (shown, near, count, isPlaces) =>
      isPlaces ? `${shown} of ${plural(near, "place")}` : `${shown} of ${formatNumber(near)} here, ${plural(count, "request")} in all`,
    idle: "idle",
    timelineLabel: (first, last, step) => `Batch timeline, iterations ${first} to ${last}, now ${step}`,
    laneText: request => `${formatNumber(request.prompt_len)} + ${formatNumber(request.output_len)}`,
    laneTextLong: request =>
      `${formatNumber(request.prompt_len)} + ${formatNumber(request.output_len)} tokens` + (request.n > 1 ? `, ${request.n} samples` : ""),
    metrics: {
      blocks: ["Blocks in use"], slots: ["Slots reserved"], saved: ["Saved by sharing", "block"], copies: ["Copies"],
      batch: ["Computing", "sequence"], waiting: ["Waiting", "request"],
    },
    metricUnit: (unit, size, value) => (size ? `of ${formatNumber(size)}` : !unit ? "" : value === 1 ? unit : unit + "s"),
    iteration: step => `Iteration ${formatNumber(step + 1)}`,
    start: "Start", done: "Done", runningNow: "Still running",
    iterations: list => `iteration ${list}`,
    ofSteps: count => `of ${formatNumber(count)}`,
    after: step => `after iteration ${formatNumber(step + 1)}`,
    inIteration: step => `iteration ${formatNumber(step + 1)}`,
    change: (number, count, isMain) => `${isMain ? "main change," : "change"} ${number} of ${count}`,
    widestPlace: run => `iteration ${formatNumber(run.numSteps)} · main change, 9 of 9`,
    before: "Previous change (,)", next: "Next change (.)",
    ofRun: run => plural(run.numSteps, "iteration"),
    shown: name => (name === "start" ? "the start" : name === "end" ? "the end" : `frame ${name}`),
    listLast: " and ", listMore: count => `${count} more`,
    quietTag: "Step",
    summary: summaryText,
    subtitle: subtitleText,
    nothingYet: "**Nothing has arrived yet.** Press the right arrow.",
    quiet: "**No block changes hands** in this event.",
    noSteps: "No step was run.",
    cannotShow: "Cannot show this",
    loading: "Loading",
    loadingRun: "The run is being unpacked.",
    link: "Link",
    copyThis: "Copy this address",
    linkCopied: "**The link to this moment is copied;** it opens the same runs, frame, clock and selection.",
    problems: {
      frame_text: (text, shown) => `**“${text}” is not a frame;** write 12, or 12.3 for its third event. Shown is ${shown}.`,
      frame_step: (text, shown, run) =>
        `**Frame ${text} is beyond the end of this run,** whose frames are 0 to ${run.numSteps - 1}. Shown is ${shown}.`,
      frame_event: (text, shown) => `**Frame ${text} names an event that its iteration does not have.** Shown is ${shown}.`,
    },
    transport: {
      start: "First frame (Home)", back: "Previous frame (left arrow)", play: "Play (Space)", pause: "Pause (Space)",
      again: "Play again (Space)", forward: "Next frame (right arrow)", slower: "Slower ([)", faster: "Faster (])",
      perSecond: speed => `${speed} / s`, timePerSecond: time => `${time} / s`, follow: "FOLLOW", scrub: "Frame",
      clock: "Clock: iterations or simulated time (t)",
      bookmark: (number, text) => `Lecture step ${number}: ${text}`,
    },
    speakFrame: (name, sentence) => `${name}. ${sentence}`,
    glyphs: {admit: "admission", copy: "copy on write", preempt: "preemption", finish: "request finished", reject: "refused"},
    tick: (what, count, where) => `${what}${count > 1 ? ` ×${count}, from` : ","} ${where}`,
    marksTitle: "Signs on the line",
    table: "Table of this frame (Shift + T)",
    tableHead: ["Sequence", "Status", "Tokens stored", "Memory"], blockHead: ["Block", "Readers", "References", "Written"],
    status: ["not arrived", "waiting", "prefill", "decode", "preempted", "swapped out", "finished", "rejected"],
    goTo: "Go to iteration",
    goToHint: count => `1 to ${count}`,
    help: "Keys",
    keysButton: "? keys", close: "Close",
    keys: [
      ["→  ←", "next, previous iteration"], ["Shift + →  ←", "ten iterations"],
      [".  ,", "next, previous change inside the iteration"],
      ["n  p", "next, previous happening"], ["Space", "play, pause"], ["Home  End", "first, last frame"],
      ["PageDown  PageUp", "next, previous lecture step"], ["[  ]", "slower, faster"], ["t", "clock: iterations or time"],
      ["d", "first difference of the runs"], ["1  2  3   0", "one run, all runs"],
      ["g", "go to an iteration"], ["+  -", "zoom the timeline"], ["e", "details or event log"], ["Enter", "details; cell cursor in the grid"], ["Shift + T", "table of this frame"], ["l", "lecture mode, large type"], ["f", "full screen"],
      ["c", "copy the link"], ["h  ?", "this list"], ["Esc", "close, clear the selection"],
    ],
  },
};

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
  if (reason === "no_block") return `needs ${formatNumber(needed)} ${resource}, ${free}`;
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

const MANAGER_NAMES = {
  paged: "paged KV", max: "contiguous KV, maximum reserved", pow2: "contiguous KV, powers of two", oracle: "contiguous KV, oracle",
};

function subtitleText(run) {
  const {policy, kv_manager: manager} = run.header.settings ?? {};
  const size = run.tracks.strips ? `${formatNumber(run.poolSize)} slots` : `${plural(run.poolSize, "block")} of ${run.blockSize}`;
  const memory = run.poolSize ? size : "unlimited memory";
  const facts = [policy && `${policy} batching`, MANAGER_NAMES[manager], memory, plural(run.requests.length, "request")];
  return facts.filter(Boolean).join(" · ");
}
