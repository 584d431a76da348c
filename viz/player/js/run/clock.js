// The clock of the player: which of the two it is, speed and running. It says how much is due, in frames or in seconds of
// the run; who shows it is told by `advance`.
const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 120];
const MOST_FRAMES_AT_ONCE = 240;

class Clock {
  // advance(due) shows the frames or the time that are due and returns whether there is more.
  constructor(advance) {
    this.advance = advance;
    this.isRunning = false;
    this.isTime = false;
    this.speedIndex = prefersStill() ? 1 : 2;
    this.timeIndex = 0;
  }

  // The time that a step takes on the average decides at how many seconds of the run in a second the time clock begins.
  setPace(stepTime) { this.timeIndex = Math.floor(3 * Math.log10(Math.max(1e-6, 1.2 * stepTime)) + 1e-9); }

  // Frames a second, or seconds of the run a second: 1, 2, 5, 10, 20, 50 ...
  get speed() {
    if (!this.isTime) return SPEEDS[this.speedIndex];
    const decade = Math.floor(this.timeIndex / 3);
    return Number(`${[1, 2, 5][this.timeIndex - 3 * decade]}e${decade}`);
  }

  change(by) {
    if (this.isTime) this.timeIndex = clamp(this.timeIndex + by, -15, 12);
    else this.speedIndex = clamp(this.speedIndex + by, 0, SPEEDS.length - 1);
  }

  // Whether a picture stays long enough to show how it came about.
  get isSlow() { return this.isTime || this.speed <= 4; }

  start() {
    this.isRunning = true;
    let last = performance.now(), owed = 0;
    const leap = prefersStill() ? 0.5 : 0;
    const tick = now => {
      if (!this.isRunning) return;
      owed += (Math.max(0, now - last) / 1000) * this.speed;
      last = now;
      const due = !this.isTime ? Math.floor(owed) : owed < leap * this.speed ? 0 : owed;
      owed -= due;
      if (due > 0 && !this.advance(this.isTime ? due : Math.min(due, MOST_FRAMES_AT_ONCE))) return;
      this.timer = requestAnimationFrame(tick);
    };
    this.timer = requestAnimationFrame(tick);
  }

  stop() {
    this.isRunning = false;
    cancelAnimationFrame(this.timer);
  }
}

function prefersStill() { return matchMedia("(prefers-reduced-motion: reduce)").matches; }
