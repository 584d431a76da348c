// The one clock of all panes: positions on it, and the moves from one to the next.
// A position is {step} or {time} in seconds; with {event} the leading pane stands at that very event. Every pane derives its
// place from the position alone, so that all show the same moment by construction.
class Course {
  // shown: [{run, index}], the panes on screen.
  constructor(shown, isTime) {
    this.shown = shown;
    this.isTime = isTime;
    this.numSteps = Math.max(0, ...shown.map(({run}) => run.numSteps));
    this.endTime = Math.max(0, ...shown.map(({run}) => run.endTime[run.numSteps - 1] ?? 0));
  }

  // Length of the clock: steps, or seconds.
  get length() { return this.isTime ? this.endTime : this.numSteps; }

  // How far a position is along the clock.
  at(position) { return this.isTime ? position.time : position.step; }

  start() { return this.isTime ? {time: 0, event: null} : {step: 0, event: null}; }

  end() { return this.isTime ? {time: this.endTime, event: null} : {step: this.numSteps, event: null}; }

  isEnd(position) { return position.event == null && this.at(position) >= this.length; }

  // The place of a run at a position; `isLead` for the pane that an exact event belongs to.
  place(run, position, isLead) {
    if (isLead && position.event != null) return eventPlace(run, position.event);
    return this.isTime ? timePlace(run, position.time) : stepPlace(run, position.step);
  }

  // The position at which a run stands at a place.
  positionOf(run, place) {
    const isEnd = place.isStep && place.step >= run.numSteps;
    const at = !this.isTime ? place.step : isEnd ? run.endTime[run.numSteps - 1] ?? 0 : placeTime(run, place);
    // the end of a run that is not the last one is an exact event of it
    const isExact = isEnd ? at < this.length : !place.isStep && !place.isGap;
    const event = isExact ? place.event : null;
    return this.isTime ? {time: at, event} : {step: at, event};
  }

  ofStep(run, step) { return this.isTime ? this.positionOf(run, stepPlace(run, step)) : {step: this.clampStep(step)}; }

  clampStep(step) { return Math.max(-1, Math.min(step, this.numSteps)); }

  clampTime(time) { return Math.max(0, Math.min(time, this.endTime)); }

  // `count` frames on: steps, or times at which a step of some pane begins or ends.
  moved(lead, position, place, count) {
    if (!this.isTime) {
      if (position.event == null) return {step: this.clampStep(position.step + count)};
      return {step: this.clampStep(nextStep(lead, place, count).step)};
    }
    const times = (this.borders ??= bordersOf(this.shown));
    const next = count > 0 ? upperBound(times, position.time) + count - 1 : lowerBound(times, position.time) + count;
    return {time: times[Math.max(0, Math.min(next, times.length - 1))] ?? 0};
  }

  // {pane, position} of the next or previous happening in any of the panes; null when there is none.
  nextHappening(position, place, lead, direction) {
    const all = (this.happenings ??= this.happeningsOf());
    const here = position.event == null ? [this.at(position), Infinity, 0] : [this.valueOf(lead.run, place.event), lead.index, place.event];
    const isLess = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
    let low = 0, high = all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isLess(all[middle], here) < 0 || (direction > 0 && isLess(all[middle], here) === 0)) low = middle + 1; else high = middle;
    }
    for (let i = direction > 0 ? low : low - 1; all[i]; i += direction) {
      const {run, index} = this.shown.find(pane => pane.index === all[i][1]);
      const next = this.positionOf(run, eventPlace(run, all[i][2]));
      if (this.at(next) !== this.at(position) || next.event !== (position.event ?? null)) return {pane: index, position: next};
    }
    return null;
  }

  // How far along the clock an event becomes visible.
  valueOf(run, event) { return this.isTime ? eventTime(run, event) : run.firstStepShowing(event); }

  happeningsOf() {
    const all = this.shown.flatMap(({run, index}) => Array.from(run.notable, event => [this.valueOf(run, event), index, event]));
    return all.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  }
}

// All begins and ends of steps, each once.
function bordersOf(shown) {
  const times = [0, ...shown.flatMap(({run}) => [...run.startTime, ...run.endTime])].sort((a, b) => a - b);
  return times.filter((time, i) => i === times.length - 1 || times[i + 1] - time > 1e-9);
}

// Number of entries < value in an ascending array.
function lowerBound(ascending, value) {
  let low = 0, high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}
