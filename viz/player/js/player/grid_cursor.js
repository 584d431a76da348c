// Ways into a picture: a cursor for the keyboard (Enter on the picture, arrows, Enter for details, Escape) and, for the grid, a
// rectangle drawn with the pointer over a pool of pixels, which opens as cells.

// `own` has {cursor, layout, frame}; `start()` is where the cursor comes in, `next(id, dx, dy)` where an arrow leads, `text(id)` what is said.
function listenToCursor(canvas, own, view, kind, {start, next, text}) {
  const {selection} = view;
  canvas.tabIndex = 0;
  const target = id => ({kind, id, run: own.frame.run});
  const show = id => {
    own.cursor = id;
    selection.point(id >= 0 ? target(id) : null);
    if (id >= 0) selection.say(text(id));
    view.player.redraw();
  };
  canvas.addEventListener("blur", () => show(-1));
  canvas.addEventListener("keydown", event => {
    if (!own.layout || event.ctrlKey || event.altKey || event.metaKey) return;
    const {cursor} = own;
    const isOn = cursor >= 0;
    if (event.key === "Enter" && !isOn) show(selection.selected?.kind === kind ? selection.selected.id : start() ?? -1);
    else if (event.key === "Enter") { selection.select(target(cursor)); selection.open(); }
    else if (event.key === "Escape" && isOn) show(-1);
    else if (VOCABULARY.arrows[event.key] && isOn) show(next(cursor, ...VOCABULARY.arrows[event.key]));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function drawCursor(paint, grid, {theme, k}) {
  const {drag, cursor, layout} = grid;
  if (drag?.moved) {
    const [x, y] = [Math.min(drag.x0, drag.x1), Math.min(drag.y0, drag.y1)];
    paint.rect(x, y, Math.abs(drag.x1 - drag.x0), Math.abs(drag.y1 - drag.y0), {stroke: theme.ink, width: 2 * k, dash: [6 * k, 4 * k]});
  }
  if (cursor < 0 || !grid.run.tracks.blocks) return;
  const [column, row] = cellPlace(layout, cursor);
  const box = layout.mode === "pixel" ? [column * layout.pixel - 4, row * layout.pixel - 4, layout.pixel + 8, layout.pixel + 8, 2]
    : cellBoxes(grid, [cursor])[0];
  if (box) paint.outlines([box], 2.4 * k, k);
}

// "block 7, request 2, ref 2, 3 of 4 filled"
function blockText(frame, id, words) {
  const now = frame.columns("blocks");
  const readers = (frame.readers.get(id) ?? []).map(sequence => frame.run.sequenceName(sequence)).join(words.listLast) || words.noReader;
  if (now.state[id] && !now.ref_count[id]) return words.cellKept(id);
  return now.state[id] ? words.cellSpoken(id, readers, now.ref_count[id], now.fill[id], frame.run.blockSize) : words.cellFree(id);
}

function dragRectangle(canvas, grid, view) {
  const point = event => pointIn(canvas, event, 8 * view.k);
  canvas.addEventListener("pointerdown", event => {
    canvas.kvDragged = false;
    if (grid.layout?.mode !== "pixel" || event.button) return;
    const [x0, y0] = point(event);
    grid.drag = {x0, y0, x1: x0, y1: y0, moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const {drag} = grid;
    if (!drag) return;
    [drag.x1, drag.y1] = point(event);
    drag.moved ||= Math.hypot(drag.x1 - drag.x0, drag.y1 - drag.y0) > 5;
    view.player.redraw();
  });
  const stop = () => {
    const {drag, layout} = grid;
    grid.drag = null;
    if (!drag?.moved || layout.mode !== "pixel") return;
    canvas.kvDragged = true;
    view.selection.point(null);
    const at = (a, most) => clamp(Math.floor(a / layout.pixel), 0, most - 1);
    const [left, right] = [drag.x0, drag.x1].map(x => at(x, layout.columns)).sort((a, b) => a - b);
    const [top, bottom] = [drag.y0, drag.y1].map(y => at(y, layout.rows)).sort((a, b) => a - b);
    grid.part = [left, top, right - left + 1, bottom - top + 1];
    view.player.redraw();
  };
  canvas.addEventListener("pointerup", stop);
  canvas.addEventListener("pointercancel", stop);
}
