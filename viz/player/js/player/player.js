// The player: which runs and which moment are shown, and what becomes visible of that outside (attributes of the root, the
// link, the spoken line). opening.js reads runs, moves.js moves, course.js knows the clock, panels draw; the player only tells them when.
const MOTION_TIME = 150;

class Player extends Opening {
  constructor(root, options) {
    super();
    this.root = root;
    this.options = options;
    learn(options.words.vocabulary);
    this.words = wordsOf(options.words);
    this.panes = [];
    this.clock = new Clock(due => this.advance(due));
    this.layout = new Layout(this, this.words);
    this.transport = new Transport(this, this.words);
    this.table = new TableView(this.words);
    this.dialogs = new Dialogs(this, this.words);
    this.link = new Link(options.link);
    this.selection = new Selection(this);
    this.layout.stage.append(...this.dialogs.elements);
    this.layout.regions.bottom.after(this.transport.element);
    root.append(this.layout.stage, this.table.element, this.layout.live);
    this.view = {player: this, selection: this.selection, root, words: this.words, theme: null, k: 1, version: 0};
    this.compare = new CompareView(this);
    this.layout.regions.bottom.after(this.compare.element);
    this.layout.switches.append(...this.compare.switches);
    const redraw = () => this.redraw();
    const resize = () => this.resize();
    const observer = new ResizeObserver(resize);
    observer.observe(root);
    const media = matchMedia("(prefers-color-scheme: dark)");
    this.closing = new AbortController();
    const {signal} = this.closing;
    addEventListener("resize", resize, {signal});
    addEventListener("popstate", () => this.travel(), {signal});
    media.addEventListener("change", redraw, {signal});
    signal.addEventListener("abort", () => observer.disconnect());
    listenToKeys(this, signal);
    document.fonts?.ready.then(() => {
      this.view.version++;
      this.redraw();
    });
    this.showLoading();
  }

  // The leading pane: the one in focus, or the one whose place the link names when all are shown.
  get lead() { return this.panes[this.pane]; }

  get run() { return this.lead?.run; }

  get place() { return this.lead?.place; }

  get frame() { return this.lead?.frame ?? null; }

  // The panes on screen.
  get shown() { return this.isAll ? this.panes : this.panes.slice(this.pane, this.pane + 1); }

  // Whether more may come of a run on screen.
  get isRunning() { return this.shown.some(({run}) => run.isRunning); }

  get speed() { return this.clock.isTime ? 4 : this.clock.speed; }

  get isPlaying() { return this.clock.isRunning; }

  // Nothing more can come: the end of runs that have ended.
  get isDone() { return this.shown.every(({frame}) => frame?.isDone); }

  close() {
    this.pause();
    this.closed = true;
    for (const timer of [this.drawing, this.moving]) cancelAnimationFrame(timer);
    clearTimeout(this.settling);
    clearTimeout(this.speaking);
    this.closing.abort();
    this.link.close();
    for (const panel of this.panels ?? []) panel.close?.();
    this.root.replaceChildren();
  }

  // Builds what depends on which panes and which clock are shown.
  showPanes() {
    const {run, root, words, layout} = this;
    for (const panel of this.panels ?? []) panel.close?.();
    this.view.version++;
    this.course = new Course(this.shown, this.clock.isTime);
    root.classList.toggle("kv-comparing", this.isAll);
    this.panels = this.isAll ? [] : layout.fill(run, this.view);
    this.compare.setPanes(this.isAll ? this.panes : []);
    this.transport.setCourse(this.course);
    const title = run.player.title ?? run.header.name ?? "";
    setText(layout.title, title);
    setText(layout.subtitle, this.isAll ? compareSubtitle(this.panes.map(pane => pane.run), words) : subtitleText(run, words));
    layout.subtitle.title = run.player.story ?? "";
    setAttribute(root, "aria-label", words.player(title));
    this.showTabs();
    root.dataset.run = this.shown.map(pane => pane.run.runId ?? "").join("|");
    root.dataset.clock = this.clock.isTime ? "time" : "steps";
    root.dataset.pane = this.isAll ? 0 : this.pane + 1;
    root.dataset.running = this.isRunning;
    delete root.dataset.error;
    this.resize();
  }

  showTabs() {
    const {tabs, subtitle} = this.layout;
    tabs.hidden = this.panes.length < 2 || this.isAll;
    subtitle.hidden = !tabs.hidden;
    const tab = (name, index) => button(name, () => this.choosePane(index), {role: "tab", "aria-selected": index === this.pane});
    tabs.replaceChildren(tab(this.words.compare.all, -1), ...this.panes.map(({run}, i) => tab(run.name || String(i + 1), i)));
  }

