// The horizontal axis that all panes share: the whole run where its cells stay readable, else a page of it that follows from
// the moment alone. Values are steps or seconds; x() gives pixels.
class Axis {
  constructor(course, position, left, width, k) {
    this.isTime = course.isTime;
    this.left = left;
    const length = course.length || 1;
    const cell = width / Math.max(1, course.numSteps);
    const at = Math.max(0, course.at(position));
    this.from = 0;
    this.to = Math.max(length * 1.05, (width / (116 * k)) * (length / Math.max(1, course.numSteps)));
    if (cell < 9 * k) {
      const span = (length * width) / (16 * k) / course.numSteps;
      const half = span / 2;
      this.from = clamp(Math.floor(at / half - 0.5) * half, 0, length * 1.01 - span);
      this.to = this.from + span;
    }
    this.scale = width / (this.to - this.from);
  }

  get right() { return this.x(this.to); }

  x(value) { return this.left + (value - this.from) * this.scale; }

  holds(value) { return value >= this.from && value <= this.to; }

  // Where a step of a run begins and ends.
  begin(run, step) { return this.x(this.isTime ? run.startTime[step] : step); }

  end(run, step) { return this.x(this.isTime ? run.endTime[step] : step + 1); }

  // First and last step of a run on this page.
  steps(run) {
    if (!this.isTime) return [Math.max(0, Math.floor(this.from)), Math.min(run.numSteps - 1, Math.ceil(this.to))];
    return [Math.max(0, upperBound(run.startTime, this.from) - 1), upperBound(run.startTime, this.to) - 1];
  }

  stepAt(run, x) {
    const value = this.from + (x - this.left) / this.scale;
    return clamp(this.isTime ? upperBound(run.startTime, value) - 1 : Math.floor(value), 0, run.numSteps - 1);
  }

  // [{x, text}] at round values, `room` pixels apart at least.
  ticks(room) {
    const least = room / this.scale;
    const power = 10 ** Math.floor(Math.log10(least));
    const every = Math.max(this.isTime ? 0 : 1, [1, 2, 5, 10].map(n => n * power).find(n => n >= least));
    const ticks = [];
    for (let i = Math.ceil(this.from / every - 1e-9); i * every <= this.to; i++) {
      const value = i * every;
      const step = Math.max(0, value - (every > 1 ? 1 : 0));
      if (this.isTime) ticks.push({x: this.x(value), text: formatTick(value, this.to)});
      else if (value < this.to - 1) ticks.push({x: this.x(step + 0.5), text: formatNumber(step + 1)});
    }
    return ticks;
  }
}

// A time on the axis in the unit of its end: "20" of "160 ms".
function formatTick(seconds, end) {
  const isMs = end < 2;
  const value = isMs ? seconds * 1000 : seconds;
  return formatNumber(Number(value.toPrecision(6)));
}

function axisUnit(axis) { return axis.isTime ? (axis.to < 2 ? "ms" : "s") : ""; }
