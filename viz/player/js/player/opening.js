// How runs come into the player: all at once, or piece by piece while they are still running; and which moment, panes and clock
// they begin with. The middle part of Player.
class Opening extends Moves {
  // Reads the blobs and shows the moment of the link. A newer call wins over one that is still reading.
  async load(blobs) {
    const loading = (this.loading = {}), isCurrent = () => !this.closed && this.loading === loading;
    this.pause();
    try {
      const feeds = [];
      for (const blob of blobs) {
        const feed = new RunFeed();
        await feed.push(blob);
        feeds.push(feed.finish());
      }
      if (!isCurrent()) return;
      if (!feeds.length) throw new BadRun("nothing");
      const before = this.frame && {name: placeName(this.run, this.place), pane: this.pane, isAll: this.isAll};
      this.panes = feeds.map((feed, index) => newPane(feed, index));
      this.isFollowing = false;
      this.begin(before);
      this.root.dataset.ready = "true";
      takeFocus(this.root);
      checkParity(this, isCurrent);
    } catch (error) {
      if (isCurrent()) this.showError(error);
    }
  }

  // The way back or forward leads to another moment of these runs; where it leads to others, they come instead of them.
  travel() {
    this.pause();
    this.link.forget();
    this.selection.selected = null;
    if (this.run) this.begin(null);
  }

  // Clock, panes and moment to begin with: those before, those of the link, or those of the runs.
  begin(before) {
    const {panes, clock, link} = this;
    colourRuns(panes.map(({run}) => run));
    const wanted = before ? null : link.readAll();
    const isTime = panes[0].run.player.clock ? panes[0].run.player.clock === "time" : panes.length > 1;
    if (!before || isTime !== clock.byRun) clock.isTime = !before && wanted.clock ? wanted.clock === "time" : isTime;
    clock.byRun = isTime;
    clock.setPace(meanStepTime(panes[0].run));
    this.isAll = panes.length > 1 && (before ? before.isAll : !panes[wanted.pane - 1]);
    const chosen = before ? Math.min(before.pane, panes.length - 1) : (this.isAll ? wanted.lead : wanted.pane) - 1;
    this.pane = panes[chosen] ? chosen : 0;
    this.showPanes();
    if (before) return this.show(this.course.positionOf(this.run, readPlace(this.run, before.name).place));
    const name = wanted.f ?? this.options.frame;
    this.showFirst(name, wanted.t);
    this.selection.read(wanted.sel, this.run);
    const wrong = {clock: wanted.clock && !/^(steps|time)$/.test(wanted.clock), t: wanted.t && this.position.time !== Number(wanted.t), sel: wanted.sel && !this.selection.selected};
    const what = Object.keys(wrong).find(key => wrong[key]);
    if (what) this.notice ??= this.words.problems[what](wanted[what].slice(0, 40));
  }

  // More bytes of run number `index`; the part of them that is complete is shown at once. The picture stays where it is, or
  // goes on with the end when it follows.
  feed(index, bytes) {
    const loading = this.loading;
    return (this.feeding = (this.feeding ?? Promise.resolve()).then(async () => {
      try {
        if (this.closed || this.loading !== loading) return;
        const feed = this.panes[index]?.feed ?? ((this.feeds ??= [])[index] ??= new RunFeed());
        if (!(await feed.push(bytes)) || this.closed || this.loading !== loading) return;
        if (this.panes[index]) this.grow(index);
        else if (feed.header) this.open();
      } catch (error) {
        if (!this.closed) this.showError(error);
      }
    }));
  }

  // The first picture of runs that arrive piece by piece, once each of them has its header.
  open() {
    const feeds = this.feeds;
    if (!Array.from(feeds, feed => feed?.header).every(Boolean)) return;
    this.feeds = null;
    this.panes = feeds.map((feed, index) => newPane(feed, index));
    this.begin(null);
    this.isFollowing = true;
    this.show(this.course.end());
    this.root.dataset.ready = "true";
    takeFocus(this.root);
  }

  grow(index) {
    const pane = this.panes[index];
    const name = this.run && this.place;
    const {run: old} = pane;
    Object.assign(pane, newPane(pane.feed, index));
    colourRuns(this.panes.map(({run}) => run));
    const isKept = index !== this.pane || !name ? null : name;
    const stay = isKept && (isKept.isStep && isKept.step < old.numSteps ? isKept : eventPlace(pane.run, isKept.event));
    this.showPanes();
    if (this.isFollowing) return this.show(this.course.end());
    this.show(stay ? this.course.positionOf(pane.run, stay) : this.position);
  }

  // The moment of a link; what it names and does not exist is told, and the nearest one shown.
  showFirst(name, time) {
    const {run, course} = this;
    this.notice = null;
    if (name == null) return this.show(course.start());
    const text = String(name).slice(0, 40);
    const {place, problem} = readPlace(run, text);
    let position = text === "end" ? course.end() : course.positionOf(run, place);
    const seconds = Number(time);
    if (time && course.isTime && seconds >= 0 && placeName(run, timePlace(run, seconds)) === text) position = course.clamped(seconds);
    this.noticeTag = this.words.link;
    if (problem) this.notice = this.words.problems[problem](text, this.words.places[placeName(run, place)] ?? this.words.frameName(placeName(run, place)), run.numSteps - 1);
    this.show(position);
  }
}

function newPane(feed, index) {
  const run = feed.run();
  return {feed, index, run, cursor: new Cursor(run), frame: null, place: null};
}

function meanStepTime(run) { return run.numSteps ? (run.lastTime - run.startTime[0]) / run.numSteps : 0.02; }

// Keys work at once after a new run, unless somebody is typing.
function takeFocus(root) {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  if (active && (isTyping(active) || active.closest("[role=dialog]"))) return;
  root.focus({preventScroll: true});
}
