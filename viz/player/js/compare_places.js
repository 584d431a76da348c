// Who sits where: for each place of the batch the stretches of steps in which a sequence has it, how many places idle, and who
// waits from when to when. Read from the lanes once for a run; both clocks are kept, steps and seconds.
class Places {
  constructor(run) {
    this.run = run;
    this.rows = [];
    this.waits = waitsOf(run);
    run.lanes.ofSequence.forEach((lane, sequence) => lane.forEach(segment => {
      if (segment.seat < 0 || !isActive(segment)) return;
      const isLast = segment === lane.findLast(isActive);
      const end = isLast && lane.last.status === STATUS.FINISHED ? "finish" : null;
      (this.rows[segment.seat] ??= []).push({...segment, sequence, end: end ?? (isPreempted(lane, segment) ? "preempt" : null)});
    }));
    for (let seat = 0; seat < this.rows.length; seat++) (this.rows[seat] ??= []).sort((a, b) => a.from - b.from);
  }

  // Idle places up to a step, that one included, when the batch has `count` of them.
  idleUntil(step, count) {
    if (this.idleFor !== count) {
      this.idleFor = count;
      let sum = 0;
      this.idle = Array.from(this.run.steps.num_scheduled_sequences, busy => (sum += Math.max(0, count - busy)));
    }
    return step < 0 ? 0 : this.idle[Math.min(step, this.idle.length - 1)] ?? 0;
  }

  // The stretch of a place that covers a step, or null.
  at(seat, step) {
    const row = this.rows[seat] ?? [];
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle].from <= step) low = middle + 1; else high = middle;
    }
    const found = row[low - 1];
    return found && found.to >= step && isScheduled(found, step) ? found : null;
  }
}

function isActive({status}) { return status === STATUS.PREFILL || status === STATUS.DECODE; }

function isPreempted(lane, segment) {
  const next = lane[lane.indexOf(segment) + 1];
  return next !== undefined && (next.status === STATUS.PREEMPTED || next.status === STATUS.SWAPPED);
}

function isScheduled(segment, step) { return step === segment.from ? segment.first > 0 : segment.rate > 0; }

// Tokens stored at the scheduled cut of a step in the stretch.
function computedAt(segment, step) { return segment.computed + segment.rate * (segment.ticksBefore + step - segment.from); }

// [{request, steps: [from, to], time: [from, to], isAgain}] in order of their beginning.
function waitsOf(run) {
  const {event, kind, request} = run.happenings;
  const open = new Map();
  const waits = [];
  const begins = new Set([HAPPENING.arrived, HAPPENING.preempted]);
  const ends = new Set([HAPPENING.admitted, HAPPENING.resumed, HAPPENING.rejected]);
  const close = (r, step) => {
    const wait = open.get(r);
    open.delete(r);
    if (!wait) return;
    wait.steps[1] = step;
    wait.time[1] = run.startTime[step] ?? run.endTime[run.numSteps - 1] ?? 0;
    waits.push(wait);
  };
  for (let i = 0; i < event.length; i++) {
    const step = run.firstStepShowing(event[i]);
    if (begins.has(kind[i])) {
      const isAgain = kind[i] === HAPPENING.preempted;
      const arrival = isAgain ? null : run.requests[request[i]]?.arrival_s;
      const begin = run.startTime[step] ?? run.endTime[run.numSteps - 1] ?? 0;
      open.set(request[i], {request: request[i], steps: [step, 0], time: [arrival ?? begin, 0], isAgain});
    } else if (ends.has(kind[i])) close(request[i], step);
  }
  for (const r of [...open.keys()]) close(r, run.numSteps);
  return waits.sort((a, b) => a.time[0] - b.time[0] || a.request - b.request);
}
