// Who sits where: for each place of the batch the stretches of steps in which a sequence has it, how many places idle, and who
// waits from when to when. Read from the lanes once for a run; both clocks are kept, steps and seconds.
class Places {
  constructor(run) {
    this.run = run;
    this.rows = [];
    this.waits = waitsOf(run);
    run.lanes.ofSequence.forEach((lane, sequence) => lane.forEach(segment => {
      if (segment.seat < 0 || !isInBatch(segment.status)) return;
      const isLast = segment === lane.findLast(({status}) => isInBatch(status));
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
    const found = row[firstOf(row.length, i => row[i].from > step) - 1];
    return found && found.to >= step && isScheduled(found, step) ? found : null;
  }
}

function isPreempted(lane, segment) {
  const next = lane[lane.indexOf(segment) + 1];
  return next !== undefined && (next.status === STATUS.PREEMPTED || next.status === STATUS.SWAPPED);
}

function isScheduled(segment, step) { return step === segment.from ? segment.first > 0 : segment.rate > 0; }

// Tokens stored at the scheduled cut of a step in the stretch.
function computedAt(segment, step) { return segment.computed + segment.rate * (segment.ticksBefore + step - segment.from); }

// [{request, steps: [from, to], time: [from, to], isAgain}] in order of their beginning.
function waitsOf(run) {
  const open = new Map();
  const waits = [];
  const close = (r, step) => {
    const wait = open.get(r);
    open.delete(r);
    if (!wait) return;
    wait.steps[1] = step;
    wait.time[1] = run.startTime[step] ?? run.lastTime;
    waits.push(wait);
  };
  for (const i of run.happeningsOf("arrived", "preempted", "admitted", "resumed", "rejected")) {
    const {event, kind, request} = run.happening(i);
    const step = run.firstStepShowing(event), isAgain = kind === "preempted";
    if (isAgain || kind === "arrived") {
      const arrival = isAgain ? null : run.requests[request]?.arrival_s;
      open.set(request, {request, steps: [step, 0], time: [arrival ?? run.startTime[step] ?? run.lastTime, 0], isAgain});
    } else close(request, step);
  }
  for (const r of [...open.keys()]) close(r, run.numSteps);
  return waits.sort((a, b) => a.time[0] - b.time[0] || a.request - b.request);
}
