// The picture of Compare: empty lanes, the line of the moment and the axis on one canvas, cells, rings and the first difference
// on the one above it, so that a moment that only moves on redraws the lower one alone. The lower half of CompareView.
const BETWEEN = 25;

class ComparePicture {
  // Below the cells: empty lanes, the dashed line of the difference, the yellow line of the moment. It runs through the gaps
  // only, because the cells are drawn over it.
  drawUnder(axis, position, {theme, k}) {
    const [paint] = this.paints;
    paint.begin(theme, ...this.size);
    for (const {box} of this.panes)
      for (let row = 0; row < box.numRows && box.pitch >= 2.5; row++)
        paint.rect(axis.left, box.top + row * box.pitch, this.width, cellHeight(box.pitch, k),
          {fill: theme.panel, radius: Math.min(5 * k, box.pitch / 5)});
    const ticks = axis.ticks(60 * k);
    const now = axis.x(momentOn(axis, position));
    const tag = Math.max(31 * k, paint.measure(momentText(this.player.course, position, this.player.words), 14 * k, 700) / 2 + 9 * k) + 4 * k;
    ticks.forEach(({x, text}, i) => {
      const label = i === ticks.length - 1 && axis.isTime ? `${text} ${axisUnit(axis)}` : text;
      if (Math.abs(x - now) < tag + paint.measure(label, 12 * k) / 2) return;
      paint.line([[x, this.axisTop + 14 * k], [x, this.axisTop + 19 * k]], {stroke: theme.mark});
      const half = paint.measure(label, 12 * k) / 2;
      paint.text(Math.min(x, this.size[0] - half), this.axisTop + 33 * k, label, {size: 12 * k, align: "center", fill: theme.ink3});
    });
    for (const {box} of this.panes) {
      const bottom = box === this.panes.at(-1).box ? this.axisTop + 12 * k : box.bottom + BETWEEN * 0.8 * k;
      paint.nowLine([[now, box.top - 5 * k], [now, bottom]], 3.6 * k);
    }
  }

  drawOver(axis, panes, told, view) {
    const {theme, k, words} = view;
    const {selection} = this.player;
    const mark = [view.version, axis.from, axis.to, nameOf(selection.selected), nameOf(selection.pointed), ...told.subjects,
      ...panes.flatMap(({frame}) => [frame.event, frame.step, frame.isGap]), this.waitMark(axis, panes)].join();
    if (this.overMark === mark) return;
    this.overMark = mark;
    const paint = this.paints[1];
    paint.begin(theme, ...this.size);
    const rings = [];
    panes.forEach((pane, i) => {
      const painter = new PlacePainter(paint, axis, pane, pane.box, view);
      painter.clockNow = momentOn(axis, this.player.position);
      const bleed = axis.from > 0 ? 0 : 8 * k;
      paint.clipped(axis.left - bleed, 0, this.width + bleed + 4 * k, this.size[1], () => painter.draw());
      rings.push(...painter.ringBoxes(told.subjects[i]));
      this.drawLabels(paint, pane, view);
    });
    paint.rings(rings.map(([x, y, w, h, radius]) => [Math.max(axis.left, x), y, Math.min(w, axis.right - x), h, radius]), 0.85 * k);
    this.drawSelected(paint, axis, panes, view);
    if (this.difference && axis.holds(this.difference.at)) {
      const x = Math.max(axis.left, axis.x(this.difference.at) - 1.2 * k);
      for (const {box} of panes)
        paint.line([[x, box.top - 3 * k], [x, box === panes.at(-1).box ? box.waitTop : box.bottom + 2 * k]],
          {stroke: theme.ink, width: 2 * k, dash: [5 * k, 4 * k]});
    }
    setAttribute(this.above, "aria-label", words.compare.label(panes.map(pane => pane.run.name).join(words.listLast), told.tag));
  }

