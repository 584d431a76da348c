// Draws the batch of one pane: a row for each place, a cell for each step. Past is solid, the future pale; P marks a prompt, a
// black cap the end, dots an idle place; below the places stand those who wait.
class PlacePainter {
  // pane: {run, frame, places}; box: {top, pitch, numRows, waitTop, waitRows, hasNoIdle: places without limit}
  constructor(paint, axis, pane, box, {k, words}) {
    Object.assign(this, {paint, axis, words, k, ...pane, ...box});
    this.theme = paint.theme;
    this.height = cellHeight(box.pitch, k);
    this.now = this.frame.isStart ? -1 : Math.min(this.frame.step, this.run.numSteps - 1);
    this.alpha = this.frame.isDone ? 0.42 : 1;
  }

  draw() {
    const {run, numRows, pitch, axis} = this;
    if (pitch < 2.5) {
      drawShare(this.paint, axis, run, run.steps.num_scheduled_sequences,
        {most: numRows, top: this.top, height: numRows * pitch, now: this.now, fill: this.theme.hues.P.solid, alpha: this.alpha});
      return this.drawWaits();
    }
    const [first, last] = axis.steps(run);
    this.isSmall = this.height < 11 * this.k;
    for (let seat = 0; seat < numRows; seat++) {
      const y = this.top + seat * pitch;
      if (this.isSmall && !this.hasNoIdle) this.drawThinIdle(first, last, y);
      for (let step = first; step <= last; step++) {
        const [x, next] = [axis.begin(run, step), axis.end(run, step)];
        const width = next - x - (next - x > 5 ? 2.5 : 0);
        const stretch = this.places.at(seat, step);
        if (stretch) this.drawCell(stretch, step, x, y, width); else if (!this.isSmall && !this.hasNoIdle) this.drawIdle(step, x, y, width);
      }
    }
    this.drawWaits();
  }

  drawCell(stretch, step, x, y, w) {
    const {paint, theme, run, k, height: h, now} = this;
    const hue = theme.hues[run.hues.of(stretch.sequence)];
    const isFuture = step > now;
    const radius = Math.min(5 * k, h / 5, w / 5);
    paint.rect(x, y, w, h, {fill: theme.paper, radius});
    if (isFuture && !this.isSmall) paint.box(x, y, w, h, {fill: hue.tint, stroke: hue.solid, width: 1.4, radius, alpha: 0.8});
    else paint.rect(x, y, w, h, {fill: hue.solid, radius, alpha: isFuture ? 0.38 : this.alpha});
    drawCellText(paint, [x, y, w, h], {isPrompt: stretch.isPrompt && step === stretch.from, name: run.sequenceName(stretch.sequence), hue,
      count: countText(run, stretch, step), fill: isFuture ? theme.ink2 : this.alpha < 1 ? theme.ink : hue.on}, k);
    if (step !== stretch.to || !stretch.end) return;
    const fill = isFuture ? theme.mark : theme.ink;
    const over = this.isSmall ? 0 : 2.5 * k;
    paint.rect(x + w - 3.4 * k, y - over, 4 * k, h + 2 * over, {fill, alpha: this.alpha});
    if (stretch.end !== "preempt" || w < 14 * k || this.isSmall) return;
    paint.rect(x + w - 12 * k, y, 12.6 * k, h, {fill, alpha: this.alpha});
    paint.glyph("preempt", x + w - 6 * k, y + h / 2, Math.min(5 * k, h * 0.3), theme.paper);
  }

  drawThinIdle(first, last, y) {
    const {run, axis, paint, theme, height: h, now} = this;
    for (const [from, to, alpha] of [[first, Math.min(now, last), this.alpha], [Math.max(first, now + 1), last, 0.5]])
      if (from <= to)
        paint.rect(axis.begin(run, from), y + h / 2 - 0.5, axis.end(run, to) - axis.begin(run, from), 1, {fill: theme.idle, alpha});
  }

