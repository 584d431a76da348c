// The transport bar: buttons, where we are, a line over the whole run with the happenings above it and the numbered lecture
// steps below, the speed. It asks the player to move and never moves anything itself.
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
    this.range.addEventListener("input", () => player.goStep(Number(this.range.value)));
    this.ticks = element("canvas", {"aria-hidden": "true"});
    this.paint = new Paint(this.ticks);
    this.marks = element("div", {class: "kv-marks"});
    this.speed = element("b");
    const slower = button("slower", "[", () => player.changeSpeed(-1), "kv-key");
    const faster = button("faster", "]", () => player.changeSpeed(1), "kv-key");
    this.element = element("div", {class: "kv-transport"},
      element("div", {class: "kv-buttons"},
        button("start", icon("M5 5h2.6v14H5z", "M19 5L9 12L19 19z"), () => player.goStep(0)),
        button("back", icon("M17.5 5L7 12L17.5 19z"), () => player.move(-1)), this.play,
        button("forward", icon("M7 5L17.5 12L7 19z"), () => player.move(1))),
      element("div", {class: "kv-where"}, this.where, this.time),
      element("div", {class: "kv-line"}, this.ticks, this.range, this.marks),
      element("div", {class: "kv-speed"}, this.speed, element("span", {}, words.transport.speed + " ", slower, faster)));
  }

  setRun(run) {
    this.run = run;
    this.happenings = TICKS.flatMap(([kind, glyph]) => {
      const number = HAPPENING[kind];
      return [...run.happenings.event].filter((_, i) => run.happenings.kind[i] === number)
        .map(event => ({step: Math.min(run.numSteps, run.firstStepShowing(event)), glyph}));
    });
    this.range.max = Math.max(1, run.numSteps);
    const bookmarks = run.bookmarks;
    this.marks.replaceChildren(...bookmarks.map((bookmark, i) => {
      const label = this.words.transport.bookmark(i + 1, bookmark.text);
      const node = element("button", {type: "button", "aria-label": label, title: bookmark.text, "data-bookmark": i + 1}, String(i + 1));
      node.addEventListener("click", () => this.player.goBookmark(i));
      return node;
    }));
    this.tickMark = null;
  }

  draw(frame, view) {
    const {words} = this;
    const {run, step} = frame;
    const name = step < 0 ? words.start : step >= run.numSteps ? words.done : words.iteration(step);
    const time = run.numSteps && step >= 0 ? formatTime(run.endTime[frame.column]) : "";
    setText(this.where, name);
    setText(this.time, [words.ofSteps(run.numSteps), time].filter(Boolean).join(" · "));
    const position = Math.max(0, Math.min(step, run.numSteps));
    if (Number(this.range.value) !== position) this.range.value = position;
    this.range.style.setProperty("--kv-share", `${(position / Math.max(1, run.numSteps)) * 100}%`);
    setAttribute(this.range, "aria-valuetext", words.transport.value(name, run.numSteps, time));
    const {isPlaying} = this.player;
    const action = isPlaying ? "pause" : frame.isDone ? "again" : "play";
    if (this.play.dataset.action !== action) {
      this.play.dataset.action = action;
      setAttribute(this.play, "aria-label", words.transport[action]);
      this.play.title = words.transport[action];
      this.play.replaceChildren(icon(...PLAY_ICONS[action]));
    }
    setText(this.speed, words.transport.perSecond(this.player.speed));
    if (this.version !== view.version) {
      this.version = view.version;
      this.room = [this.ticks.clientWidth, this.ticks.clientHeight];
    }
    this.drawTicks(position, view);
    this.placeMarks(view);
  }

  // Glyphs of one kind closer than 6 px merge into one with a count; a crowded line keeps its rarest kinds.
  drawTicks(position, {theme, k}) {
    const [width, height] = this.room;
    const x = step => 10 * k + (step / Math.max(1, this.run.numSteps)) * (width - 20 * k);
    const layout = `${width} ${k}`;
    if (this.tickMark !== layout) {
      this.tickMark = layout;
      this.merged = thinOut(mergeTicks(this.happenings, x, 6 * k), width, 11 * k);
    }
    this.paint.begin(theme, width, height);
    const y = height - 11 * k;
    for (const {at, step, glyph} of [...this.merged].reverse()) {
      const fill = step <= position ? theme.ink : theme.mark;
      this.paint.line([[at, y + 6 * k], [at, y + 11 * k]], {stroke: theme.mark});
      this.paint.glyph(glyph, at, y, 4.2 * k, fill);
    }
    this.merged.forEach(({at, count, step}, i) => {
      const next = this.merged.reduce((nearest, other, j) => (j !== i && other.at >= at ? Math.min(nearest, other.at) : nearest), Infinity);
      const text = count > 1 ? formatNumber(count) : "";
      if (text && next - at > 12 * k + this.paint.measure(text, 10.5 * k, 600))
        this.paint.text(at + 6 * k, y + 3.6 * k, text, {size: 10.5 * k, weight: 600, fill: step <= position ? theme.ink : theme.ink3});
    });
  }

  placeMarks({k}) {
    const [width] = this.room;
    const mark = `${width} ${k} ${this.run.numSteps}`;
    if (this.placed === mark && this.placedFor === this.run) return;
    this.placed = mark;
    this.placedFor = this.run;
    let free = -Infinity;
    this.run.bookmarks.forEach((bookmark, i) => {
      const wanted = 10 * k + (Math.max(0, bookmark.place.step) / Math.max(1, this.run.numSteps)) * (width - 20 * k);
      const at = Math.max(free, wanted);
      free = at + 19 * k;
      this.marks.children[i].style.left = at + "px";
    });
  }
}

const PLAY_ICONS = {
  play: ["M7 4.5L20 12L7 19.5z"],
  pause: ["M6.5 5h4v14h-4z", "M13.5 5h4v14h-4z"],
  again: ["M12 5a7 7 0 1 0 7 7h-2.6a4.4 4.4 0 1 1-4.4-4.4v3.2l5.4-4.6L12 1.6z"],
};

// [{at, step, glyph, count}], rarest kinds first.
function mergeTicks(happenings, x, nearest) {
  const merged = [];
  const last = new Map();
  for (const {step, glyph} of happenings) {
    const at = x(step);
    const before = last.get(glyph);
    if (before && Math.abs(at - before.at) < nearest) { before.count++; continue; }
    const tick = {at, step, glyph, count: 1};
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
