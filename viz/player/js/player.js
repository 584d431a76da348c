// The player: which run and place are shown, moving between places, playing, and what becomes visible outside of it
// (attributes of the root, the link, the spoken line). Panels draw; the player only tells them when.
const MOTION_TIME = 150;

class Player {
  constructor(root, options) {
    this.root = root;
    this.options = options;
    this.words = WORDS[options.lang] ?? WORDS.en;
    this.panes = [];
    this.clock = new Clock(count => this.advance(count));
    this.layout = new Layout(root, this.words);
    this.transport = new Transport(this, this.words);
    this.table = new TableView(this.words);
    this.dialogs = new Dialogs(this, this.words);
    this.link = new Link(options.link);
    this.layout.help.addEventListener("click", () => this.dialogs.open("help"));
    this.layout.stage.append(this.transport.element, ...this.dialogs.elements);
    this.layout.regions.bottom.after(this.transport.element);
    root.append(this.layout.stage, this.table.element, this.layout.live);
    this.view = {player: this, root, words: this.words, theme: null, k: 1, version: 0};
    const redraw = () => this.redraw();
    const resize = () => {
      this.isSized = false;
      this.redraw();
    };
    const observer = new ResizeObserver(resize);
    observer.observe(root);
    const media = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("resize", resize);
    media.addEventListener("change", redraw);
    const stopKeys = listenToKeys(this);
    this.closers = [() => observer.disconnect(), () => removeEventListener("resize", resize),
      () => media.removeEventListener("change", redraw), stopKeys, () => this.link.close()];
    document.fonts?.ready.then(() => {
      this.view.version++;
      this.redraw();
    });
    this.showLoading();
  }

  get run() { return this.panes[this.pane]?.run; }

  get speed() { return this.clock.speed; }

  get isPlaying() { return this.clock.isRunning; }

  close() {
    this.pause();
    this.closed = true;
    for (const timer of [this.drawing, this.moving]) cancelAnimationFrame(timer);
    clearTimeout(this.settling);
    clearTimeout(this.speaking);
    for (const close of this.closers) close();
    for (const panel of this.panels ?? []) panel.close?.();
    this.root.replaceChildren();
  }

  // Reads the blobs and shows the place of the link. A newer call wins over one that is still reading.
  async load(blobs) {
    const loading = (this.loading = {});
    this.pause();
    try {
      const runs = [];
      for (const blob of blobs) runs.push(await Run.read(blob));
      if (this.closed || this.loading !== loading) return;
      if (!runs.length) throw new BadRun("no run was given.");
      const before = this.run && {name: placeName(this.run, this.place), pane: this.pane};
      this.panes = runs.map(run => ({run, cursor: new Cursor(run)}));
      this.pane = Math.min(before?.pane ?? 0, runs.length - 1);
      this.showRun();
      if (before) this.show(readPlace(this.run, before.name).place);
      else this.showFirst(this.link.read() ?? this.options.frame);
      this.root.dataset.ready = "true";
      checkParity(this, () => !this.closed && this.loading === loading);
    } catch (error) {
      if (!this.closed && this.loading === loading) this.showError(error);
    }
  }

  showRun() {
    const {run} = this;
    for (const panel of this.panels ?? []) panel.close?.();
    this.view.version++;
    this.panels = this.layout.fill(run, this.view);
    this.transport.setRun(run);
    setText(this.layout.title, run.player.title ?? run.header.name ?? "");
    setText(this.layout.subtitle, this.words.subtitle(run));
    this.layout.subtitle.title = run.player.story ?? "";
    setAttribute(this.root, "aria-label", this.words.player(run.player.title ?? ""));
    this.showTabs();
    this.root.dataset.run = run.runId ?? "";
    delete this.root.dataset.error;
  }

  showTabs() {
    const {tabs} = this.layout;
    tabs.hidden = this.panes.length < 2;
    tabs.replaceChildren(...this.panes.map(({run}, i) => {
      const tab = element("button", {type: "button", role: "tab", "aria-selected": i === this.pane},
        run.player.run_name ?? run.header.name ?? String(i + 1));
      tab.addEventListener("click", () => this.choosePane(i));
      return tab;
    }));
    this.layout.subtitle.hidden = !tabs.hidden;
  }

  showFirst(name) {
    const text = name == null ? null : String(name).slice(0, 40);
    const {place, problem} = text === null ? {place: stepPlace(this.run, 0), problem: null} : readPlace(this.run, text);
    this.notice = null;
    if (problem) {
      this.notice = this.words.problems[problem](text, this.words.shown(placeName(this.run, place)), this.run);
    }
    this.show(place);
  }

  // Moves to a place. Every move but the one of `showFirst` takes the notice away.
  go(place, {isStepForward = false} = {}) {
    this.notice = null;
    this.show(place);
    if (isStepForward && !prefersStill() && this.speed <= 4 && this.frame.happened(HAPPENING.copied).length) this.animate();
    this.link.write(placeName(this.run, place), this.isPlaying);
  }