  drawIdle(step, x, y, w) {
    const {paint, theme, k, height: h} = this;
    const isFuture = step > this.now;
    const alpha = isFuture ? 0.5 : this.alpha;
    if (w < 3) paint.rect(x, y + h / 2 - 0.5, w, 1, {fill: theme.idle, alpha});
    else drawIdle(paint, [x, y, w, h], this.words.idle, {alpha, fill: theme.ink2, radius: Math.min(5 * k, h / 5)}, k);
  }

  // Thin lines from the arrival to the place, packed into a few rows; very many become one area.
  drawWaits() {
    const {axis, run, places, waitRows, waitTop, k, paint, theme} = this;
    if (!waitRows) return;
    const clock = axis.isTime ? "time" : "steps";
    const seen = places.waits.filter(wait => wait[clock][1] > wait[clock][0] && wait[clock][1] >= axis.from && wait[clock][0] <= axis.to);
    if (run.requests.length > 40 || seen.length > 12) return this.drawWaitArea();
    const taken = Array.from({length: waitRows}, () => -Infinity);
    const size = 12.5 * k;
    for (const wait of seen) {
      const [from, to] = wait[clock].map(value => axis.x(clamp(value, axis.from, axis.to)));
      const name = run.requests[wait.request].id;
      const long = axis.isTime ? formatTime(wait.time[1] - wait.time[0]) : String(wait.steps[1] - wait.steps[0]);
      const isLong = to - from > 70 * k;
      const shown = paint.fit(name, size, 650, 90 * k);
      const text = isLong ? `${shown.text} ${long}` : shown.text, room = paint.measure(text, size, 650);
      const row = taken.findIndex(until => until <= from);
      if (row < 0) continue;
      taken[row] = to + room + 18 * k;
      const y = waitTop + (row * 13 + 7) * k;
      this.drawWait(wait, clock, from, to, y);
      paint.text(Math.min(to + 5 * k, axis.right - room), y + 4.6 * k, text, {size, weight: 650, fill: theme.ink2, ground: theme.paper, pad: 2 * k});
    }
  }

  drawWait(wait, clock, from, to, y) {
    const {paint, theme, run, axis, k} = this;
    const hue = theme.hues[run.hues.of(run.requests[wait.request].first_sequence)];
    const past = clamp(axis.x(this.clockNow), from, to);
    const dash = wait.isAgain ? [6 * k, 3 * k] : null;
    for (const [a, b, alpha] of [[from, past, this.alpha], [past, to, 0.3]])
      if (b > a) paint.line([[a, y], [b, y]], {stroke: hue.solid, width: 4 * k, dash, alpha});
    if (wait[clock][0] < axis.from) return;
    paint.disc(from + 3 * k, y, 4.5 * k, {fill: theme.paper, stroke: hue.solid, width: 2.4 * k});
  }

  drawWaitArea() {
    const {run, theme} = this, waiting = run.steps.num_waiting;
    drawShare(this.paint, this.axis, run, waiting, {most: (run.mostWaiting ??= largest(waiting, 1)), top: this.waitTop, height: this.waitRows * 13 * this.k,
      now: this.now, fill: theme.mark, alpha: this.alpha});
  }

  // Rings: the cells of the sequences in `sequences` now; an idle place where the request of the sentence waits; else all now.
  ringBoxes(subject) {
    const {run, axis, frame, numRows, pitch, top, height} = this;
    if (frame.isStart || frame.isDone || frame.isGap || this.now < 0 || pitch < 2.5) return [];
    const x = axis.begin(run, this.now), w = axis.end(run, this.now) - x - 2.5;
    const radius = 5 * this.k;
    const box = seat => [x, top + seat * pitch, w, height, radius];
    const seats = Array.from({length: numRows}, (_, seat) => seat);
    if (subject < 0 || this.isSmall) return [[x, top, w, (numRows - 1) * pitch + height, radius]];
    const now = seats.map(seat => this.places.at(seat, this.now));
    const own = seats.filter(seat => now[seat] && run.requestOf[now[seat].sequence] === subject);
    if (own.length) return own.map(box);
    const idle = seats.find(seat => !now[seat]);
    return idle === undefined ? [] : [box(idle)];
  }
}

// Height of the cells in rows of this pitch.
function cellHeight(pitch, k) { return pitch - (pitch > 20 * k ? 6 * k : pitch > 6 ? 2 : 0); }
