// What every sequence and request did in which steps, as a few segments each: the batch timeline reads only these.
// A segment holds from step `from` to step `to` (both included, seen at the scheduled cuts). `first` tokens were stored in
// its first step, `rate` in each later one; a segment with neither was not scheduled. `ahead` tokens are known and not stored.
// `isPrompt`: those first ones were prompt tokens or tokens computed again. `last` of a lane is how it ended, which a segment does not show when it happened
// after the last scheduled cut.
class Lanes {
  constructor(run) {
    this.ofSequence = segments(run, run.tracks.sequences, (row, track) => ({
      status: track.values[track.field("status")][row],
      hasSeat: track.values[track.field("seat")][row] >= 0,
      seat: track.values[track.field("seat")][row],
      computed: track.values[track.field("num_computed_tokens")][row],
      ahead: track.values[track.field("num_tokens")][row] - track.values[track.field("num_computed_tokens")][row],
      rate: track.rate[row],
    }));
    this.ofRequest = segments(run, run.tracks.requests, (row, track) => ({status: track.values[track.field("status")][row]}));
    const found = foundTokens(run);
    this.ofSequence.forEach((lane, s) => measureFirst(lane, run.steps.num_scheduled_tokens, found[s]));
    this.spans = this.ofRequest.map(lane => spanOf(lane, run));
    this.hasIdle = this.ofSequence.some(lane => lane.some(segment => segment.status === STATUS.FINISHED && segment.hasSeat));
    this.hasPreemption = run.happeningsOf("preempted").length > 0;
  }

  // First and last step in which the sequence held a seat or waited to get it back; null when it never ran.
  life(sequence) {
    const lane = this.ofSequence[sequence] ?? [];
    const lived = lane.filter(segment => segment.status >= STATUS.PREFILL && segment.status <= STATUS.SWAPPED);
    return lived.length ? {from: lived[0].from, to: lived.at(-1).to} : null;
  }
}

// key -> segments in order; rows that no scheduled cut shows leave none.
function segments(run, track, describe) {
  const lanes = Array.from({length: track?.numKeys ?? 0}, () => []);
  for (let row = 0; row < (track?.numRows ?? 0); row++) {
    const lane = lanes[track.key[row]];
    const from = run.firstStepShowing(track.event[row]);
    let before = lane.at(-1);
    if (before && before.from >= from) { lane.pop(); before = lane.at(-1); }
    if (before) before.to = from - 1;
    lane.last = {status: describe(row, track).status, from};
    if (from < run.numSteps) {
      const ticksBefore = track.ticks ? from + 1 - track.ticks[row] : 0;
      lane.push({from, to: run.numSteps - 1, ticksBefore, ...describe(row, track)});
    }
  }
  return lanes;
}

// First and last step in which a request was waiting, running or holding a seat.
function spanOf(lane, run) {
  if (!lane.last) return {from: run.numSteps, to: -1};
  const isOver = lane.last.status === STATUS.FINISHED || lane.last.status === STATUS.REJECTED;
  const from = lane.length ? lane[0].from : lane.last.from;
  return {from: Math.min(from, run.numSteps - 1), to: isOver ? Math.max(from, lane.last.from - 1) : run.numSteps - 1};
}

// For each sequence: step -> tokens that it found in the cache in this step, and does not compute.
function foundTokens(run) {
  const found = [];
  for (const i of run.happeningsOf("hit")) {
    const {event, sequence, amount} = run.happening(i), step = run.firstStepShowing(event);
    (found[sequence] ??= {})[step] = (found[sequence][step] ?? 0) + amount;
  }
  return found;
}

// A sequence that is forked has tokens at once, but nobody computed them: then no token was scheduled in that step.
function measureFirst(lane, numScheduledTokens, found = {}) {
  let before = 0, statusBefore = STATUS.PENDING;
  for (const segment of lane) {
    const atFirst = segment.computed + segment.rate * segment.ticksBefore;
    segment.first = numScheduledTokens[segment.from] > 0 ? atFirst - before - (found[segment.from] ?? 0) : 0;
    segment.isPrompt = segment.first > 0 && statusBefore !== STATUS.DECODE;
    statusBefore = segment.status;
    before = atFirst + segment.rate * (segment.to - segment.from);
  }
}
