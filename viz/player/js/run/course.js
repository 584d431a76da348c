// The one clock of all panes: positions on it, and the moves from one to the next.
// A position is {step} or {time} in seconds; with {event} the leading pane stands at that very event. Every pane derives its
// place from the position alone, so that all show the same moment by construction.
class Course {
  // shown: [{run, index}], the panes on screen.
  constructor(shown, isTime) {
    this.shown = shown;
    this.isTime = isTime;
    this.numSteps = largest(shown.map(({run}) => run.numSteps));
    this.endTime = largest(shown.map(({run}) => run.lastTime));
  }

  // Length of the clock: steps, or seconds.
  get length() { return this.isTime ? this.endTime : this.numSteps; }

  // How far a position is along the clock.
  at(position) { return this.isTime ? position.time : position.step; }

  // The position at a value of the clock, or at an exact event there.
  position(at, event = null) { return this.isTime ? {time: at, event} : {step: at, event}; }

  // The nearest position that there is.
  clamped(at) { return this.position(clamp(at, this.isTime ? 0 : -1, this.length)); }

  start() { return this.position(0); }

  end() { return this.position(this.length); }

  isEnd(position) { return position.event == null && this.at(position) >= this.length; }

  // The place of a run at a position; `isLead` for the pane that an exact event belongs to.
  place(run, position, isLead) {
    if (isLead && position.event != null) return eventPlace(run, position.event);
    return this.isTime ? timePlace(run, position.time) : stepPlace(run, position.step);
  }

  // The position at which a run stands at a place.
  positionOf(run, place) {
    const isEnd = place.isStep && place.step >= run.numSteps;
    const at = !this.isTime ? place.step : isEnd ? run.lastTime : placeTime(run, place);
    // the end of a run that is not the last one is an exact event of it
    const isExact = isEnd ? at < this.length : !place.isStep && !place.isGap;
    return this.position(at, isExact ? place.event : null);
  }

  ofStep(run, step) { return this.isTime ? this.positionOf(run, stepPlace(run, step)) : this.clamped(step); }

  // `count` frames on: steps, or times at which a step of some pane begins or ends.
  moved(lead, position, place, count) {
    if (!this.isTime) return this.clamped(position.event == null ? position.step + count : nextStep(lead, place, count).step);
    const times = (this.borders ??= bordersOf(this.shown));
    const next = count > 0 ? upperBound(times, position.time) + count - 1 : lowerBound(times, position.time) + count;
    return {time: times[clamp(next, 0, times.length - 1)] ?? 0};
  }

  // {pane, position} of the next or previous happening in any of the panes; null when there is none.
  nextHappening(position, place, lead, direction) {
    const all = (this.happenings ??= this.happeningsOf());
    const here = position.event == null ? [this.at(position), Infinity, 0] : [this.valueOf(lead.run, place.event), lead.index, place.event];
    const next = firstOf(all.length, i => inOrder(all[i], here) >= (direction > 0 ? 1e-9 : 0));
    for (let i = direction > 0 ? next : next - 1; all[i]; i += direction) {
      const {run, index} = this.shown.find(pane => pane.index === all[i][1]);
      const there = this.positionOf(run, eventPlace(run, all[i][2]));
      if (this.at(there) !== this.at(position) || there.event !== (position.event ?? null)) return {pane: index, position: there};
    }
    return null;
  }

  // How far along the clock an event becomes visible.
  valueOf(run, event) { return this.isTime ? eventTime(run, event) : run.firstStepShowing(event); }

  happeningsOf() {
    const all = this.shown.flatMap(({run, index}) => Array.from(run.notable, event => [this.valueOf(run, event), index, event]));
    return all.sort(inOrder);
  }
}

// By time, pane, event.
function inOrder(a, b) { return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]; }

// All begins and ends of steps, each once.
function bordersOf(shown) {
  const times = [0, ...shown.flatMap(({run}) => [...run.startTime, ...run.endTime])].sort((a, b) => a - b);
  return times.filter((time, i) => i === times.length - 1 || times[i + 1] - time > 1e-9);
}
