// One KV block at every size: the same square in the grid, in a table and under the tree.
// Solid is finished, tinted with slots is being written, outlined is free; stripes and a count mean more than one reader.
// A block is {id, state: "free" | "used" | "host", hue, name, readers: [hue], ref, oldRef, fill, size, written, was, wasHue,
// isCopy, progress}; `progress` below 1 is the movement into this frame.

// Slots that are drawn one by one; longer blocks get a bar with the numbers.
const MOST_SLOTS = 32;

function isOpen(block) { return block.fill < block.size || block.isNew; }

// Draws the body of a used block; returns {hue, ink, ground, isShared} for what is written on it. Others are done with it.
function drawBody(paint, x, y, w, h, block, k, style) {
  const {theme} = paint;
  if (block.state === "host") return drawHostCell(paint, x, y, w, h, block, k);
  if (block.state === "free") {
    if (block.wasHue && block.progress < 1)
      paint.rect(x, y, w, h, {fill: theme.hues[block.wasHue].solid, radius: style.radius, alpha: 0.8 * (1 - block.progress)});
    return paint.box(x, y, w, h, {stroke: theme.free, width: 1.3, dash: block.gone === undefined ? null : [4 * k, 3 * k], ...style});
  }
  const isShared = block.ref > 1, hue = theme.hues[isShared && block.isNew == null ? "S" : block.hue];
  paint.block(x, y, w, h, hue, {isOpen: isOpen(block), isShared, ...style});
  return isOpen(block) ? {hue, ink: theme.ink, ground: isShared ? theme.paper : hue.tint, isShared} : {hue, ink: hue.on, ground: hue.solid, isShared};
}

// 40 px and up: id, readers, count, name, slots.
function drawLargeCell(paint, x, y, w, h, block, k) {
  const {theme} = paint;
  const radius = Math.round(w * 0.09), pad = w * 0.13;
  const idSize = clamp(Math.round(h * 0.24), 10.5 * k, 14 * k);
  const nameSize = clamp(Math.round(h * 0.33), 12 * k, 22 * k);
  const isFading = block.oldRef && block.oldRef < block.ref;
  const body = drawBody(paint, x, y, w, h, block, k, {radius, alpha: isFading ? block.progress : 1});
  if (block.state === "free") {
    paint.text(x + pad, y + h * 0.31, block.id, {size: idSize, fill: theme.ink3, max: w - 1.5 * pad});
    if (block.gone !== undefined) {
      const length = paint.text(x + pad, y + h * 0.72, block.gone, {size: nameSize * 0.8, fill: theme.ink2, max: w - 1.5 * pad});
      paint.line([[x + pad, y + h * 0.62], [x + pad + length, y + h * 0.62]], {stroke: theme.ink2, width: 1.3 * k});
      paint.glyph("evict", x + w - 9 * k, y + 9 * k, 4 * k, theme.ink);
    }
    if (block.was) paint.text(x + w / 2, y + h * 0.72, "was " + block.was,
      {size: Math.min(13 * k, nameSize), fill: theme.ink2, align: "center", max: w - 8 * k});
  }
  if (!body) return;
  const {hue, ink, ground, isShared} = body;
  if (isShared) drawReaders(paint, x, y, h, Math.max(5, w * 0.1), ground, block);
  const left = x + pad + (isShared ? w * 0.06 : 0);
  const countSize = clamp(Math.round(h * 0.25), 10.5 * k, 14 * k);
  let count = block.oldRef ? `×${block.oldRef}→${block.ref}` : isShared ? `×${block.ref}` : "";
  if (left + paint.measure(block.id, idSize, 550) + paint.measure(count, countSize, 700) + countSize > x + w) count = count && "×" + block.ref;
  const badge = count ? drawBadge(paint, x + w - 3, y + 3, countSize, count, Boolean(block.oldRef)) : 0;
  const put = (baseline, text, size, weight, max) => paint.text(left, baseline, text, {size, weight, max, fill: ink, ground: isShared && ground});
  put(y + h * 0.31, block.id, idSize, 550, x + w - badge - left - 4);
  const isBar = isOpen(block) && block.size > MOST_SLOTS;
  const nameRoom = x + w - left - 4, nameShare = Math.min(isBar ? 0.85 : 1, nameRoom / paint.measure(block.name, nameSize, 700));
  if (block.name) put(y + h * (isBar ? 0.6 : 0.68), block.name, Math.max(11 * k, nameSize * nameShare), 700, nameRoom);
  const dot = Math.min(5.5 * k, h * 0.085);
  if (block.isCopy && !count) paint.disc(x + w - dot - 6, y + dot + 6, dot, {fill: ink});
  const length = x + w - left - w * 0.09;
  if (isBar) put(y + h * 0.83, `${block.fill}/${block.size}`, clamp(h * 0.2, 11 * k, 13 * k), 550, length);
  if (isOpen(block) && !block.isNew) drawSlots(paint, left, y + h * (isBar ? 0.88 : 0.78), length, h * (isBar ? 0.07 : 0.12), block, hue, k);
}