  show(place) {
    cancelAnimationFrame(this.moving);
    const {run, cursor} = this.panes[this.pane];
    this.place = place;
    this.frame = new Frame(run, cursor, place);
    this.frame.speaker = speakerOf(this.frame);
    this.frame.subject = subjectOf(this.frame);
    const {dataset} = this.root;
    dataset.frame = placeName(run, place);
    dataset.event = place.event;
    dataset.step = Math.max(-1, Math.min(place.step, run.numSteps - 1));
    delete dataset.hash;
    this.redraw();
    this.settle();
  }

  animate() {
    const start = performance.now();
    const tick = now => {
      const t = Math.min(1, Math.max(0, (now - start) / Math.min(MOTION_TIME, 500 / this.speed)));
      this.frame.progress = 1 - (1 - t) ** 3;
      this.draw();
      if (t < 1) this.moving = requestAnimationFrame(tick);
    };
    this.frame.progress = 0.02;
    this.moving = requestAnimationFrame(tick);
  }

  redraw() {
    if (this.drawing || this.closed) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  draw() {
    if (this.closed) return;
    const isResized = !this.isSized && this.layout.measure(this.options.height);
    this.isSized = true;
    const theme = readTheme(this.root);
    const isRepainted = applyTheme(this.root, theme) || !this.view.theme || this.view.theme.font !== theme.font;
    if (isRepainted || isResized) Object.assign(this.view, {theme, k: this.layout.k, version: this.view.version + 1});
    if (!this.frame) return;
    this.layout.sentence.reserve(this.view, this.words.widestPlace(this.run));
    showSentence(this.layout.sentence, this.frame, this);
    for (const panel of this.panels) panel.draw(this.frame);
    this.transport.draw(this.frame, this.view);
  }

  // What costs time or is spoken waits until the place has stood still for a moment.
  settle() {
    clearTimeout(this.settling);
    clearTimeout(this.speaking);
    if (this.isPlaying) return;
    const {frame} = this;
    this.settling = setTimeout(() => {
      this.root.dataset.hash = frame.cursor.crc();
      this.table.draw(frame);
    }, 30);
    this.speaking = setTimeout(() => {
      setText(this.layout.live, this.words.speakFrame(this.transport.where.textContent, this.layout.sentence.spoken));
    }, 300);
  }

  // moving

  goStep(step) {
    this.pause();
    this.go(stepPlace(this.run, step));
  }

  move(count) {
    this.pause();
    this.go(nextStep(this.run, this.place, count), {isStepForward: count === 1});
  }

  moveEvent(count) {
    this.pause();
    this.go(eventPlace(this.run, this.place.event + count), {isStepForward: count === 1});
  }

  moveHappening(direction) {
    this.pause();
    const {notable} = this.run;
    const i = direction > 0 ? upperBound(notable, this.place.event) : upperBound(notable, this.place.event - 1) - 1;
    if (i >= 0 && i < notable.length) this.go(eventPlace(this.run, notable[i]), {isStepForward: direction > 0});
  }

  moveBookmark(direction) {
    const {bookmarks} = this.run;
    const here = this.place.event;
    const ahead = bookmarks.map((_, i) => i).filter(i => direction * (bookmarks[i].place.event - here) > 0);
    const nearest = ahead.sort((a, b) => direction * (bookmarks[a].place.event - bookmarks[b].place.event))[0];
    if (nearest !== undefined) this.goBookmark(nearest);
  }

  goBookmark(i) {
    this.pause();
    this.go(this.run.bookmarks[i].place);
  }

  choosePane(i) {
    if (!this.panes[i] || i === this.pane) return;
    const {step} = this.place;
    this.pane = i;
    this.showRun();
    this.go(stepPlace(this.run, step));
  }

  changeSpeed(by) {
    this.clock.change(by);
    this.redraw();
  }

  escape() {
    this.dialogs.close();
    for (const panel of this.panels) panel.reset?.();
    this.redraw();
  }

  // playing

  togglePlay() { if (this.isPlaying) this.pause(); else this.startPlaying(); }

  startPlaying() {
    if (this.frame.isDone) this.go(stepPlace(this.run, 0));
    this.root.dataset.playing = "true";
    this.clock.start();
    this.redraw();
  }

  // Called by the clock.
  advance(count) {
    this.go(nextStep(this.run, this.place, count), {isStepForward: count === 1});
    if (this.frame.isDone) this.pause();
    return this.isPlaying;
  }

  pause() {
    this.root.dataset.playing = "false";
    if (!this.isPlaying) return;
    this.clock.stop();
    this.redraw();
    this.settle();
    this.link.write(placeName(this.run, this.place), false);
  }

  // states of the page

  showLoading() {
    this.root.dataset.ready = "false";
    this.root.dataset.playing = "false";
    this.layout.sentence.show(this.words.loading, "", [this.words.loadingRun], {isNotice: true});
    this.redraw();
  }

  showError(error) {
    const text = error instanceof BadRun ? error.message : "the run could not be read by this browser.";
    this.frame = null;
    this.panels = [];
    this.panes = [];
    for (const region of Object.values(this.layout.regions)) region.replaceChildren();
    this.layout.sentence.show(this.words.cannotShow, "", [text.charAt(0).toUpperCase() + text.slice(1)], {isNotice: true});
    this.root.dataset.error = text;
    this.root.dataset.ready = "true";
    this.redraw();
  }
}
