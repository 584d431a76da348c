// The transport bar: buttons, where we are, a line over the whole run with the happenings above it and, below, the
// numbered lecture steps or the happenings of the other panes, the speed. It asks the player to move and never moves anything itself.
const TICKS = [["rejected", "reject"], ["preempted", "preempt"], ["copied", "copy"], ["admitted", "admit"], ["resumed", "admit"],
  ["finished", "finish"]];

class Transport {
  constructor(player, words) {
    this.player = player;
    this.words = words;
    const button = (name, picture, action, className = "") => {
      const label = words.transport[name];
      const attributes = {type: "button", class: "kv-button " + className, "aria-label": label, title: label, "data-action": name};
      const node = element("button", attributes, picture);
      node.addEventListener("click", action);
      return node;
    };
    this.play = button("play", icon("M7 4.5L20 12L7 19.5z"), () => player.togglePlay(), "kv-play");
    this.where = element("b");
    this.time = element("span");
    this.range = element("input", {type: "range", min: 0, max: 1, step: 1, value: 0, "aria-label": words.transport.scrub});
    this.range.addEventListener("input", () => player.scrub(Number(this.range.value)));
    this.rails = ["kv-above", "kv-below"].map(name => {
      const canvas = element("canvas", {"aria-hidden": "true", class: name});
      return {canvas, paint: new Paint(canvas), happenings: []};
    });
    this.marks = element("div", {class: "kv-marks"});
    this.clock = button("clock", "t", () => player.toggleClock(), "kv-key");
    this.speed = element("b");
    const slower = button("slower", "[", () => player.changeSpeed(-1), "kv-key");
    const faster = button("faster", "]", () => player.changeSpeed(1), "kv-key");
    this.element = element("div", {class: "kv-transport"},
      element("div", {class: "kv-buttons"},
        button("start", icon("M5 5h2.6v14H5z", "M19 5L9 12L19 19z"), () => player.goStart()),
        button("back", icon("M17.5 5L7 12L17.5 19z"), () => player.move(-1)), this.play,
        button("forward", icon("M7 5L17.5 12L7 19z"), () => player.move(1))),
      element("div", {class: "kv-where"}, this.where, this.clock, this.time),
      element("div", {class: "kv-line"}, ...this.rails.map(rail => rail.canvas), this.range, this.marks),
      element("div", {class: "kv-speed"}, this.speed, element("span", {}, words.transport.speed + " ", slower, faster)));
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
    this.marks.replaceChildren(...this.bookmarks.map((bookmark, i) => {
      const label = this.words.transport.bookmark(i + 1, bookmark.text);
      const node = element("button", {type: "button", "aria-label": label, title: bookmark.text, "data-bookmark": i + 1}, String(i + 1));
      node.addEventListener("click", () => this.player.goBookmark(i));
      return node;
    }));
    for (const rail of this.rails) rail.mark = null;
    this.placed = null;
  }

  draw(shown, view) {
    const {words, course, player} = this;
    const {isTime} = course;
    const at = Math.max(0, Math.min(course.at(player.position), course.length));
    const [name, detail] = isTime ? this.timeTexts(shown) : this.stepTexts(shown);
    setText(this.where, name);
    setText(this.time, detail);
    setAttribute(this.clock, "aria-pressed", isTime);
    if (Number(this.range.value) !== at) this.range.value = at;
    this.range.style.setProperty("--kv-share", `${(at / (course.length || 1)) * 100}%`);
    setAttribute(this.range, "aria-valuetext", `${name} ${detail}`);
    const action = player.isPlaying ? "pause" : player.isDone ? "again" : "play";
    if (this.play.dataset.action !== action) {
      this.play.dataset.action = action;
      setAttribute(this.play, "aria-label", words.transport[action]);
      this.play.title = words.transport[action];
      this.play.replaceChildren(icon(...PLAY_ICONS[action]));
    }
    setText(this.speed, player.isFollowing ? words.transport.follow
      : isTime ? words.transport.timePerSecond(formatTime(player.clock.speed)) : words.transport.perSecond(player.clock.speed));
    if (this.version !== view.version) {
      this.version = view.version;
      for (const rail of this.rails) rail.room = [rail.canvas.clientWidth, rail.canvas.clientHeight];
    }
    this.rails.forEach((rail, i) => this.drawTicks(rail, i === 1, at, view));
    this.placeMarks(view);
  }

