// What the hand does to the timeline: requests or places, zoom (Ctrl and wheel, + and -), drag, wheel through the rows, a click
// on the axis, and a box that finds a request and leaves the frame as it is.
const FEW_REQUESTS = 12;

class TimelineTools {
  constructor(look, view) {
    const {words} = view;
    const tool = (text, label, action) => button(text, () => { action(); view.player.redraw(); }, {class: "kv-key", label});
    this.look = look;
    this.rows = tool(words.seats, words.seatsLabel, () => { look.isPlaces = !look.isPlaces; look.scrolled = null; });
    this.search = element("input", {type: "search", placeholder: words.findRequest, "aria-label": words.findRequest, size: 13, spellcheck: "false"});
    this.search.addEventListener("input", () => this.find(view, false));
    this.search.addEventListener("keydown", event => {
      if (event.key === "Enter") this.find(view, true);
      if (event.key === "Escape") { this.search.value = ""; look.found = -1; view.root.focus({preventScroll: true}); }
      event.stopPropagation();
    });
    this.element = element("div", {class: "kv-tools"}, this.rows, this.search,
      tool("−", words.zoomOut, () => zoomTimeline(look, -1)), tool("+", words.zoomIn, () => zoomTimeline(look, 1)));
  }

  draw(run) {
    this.search.hidden = run.requests.length < FEW_REQUESTS;
    setAttribute(this.rows, "aria-pressed", this.look.isPlaces);
  }

  // The request with this id, else with this beginning, else with this text in it.
  find(view, isFinal) {
    const {look} = this, {run} = look;
    const text = this.search.value.trim().toLowerCase();
    const tests = [id => id === text, id => id.startsWith(text), id => isFinal && id.includes(text)];
    const r = text ? tests.map(test => run.requests.findIndex(({id}) => test(id.toLowerCase()))).find(i => i >= 0) ?? -1 : -1;
    setAttribute(this.search, "aria-invalid", Boolean(text && isFinal && r < 0));
    if (text && isFinal && r < 0) view.selection.say(view.words.notFound(text.slice(0, 40)));
    look.found = r;
    if (r < 0) return;
    look.isPlaces = false;
    const {from, to} = run.lanes.spans[r];
    const [first, last] = look.axis.steps(run);
    if (to < first || from > last) {
      const {axis} = look;
      look.from = (axis.isTime ? run.startTime[Math.min(from, run.numSteps - 1)] : from) - 0.1 * axis.span;
    }
    view.selection.select({kind: "r", id: r, run});
  }
}

// Keeps the point under the pointer, or the middle, in its place.
function zoomTimeline(look, by, x = null) {
  const {axis} = look;
  if (!axis) return;
  const at = x === null ? null : axis.from + (x - axis.left) / axis.scale;
  look.zoom = clamp(look.zoom + by, -24, 12);
  if (at !== null) look.from = Math.max(0, at - (at - axis.from) / ZOOM_STEP ** by);
}

function listenToTimeline(body, canvas, look, view) {
  const redraw = () => view.player.redraw();
  const across = event => pointIn(canvas, event, 6 * view.k);
  body.addEventListener("wheel", event => {
    const {rows, axis} = look;
    if (!axis) return;
    if (event.ctrlKey) zoomTimeline(look, -Math.sign(event.deltaY), Math.max(axis.left, across(event)[0]));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) look.from = axis.from + ((event.deltaX || event.deltaY) / axis.scale);
    else {
      // the page keeps its wheel until the timeline was clicked, and where there are no more rows
      const to = clamp(rows.top + Math.sign(event.deltaY), 0, rows.count - rows.shown);
      if (!look.isHeld || to === rows.top) return;
      look.scrolled = to;
    }
    event.preventDefault();
    redraw();
  }, {passive: false});
  let drag = null;
  body.addEventListener("pointerleave", () => { look.isHeld = false; });
  canvas.addEventListener("pointerdown", event => {
    canvas.kvDragged = false;
    if (event.button || !look.axis) return;
    const [x, y] = across(event);
    look.isHeld = true;
    drag = {x, y, from: look.axis.from, top: look.rows.top, moved: false};
  });
  canvas.addEventListener("pointermove", event => {
    if (!drag || !event.buttons) return;
    const [x, y] = across(event);
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 5) return;
    if (!drag.moved) canvas.setPointerCapture(event.pointerId);
    drag.moved = true;
    look.from = drag.from - (x - drag.x) / look.axis.scale;
    if (look.rows.count > look.rows.shown) look.scrolled = Math.max(0, drag.top - Math.round((y - drag.y) / look.rows.pitch));
    redraw();
  });
  canvas.addEventListener("pointerup", () => {
    canvas.kvDragged = Boolean(drag?.moved);
    drag = null;
  });
  canvas.addEventListener("click", event => {
    const [x, y] = across(event);
    if (!canvas.kvDragged && look.axis && y < AXIS * view.k && x >= look.axis.left) view.player.goStep(look.axis.stepAt(look.run, x));
  });
}
