// Copy-on-write in the grid: out of the source, along the gutters, into the copy. Copies of one source share a trunk,
// and the trunk says how many slots were copied.
function drawCopyArrows(paint, layout, copies, frame, k, words) {
  const labels = new Map();
  for (const copy of copies) {
    const points = copyPath(layout, copy.block, copy.target);
    if (layout.mode !== "large" && isShort(points, 1.5 * layout.width)) continue;
    paint.arrow(points, {width: (layout.mode === "large" ? 3 : 1.8) * k, radius: 4 * k, progress: frame.progress});
    labels.set(copy.block, {points, amount: copy.amount});
  }
  if (frame.progress < 1 || layout.pitchY - layout.height < 15 * k) return;
  for (const {points, amount} of labels.values()) {
    const [a, b] = longestPart(points);
    const text = words.copySlots(amount);
    const size = 12.5 * k;
    const width = paint.measure(text, size, 650) + 14 * k;
    if (Math.abs(b[0] - a[0]) < width * 0.5) continue;
    const middle = Math.max(width / 2, Math.min((a[0] + b[0]) / 2, layout.columns * layout.pitchX - width / 2));
    paint.rect(middle - width / 2, a[1] - 8.5 * k, width, 17 * k, {fill: paint.theme.ink, radius: 4 * k});
    paint.text(middle, a[1] + 4.4 * k, text, {size, weight: 650, align: "center", fill: paint.theme.paper});
  }
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
  const [dx, dy] = [((to[0] - from[0]) / length) * edge, ((to[1] - from[1]) / length) * edge];
  const isFar = length > 2 * edge;
  return isFar ? [[from[0] + dx, from[1] + dy], [to[0] - dx, to[1] - dy]] : [from, from];
}

// The longest level part of a path, as two points.
function longestPart(points) {
  let best = [points[0], points[0]];
  for (let i = 1; i < points.length; i++) {
    const isLevel = points[i][1] === points[i - 1][1];
    if (isLevel && Math.abs(points[i][0] - points[i - 1][0]) > Math.abs(best[1][0] - best[0][0])) best = [points[i - 1], points[i]];
  }
  return best;
}

function isShort([from, to], least) { return Math.hypot(to[0] - from[0], to[1] - from[1]) < least; }
