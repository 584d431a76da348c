// Very many blocks: one pixel each, coloured by state, the counts beside. What changed now is yellow.
function drawPixelGrid(paint, layout, frame, view) {
  const {run} = frame;
  const {theme, k, words} = view;
  const colors = (theme.packed ??= packColors(theme));
  const [columns, rows] = [layout.columns, layout.rows];
  const image = (layout.image ??= new ImageData(columns, rows));
  const pixels = new Uint32Array(image.data.buffer);
  const now = frame.columns("blocks");
  pixels.fill(0);
  for (let id = 0; id < run.numGpuBlocks; id++) {
    const at = layout.share === 1 ? id : Math.floor(id / layout.share);
    const color = !now.state[id] ? colors.free : now.ref_count[id] > 1 ? colors.shared : colors.used;
    if (layout.share === 1 || color !== colors.free || !pixels[at]) pixels[at] = color;
  }
  for (const id of frame.changedBlocks.keys()) if (id < run.numGpuBlocks) pixels[Math.floor(id / layout.share)] = colors.now;
  const tile = (layout.tile ??= Object.assign(document.createElement("canvas"), {width: columns, height: rows}));
  tile.getContext("2d").putImageData(image, 0, 0);
  const [w, h] = [columns * layout.pixel, rows * layout.pixel];
  paint.ctx.imageSmoothingEnabled = false;
  paint.ctx.drawImage(tile, 0, 0, w, h);
  paint.rect(-0.5, -0.5, w + 1, h + 1, {stroke: theme.line});
  const {used, shared, free} = frame.usage;
  const counts = [[used - shared, words.private, theme.hues.P.solid], [shared, words.shared, theme.hues.S.solid],
    [free, words.free, theme.panel], [frame.changedBlocks.size, words.changed, theme.now]];
  counts.forEach(([count, name, color], i) => {
    const y = (22 + 52 * i) * k;
    paint.rect(w + 8 * k, y - 2 * k, 9 * k, 9 * k, {fill: color, stroke: theme.mark, width: 0.8});
    paint.text(w + 92 * k, y - 4 * k, formatNumber(count), {size: 16 * k, weight: 700, align: "right"});
    paint.text(w + 92 * k, y + 12 * k, name, {size: 12.5 * k, align: "right", fill: theme.ink2});
  });
}

// Colours as 32-bit numbers in the byte order of ImageData.
function packColors(theme) {
  const pack = color => { const [r, g, b] = rgb(color); return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0; };
  return {free: pack(theme.panel), used: pack(theme.hues.P.solid), shared: pack(theme.hues.S.solid), now: pack(theme.now)};
}
