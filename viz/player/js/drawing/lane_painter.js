// Draws the life of one request into its row of the timeline: a tall P cell for a prompt (or a chunk of it), low cells for
// decoding, a thin line for waiting that starts with a circle and ends with how long it took, a black cell with two bars for a
// preemption, an end cap.
class LanePainter {
  constructor(paint, axis, frame, k, top, pitch) {
    Object.assign(this, {paint, axis, frame, k, top});
    this.run = frame.run;
    this.height = pitch - (pitch > 20 * k ? 6 : 4) * k;
    this.theme = paint.theme;
    [this.first, this.last] = axis.steps(this.run);
    this.now = frame.isStart ? -1 : frame.column;
  }

  // Calls draw(first, last, isFuture) for the visible past and future part of the steps from..to.
  parts(from, to, draw) {
    const {first, last, now} = this;
    const [a, b] = [Math.max(from, first), Math.min(to, last)];
    if (a <= Math.min(b, now)) draw(a, Math.min(b, now), false);
    if (Math.max(a, now + 1) <= b) draw(Math.max(a, now + 1), b, true);
  }

  // What is done in the current step grows while the picture moves.
  cells(from, to, top, height, fill, label = null) {
    const {paint, axis, run, frame, now} = this;
    const gap = axis.pitch >= 4 ? 1.5 : 0;
    const radius = height >= 12 * this.k ? 1.5 : 0;
    this.parts(from, to, (a, b, isFuture) => {
      const alpha = isFuture ? 0.34 : 1;
      const [left] = axis.column(run, a);
      if (!gap) return paint.rect(left, top, axis.column(run, b)[0] + axis.column(run, b)[1] - left, height, {fill, alpha});
      for (let step = a; step <= b; step++) {
        const [x, w] = axis.column(run, step);
        const isGrowing = step === now && frame.progress < 1;
        if (isGrowing) paint.rect(x, top, w - gap, height, {fill, alpha: 0.34, radius});
        paint.rect(x, top, (w - gap) * (isGrowing ? frame.progress : 1), height, {fill, alpha, radius});
        if (label) label(step, x, w - gap, isFuture);
      }
    });
  }

  prefill(step, hue, numTokens) {
    const {k, top, height} = this;
    this.cells(step, step, top - k, height + 2 * k, hue.solid, this.label(hue, top, height, true, "", () => formatNumber(numTokens)));
  }

  // Writes into cells; `count(step)` is the number at their right edge.
  label(hue, top, height, isPrompt, name, count) {
    const {paint, theme, k} = this;
    return (step, x, w, isFuture) => drawCellText(paint, [x, top, w, height], {isPrompt, name, count: count(step), hue, fill: isFuture ? theme.ink : hue.on}, k);
  }

  wait(from, to, isPreempted, arrival) {
    const {paint, axis, theme, k, top, height, run} = this;
    const y = top + height / 2;
    this.parts(from, to, (a, b, isFuture) => {
      const isFirst = a === from && !isPreempted;
      const begin = isFirst && axis.isTime && arrival != null ? Math.max(axis.left, axis.x(arrival)) : axis.column(run, a)[0];
      const [x, w] = axis.column(run, b);
      const start = begin + (isFirst ? 4 * k : 0);
      paint.line([[start, y], [x + w - 2, y]],
        {stroke: theme.mark, width: 2 * k, dash: isPreempted ? [7 * k, 4 * k] : null, alpha: isFuture ? 0.55 : 1});
      if (b === to && to + 1 < run.numSteps) this.duration(run.startTime[to + 1] - (arrival ?? run.startTime[from]), begin, x + w, isFuture);
      if (!isFirst) return;
      paint.disc(start - k, y, 3 * k, {fill: theme.paper});
      paint.disc(start - k, y, 3 * k, {stroke: theme.mark, width: 1.6 * k, alpha: isFuture ? 0.55 : 1});
    });
  }

  // How long a wait took, at its end.
  duration(seconds, left, right, isFuture) {
    const {paint, theme, k, top, height} = this;
    const size = 11.5 * k, text = seconds > 0 ? formatTime(seconds) : "";
    const room = paint.measure(text, size) + 8 * k;
    if (!text || height < 9 * k || right - left < room + 30 * k) return;
    paint.text(right - 10 * k, top + height / 2 + size * 0.35, text, {size, align: "right", fill: isFuture ? theme.ink3 : theme.ink2, ground: theme.paper, pad: 4 * k});
  }

