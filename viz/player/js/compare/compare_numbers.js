// The four numbers of a pane, the same ones in all panes: tokens so far, idle places (or memory in use) so far, who waits now, and
// when the request that sets the runs apart most is done.
class PaneNumbers {
  constructor() {
    this.title = element("b", {dir: "auto"});
    this.where = element("span");
    this.rows = Array.from({length: 4}, () => element("div", {}, element("dt"), element("dd", {dir: "auto"})));
    this.element = element("div", {class: "kv-numbers"}, element("div", {class: "kv-numbers-head"}, this.title, this.where), element("dl", {}, ...this.rows));
  }

  draw(name, where, facts) {
    setText(this.title, name);
    setText(this.where, where);
    facts.forEach((texts, i) => setTexts(this.rows[i], texts));
  }
}

function numbersOf(pane, {course, isMemory, subject}, words) {
  const {run, frame} = pane;
  const {numbers, noNumber} = words.compare;
  // a place of the step that is under way idles already, but not before it has begun to run
  const isUnderWay = course.isTime && frame.isStep && course.now.time > run.startTime[frame.step];
  const idle = pane.hasLimit ? formatNumber(pane.places.idleUntil(stepsDone(pane) - !isUnderWay, pane.numPlaces)) : noNumber;
  const second = isMemory ? [numbers.memory, memoryShare(frame, words)] : [numbers.idle, idle];
  const [request, end] = subject;
  const isOver = end !== null && course.at(course.now) >= end - 1e-9;
  const name = run.requests[request]?.id ?? "";
  const last = end === null ? noNumber : course.isTime ? formatTime(end) : words.compare.short(end - 1);
  return [
    [numbers.tokens, formatNumber(tokensSoFar(pane))],
    second,
    [numbers.waiting, waitingText(pane, course, words)],
    [name ? (isOver ? numbers.finished : numbers.willFinish)(shortName(name)) : words.done, last],
  ];
}

function stepsDone({run, frame}) {
  return frame.isStart ? 0 : frame.isStep ? Math.min(frame.step, run.numSteps) : upperBound(run.steps.updated, frame.event);
}

// Tokens of completed steps.
function tokensSoFar(pane) {
  const {run} = pane;
  if (!run.emittedUntil) {
    let sum = 0;
    run.emittedUntil = Array.from(run.steps.num_emitted, count => (sum += count));
  }
  return run.emittedUntil[stepsDone(pane) - 1] ?? 0;
}

function memoryShare(frame, words) {
  const {run} = frame;
  const share = (all, ...slots) => words.compare.ofTaken(...slots.map(count => Math.round((100 * count) / Math.max(1, all))));
  if (run.tracks.strips) {
    const {used, size} = stripSums(frame);
    return share(numSlots(run), used, size);
  }
  const now = frame.columns("blocks");
  if (!now || !run.poolSize) return words.compare.noNumber;
  let filled = 0, taken = 0;
  for (let b = run.firstBlock; b < run.firstBlock + run.numGpuBlocks; b++) if (now.ref_count[b]) filled += now.fill[b], taken++;
  return share(run.poolSize * run.blockSize, filled, taken * run.blockSize);
}

// Who waits at a moment; before the first step begins, those who have arrived.
function waitingNow({frame, places}, course) {
  const {time} = course.now;
  if (!frame.isStart || !course.isTime) return frame.waiting;
  return places.waits.filter(wait => wait.time[0] <= time && time < wait.time[1]).map(wait => wait.request);
}

function waitingText(pane, course, words) {
  const {run} = pane, waiting = waitingNow(pane, course);
  if (!waiting.length) return words.compare.nobody;
  const names = waiting.slice(0, 3).map(r => run.requests[r].id).join(", ");
  return waiting.length > 3 || names.length > 14 ? formatNumber(waiting.length) : names;
}

function shortName(name) { return name.length > 12 ? name.slice(0, 11) + "…" : name; }

// Request -> the step after which, or the time at which, it was finished; null where it never was.
function finishesOf(run, isTime) {
  const {event, request} = run.happenings;
  const finishes = new Array(run.requests.length).fill(null);
  for (const i of run.happeningsOf("finished")) finishes[request[i]] = isTime ? eventTime(run, event[i]) : stepOfEvent(run, event[i]).step + 1;
  return finishes;
}

// For each pane [request, end]: the selected request, or the one whose ends lie furthest apart.
function farthestApart(panes, isTime, selected) {
  const finishes = panes.map(({run}) => finishesOf(run, isTime));
  const {pairs} = statusesOf(panes);
  const spread = pair => {
    const ends = pair.map((r, i) => finishes[i][r]).filter(end => end != null);
    return ends.length < 2 ? -1 : Math.max(...ends) - Math.min(...ends);
  };
  let best = pairs.find(pair => pair[0] === selected);
  for (const pair of best ? [] : pairs) if (!best || spread(pair) > spread(best) + 1e-9) best = pair;
  return panes.map((_, i) => (best ? [best[i], finishes[i][best[i]] ?? null] : [-1, null]));
}

