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
    if (pitch < 2.5) return this.drawShare();
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
    if (this.isSmall) return this.drawThin(stretch, step, x, y, w, hue, isFuture);
    const radius = Math.min(5 * k, h / 5, w / 5);
    const alpha = isFuture ? 0.8 : this.alpha;
    if (isFuture) paint.rect(x, y, w, h, {fill: theme.paper, radius});
    if (isFuture) paint.rect(x + 0.8, y + 0.8, w - 1.6, h - 1.6, {fill: hue.tint, stroke: hue.solid, width: 1.4, radius, alpha});
    else paint.rect(x, y, w, h, {fill: hue.solid, radius, alpha});
    this.drawCellText(stretch, step, x, y, w, hue, isFuture);
    if (step !== stretch.to || !stretch.end) return;
    const fill = isFuture ? theme.mark : theme.ink;
    paint.rect(x + w - 3.4 * k, y - 2.5 * k, 4 * k, h + 5 * k, {fill, alpha: this.alpha});
    if (stretch.end !== "preempt" || w < 14 * k) return;
    paint.rect(x + w - 12 * k, y, 12.6 * k, h, {fill, alpha: this.alpha});
    paint.glyph("preempt", x + w - 6 * k, y + h / 2, Math.min(5 * k, h * 0.3), theme.paper);
  }

  // Low rows: plain bars, and one line for all that idles.
  drawThin(stretch, step, x, y, w, hue, isFuture) {
    const {paint, theme, height: h, k} = this;
    paint.rect(x, y, w, h, {fill: theme.paper});
    paint.rect(x, y, w, h, {fill: hue.solid, alpha: isFuture ? 0.38 : this.alpha});
    const cap = isFuture ? theme.mark : theme.ink;
    if (step === stretch.to && stretch.end) paint.rect(x + w - 2 * k, y, 2.4 * k, h, {fill: cap, alpha: this.alpha});
  }

  drawThinIdle(first, last, y) {
    const {run, axis, paint, theme, height: h, now} = this;
    for (const [from, to, alpha] of [[first, Math.min(now, last), this.alpha], [Math.max(first, now + 1), last, 0.5]])
      if (from <= to)
        paint.rect(axis.begin(run, from), y + h / 2 - 0.5, axis.end(run, to) - axis.begin(run, from), 1, {fill: theme.idle, alpha});
  }

  drawCellText(stretch, step, x, y, w, hue, isFuture) {
    const {paint, theme, run, k, height: h} = this;
    const isPale = isFuture || this.alpha < 1;
    const fill = isPale ? (isFuture ? theme.ink2 : theme.ink) : hue.on;
    const isPrompt = stretch.isPrompt && step === stretch.from;
    const size = Math.min(16 * k, h * 0.62);
    if (w < 11 * k || size < 8 * k) return;
    const baseline = y + h / 2 + size * 0.35;
    const name = run.sequenceName(stretch.sequence);
    if (w < 44 * k || h < 14 * k) {
      const text = isPrompt ? "P" : paint.measure(name, size, 650) <= w - 4 ? name : "";
      if (text) paint.text(x + w / 2, baseline, text, {size, weight: isPrompt ? 700 : 650, align: "center", fill});
      return;
    }
    let left = x + 11 * k;
    if (isPrompt) {
      paint.rect(x + 4 * k, y + 4 * k, 15 * k, h - 8 * k, {fill: isPale ? hue.solid : hue.on, radius: 3 * k, alpha: isPale ? 0.9 : 1});
      const small = Math.min(12 * k, size * 0.86);
      paint.text(x + 11.5 * k, y + h / 2 + small * 0.36, "P", {size: small, weight: 700, align: "center", fill: isPale ? hue.on : hue.solid});
      left = x + 25 * k;
    }
    const shown = paint.text(left, baseline, name, {size, weight: 700, fill, max: x + w - left - 4 * k});
    const count = this.countText(stretch, step);
    const small = Math.min(13.5 * k, size * 0.85);
    if (left + shown + paint.measure(count, small) + 14 * k <= x + w)
      paint.text(x + w - 9 * k, baseline, count, {size: small, align: "right", fill});
  }

  // "3/5" output tokens after this step; a part of a prompt says how much of it is stored.
  countText(stretch, step) {
    const request = this.run.requests[this.run.requestOf[stretch.sequence]];
    const computed = computedAt(stretch, step);
    if (computed < request.prompt_len) return `${formatNumber(computed)}/${formatNumber(request.prompt_len)}`;
    return `${computed - request.prompt_len + 1}/${request.output_len}`;
  }

  drawIdle(step, x, y, w) {
    const {paint, theme, k, height: h} = this;
    const isFuture = step > this.now;
    const alpha = isFuture ? 0.5 : this.alpha;
    const radius = Math.min(5 * k, h / 5);
    if (w < 3) return paint.rect(x, y + h / 2 - 0.5, w, 1, {fill: theme.idle, alpha});
    paint.rect(x, y, w, h, {fill: theme.paper, radius});
    paint.rect(x + 0.7, y + 0.7, w - 1.4, h - 1.4,
      {fill: paint.pattern("dots"), stroke: theme.idle, width: 1.4, radius, dash: [4 * k, 3 * k], alpha});
    const size = Math.min(13.5 * k, h * 0.6);
    if (w < 44 * k || size < 8 * k) return;
    const room = paint.measure(this.words.idle, size, 650) + 10 * k;
    paint.rect(x + w / 2 - room / 2, y + h / 2 - size * 0.68, room, size * 1.36, {fill: theme.paper, radius: 3});
    paint.text(x + w / 2, y + h / 2 + size * 0.36, this.words.idle,
      {size, weight: isFuture ? 400 : 650, align: "center", fill: theme.ink2, alpha: this.alpha < 1 ? 0.7 : 1});
  }

  // Many places: each column shows the share of them that is busy.
  drawShare() {
    const {paint, theme, run, axis, numRows, pitch, top} = this;
    const height = numRows * pitch;
    const [first, last] = axis.steps(run);
    const hue = theme.hues.P;
    for (let step = first; step <= last; step++) {
      const x = axis.begin(run, step), w = axis.end(run, step) - x;
      const busy = (run.steps.num_scheduled_sequences[step] / numRows) * height;
      const isFuture = step > this.now;
      paint.rect(x, top + height - busy, Math.max(1, w - (w > 5 ? 1.5 : 0)), busy, {fill: hue.solid, alpha: isFuture ? 0.4 : this.alpha});
    }
    this.drawWaits();
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
      const [from, to] = wait[clock].map(value => axis.x(Math.max(axis.from, Math.min(value, axis.to))));
      const name = run.requests[wait.request].id;
      const long = axis.isTime ? formatTime(wait.time[1] - wait.time[0]) : String(wait.steps[1] - wait.steps[0]);
      const isLong = to - from > 70 * k;
      const shown = paint.fit(name, size, 650, 90 * k);
      const text = isLong ? `${shown.text} ${long}` : shown.text;
      const row = taken.findIndex(until => until <= from);
      if (row < 0) continue;
      taken[row] = to + paint.measure(text, size, 650) + 18 * k;
      const y = waitTop + (row * 13 + 7) * k;
      this.drawWait(wait, clock, from, to, y);
      const right = Math.min(to + 5 * k, axis.right - paint.measure(text, size, 650));
      paint.rect(right - 2 * k, y - 6 * k, paint.measure(text, size, 650) + 4 * k, 12 * k, {fill: theme.paper});
      paint.text(right, y + 4.6 * k, text, {size, weight: 650, fill: theme.ink2});
    }
  }

  drawWait(wait, clock, from, to, y) {
    const {paint, theme, run, axis, k} = this;
    const hue = theme.hues[run.hues.of(run.requests[wait.request].first_sequence)];
    const past = Math.max(from, Math.min(to, axis.x(this.clockNow)));
    const dash = wait.isAgain ? [6 * k, 3 * k] : null;
    if (past > from) paint.line([[from, y], [past, y]], {stroke: hue.solid, width: 4 * k, dash, alpha: this.alpha});
    if (to > past) paint.line([[past, y], [to, y]], {stroke: hue.solid, width: 4 * k, dash, alpha: 0.3});
    if (wait[clock][0] < axis.from) return;
    paint.disc(from + 3 * k, y, 4.5 * k, {fill: theme.paper, stroke: hue.solid, width: 2.4 * k});
  }

  drawWaitArea() {
    const {paint, theme, run, axis, waitTop, waitRows, k} = this;
    const {num_waiting: waiting} = run.steps;
    const height = waitRows * 13 * k;
    const most = (run.mostWaiting ??= waiting.reduce((a, b) => Math.max(a, b), 1));
    const [first, last] = axis.steps(run);
    for (let step = first; step <= last; step++) {
      const h = (waiting[step] / most) * height;
      const [x, next] = [axis.begin(run, step), axis.end(run, step)];
      paint.rect(x, waitTop + height - h, next - x, h, {fill: theme.mark, alpha: step > this.now ? 0.35 : this.alpha});
    }
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