  // The moment while somebody waits: then a line grows.
  waitMark(axis, panes) {
    const {time} = this.player.position;
    const isGrowing = ({places}) => places.waits.some(wait => wait.time[0] <= time && wait.time[1] >= time);
    return axis.isTime && panes.some(isGrowing) ? time : 0;
  }

  drawLabels(paint, {box}, {theme, k, words}) {
    const {compare} = words;
    const size = Math.min(14 * k, Math.max(11.5 * k, box.pitch * 0.5));
    const every = Math.max(1, Math.ceil((13 * k) / box.pitch));
    const right = this.left - 8 * k;
    if (box.pitch < 2.5) paint.text(0, box.top + 12 * k, compare.places(box.numRows), {size, fill: theme.ink2, max: right});
    else for (let row = 0; row < box.numRows; row += every)
      paint.text(0, box.top + (row + 0.5) * box.pitch + size * 0.2, words.place(row + 1), {size, fill: theme.ink2, max: right});
    if (box.waitRows) paint.text(0, box.waitTop + 13 * k, compare.waiting, {size: Math.max(11.5 * k, size), fill: theme.ink2, max: right});
  }

  drawSelected(paint, axis, panes, {k}) {
    const {selection} = this.player;
    for (const pane of panes)
      selection.outline(paint, pane.frame, k, ({sequences}) =>
        [...this.visibleCells(axis, pane)].filter(cell => sequences.has(cell.sequence)).map(({box}) => box));
  }

  // {sequence, box} of the stretches on this page.
  * visibleCells(axis, {run, places, box}) {
    const [first, last] = axis.steps(run);
    const height = cellHeight(box.pitch, this.player.view.k);
    for (const [seat, row] of places.rows.entries())
      for (const stretch of row) {
        if (stretch.to < first || stretch.from > last || last < 0) continue;
        const x = Math.max(axis.left, axis.begin(run, Math.max(first, stretch.from)));
        const end = Math.min(axis.right, axis.end(run, Math.min(last, stretch.to)) - 2.5);
        yield {sequence: stretch.sequence, box: [x, box.top + seat * box.pitch, end - x, height, 4]};
      }
  }

  pick(x, y) {
    for (const pane of this.panes)
      for (const {sequence, box: [left, top, width, height]} of this.axis ? this.visibleCells(this.axis, pane) : [])
        if (x >= left && x <= left + width && y >= top && y <= top + height) return {kind: "s", id: sequence, run: pane.run};
    return null;
  }

  placeFlag(axis, {k}) {
    const {difference, flag, player} = this;
    const mark = `${axis.from} ${axis.to} ${this.version} ${axis.isTime}`;
    if (this.flagMark === mark) return;
    this.flagMark = mark;
    flag.hidden = !difference || !axis.holds(difference.at) || this.panes.length < 2;
    if (flag.hidden) return;
    const {words} = player;
    const where = axis.isTime ? formatTime(difference.at) : words.inIteration(difference.at);
    flag.title = difference.text;
    const x = Math.max(axis.left, axis.x(difference.at) - 2.2 * k);
    const {bottom} = this.panes[0].box;
    flag.style.top = bottom + 2 * k + "px";
    flag.style.maxWidth = this.width + "px";
    setText(flag, "≠ " + words.compare.flag(where, difference.text));
    if (flag.scrollWidth > flag.clientWidth) setText(flag, `≠ ${where}: ${difference.text}`);
    flag.style.left = clamp(x, axis.left, axis.right - flag.offsetWidth) + "px";
  }

  placeNow(axis, position, {k}) {
    const {words, course} = this.player;
    setText(this.moment, momentText(course, position, words));
    const x = axis.x(momentOn(axis, position));
    this.moment.style.top = this.axisTop + 17 * k + "px";
    this.moment.style.left = x + "px";
  }
}

// Where the moment stands on the axis: a time, or the middle of a step.
function momentOn(axis, position) { return axis.isTime ? position.time : Math.max(0, position.step) + (position.step < 0 ? 0 : 0.5); }