  // "Iteration 3", "of 9 · 54 ms".
  stepTexts(shown) {
    const {words, course} = this;
    const {step} = this.player.position;
    const {run, frame} = this.player.lead;
    const isEnd = step >= course.numSteps;
    const name = step < 0 ? words.start : isEnd ? (shown.some(pane => pane.run.isRunning) ? words.runningNow : words.done) : words.iteration(step);
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

  // Glyphs of one kind closer than 6 px merge into one with a count; a crowded line keeps its rarest kinds.
  drawTicks(rail, isBelow, position, {theme, k}) {
    const {paint, room: [width, height]} = rail;
    const layout = `${width} ${k}`;
    if (rail.mark !== layout) {
      rail.mark = layout;
      rail.merged = thinOut(mergeTicks(rail.happenings, value => this.scale(value, width, k), 6 * k), width, 11 * k);
    }
    if (isBelow && !rail.merged.length && !rail.isDrawn) return;
    rail.isDrawn = rail.merged.length > 0;
    paint.begin(theme, width, height);
    const y = isBelow ? 11 * k : height - 11 * k;
    const side = isBelow ? -1 : 1;
    for (const {at, value, glyph} of [...rail.merged].reverse()) {
      const fill = value <= position ? theme.ink : theme.mark;
      paint.line([[at, y + 6 * k * side], [at, y + 11 * k * side]], {stroke: theme.mark});
      paint.glyph(glyph, at, y, 4.2 * k, fill);
    }
    rail.merged.forEach(({at, count, value}, i) => {
      const next = rail.merged.reduce((nearest, other, j) => (j !== i && other.at >= at ? Math.min(nearest, other.at) : nearest), Infinity);
      const text = count > 1 ? formatNumber(count) : "";
      const room = paint.measure(text, 10.5 * k, 600);
      if (!text || next - at <= 12 * k + room) return;
      const x = at + 6 * k + room <= width ? at + 6 * k : at - 6 * k - room;
      paint.text(x, y + 3.6 * k, text, {size: 10.5 * k, weight: 600, fill: value <= position ? theme.ink : theme.ink3});
    });
  }

  placeMarks({k}) {
    const [width] = this.rails[0].room;
    const mark = `${width} ${k}`;
    if (this.placed === mark) return;
    this.placed = mark;
    let free = -Infinity;
    const {course} = this;
    this.bookmarks.forEach((bookmark, i) => {
      const wanted = this.scale(course.at(course.positionOf(course.shown[0].run, bookmark.place)), width, k);
      const at = Math.max(free, wanted);
      free = at + 19 * k;
      this.marks.children[i].style.left = at + "px";
    });
  }
}

// [{value on the clock, glyph}] of the panes, kind by kind, the rarest first.
function happeningsOf(course, panes) {
  return TICKS.flatMap(([kind, glyph]) => panes.flatMap(({run}) => {
    const number = HAPPENING[kind];
    return [...run.happenings.event].filter((_, i) => run.happenings.kind[i] === number)
      .map(event => ({value: Math.min(course.length, course.valueOf(run, event)), glyph}));
  }).sort((a, b) => a.value - b.value));
}

const PLAY_ICONS = {
  play: ["M7 4.5L20 12L7 19.5z"],
  pause: ["M6.5 5h4v14h-4z", "M13.5 5h4v14h-4z"],
  again: ["M12 5a7 7 0 1 0 7 7h-2.6a4.4 4.4 0 1 1-4.4-4.4v3.2l5.4-4.6L12 1.6z"],
};

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
  const common = new Set(TICKS.map(([, glyph]) => glyph).filter(glyph => buckets(glyph) > width / room / 2));
  const kept = [];
  for (const tick of merged)
    if (!common.has(tick.glyph) && kept.every(other => Math.abs(other.at - tick.at) >= room)) kept.push(tick);
  return kept;
}