// A block in host memory: nobody runs it, so dashed; `h3` counts from the first host block.
function drawHostCell(paint, x, y, w, h, block, k) {
  const {theme} = paint;
  const isLarge = w >= 40 * k;
  const size = clamp(h * (isLarge ? 0.28 : 0.5), 10.5 * k, 14 * k);
  paint.box(x, y, w, h, block.hue ? {stroke: theme.hues[block.hue].solid, width: 2, dash: [4 * k, 3 * k], radius: w * 0.09}
    : {stroke: theme.free, width: 1.2 * k, radius: w * 0.09});
  const fill = block.hue ? theme.ink : theme.ink3;
  if (w < 16 * k) return;
  if (!isLarge) { paint.text(x + w / 2, y + h * 0.66, "h" + block.number, {size, fill, weight: 550, align: "center", max: w - 3}); return; }
  paint.text(x + w * 0.13, y + size * 1.25, "h" + block.number, {size, fill, max: w * 0.75});
  if (!block.name) return;
  paint.text(x + w * 0.13, y + h * 0.8, block.name, {size: Math.min(17 * k, h * 0.4), weight: 700, max: w * 0.55});
  paint.text(x + w * 0.9, y + h * 0.8, "⇄", {size: Math.min(16 * k, h * 0.36), align: "right"});
}

// One bar for each reader at the left edge, a plain bar above six.
function drawReaders(paint, x, y, h, width, ground, block) {
  paint.rect(x + 1, y + 1, width + 2.5, h - 2, {fill: ground, radius: 2});
  const bars = block.readers.length && block.readers.length <= 6 ? block.readers : ["K"];
  const length = (h - 4 - (bars.length - 1) * 2) / bars.length;
  bars.forEach((hue, i) =>
    paint.rect(x + 2, y + 2 + i * (length + 2), width, length, {fill: paint.theme.hues[hue].solid, radius: 1}));
}

// A count in the upper right corner, yellow when it changed now; returns the width that it took.
function drawBadge(paint, right, top, size, text, isNow) {
  const {theme} = paint;
  const pad = size * 0.25;
  return paint.text(right - pad, top + size * 0.98, text, {size, weight: 700, align: "right", pad,
    fill: isNow ? theme.onNow : theme.chipInk, ground: isNow ? theme.now : theme.chip}) + 2 * pad;
}

// Filled and empty slots, those written in this frame in yellow; above 32 one bar with the numbers.
function drawSlots(paint, x, y, width, height, block, hue, k) {
  const {theme} = paint;
  const {size, fill, written} = block;
  const empty = {fill: theme.paper, stroke: hue.solid, width: 0.8};
  if (size > MOST_SLOTS || width / size < 1.6) {
    paint.rect(x + 0.5, y, width - 1, height, empty);
    paint.rect(x + 0.5, y, ((width - 1) * fill) / size, height, {fill: hue.solid});
    return;
  }
  const pitch = width / size;
  const slot = pitch - Math.max(0.8, pitch * 0.22);
  for (let i = 0; i < size; i++) {
    if (i >= fill) paint.rect(x + i * pitch, y, slot, height, empty);
    else if (i < fill - written) paint.rect(x + i * pitch, y, slot, height, {fill: hue.solid});
    else {
      paint.rect(x + i * pitch, y - k, slot, height + 2 * k, {fill: theme.paper, stroke: theme.nowEdge, width: 0.9});
      paint.rect(x + i * pitch + 0.4, y - k + 0.4, (slot - 0.8) * block.progress, height + 2 * k - 0.8, {fill: theme.now});
    }
  }
}

// 18 px and up: id, count when shared, fill bar.
function drawSmallCell(paint, x, y, w, h, block, k) {
  const size = clamp(h * 0.5, 10.5 * k, 12 * k);
  const body = drawBody(paint, x, y, w, h, block, k, {radius: w * 0.12});
  const put = (share, text, fill, ground) => paint.text(x + w / 2, y + h * share, text, {size, weight: 650, align: "center", fill, max: w - 3, ground, pad: 2});
  if (block.state === "free") put(0.66, block.id, paint.theme.ink3);
  if (!body) return;
  const {hue, ink, ground, isShared} = body;
  if (isOpen(block)) paint.rect(x + 3, y + h - 6.5, ((w - 6) * block.fill) / block.size, 3.4, {fill: hue.solid});
  put(isOpen(block) ? 0.58 : 0.68, isShared ? "×" + block.ref : block.id, ink, isShared && ground);
}

// 5 px and up: solid, outline, one diagonal when shared.
function drawTinyCell(paint, x, y, w, h, block, k) {
  const body = drawBody(paint, x, y, w, h, {...block, ref: 1, hue: block.ref > 1 ? "S" : block.hue}, k, {width: block.state === "free" ? 1 : 1.6, radius: w > 7 ? 1 : 0});
  if (body && block.ref > 1)
    paint.line([[x + 1.5, y + h - 1.5], [x + w - 1.5, y + 1.5]], {stroke: paint.theme.stripe, width: Math.max(1.4, w * 0.2)});
}
