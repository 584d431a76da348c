// Draws the life of one request into its row of the timeline: a tall P cell for a prompt (or a chunk of it), low cells for
// decoding, a thin line for waiting that starts with a circle, a black cell with two bars for a preemption, an end cap.
class LanePainter {
  constructor(paint, columns, frame, k, top, pitch) {
    Object.assign(this, {paint, columns, frame, k, top});
    this.height = pitch - (pitch > 20 * k ? 6 : 4) * k;
    this.theme = paint.theme;
  }

  // Calls draw(first, last, isFuture) for the visible past and future part of the steps from..to.
  parts(from, to, draw) {
    const {first, last} = this.columns;
    const now = this.frame.isStart ? -1 : this.frame.column;
    const [a, b] = [Math.max(from, first), Math.min(to, last)];
    if (a <= Math.min(b, now)) draw(a, Math.min(b, now), false);
    if (Math.max(a, now + 1) <= b) draw(Math.max(a, now + 1), b, true);
  }

  cells(from, to, top, height, fill, futureAlpha = 0.34) {
    const {paint, columns} = this;
    const gap = columns.pitch >= 4 ? 1.5 : 0;
    const radius = height >= 12 * this.k ? 1.5 : 0;
    this.parts(from, to, (a, b, isFuture) => {
      const alpha = isFuture ? futureAlpha : 1;
      if (!gap) return paint.rect(columns.x(a), top, (b - a + 1) * columns.pitch, height, {fill, alpha});
      for (let step = a; step <= b; step++) paint.rect(columns.x(step), top, columns.pitch - gap, height, {fill, alpha, radius});
    });
  }

  prefill(step, hue, numTokens) {
    const {paint, columns, theme, k, top, height} = this;
    this.cells(step, step, top - k, height + 2 * k, hue.solid);
    this.parts(step, step, (a, b, isFuture) => {
      if (columns.pitch < 10 * k) return;
      const [x, fill] = [columns.x(step), isFuture ? theme.ink : hue.on];
      const size = Math.min(12.5 * k, height * 0.85);
      const baseline = top + height / 2 + size * 0.36;
      if (columns.pitch < 44 * k) paint.text(x + (columns.pitch - 1.5) / 2, baseline, "P", {size, weight: 700, align: "center", fill});
      else paint.text(x + 6 * k, baseline, "P " + formatNumber(numTokens), {size, weight: 700, fill, max: columns.pitch - 10 * k});
    });
  }

  wait(from, to, isPreempted) {
    const {paint, columns, theme, k, top, height} = this;
    const y = top + height / 2;
    this.parts(from, to, (a, b, isFuture) => {
      const start = columns.x(a) + (a === from ? 4 * k : 0);
      paint.line([[start, y], [columns.x(b + 1) - 2, y]],
        {stroke: theme.mark, width: 2 * k, dash: isPreempted ? [7 * k, 4 * k] : null, alpha: isFuture ? 0.55 : 1});
      if (a !== from || isPreempted) return;
      paint.disc(start - k, y, 3 * k, {fill: theme.paper});
      paint.ctx.globalAlpha = isFuture ? 0.55 : 1;
      paint.disc(start - k, y, 3 * k, {stroke: theme.mark, width: 1.6 * k});
      paint.ctx.globalAlpha = 1;
    });
  }

  preemption(step) {
    const {paint, columns, theme, k, top, height} = this;
    this.cells(step, step, top - k, height + 2 * k, theme.ink);
    this.parts(step, step, (a, b, isFuture) => paint.glyph("preempt", columns.x(step) + (columns.pitch - 1.5) / 2, top + height / 2,
      Math.min(height * 0.3, columns.pitch * 0.3), theme.paper, isFuture));
  }

  end(step) {
    const {paint, columns, theme, k, top, height} = this;
    this.parts(step, step, (a, b, isFuture) => paint.rect(columns.x(step + 1) - 2.8 * k, top - k, 2.8 * k, height + 2 * k,
      {fill: theme.ink, alpha: isFuture ? 0.45 : 1}));
  }

  idle(from, to, word) {
    const {paint, columns, theme, k, top, height} = this;
    this.parts(from, to, (a, b, isFuture) => {
      const width = (b - a + 1) * columns.pitch - 1.5;
      const alpha = isFuture ? 0.45 : 1;
      const [x, y, h] = [columns.x(a), top + height * 0.14, height * 0.72];
      paint.rect(x, y, width, h, {fill: paint.pattern("dots"), alpha});
      paint.rect(x + 0.6, y, width - 1.2, h, {stroke: theme.idle, width: 1.2, dash: [3, 2], alpha});
      const size = Math.min(11.5 * k, height);
      const room = paint.measure(word, size) + 10 * k;
      if (width < room + 16 * k || isFuture) return;
      paint.rect(x + 8 * k, top, room, height, {fill: theme.paper});
      paint.text(x + 13 * k, top + height / 2 + size * 0.35, word, {size, fill: theme.ink2});
    });
  }

  note(step, text, fill) {
    const {paint, columns, k, top, height} = this;
    const size = Math.min(12 * k, height * 0.85);
    const x = Math.max(columns.x(Math.max(step, columns.first)), columns.x(columns.first)) + 4 * k;
    const right = columns.x(columns.last + 1);
    if (step > columns.last) return;
    paint.glyph("reject", x + 4 * k, top + height / 2, Math.min(5.4 * k, height * 0.45), this.theme.ink);
    paint.text(x + 14 * k, top + height / 2 + size * 0.36, text, {size, fill, max: right - x - 14 * k});
  }
}

function drawLane(lane, run, r, words) {
  const request = run.requests[r];
  const history = run.lanes.ofRequest[r] ?? [];
  const sequences = Array.from({length: request.n}, (_, i) => request.first_sequence + i);
  for (const {status, from, to} of history) {
    if (status === STATUS.WAITING) lane.wait(from, to, false);
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
    lane.note(history.last.from, decision ? rejectionText(decision) : words.status[STATUS.REJECTED], lane.theme.ink2);
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
    for (const {status, from, to, first, isPrompt, rate, hasSeat} of run.lanes.ofSequence[sequence] ?? []) {
      if (to < lane.columns.first || from > lane.columns.last) continue;
      if (status === STATUS.FINISHED && hasSeat) lane.idle(from, to, words.idle);
      if (status !== STATUS.PREFILL && status !== STATUS.DECODE) continue;
      const isTall = isPrompt && i === 0;
      if (isTall) lane.prefill(from, sequences.length > 1 ? theme.hues.S : own, first);
      const start = first > 0 && !isTall ? from : from + 1;
      const end = rate > 0 ? to : Math.min(to, from);
      if (many === 1) lane.cells(start, end, top + height * 0.18, height * 0.64, own.solid);
      else lane.cells(start, end, top + i * (thin + gap), thin, own.solid);
    }
  });
}
