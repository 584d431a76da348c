// The transport bar: buttons, where we are, a line over the whole run with the happenings above it and, below, the
// lecture steps as pins or the happenings of the other panes, the speed. It asks the player to move and never moves anything itself.
class Transport {
  constructor(player, words) {
    this.player = player;
    this.words = words;
    const control = (name, action, className = "kv-button", picture = icon(words.icons[name])) =>
      button(picture, action, {label: words.transport[name], class: className, "data-action": name});
    this.play = control("play", () => player.togglePlay(), "kv-button kv-play");
    this.where = element("b");
    this.time = element("span");
    this.range = element("input", {type: "range", min: 0, max: 1, step: 1, value: 0, "aria-label": words.transport.scrub});
    this.range.addEventListener("input", () => player.scrub(Number(this.range.value)));
    this.rails = ["kv-above", "kv-below"].map(name => {
      const canvas = element("canvas", {"aria-hidden": "true", class: name});
      return {canvas, paint: new Paint(canvas), happenings: []};
    });
    this.marks = element("div", {class: "kv-marks"});
    this.clock = control("clock", () => player.toggleClock(), "kv-key", "t");
    this.speed = element("b");
    this.line = element("div", {class: "kv-line"}, ...this.rails.map(rail => rail.canvas), this.range, this.marks);
    this.line.addEventListener("pointermove", event => {
      const [x, y] = pointIn(this.line, event);
      this.line.title = this.tickText(x, y >= this.line.offsetHeight / 2);
    });
    this.place = element("div", {class: "kv-where"}, this.where, this.clock, this.time);
    this.element = element("div", {class: "kv-transport"},
      element("div", {class: "kv-buttons"},
        control("start", () => player.goStart()), control("back", () => player.move(-1)), this.play, control("forward", () => player.move(1))),
      this.place, this.line,
      element("div", {class: "kv-speed"}, this.speed,
        control("slower", () => player.changeSpeed(-1), "kv-key", "["), control("faster", () => player.changeSpeed(1), "kv-key", "]"),
        button(words.keysButton, () => player.dialogs.open("help"), {class: "kv-key", title: words.help})));
  }

  // What happens above the line in the first pane shown, below it in the others; lecture steps only for one pane.
  setCourse(course) {
    this.course = course;
    const [first, ...others] = course.shown;
    this.rails[0].happenings = happeningsOf(course, [first]);
    this.rails[1].happenings = happeningsOf(course, others);
    this.range.step = course.isTime ? "any" : 1;
    this.range.max = course.length || 1;
    this.bookmarks = others.length ? [] : first.run.bookmarks;
    this.marks.replaceChildren(...this.bookmarks.map(({text}, i) => button(String(i + 1), () => this.player.goBookmark(i),
      {"aria-label": this.words.transport.bookmark(i + 1, text), "data-bookmark": i + 1, "data-text": text})));
    this.version = null;
  }

  draw(shown, view) {
    const {words, course, player} = this;
    const {isTime} = course;
    const at = clamp(course.at(player.position), 0, course.length);
    const [name, detail] = isTime ? this.timeTexts(shown) : this.stepTexts(shown);
    setText(this.where, name);
    setText(this.time, detail);
    setAttribute(this.clock, "aria-pressed", isTime);
    if (Number(this.range.value) !== at) this.range.value = at;
    this.range.style.setProperty("--kv-share", `${(at / (course.length || 1)) * 100}%`);
    const action = player.isPlaying ? "pause" : player.isDone ? "again" : "play";
    if (this.play.dataset.action !== action) {
      this.play.dataset.action = action;
      setAttribute(this.play, "aria-label", words.transport[action]);
      this.play.title = words.transport[action];
      this.play.replaceChildren(icon(words.icons[action]));
    }
    setText(this.speed, player.isFollowing ? words.transport.follow
      : words.transport.perSecond(isTime ? formatTime(player.clock.speed) : player.clock.speed));
    if (this.version !== view.version) this.arrange(view);
    const here = this.tickText(this.scale(at, this.rails[0].room[0], view.k));
    setAttribute(this.range, "aria-valuetext", [`${name} ${detail}`, here].filter(Boolean).join(" · "));
    this.rails.forEach((rail, i) => this.drawTicks(rail, i === 1, at, view));
  }

  // Sizes: room for the longest name of a moment, where the glyphs and the pins stand.
  arrange(view) {
    const {k} = view;
    const {course, rails: [{paint}]} = this;
    this.version = view.version;
    paint.begin(view.theme, 1, 1);
    const longest = Math.max(paint.measure(this.words.iteration(course.numSteps), 17 * k, 700), paint.measure(`of ${formatNumber(course.numSteps)} · ${formatTime(Math.max(0.888, course.endTime))}`, 12.5 * k) + 34 * k);
    this.place.style.minWidth = longest + 22 * k + "px";
    for (const rail of this.rails) {
      rail.room = [rail.canvas.clientWidth, rail.canvas.clientHeight];
      const [width] = rail.room;
      rail.merged = thinOut(mergeTicks(rail.happenings, value => this.scale(value, width, k), 6 * k), width, 11 * k)
        .filter((tick, i, all) => (tick.all = all.filter(({at}) => at === tick.at))[0] === tick);
    }
    let free = -Infinity;
    this.bookmarks.forEach((bookmark, i) => {
      const [width] = this.rails[0].room;
      const at = Math.max(free, this.scale(course.at(course.positionOf(course.shown[0].run, bookmark.place)), width, k));
      free = at + 20 * k;
      const pin = this.marks.children[i];
      pin.style.left = at + "px";
      pin.classList.toggle("kv-leftward", at > width / 2);
    });
  }