  // Shows a position in all panes.
  show(position) {
    cancelAnimationFrame(this.moving);
    this.position = position;
    const {course, panes} = this;
    for (const pane of this.shown) {
      const isLead = pane.index === this.pane;
      pane.place = course.place(pane.run, position, isLead);
      const {place, frame} = pane;
      if (frame?.run === pane.run && String(Object.values(frame.place)) === String(Object.values(place))) continue;
      pane.frame = new Frame(pane.run, pane.cursor, place);
      pane.frame.speaker = speakerOf(pane.frame);
      pane.frame.subject = subjectOf(pane.frame);
    }
    if (this.isAll && position.event == null && this.frame.isDone) this.pane = (panes.find(pane => !pane.frame.isDone) ?? this.lead).index;
    this.publish();
    this.redraw();
    this.settle();
  }

  publish() {
    const {run, place} = this;
    const {dataset} = this.root;
    dataset.frame = placeName(run, place);
    dataset.event = place.event;
    dataset.step = clamp(place.step, -1, run.numSteps - 1);
    if (this.clock.isTime) dataset.time = this.position.time; else delete dataset.time;
    if (this.panes.length > 1) dataset.frames = this.shown.map(pane => placeName(pane.run, pane.place)).join("|");
    delete dataset.hash;
    delete dataset.hashes;
  }

  // Movement draws from its first picture on, so the drawing that `show` asked for is not needed.
  animate() {
    cancelAnimationFrame(this.drawing);
    this.drawing = 0;
    const start = performance.now();
    const tick = now => {
      const t = Math.min(1, Math.max(0, (now - start) / Math.min(MOTION_TIME, 500 / this.speed)));
      this.frame.progress = easeOut(t);
      this.draw();
      if (t < 1) this.moving = requestAnimationFrame(tick);
    };
    this.moving = requestAnimationFrame(tick);
  }

  resize() {
    this.isSized = false;
    this.redraw();
  }

  redraw() {
    if (this.drawing || this.closed) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  draw() {
    if (this.closed || !this.root.isConnected) return;
    const isResized = !this.isSized && this.layout.measure(this.options.height);
    this.isSized = true;
    const theme = readTheme(this.root);
    const isRepainted = applyTheme(this.root, theme) || !this.view.theme || this.view.theme.font !== theme.font;
    if (isRepainted || isResized) Object.assign(this.view, {theme, k: this.layout.canvasScale, version: this.view.version + 1});
    if (!this.frame) return;
    for (const {frame} of this.shown) this.selection.prepare(frame);
    this.layout.sentence.reserve(this.view, this.words.widestPlace(this.run.numSteps - 1));
    if (this.isAll) this.compare.draw(this.panes, this.position);
    else showSentence(this.layout.sentence, this.frame, this);
    for (const panel of this.panels) panel.draw(this.frame);
    if (this.titled !== this.view.version) this.layout.fitTitle();
    this.titled = this.view.version;
    this.transport.draw(this.shown, this.view);
    this.selection.markNodes();
  }

  // What costs time or is spoken waits until the moment has stood still for a moment.
  settle() {
    clearTimeout(this.settling);
    clearTimeout(this.speaking);
    if (this.isPlaying) return;
    const {frame} = this;
    this.settling = setTimeout(() => {
      this.root.dataset.hash = frame.cursor.crc();
      if (this.panes.length > 1) this.root.dataset.hashes = this.shown.map(pane => pane.cursor.crc()).join("|");
      this.table.draw(frame);
    }, 30);
    this.speaking = setTimeout(() => {
      setText(this.layout.live, this.words.speakFrame(this.transport.where.textContent, this.layout.sentence.spoken));
    }, 300);
  }

  // The moment, the panes, the clock and the selection as they stand in the link.
  saveLink() {
    const {clock, position, course} = this;
    const isExact = position.event != null;
    this.link.write({
      f: course.isEnd(position) && !this.isFollowing && course.length ? "end" : placeName(this.run, this.place),
      pane: this.panes.length > 1 && !this.isAll ? this.pane + 1 : null,
      lead: this.isAll && this.pane ? this.pane + 1 : null,
      clock: this.panes.length > 1 || clock.isTime ? (clock.isTime ? "time" : "steps") : null,
      // the last event of a step has the place and the time of the gap that follows it
      t: clock.isTime && !isExact && !course.isEnd(position) && (this.place.isGap || position.time !== placeTime(this.run, this.place)) ? position.time : null,
    }, this.isPlaying);
  }

  // states of the page

  showLoading() {
    this.root.dataset.ready = "false";
    this.root.dataset.playing = "false";
    this.layout.sentence.show(this.words.loading, "", [this.words.loadingRun], {isNotice: true});
    this.redraw();
  }

  showError(error) {
    const text = told(this.words.bad[error instanceof BadRun ? error.message : "unreadable"], ...error.values ?? []);
    this.pause();
    this.panels = [];
    this.panes = [];
    this.feeds = null;
    for (const region of Object.values(this.layout.regions)) region.replaceChildren();
    this.compare.setPanes([]);
    this.layout.sentence.show(this.words.cannotShow, "", [capitalized(text)], {isNotice: true});
    this.root.dataset.error = text;
    this.root.dataset.ready = "true";
    this.redraw();
  }
}
