// The horizontal axis of the batch timeline of one run: the whole run where its columns stay readable, else a page of it around
// the cursor; zoomed by hand, dragged by hand. Values are steps or seconds, as on the axis of Compare.
const LEAST_COLUMN = 8, USUAL_COLUMN = 14, WIDEST_COLUMN = 64, ZOOM_STEP = 1.6;

class TimelineAxis extends Axis {
  // look: {zoom: steps of enlargement, from: left edge where dragged or null}
  constructor(course, position, left, width, k, look) {
    super(course, position, left, width, k);
    const length = course.length || 1, numSteps = Math.max(1, course.numSteps);
    const at = clamp(course.at(position), 0, length);
    const column = pixels => (width / (pixels * k)) * (length / numSteps);
    const usual = width / numSteps >= LEAST_COLUMN * k ? Math.max(length, column(WIDEST_COLUMN)) : column(USUAL_COLUMN);
    const span = Math.min(Math.max(length, usual), Math.max(column(160), usual / ZOOM_STEP ** look.zoom));
    const most = Math.max(0, length - span), half = span / 2;
    let from = Math.min(most, Math.max(0, Math.floor(at / half - 0.5) * half));
    if (!this.isTime && from < most) from = Math.round(from);
    if (look.from !== null && look.at !== at && (at < look.from || at >= look.from + span)) look.from = null;
    if (look.from !== null) from = look.from = clamp(look.from, 0, most);
    look.at = at;
    Object.assign(this, {from, to: from + span, span, scale: width / span, pitch: (width / span) * (length / numSteps)});
  }

  // Steps that are at least partly in sight; the last one never lies beyond the right edge.
  steps(run) {
    const [first, last] = super.steps(run);
    return [Math.max(0, first), Math.min(run.numSteps - 1, this.isTime ? last : Math.ceil(this.to - 1e-6) - 1)];
  }

  // Left edge and width of a step, both inside the picture.
  column(run, step) {
    const x = Math.max(this.left, this.begin(run, step));
    return [x, Math.max(0, Math.min(this.right, this.end(run, step)) - x)];
  }

}
