// Very many blocks: one pixel each, coloured by state, the counts beside. What changed now is yellow, and when the frame stands
// still for 300 ms a lens in the corner lists the blocks instead.
const LENS_DELAY = 300;
const LENS_COLUMNS = 4, LENS_ROWS = 3;

function drawPixelGrid(paint, grid, frame, view) {
  const {run} = frame;
  const {theme, k, words, selection} = view;
  const {layout} = grid;
  const colors = (theme.packed ??= packColors(theme));
  const {columns, rows, pixel, share, first} = layout;
  const image = (layout.image ??= new ImageData(columns, rows));
  const pixels = new Uint32Array(image.data.buffer);
  const now = frame.columns("blocks");
  pixels.fill(0);
  for (let i = 0; i < run.numGpuBlocks; i++) {
    const at = share === 1 ? i : Math.floor(i / share), id = first + i;
    const color = !now.state[id] ? colors.free : !now.ref_count[id] ? colors.kept : now.ref_count[id] > 1 ? colors.shared : colors.used;
    if (share === 1 || color !== colors.free || !pixels[at]) pixels[at] = color;
  }
  const paintAll = (ids, color) => {
    for (const id of ids) if (id >= first && id < first + run.numGpuBlocks) pixels[Math.floor((id - first) / share)] = color;
  };
  const marked = selection.marks(frame, selection.target);
  paintAll(marked.blocks, colors.selected);
  const isLensOpen = lensIsOpen(grid.lens, frame, view.player);
  if (!isLensOpen) paintAll(frame.changedBlocks.keys(), colors.now);
  const tile = (layout.tile ??= Object.assign(document.createElement("canvas"), {width: columns, height: rows}));
  tile.getContext("2d").putImageData(image, 0, 0);
  const [w, h] = [columns * pixel, rows * pixel];
  paint.ctx.imageSmoothingEnabled = false;
  paint.ctx.drawImage(tile, 0, 0, w, h);
  paint.rect(-0.5, -0.5, w + 1, h + 1, {stroke: theme.mark});
  const {used, shared, kept} = frame.usage;
  const counts = [[used - shared, words.private, theme.hues.P.solid], [shared, words.shared, theme.hues.S.solid],
    [run.numGpuBlocks - used, words.free, theme.panel], ...(run.keeps ? [[kept, words.kept, theme.hues.K.solid]] : []), [frame.changedBlocks.size, words.changed, theme.now],
    [marked.blocks.size, words.selected, theme.hues.B.solid]];
  const pitch = Math.min(48 * k, (grid.height - 20 * k) / counts.length);
  counts.forEach(([count, name, color], i) => {
    const y = 22 * k + pitch * i;
    paint.rect(w + 8 * k, y - 2 * k, 9 * k, 9 * k, {fill: color, stroke: theme.mark, width: 0.8});
    paint.text(w + 92 * k, y - 4 * k, formatNumber(count), {size: 16 * k, weight: 700, align: "right"});
    paint.text(w + 92 * k, y + 12 * k, name, {size: 12.5 * k, align: "right", fill: theme.ink2});
  });
  if (selection.selected?.kind === "b" && marked.blocks.size === 1) {
    const [column, row] = cellPlace({...layout, stride: columns * share}, [...marked.blocks][0]);
    paint.outlines([[Math.floor(column / share) * pixel, row * pixel, pixel, pixel, 1]], 1.6 * k, k);
  }
  if (isLensOpen) drawLens(paint, frame, w, h, view);
}

// Opens once its frame has stood still for a moment; never while playing.
function lensIsOpen(lens, frame, player) {
  if (lens.frame !== frame) {
    clearTimeout(lens.timer);
    Object.assign(lens, {frame, isOpen: false, timer: 0});
  }
  if (!player.isPlaying && !lens.timer && frame.changedBlocks.size) lens.timer = setTimeout(() => {
    lens.isOpen = true;
    player.redraw();
  }, LENS_DELAY);
  return lens.isOpen;
}

function drawLens(paint, frame, width, height, view) {
  const {theme, k, words} = view;
  const ids = [...frame.changedBlocks.keys()].filter(id => id < frame.run.firstBlock + frame.run.numGpuBlocks);
  if (!ids.length) return;
  const shown = ids.slice(0, LENS_COLUMNS * LENS_ROWS);
  const [cellWidth, cellHeight] = [48 * k, 22 * k];
  const columns = Math.min(LENS_COLUMNS, shown.length), rows = Math.ceil(shown.length / columns);
  const more = ids.length > shown.length ? words.more(ids.length - shown.length) : "";
  const w = Math.max(columns * (cellWidth + 4 * k), more ? 110 * k : 0) + 12 * k, h = rows * (cellHeight + 4 * k) + 12 * k + (more ? 17 * k : 0);
  const [x, y] = [width - w - 10 * k, height - h - 10 * k];
  paint.rect(x, y, w, h, {fill: theme.paper, radius: 5 * k});
  paint.rings([[x + 3 * k, y + 3 * k, w - 6 * k, h - 6 * k, 3 * k]], 0.8 * k);
  const now = frame.columns("blocks");
  shown.forEach((id, i) => drawSmallCell(paint, x + 8 * k + (i % columns) * (cellWidth + 4 * k), y + 8 * k + Math.floor(i / columns) * (cellHeight + 4 * k),
    cellWidth, cellHeight, describeBlock(frame, now, id, false), k));
  paint.text(x + 8 * k, y + h - 9 * k, more, {size: 12 * k, fill: theme.ink2});
}

// Colours as 32-bit numbers in the byte order of ImageData.
function packColors(theme) {
  const pack = color => { const [r, g, b] = rgb(color); return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0; };
  const {P, S, B, K} = theme.hues;
  return {free: pack(theme.panel), kept: pack(K.solid), used: pack(P.solid), shared: pack(S.solid), now: pack(theme.now), selected: pack(B.solid)};
}
