// Copy-on-write in the grid: out of the source, along the gutters, into the copy. Copies of one source share a trunk,
// and the trunk says how many slots were copied.
function drawCopyArrows(paint, layout, copies, frame, k, words) {
  const isLarge = layout.mode === "large";
  const paths = copies.map(copy => ({copy, points: copyPath(layout, copy.block, copy.target)}))
    .filter(({points}) => isLarge || !isShort(points, 1.5 * layout.width));
  paint.arrows(paths.map(path => path.points), {width: (isLarge ? 3 : 1.8) * k, radius: 4 * k, progress: frame.progress});
  if (!isLarge || frame.progress < 1 || layout.pitchY - layout.height < 9 * k) return;
  for (const source of new Set(copies.map(copy => copy.block)))
    labelTrunk(paint, layout, paths.filter(path => path.copy.block === source), k, words);
}

// The label stands where the trunk has no branch: in its widest gap, else beside the source.
function labelTrunk(paint, layout, paths, k, words) {
  const text = words.copySlots(paths[0].copy.amount);
  const size = 12.5 * k;
  const width = paint.measure(text, size, 650) + 14 * k;
  const y = paths[0].points[1][1];
  const source = paths[0].points[0][0];
  const stops = [source, ...paths.filter(({points}) => points[2][1] === y).map(({points}) => points[2][0])].sort((a, b) => a - b);
  let middle = null, widest = width * (paths.length > 1 ? 0.9 : 0.5);
  for (let i = 1; i < stops.length; i++) {
    if (stops[i] - stops[i - 1] < widest) continue;
    widest = stops[i] - stops[i - 1];
    middle = (stops[i] + stops[i - 1]) / 2;
  }
  const right = layout.columns * layout.pitchX;
  middle ??= source === stops[0] && source > width + 10 * k ? source - width / 2 - 8 * k : stops.at(-1) + width / 2 + 8 * k;
  middle = clamp(middle, width / 2, right - width / 2);
  paint.rect(middle - width / 2, y - 8 * k, width, 16 * k, {fill: paint.theme.ink, radius: 4 * k});
  paint.text(middle, y + 4.4 * k, text, {size, weight: 650, align: "center", fill: paint.theme.paper});
}

function copyPath(layout, source, target) {
  const [sx, sy] = cellPosition(layout, source);
  const [tx, ty] = cellPosition(layout, target);
  const {width: w, height: h, pitchY} = layout;
  const gutter = pitchY - h;
  if (layout.mode !== "large") return straightPath([sx + w / 2, sy + h / 2], [tx + w / 2, ty + h / 2], w * 0.75);
  const [rowS, rowT] = [Math.round(sy / pitchY), Math.round(ty / pitchY)];
  const startX = sx + w * 0.32, endX = tx + w * 0.6;
  if (rowT === rowS) {
    const y = sy + h + gutter / 2;
    return [[startX, sy + h], [startX, y], [endX, y], [endX, ty + h]];
  }
  const isBelow = rowT > rowS;
  const firstY = isBelow ? sy + h + gutter / 2 : sy - gutter / 2;
  const lastY = isBelow ? ty - gutter / 2 : ty + h + gutter / 2;
  const from = [startX, isBelow ? sy + h : sy], to = [endX, isBelow ? ty : ty + h];
  if (Math.abs(rowT - rowS) === 1) return [from, [startX, firstY], [endX, firstY], to];
  const lane = tx - (layout.pitchX - w) / 2;
  return [from, [startX, firstY], [lane, firstY], [lane, lastY], [endX, lastY], to];
}

// From edge to edge of two small cells.
function straightPath(from, to, edge) {
  const length = Math.max(1, Math.hypot(to[0] - from[0], to[1] - from[1]));
  // one by one: the minifier puts a pattern in front of what it needs
  const dx = ((to[0] - from[0]) / length) * edge, dy = ((to[1] - from[1]) / length) * edge;
  const isFar = length > 2 * edge;
  return isFar ? [[from[0] + dx, from[1] + dy], [to[0] - dx, to[1] - dy]] : [from, from];
}

function isShort([from, to], least) { return Math.hypot(to[0] - from[0], to[1] - from[1]) < least; }
