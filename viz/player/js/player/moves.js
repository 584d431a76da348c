// Moving the player: steps, events, happenings, lecture steps, the first difference, panes, the two clocks, playing.
// Every move ends in `go`, which shows a position and writes the link. The lower half of Player.
class Moves {
  // Every move but the first showing takes the notice away.
  go(position, {isStepForward = false} = {}) {
    this.notice = null;
    this.isFollowing = false;
    this.show(position);
    if (isStepForward && !this.isAll && !prefersStill() && this.clock.isSlow && hasMotion(this.frame)) this.animate();
    this.saveLink();
  }

  jump(position, how) {
    this.pause();
    this.go(position, how);
  }

  goStep(step) {
    this.jump(this.course.ofStep(this.run, step));
  }

  // To a place on the transport line.
  scrub(value) {
    this.jump(this.course.position(value));
  }

  goStart() { this.jump(this.course.start()); }

  // The end; a run that is still running is followed from there.
  goEnd() {
    this.jump(this.course.end());
    this.isFollowing = this.isRunning;
    this.redraw();
  }

  move(count) {
    this.jump(this.course.moved(this.run, this.position, this.place, count), {isStepForward: count === 1});
  }

  moveEvent(count) {
    const {run} = this;
    this.jump(this.course.positionOf(run, eventPlace(run, this.place.event + count)), {isStepForward: count === 1});
  }

  moveHappening(direction) {
    const next = this.course.nextHappening(this.position, this.place, this.lead, direction);
    if (!next) return;
    this.pane = next.pane;
    this.jump(next.position, {isStepForward: direction > 0});
  }

  // Where the runs part. A pane on its own knows where it leaves the others.
  goDifference() {
    const difference = differenceOf(this.shown, this.clock.isTime);
    if (!difference) return this.panes.length > 1 ? this.tell(this.words.compare.difference, this.words.compare.same) : undefined;
    this.scrub(difference.at);
  }

  moveBookmark(direction) {
    const {course, position} = this;
    const marks = this.shown.flatMap(({run, index}) =>
      run.bookmarks.map(({place}) => ({index, position: course.positionOf(run, place), at: course.at(course.positionOf(run, place))})));
    marks.sort((a, b) => a.at - b.at);
    const isBehind = mark => direction * (mark.at - course.at(position)) > 1e-9
      || (mark.at === course.at(position) && direction * ((mark.position.event ?? Infinity) - (position.event ?? Infinity)) > 0);
    const next = (direction > 0 ? marks : marks.reverse()).find(isBehind);
    if (!next) return;
    this.pane = next.index;
    this.jump(next.position);
  }

  goBookmark(i) { this.goEvent(this.run.bookmarks[i].place.event); }

  // The place of an event of a run: where a click on a line of the log or of a life leads.
  goEvent(event, run = this.run) {
    const pane = this.panes.find(other => other.run === run) ?? this.lead;
    if (this.shown.includes(pane)) this.pane = pane.index;
    this.jump(this.course.positionOf(this.run, placeOfEvent(this.run, event)));
  }

  // Pane 0, 1 or 2 alone, -1 for all of them; the moment stays.
  choosePane(index) {
    if (index < 0 ? this.panes.length < 2 || this.isAll : !this.panes[index] || (!this.isAll && index === this.pane)) return;
    const {position} = this;
    this.isAll = index < 0;
    const isSame = index < 0 || index === this.pane;
    if (index >= 0) this.pane = index;
    this.showPanes();
    const {course} = this;
    if (isSame) return this.go(position);
    this.go(course.clamped(course.at(position)));
  }

  // The other clock, at the same moment of the leading pane.
  toggleClock(isTime = !this.clock.isTime) {
    if (isTime === this.clock.isTime) return;
    this.clock.isTime = isTime;
    this.showPanes();
    this.go(this.course.isTime && this.place.step < 0 ? {time: 0} : this.course.positionOf(this.run, this.place));
    if (this.isPlaying) this.clock.start();
  }

  toggleLecture() {
    this.root.classList.toggle("kv-lecture");
    this.layout.mark = null;
    this.showPanes();
    this.show(this.position);
  }

  toggleFullScreen() {
    const isFull = document.fullscreenElement;
    const done = isFull ? document.exitFullscreen() : this.root.requestFullscreen?.();
    done?.catch(() => {});
  }

  // What is in the blocks, or the pictures of memory.
  toggleWords() {
    for (const {run: {player: shown}} of this.panes) shown.showsWords = !shown.showsWords;
    this.showPanes();
  }

  // Asks every panel that can: "zoom" in or out, "log" on or off. Where words are shown there is neither log nor details, so it
  // leads to the details first.
  ask(what, value) {
    if (/log|details/.test(what) && !this.isAll && this.run.player.showsWords && !this.layout.isLecture) {
      this.toggleWords();
      this.draw();
      if (what === "log") return;
    }
    for (const panel of this.panels ?? []) panel[what]?.(value);
    if (this.isAll) this.compare[what]?.(value);
    this.redraw();
  }

  zoom(by) { this.ask("zoom", by); }

  changeSpeed(by) {
    this.clock.change(by);
    this.redraw();
  }

  escape() {
    if (this.dialogs.isOpen) return this.dialogs.close();
    const wasReset = [...this.panels, this.compare].map(panel => panel.reset?.()).some(Boolean);
    if (!wasReset) this.selection.clear();
    this.redraw();
  }

  // Puts the address into the clipboard, or shows it for copying where the browser does not allow that.
  async copyLink() {
    this.saveLink();
    const address = this.link.flush();
    const {words} = this;
    try {
      await navigator.clipboard.writeText(address);
      this.tell(words.link, words.linkCopied);
    } catch {
      this.dialogs.open("link");
      this.dialogs.showLink(address);
    }
  }

  // A sentence of the player itself, until the next move.
  tell(tag, text) {
    this.notice = text;
    this.noticeTag = tag;
    this.redraw();
    this.settle();
  }

  // playing

  togglePlay() { if (this.isPlaying) this.pause(); else this.startPlaying(); }

  startPlaying() {
    if (this.isDone) this.go(this.course.start());
    this.root.dataset.playing = "true";
    this.clock.start();
    this.redraw();
  }

  // Called by the clock: frames or seconds that are due.
  advance(due) {
    const {course, position} = this;
    const isTime = course.isTime;
    const next = isTime ? course.clamped(position.time + due) : course.moved(this.run, position, this.place, due);
    this.go(next, {isStepForward: !isTime && due === 1});
    if (course.isEnd(next)) {
      this.pause();
      this.isFollowing = this.isRunning;
    }
    return this.isPlaying;
  }

  pause() {
    this.root.dataset.playing = "false";
    if (!this.isPlaying) return;
    this.clock.stop();
    if (!this.frame) return;
    this.redraw();
    this.settle();
    this.saveLink();
  }
}

// {at: its place on the clock, text, requests by pane} of the first difference among the panes; null when there is none. The first
// pane tells where the first of the others leaves it; a run that is over by then stands at its end.
function differenceOf(panes, isTime) {
  const all = panes.map(({run}) => run.player.difference?.[isTime ? "time" : "steps"] ?? null);
  const first = all.find(Boolean);
  if (!first) return null;
  const step = Math.max(...all.filter(other => other?.text === first.text).map(other => other.step));
  return {at: isTime ? first.time : step, text: first.text, requests: all.map(difference => difference?.requests ?? [])};
}