  preemption(step) {
    const {paint, theme, k, top, height} = this;
    this.cells(step, step, top - k, height + 2 * k, theme.ink, (s, x, w) =>
      paint.glyph("preempt", x + w / 2, top + height / 2, Math.min(height * 0.3, w * 0.3), theme.paper));
  }

  end(step) {
    const {paint, axis, theme, k, top, height, run} = this;
    this.parts(step, step, (a, b, isFuture) => {
      const [x, w] = axis.column(run, step);
      paint.rect(x + w - 2.8 * k, top - k, 2.8 * k, height + 2 * k, {fill: theme.ink, alpha: isFuture ? 0.45 : 1});
    });
  }

  idle(from, to, word) {
    const {paint, axis, theme, k, top, height, run} = this;
    this.parts(from, to, (a, b, isFuture) => {
      const [x] = axis.column(run, a), [end, w] = axis.column(run, b);
      const width = end + w - x - 1.5;
      drawIdle(paint, [x, top + height * 0.1, width, height * 0.8], isFuture ? "" : word, {alpha: isFuture ? 0.45 : 1, fill: theme.ink2}, k);
    });
  }

  note(step, text, fill) {
    const {paint, axis, k, top, height, run} = this;
    if (step > this.last) return;
    const size = Math.min(12 * k, height * 0.85);
    const [x, w] = axis.column(run, Math.max(step, this.first));
    const room = Math.max(w, 14 * k);
    paint.glyph("reject", x + room / 2, top + height / 2, Math.min(5.4 * k, height * 0.45), this.theme.ink);
    paint.text(x + room + 6 * k, top + height / 2 + size * 0.36, text, {size, fill, max: axis.right - x - room - 6 * k});
  }
}

function drawLane(lane, run, r, words) {
  const request = run.requests[r];
  const history = run.lanes.ofRequest[r] ?? [];
  const sequences = run.sequencesOf(r);
  for (const {status, from, to} of history) {
    if (status === STATUS.WAITING) lane.wait(from, to, false, request.arrival_s);
    if (status === STATUS.PREEMPTED || status === STATUS.SWAPPED) {
      lane.wait(from + 1, to, true);
      lane.preemption(from);
    }
  }
  drawWork(lane, run, sequences, words);
  if (history.last?.status === STATUS.FINISHED) {
    const ends = sequences.map(sequence => run.lanes.life(sequence)?.to ?? -1);
    lane.end(Math.max(...ends));
  }
  if (history.last?.status === STATUS.REJECTED && lane.frame.column >= Math.min(history.last.from, run.numSteps - 1)) {
    const decision = lane.frame.decision(r);
    lane.note(history.last.from, decision ? rejectionText(decision, words) : words.status[STATUS.REJECTED], lane.theme.ink2);
  }
}

// Prefill and decode cells; several samples are thin lanes, six at most, and share the row of their prompt.
function drawWork(lane, run, sequences, words) {
  const {theme, top, height, k} = lane;
  const many = Math.min(6, sequences.length);
  const gap = many > 1 ? Math.min(k, height / many / 4) : 0;
  const thin = (height - gap * (many - 1)) / many;
  sequences.slice(0, many).forEach((sequence, i) => {
    const own = theme.hues[run.hues.of(sequence)];
    for (const segment of run.lanes.ofSequence[sequence] ?? []) {
      const {status, from, to, first, isPrompt, rate, hasSeat} = segment;
      if (to < lane.first || from > lane.last) continue;
      if (status === STATUS.FINISHED && hasSeat) lane.idle(from, to, words.idle);
      if (!isInBatch(status)) continue;
      const isTall = isPrompt && i === 0;
      if (isTall) lane.prefill(from, sequences.length > 1 ? theme.hues.S : own, first);
      const start = first > 0 && !isTall ? from : from + 1;
      const end = rate > 0 ? to : Math.min(to, from);
      if (many > 1) {
        lane.cells(start, end, top + i * (thin + gap), thin, own.solid);
        continue;
      }
      const {run} = lane, low = lane.axis.pitch >= 44 * k ? 0.06 : 0.18;
      const [y, h] = [top + height * low, height * (1 - 2 * low)];
      lane.cells(start, end, y, h, own.solid, lane.axis.pitch >= 44 * k && lane.label(own, y, h, false, run.requests[run.requestOf[sequence]].id, step => countText(run, {...segment, sequence}, step)));
    }
  });
}
