// Where the blocks of a pool lie in a box: the largest anatomy that fits, its cells as large as possible.
// Every block keeps its place for the whole run, because the number of blocks does. Large cells rather become squat than
// lose the gutter between the rows, in which the arrows of copies run.
const LARGE = {name: "large", minWidth: 40, minHeight: 33, maxWidth: 132, gap: 4.5, aspect: 0.83, arrowGap: 21, squat: 0.66};
const SMALL = {name: "small", minWidth: 18, minHeight: 17, maxWidth: 40, gap: 3, aspect: 1};
const TINY = {name: "tiny", minWidth: 5, minHeight: 5, maxWidth: 22, gap: 1.5, aspect: 1};
const ROUND_COLUMNS = new Set([4, 8, 10, 16, 20, 24, 32, 40, 50, 64, 80, 100]);

// {mode: "large" | "small" | "tiny", columns, rows, width, height, pitchX, pitchY} or {mode: "pixel", columns, rows, pixel, share}.
function gridLayout(numBlocks, width, height, k) {
  for (const form of [LARGE, SMALL, TINY]) {
    const best = bestColumns(form, numBlocks, width, height, k);
    if (best) return best;
  }
  return pixelLayout(numBlocks, width, height);
}

function bestColumns(form, numBlocks, width, height, k) {
  const scale = form === TINY ? 1 : k;
  const gap = form.gap * scale;
  const most = Math.min(numBlocks, Math.floor((width + gap) / (form.minWidth * scale + gap)));
  let best = null;
  for (let columns = 1; columns <= most; columns++) {
    const rows = Math.ceil(numBlocks / columns);
    const w = Math.min(form.maxWidth * scale, (width - (columns - 1) * gap) / columns);
    const tight = (height - (rows - 1) * gap) / rows;
    const airy = form.arrowGap ? (height - (rows - 1) * form.arrowGap * scale) / rows : 0;
    const h = Math.min(w * form.aspect, Math.max(airy, Math.min(tight, w * (form.squat ?? 1))));
    if (w < form.minWidth * scale || h < form.minHeight * scale) continue;
    const spread = rows > 1 ? (height - rows * h) / (rows - 1) : Infinity;
    const hasGutter = form.arrowGap && spread >= 0.8 * form.arrowGap * scale;
    const score = Math.min(w, h / form.aspect) * (ROUND_COLUMNS.has(columns) ? 1.2 : 1) * (hasGutter ? 1.3 : 1);
    if (best && score <= best.score) continue;
    best = {score, mode: form.name, columns, rows, width: w, height: h, pitchX: w + gap,
      pitchY: h + Math.max(gap, Math.min((form.arrowGap ?? 0) * scale, spread))};
  }
  return best;
}

// One pixel a block, enlarged by whole numbers; beyond that several blocks share one.
function pixelLayout(numBlocks, ...room) {
  const [width, height] = room.map(length => Math.max(1, length));
  for (let pixel = 4; pixel >= 1; pixel--) {
    const most = Math.floor(width / pixel);
    for (const columns of [most - (most % 16), most]) {
      const rows = Math.ceil(numBlocks / Math.max(1, columns));
      if (rows * pixel <= height) return {mode: "pixel", columns, rows, pixel, share: 1};
    }
  }
  const columns = Math.floor(width);
  const share = Math.ceil(numBlocks / (columns * Math.floor(height)));
  return {mode: "pixel", columns, rows: Math.ceil(numBlocks / share / columns), pixel: 1, share};
}

// A rectangle [column, row, columns, rows] of a pixel layout as cells of its own, as large as there is room, 6 px at least.
function partLayout(pixels, [column, row, columns, rows], width, height, k) {
  const most = length => Math.max(1, Math.floor((length + 1.5) / 7.5));
  const stride = pixels.columns * pixels.share;
  const part = {mode: "tiny", stride, left: column * pixels.share, top: row, first: pixels.first, count: pixels.count};
  part.columns = Math.min(columns * pixels.share, most(width), stride - part.left);
  part.rows = Math.min(rows, most(height));
  part.pitchX = part.pitchY = Math.min(13 * k, (width + 1.5) / part.columns, (height + 1.5) / part.rows);
  part.width = part.height = part.pitchX - 1.5;
  return part;
}

// Column and row of a block; its layout counts from block `first` and may show a part of longer rows.
function cellPlace({first = 0, columns, stride = columns, left = 0, top = 0}, block) {
  return [((block - first) % stride) - left, Math.floor((block - first) / stride) - top];
}

// Upper left corner of a block.
function cellPosition(layout, block) {
  const [column, row] = cellPlace(layout, block);
  return [(layout.x ?? 0) + column * layout.pitchX, (layout.y ?? 0) + row * layout.pitchY];
}

function hasCell(layout, block) {
  const [column, row] = cellPlace(layout, block);
  return block >= layout.first && block < layout.first + layout.count && column >= 0 && column < layout.columns && row >= 0 && row < layout.rows;
}

// Calls each(block) for the blocks of a layout.
function forEachCell({first, count, columns, rows, stride = columns, left = 0, top = 0}, each) {
  for (let row = top; row < top + rows; row++)
    for (let i = row * stride + left, end = Math.min(count, i + columns); i < end; i++) each(first + i);
}

// The block under a point, -1 for none.
function cellAt(layout, x, y) {
  const pitch = layout.mode === "pixel" ? [layout.pixel, layout.pixel] : [layout.pitchX, layout.pitchY];
  const column = Math.floor((x - (layout.x ?? 0)) / pitch[0]), row = Math.floor((y - (layout.y ?? 0)) / pitch[1]);
  if (column < 0 || row < 0 || column >= layout.columns || row >= layout.rows) return -1;
  const {stride = layout.columns, left = 0, top = 0, share = 1} = layout;
  const i = ((row + top) * stride + column + left) * share;
  return i < layout.count ? layout.first + i : -1;
}
