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
    private: "one reader", shared: "shared", free: "free", changed: "changed now",
    legend: {
      full: "full", open: "being written", shared: "shared", copy: "copy", free: "free", now: "changed now",
      private: "one reader", privateOpen: "being written",
      wait: "waiting", prefill: "prefill", decode: "decode", end: "finished", preempted: "preempted", idle: "idle place",
      tokens: "tokens", reserved: "reserved", unused: "never used", hole: "hole",
    },
    strips: "KV memory",
    stripsRemark: "one contiguous strip for each sequence",
    stripsLabel: (count, used, reserved) => `${count} strips: ${used} slots hold tokens, ${reserved} are reserved`,
    stripList: "Reservations",
    stripListRemark: "slots used of slots reserved",
    stripUse: (used, size) => `${formatNumber(used)} of ${formatNumber(size)}`,
    tables: "Block tables",
    tablesRemark: "logical block → physical block",
    tablesLabel: count => `Block tables of ${plural(count, "sequence")}`,
    nobodyRuns: "Nobody runs.",
    more: count => `and ${formatNumber(count)} more`,
    queue: "Waiting",
    queueRemark: "first come, first served",
    nobodyWaits: "Nobody waits.",
    promptOf: count => `${formatNumber(count)}-token prompt`,
    recompute: count => `preempted, ${plural(count, "token")} again`,
    madeRoom: name => (name === null ? "found no free block itself" : `made room for ${name}`),
    timeline: "Batch timeline",
    timelineRemark: "one column is one iteration; pale is still to come",
    timelineRows: (shown, near, count) =>
      `${shown} of the ${plural(near, "request")} in these iterations, ${formatNumber(count)} in all; turn the wheel for more`,
    idle: "idle",
    timelineLabel: (first, last, step) => `Batch timeline, iterations ${first} to ${last}, now ${step}`,
    laneText: request => `${formatNumber(request.prompt_len)} + ${formatNumber(request.output_len)}`,
    laneTextLong: request =>
      `${formatNumber(request.prompt_len)} + ${formatNumber(request.output_len)} tokens` + (request.n > 1 ? `, ${request.n} samples` : ""),
    metrics: {
      blocks: ["Blocks in use", size => (size ? `of ${formatNumber(size)}` : "")],
      slots: ["Slots reserved", size => (size ? `of ${formatNumber(size)}` : "")],
      saved: ["Saved by sharing", (size, value) => (value === 1 ? "block" : "blocks")],
      copies: ["Copies", () => ""],
      batch: ["Batch", (size, value) => (value === 1 ? "sequence" : "sequences")],
      waiting: ["Waiting", (size, value) => (value === 1 ? "request" : "requests")],
    },
    iteration: step => `Iteration ${formatNumber(step + 1)}`,
    start: "Start", done: "Done",
    ofSteps: count => `of ${formatNumber(count)}`,
    after: step => `after iteration ${formatNumber(step + 1)}`,
    inIteration: step => `iteration ${formatNumber(step + 1)}`,
    change: (number, count) => `change ${number} of ${count}`,
    widestPlace: run => `after iteration ${formatNumber(run.numSteps)} · change 9 of 9`,
    ofRun: run => plural(run.numSteps, "iteration"),
    shown: name => (name === "start" ? "the start" : name === "end" ? "the end" : `frame ${name}`),
    listLast: " and ", listMore: count => `${count} more`,
    quietTag: "Step",
    summary: run => summaryText(run),
    subtitle: run => subtitleText(run),
    nothingYet: "**Nothing has arrived yet.** Press the right arrow.",
    quiet: "**No block changes hands** in this event.",
    noSteps: "No step was run",
    cannotShow: "Cannot show this",
    loading: "Loading",
    loadingRun: "The run is being unpacked.",
    link: "Link",
    problems: {
      frame_text: (text, shown) => `**“${text}” is not a frame;** write 12, or 12.3 for its third event. Shown is ${shown}.`,
      frame_step: (text, shown, run) =>
        `**Frame ${text} is beyond the end of this run,** whose frames are 0 to ${run.numSteps - 1}. Shown is ${shown}.`,
      frame_event: (text, shown) => `**Frame ${text} names an event that its iteration does not have.** Shown is ${shown}.`,
    },
    transport: {
      start: "First frame (Home)", back: "Previous frame (left arrow)", play: "Play (Space)", pause: "Pause (Space)",
      again: "Play again (Space)", forward: "Next frame (right arrow)", slower: "Slower", faster: "Faster", speed: "speed",
      perSecond: speed => `${speed} / s`, scrub: "Frame",
      value: (name, count, time) => `${name} of ${count}${time ? ", t = " + time : ""}`,
      bookmark: (number, text) => `Lecture step ${number}: ${text}`,
    },
    speakFrame: (name, sentence) => `${name}. ${sentence}`,
    table: "Table of this frame (T)",
    tableHead: ["Sequence", "Status", "Tokens stored", "Blocks"],
    status: ["not arrived", "waiting", "prefill", "decode", "preempted", "swapped out", "finished", "rejected"],
    goTo: "Go to iteration",
    goToHint: count => `1 to ${count}`,
    help: "Keys",
    keysButton: "keys",
    keys: [
      ["→  ←", "next, previous iteration"], ["Shift + →  ←", "ten iterations"],
      [".  ,", "next, previous change inside the iteration"],
      ["n  p", "next, previous happening"], ["Space", "play, pause"], ["Home  End", "first, last frame"],
      ["PageDown  PageUp", "next, previous lecture step"], ["[  ]", "slower, faster"], ["1  2  3", "choose the run"],
      ["g", "go to an iteration"], ["T", "table of this frame"], ["h  ?", "this list"], ["Esc", "close"],
    ],
  },
};

// Why a request waits, from the last word of the scheduler about it.
function reasonText(decision, nameOf) {
  const reason = VOCABULARY.reasons[decision.reason];
  const resource = VOCABULARY.resources[decision.resource];
  const {needed, available} = decision;
  const free = `${formatNumber(available)} ${available === 1 ? "is" : "are"} free`;
  if (reason === "behind_head") return decision.other >= 0 ? `would fit, but is behind ${nameOf(decision.other)}` : "is not at the head";
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

// "All 4 requests finished after 62 iterations; 3 copies, nobody was preempted."
function summaryText(run) {
  const count = kind => run.happenings.kind.reduce((sum, k) => sum + (k === HAPPENING[kind] ? 1 : 0), 0);
  const [finished, rejected, copies, preempted] = ["finished", "rejected", "copied", "preempted"].map(count);
  const total = run.requests.length;
  const who = finished === total ? `All ${plural(total, "request")}` : `${formatNumber(finished)} of ${plural(total, "request")}`;
  const facts = [
    rejected ? `${formatNumber(rejected)} refused` : "",
    copies ? plural(copies, "copy", "copies") : "",
    preempted ? plural(preempted, "preemption") : "nobody was preempted",
  ].filter(Boolean);
  return `**${who} finished** after ${plural(run.numSteps, "iteration")}; ${facts.join(", ")}.`;
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
