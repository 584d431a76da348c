// Movement between two frames: what is worth it, how it runs. A still frame is complete by itself; movement only leads the
// eye, and only when a step forward is slow enough to be followed.
const MOST_MOVING_BLOCKS = 1100;

// cubic-bezier(0.2, 0, 0, 1) at time t of 0..1.
function easeOut(t) {
  if (t >= 1) return 1;
  let low = 0, high = 1;
  for (let i = 0; i < 14; i++) {
    const s = (low + high) / 2;
    if (0.6 * (1 - s) ** 2 * s + s ** 3 < t) low = s; else high = s;
  }
  return 3 * (1 - low) * low ** 2 + low ** 3;
}

// Whether the changes of a frame are few enough to be drawn ten times in a row.
function hasMotion(frame) {
  return frame.run.numGpuBlocks <= MOST_MOVING_BLOCKS && frame.running.length <= 64 && frame.happened().length > 0;
}

// A name that slides from one box of the page to another: a request from the queue to its lane, or back.
function slide(view, from, to, text, hue) {
  const stage = view.root.firstElementChild.getBoundingClientRect();
  const node = element("span", {class: "kv-chip kv-owner kv-ghost", "aria-hidden": "true"}, text);
  node.style.setProperty("--kv-hue", `var(--kv-${hue})`);
  node.style.setProperty("--kv-on", `var(--kv-on-${hue})`);
  view.root.firstElementChild.append(node);
  const at = box => `translate(${box.left - stage.left}px, ${box.top - stage.top}px)`;
  const duration = Math.min(MOTION_TIME, 500 / view.player.speed);
  const run = node.animate([{transform: at(from)}, {transform: at(to)}], {duration, easing: "cubic-bezier(0.2, 0, 0, 1)"});
  run.onfinish = run.oncancel = () => node.remove();
}
