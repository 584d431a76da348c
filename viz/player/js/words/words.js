// Labels that come with the options: templates from viz/player/words.py become functions. What is told of a whole run is put
// together here; sentences about its moments are made in Python and travel with the run.
function wordsOf(table) {
  const label = text => (Array.isArray(text) ? text : typeof text === "string" ? (/\{\d/.test(text) ? (...values) => fill(text, values) : text) : wordsOf(text));
  return Object.fromEntries(Object.entries(table).map(([name, text]) => [name, label(text)]));
}

// "{0}" as it is, "{0,}" as a number, "{0+}" as the one after it, "{0 token}" as a number with its noun.
function fill(template, values) {
  return template.replace(/\{(\d)([,+]?) ?([^}]*)\}/g, (_, index, sign, noun) => {
    const value = values[index];
    return noun ? plural(value, noun) : sign ? formatNumber(value + (sign === "+")) : value;
  });
}

// A label with values in it, or one without.
function told(label, ...values) { return label?.call ? label(...values) : label; }

// Why a request waits, from the last word of the scheduler about it.
function reasonText(decision, run, words) {
  const reason = VOCABULARY.reasons[decision.reason], {needed, available, other} = decision;
  const resource = VOCABULARY.resources[decision.resource];
  const name = reason !== "no_block" ? reason : resource === "slots" ? "no_slot" : needed > available ? reason : "watermark";
  return told(words.reasons[name], run.requestName(other), needed, available, resource);
}

// The same with its iteration once that is over and the next one has not decided yet: the numbers may be others by then.
function datedReason(decision, frame, words) {
  const {run} = frame, text = reasonText(decision, run, words), {step} = stepOfEvent(run, decision.event);
  return !frame.isStep && frame.event > run.steps.scheduled[step] ? `${text} (${words.life.iteration(step)})` : text;
}

function rejectionText({needed, available, reason, resource}, words) {
  return needed || available ? words.reasons.limit(needed, VOCABULARY.resources[resource], available) : VOCABULARY.reasons[reason].replaceAll("_", " ");
}

// "All 4 requests finished after 62 iterations; 3 copies, nobody was preempted." "A was refused: it needs 42 blocks, the limit is 8."
function summaryText(frame, words) {
  const {run} = frame, {ending} = words;
  const [finished, copies, preempted] = ["finished", "copied", "preempted"].map(kind => run.happeningsOf(kind).length);
  const refused = run.happeningsOf("rejected").map(i => run.happenings.request[i]);
  const all = run.requests.length;
  const decision = refused.length === 1 && frame.decision(refused[0]);
  const was = refused.length === 1 ? ending.refusedOne(run.requestName(refused[0])) : ending.refused(refused.length);
  if (all && refused.length === all) return `**${all > 1 ? ending.refusedAll(all) : was}**${decision ? `: it ${rejectionText(decision, words)}` : ""}.`;
  const who = finished < all ? ending.some(finished, all) : all > 1 ? ending.all(all) : ending.one;
  const facts = [refused.length && was, copies && ending[copies > 1 ? "copies" : "copy"](copies), preempted ? ending.preemptions(preempted) : ending.nobody];
  return ending.sentence(who, run.numSteps, facts.filter(Boolean).join(", "));
}

function subtitleText(run, {managers, compare: {settings, without}, poolOf, slotsOf, requests}) {
  const {policy, kv_manager: manager} = run.header.settings ?? {};
  const memory = run.poolSize ? (run.tracks.strips ? slotsOf : poolOf)(run.poolSize, run.blockSize) : without.num_blocks;
  const facts = [run.player.remark, policy && settings.policy(policy), managers[manager], memory, requests(run.requests.length)];
  return facts.filter(Boolean).join(" · ");
}
