// Compare: the lanes of all panes one above the other on one axis, their numbers at the right, their memory side by side, the
// first difference as a dashed line with a flag. Places and sizes follow from the runs, so nothing jumps while they play.
const HEAD = 25, AXIS_ROOM = 44, WAIT_ROW = 13, LABEL_ROOM = 92;

class CompareView extends ComparePicture {
  constructor(player) {
    super();
    this.player = player;
    const {words} = player;
    const pill = (name, action) => button(words.compare.pills[name], action, {class: "kv-pill", title: words.compare.pillTitles[name]});
    this.pills = {memory: pill("memory", () => this.toggleMemory()), steps: pill("steps", () => player.toggleClock(false)),
      time: pill("time", () => player.toggleClock(true))};
    this.switches = Object.values(this.pills);
    this.memory = element("div", {class: "kv-memories"});
    const canvas = name => element("canvas", {class: name});
    this.below = canvas("kv-under");
    this.above = canvas("kv-over");
    this.above.setAttribute("role", "img");
    this.above.pick = (x, y) => this.pick(x, y);
    this.paints = [new Paint(this.below), new Paint(this.above)];
    this.flag = element("div", {class: "kv-flag", hidden: ""});
    this.moment = element("div", {class: "kv-moment"});
    this.area = element("div", {class: "kv-area"}, this.below, this.above, this.flag, this.moment);
    this.element = element("div", {class: "kv-compare"}, this.memory, this.area);
    this.panes = [];
  }

  setPanes(panes) {
    this.panes = panes;
    for (const pane of this.drawn ?? []) pane.close?.();
    this.drawn = [];
    this.memory.replaceChildren();
    for (const node of [...this.area.querySelectorAll(".kv-pane")]) node.remove();
    if (!panes.length) return;
    const {words, view} = this.player;
    for (const pane of panes) {
      pane.places ??= new Places(pane.run);
      pane.numbers = new PaneNumbers();
      pane.title = button(pane.run.name, () => this.player.choosePane(pane.index), {class: "kv-pane-name", dir: "auto", title: pane.run.name});
      pane.say = element("p", {class: "kv-pane-say"});
      pane.sayMark = null;
      pane.element = element("section", {class: "kv-pane", "data-pane": pane.index + 1, "aria-label": pane.run.name},
        pane.title, pane.say, pane.numbers.element);
      pane.element.kvRun = pane.run;
      this.area.append(pane.element);
    }
    const most = Math.max(...panes.map(pane => pane.places.rows.length));
    for (const pane of panes) {
      const limit = pane.run.header.settings?.max_num_seqs ?? null;
      pane.hasLimit = limit !== null;
      pane.numPlaces = limit === null ? pane.places.rows.length : Math.min(limit, most);
    }
    this.hasWaits = panes.some(pane => pane.places.waits.some(wait => wait.time[1] > wait.time[0] || wait.steps[1] > wait.steps[0]));
    this.isMemory = differsInMemory(panes) || !most;
    const isShown = this.wantsMemory ?? (this.isMemory || panes[0].run.player.showsWords != null);
    this.pills.memory.setAttribute("aria-pressed", isShown);
    this.memory.hidden = !isShown;
    if (isShown) this.drawn = panes.map(pane => this.memoryPanel(pane, view));
    this.difference = differenceOf(panes, this.player.clock.isTime);
    this.subjects = this.flagMark = this.overMark = null;
    setAttribute(this.above, "aria-label", words.compare.label(panes.map(pane => pane.run.name).join(words.listLast), ""));
  }

  // The blocks, strips or words of a pane: the same panel as on the Stage, with a view of its own.
  memoryPanel(pane, view) {
    const panel = panelsFor(pane.run).findLast(({name}) => name === "blocks" || name === "strips" || name === "words");
    const box = new PanelBox(panel);
    box.element.kvRun = pane.run;
    this.memory.append(box.element);
    const own = Object.create(view, {pane: {value: pane.index}});
    const drawn = panel.create(own, box);
    return {...drawn, draw: () => {
      drawn.draw(pane.frame);
      setText(box.remark, box.heading.textContent);
      setText(box.heading, pane.run.name);
    }};
  }

  toggleMemory() {
    this.wantsMemory = this.memory.hidden;
    this.player.showPanes();
    this.player.redraw();
  }

  reset() { return this.drawn.map(panel => panel.reset?.()).some(Boolean); }

  draw(panes, position) {
    const {player} = this;
    const {view, course, words, clock, notice, layout} = player;
    course.now = position;
    for (const [name, isOn] of [["steps", !clock.isTime], ["time", clock.isTime]]) setAttribute(this.pills[name], "aria-pressed", isOn);
    const told = compareSentence(panes, course, position, words);
    if (notice) layout.sentence.show(player.noticeTag, "", noticeNodes(notice), {isNotice: true});
    else layout.sentence.show(told.tag, told.place, told.nodes);
    for (const panel of this.drawn) panel.draw();
    if (this.version !== view.version) {
      this.version = view.version;
      this.arrange(view);
    }
    this.drawTexts(panes, position, told, view);
    const axis = new Axis(course, position, this.left, this.width, view.k);
    this.axis = axis;
    this.drawUnder(axis, position, view);
    this.drawOver(axis, panes, told, view);
    this.placeFlag(axis, view);
    this.placeNow(axis, position, view);
  }