  // "Iteration 3", "of 9 · 54 ms".
  stepTexts(shown) {
    const {words, course} = this;
    const {step} = this.player.position;
    const {run, frame} = this.player.lead;
    const isEnd = step >= course.numSteps;
    const name = step < 0 ? words.start : isEnd ? (this.player.isRunning ? words.runningNow : words.done) : words.iteration(step);
    const time = shown.length < 2 && run.numSteps && step >= 0 ? formatTime(run.endTime[frame.column]) : "";
    return [name, [words.ofSteps(course.numSteps), time].filter(Boolean).join(" · ")];
  }

  // "60 ms", "iteration 3 | 4".
  timeTexts(shown) {
    const steps = shown.map(({frame, run}) => (frame.isStart ? "–" : formatNumber(Math.min(frame.step, run.numSteps - 1) + 1)));
    const list = steps.join(" | ");
    return [formatTime(this.player.position.time), list.length > 12 ? list : this.words.iterations(list)];
  }

  // Left edge of a value in pixels.
  scale(value, width, k) { return 10 * k + (Math.max(0, value) / (this.course.length || 1)) * (width - 20 * k); }

  // Glyphs of one kind closer than 6 px merge into one with a count, and so do all kinds at one place, where the rarest two are
  // drawn, one beyond the other; a crowded line keeps its rarest kinds.
  drawTicks(rail, isBelow, position, {theme, k}) {
    const {paint, merged, room: [width, height]} = rail;
    if (isBelow && !merged.length && !rail.isDrawn) return;
    rail.isDrawn = merged.length > 0;
    paint.begin(theme, width, height);
    const y = isBelow ? 11 * k : height - 11 * k;
    const side = isBelow ? -1 : 1;
    for (const {at, value, all} of [...merged].reverse()) {
      paint.line([[at, y + 6 * k * side], [at, y + 11 * k * side]], {stroke: theme.mark});
      all.slice(0, 2).forEach(({glyph}, i) =>
        paint.glyph(glyph, at, y - 9.4 * i * side * k, (glyph === "reject" ? 5.6 : i ? 3.6 : 4.2) * k, value <= position ? theme.ink : theme.mark));
    }
    const size = 10.5 * k;
    for (const {at, all, value} of merged) {
      const count = all.reduce((sum, tick) => sum + tick.count, 0);
      if (count < 2) continue;
      const text = formatNumber(count), room = paint.measure(text, size, 600) + 6 * k;
      const x = [at + 6 * k, at - room].find(left => left >= 0 && left + room <= width + 4 * k
        && merged.every(other => other.at === at || other.at < left - 5 * k || other.at > left + room + 3 * k));
      const style = {size, weight: 600, fill: value <= position ? theme.ink : theme.ink3};
      if (x !== undefined) paint.text(x, y + 3.6 * k, text, style);
      else if (all.length < 2) paint.text(at, y + (isBelow ? 13 : -5.4) * k, text, {...style, align: "center"});
    }
  }

  // What the glyph at a place above or below the line, or else the one across it, stands for.
  tickText(x, isBelow) {
    const {words, course} = this;
    const rails = isBelow ? [...this.rails].reverse() : this.rails;
    const tick = rails.flatMap(({merged}) => merged ?? []).find(({at}) => Math.abs(at - x) <= 5 * this.player.view.k);
    return (tick?.all ?? []).map(({glyph, count, value}) =>
      (count > 1 ? words.ticks : words.tick)(words.glyphs[glyph], count, course.isTime ? formatTime(value) : words.inIteration(Math.min(value, course.numSteps - 1)))).join(" · ");
  }
}

// [{value on the clock, glyph}] of the panes, kind by kind, the rarest first.
function happeningsOf(course, panes) {
  return VOCABULARY.ticks.flatMap(([kind, glyph]) => panes.flatMap(({run}) =>
    Array.from(run.eventsOf(kind), event => ({value: Math.min(course.length, course.valueOf(run, event)), glyph})))
    .sort((a, b) => a.value - b.value));
}

// [{at, value, glyph, count}], rarest kinds first.
function mergeTicks(happenings, x, nearest) {
  const merged = [];
  const last = new Map();
  for (const {value, glyph} of happenings) {
    const at = x(value);
    const before = last.get(glyph);
    if (before && Math.abs(at - before.at) < nearest) { before.count++; continue; }
    const tick = {at, value, glyph, count: 1};
    last.set(glyph, tick);
    merged.push(tick);
  }
  return merged;
}

// On a crowded line kinds that are everywhere are no landmarks and go; of what is left the rarest in reach stays.
function thinOut(merged, width, room) {
  if (merged.length <= width / (2 * room)) return merged;
  const buckets = kind => new Set(merged.filter(tick => tick.glyph === kind).map(tick => Math.floor(tick.at / room))).size;
  const common = new Set(VOCABULARY.ticks.map(([, glyph]) => glyph).filter(glyph => buckets(glyph) > width / room / 2));
  const kept = [];
  for (const tick of merged)
    if (!common.has(tick.glyph) && kept.every(other => Math.abs(other.at - tick.at) >= room)) kept.push(tick);
  return kept;
}
