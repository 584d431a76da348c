// The clock of the player: speed and running. It says how many frames are due; who shows them is told by `advance`.
const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 120];
const MOST_FRAMES_AT_ONCE = 240;

class Clock {
  // advance(count) shows the frames that are due and returns whether there are more.
  constructor(advance) {
    this.advance = advance;
    this.isRunning = false;
    this.speedIndex = prefersStill() ? 1 : 2;
  }

  // Frames a second.
  get speed() { return SPEEDS[this.speedIndex]; }

  change(by) { this.speedIndex = Math.max(0, Math.min(SPEEDS.length - 1, this.speedIndex + by)); }

  start() {
    this.isRunning = true;
    let last = performance.now(), owed = 0;
    const tick = now => {
      if (!this.isRunning) return;
      owed += (Math.max(0, now - last) / 1000) * this.speed;
      last = now;
      const due = Math.floor(owed);
      owed -= due;
      if (due > 0 && !this.advance(Math.min(due, MOST_FRAMES_AT_ONCE))) return;
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