  // Sizes: heading, places and waiting lines of each pane, the numbers beside them, the axis at the bottom.
  arrange({k}) {
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    const isStacked = this.player.root.classList.contains("kv-stacked");
    const numbers = isStacked ? 0 : Math.min(284 * k, width * 0.3);
    this.size = [width, height];
    this.left = (isStacked ? 62 : LABEL_ROOM) * k;
    this.width = width - this.left - (numbers ? numbers + 36 * k : 0);
    const count = this.panes.length;
    const below = isStacked ? 84 * k : 0;
    const room = height - (AXIS_ROOM + HEAD * count + BETWEEN * (count - 1)) * k - count * below;
    const perPane = room / count;
    this.waitRows = this.hasWaits ? (perPane > 110 * k ? 2 : 1) : 0;
    const wait = this.waitRows ? this.waitRows * WAIT_ROW * k + 4 * k : 0;
    const lanes = pane => pane.numPlaces * clamp((perPane - wait) / Math.max(1, pane.numPlaces), 0.2, 44 * k);
    let y = 0;
    const most = HEAD * k + Math.max(...this.panes.map(lanes)) + wait;
    const spare = Math.max(0, (height - AXIS_ROOM * k - (most + below) * count - BETWEEN * k * (count - 1)) / count);
    this.panes.forEach((pane, i) => {
      const [top, used] = [y + HEAD * k, HEAD * k + lanes(pane) + wait];
      pane.box = {y, top, pitch: lanes(pane) / Math.max(1, pane.numPlaces), numRows: pane.numPlaces, hasNoIdle: !pane.hasLimit,
        waitRows: this.waitRows, waitTop: top + lanes(pane), bottom: y + used};
      const room = used + below + (below && i === count - 1 ? AXIS_ROOM * k : 0);
      Object.assign(pane.element.style, {top: y + "px", height: room + "px", paddingLeft: this.left + "px"});
      const row = Math.min(38 * k, (most + Math.min(spare, 16 * k) + BETWEEN * k - HEAD * k) / 4);
      const style = pane.numbers.element.style;
      style.width = isStacked ? "100%" : numbers + "px";
      style.setProperty("--kv-row", row + "px");
      y += most + Math.min(spare, 16 * k) + BETWEEN * k + below;
    });
    this.axisTop = this.panes.at(-1).box.bottom;
  }

  drawTexts(panes, position, told, {k}) {
    const {player} = this;
    const {course, words} = player;
    const {compare} = words;
    const selected = player.selection.selected;
    const picked = selected && selected.kind !== "b" ? (selected.kind === "r" ? selected.id : selected.run.requestOf[selected.id]) : -1;
    const mark = `${picked} ${course.isTime}`;
    if (!this.subjects || this.subjectMark !== mark) {
      this.subjectMark = mark;
      this.subjects = farthestApart(panes, course.isTime, picked);
    }
    const where = course.isTime ? compare.at(formatTime(position.time)) : compare.at(momentText(course, position, words));
    panes.forEach((pane, i) => {
      const {run, frame} = pane;
      const facts = numbersOf(pane, {course, isMemory: this.isMemory, subject: this.subjects[i]}, words);
      const end = course.isTime ? formatTime(run.lastTime) : words.inIteration(Math.max(0, run.numSteps - 1));
      pane.element.classList.toggle("kv-done", frame.isDone);
      pane.numbers.draw(run.name, frame.isDone ? compare.doneAt(end) : where, facts);
      const sayMark = `${frame.event} ${frame.since} ${frame.step} ${course.isTime}`;
      if (pane.sayMark === sayMark) return;
      pane.sayMark = sayMark;
      if (frame.isDone) return pane.say.replaceChildren(element("b", {}, compare.doneAt(end)));
      const early = frame.isStart ? waitingNow(pane, course) : [];
      const {tag, nodes} = early.length ? {tag: compare.waitsNow, nodes: [(early.length > 1 ? compare.earlyOnes : compare.early)(waitingText(pane, course, words))]} : frameSentence(frame, words);
      pane.say.replaceChildren(element("small", {}, tag), " ", ...nodes);
      pane.say.title = pane.say.textContent;
    });
  }
}

function differsInMemory(panes) {
  const [first, ...others] = panes.map(({run}) => run.header.settings ?? {});
  return others.some(other => VOCABULARY.memory_settings.some(name => JSON.stringify(other[name]) !== JSON.stringify(first[name])))
    || panes.some(({run}) => run.happeningsOf("copied", "preempted").length);
}
