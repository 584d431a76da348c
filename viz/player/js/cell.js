// One KV block at every size: the same square in the grid, in a table and under the tree.
// Solid is finished, tinted with slots is being written, outlined is free; stripes and a count mean more than one reader.
// A block is {id, state: "free" | "used" | "host", hue, name, readers: [hue], ref, oldRef, fill, size, written, was, wasHue,
// isCopy, progress}; `progress` below 1 is the movement into this frame.

// Slots that are drawn one by one; longer blocks get a bar with the numbers.
const MOST_SLOTS = 32;

// 40 px and up: id, readers, count, name, slots.
function drawLargeCell(paint, x, y, w, h, block, k) {
  const {theme} = paint;
  const radius = Math.round(w * 0.09);
  const idSize = Math.max(10.5 * k, Math.min(14 * k, Math.round(h * 0.24)));
  const nameSize = Math.max(12 * k, Math.min(22 * k, Math.round(h * 0.33)));
  const pad = w * 0.13;
  if (block.state === "host") return drawHostCell(paint, x, y, w, h, block, k);
  if (block.state === "free") {
    fadeOut(paint, x, y, w, h, block, radius);
    paint.rect(x + 0.75, y + 0.75, w - 1.5, h - 1.5, {stroke: theme.free, width: 1.3 * k, radius});
    paint.text(x + pad, y + h * 0.31, block.id, {size: idSize, fill: theme.ink3, max: w - 1.5 * pad});
    if (block.was) paint.text(x + w / 2, y + h * 0.72, "was " + block.was,
      {size: Math.min(13 * k, nameSize), fill: theme.ink2, align: "center", max: w - 8 * k});
    return;
  }
  const isShared = block.ref > 1;
  const hue = theme.hues[isShared ? "S" : block.hue];
  const isFull = block.fill >= block.size;
  const ground = isFull ? hue.solid : isShared ? theme.paper : hue.tint;
  const ink = isFull ? hue.on : theme.ink;
  const alpha = block.oldRef && block.oldRef < block.ref ? block.progress : 1;
  if (isFull) {
    paint.rect(x, y, w, h, {fill: hue.solid, radius});
    if (isShared) paint.rect(x, y, w, h, {fill: paint.pattern("stripes"), radius, alpha});
  } else {
    paint.rect(x + 1.1, y + 1.1, w - 2.2, h - 2.2, {fill: hue.tint, stroke: hue.solid, width: 2.2, radius});
    if (isShared) paint.rect(x + 2.2, y + 2.2, w - 4.4, h - 4.4, {fill: paint.pattern("hatch"), radius: radius - 1, alpha});
  }
  if (isShared) drawReaders(paint, x, y, h, Math.max(5, w * 0.1), ground, block);
  const left = x + pad + (isShared ? w * 0.06 : 0);
  const count = block.oldRef ? `×${block.oldRef}→${block.ref}` : isShared ? `×${block.ref}` : "";
  const badge = count ? drawBadge(paint, x + w - 3, y + 3, Math.min(14 * k, Math.round(h * 0.25)), count, Boolean(block.oldRef)) : 0;
  const put = (baseline, text, size, weight, max) => {
    const shown = paint.fit(String(text), size, weight, max);
    if (isShared && shown.text)
      paint.rect(left - 3, baseline - size * 0.86, shown.width + 6, size * 1.12, {fill: ground, radius: 2});
    paint.text(left, baseline, shown.text, {size, weight, fill: ink});
  };
  put(y + h * 0.31, block.id, idSize, 550, x + w - badge - left - 4);
  const isBar = !isFull && block.size > MOST_SLOTS;
  if (block.name) put(y + h * (isBar ? 0.6 : 0.68), block.name, isBar ? nameSize * 0.85 : nameSize, 700, x + w - left - 4);
  const dot = Math.min(5.5 * k, h * 0.085);
  if (block.isCopy && !count) paint.disc(x + w - dot - 6, y + dot + 6, dot, {fill: ink});
  const length = x + w - left - w * 0.09;
  if (isBar) put(y + h * 0.83, `${block.fill}/${block.size}`, Math.max(11 * k, Math.min(13 * k, h * 0.2)), 550, length);
  if (!isFull) drawSlots(paint, left, y + h * (isBar ? 0.88 : 0.78), length, h * (isBar ? 0.07 : 0.12), block, hue, k);
}

// What a block held until this frame, going.
function fadeOut(paint, x, y, w, h, block, radius) {
  if (block.wasHue && block.progress < 1)
    paint.rect(x, y, w, h, {fill: paint.theme.hues[block.wasHue].solid, radius, alpha: 0.8 * (1 - block.progress)});
}

// A block in host memory: nobody runs it, so dashed; `h3` counts from the first host block.
function drawHostCell(paint, x, y, w, h, block, k) {
  const {theme} = paint;
  const radius = Math.round(w * 0.09), isLarge = w >= 40 * k;
  const size = Math.max(10.5 * k, Math.min(14 * k, h * (isLarge ? 0.28 : 0.5)));
  paint.rect(x + 1, y + 1, w - 2, h - 2, block.hue ? {stroke: theme.hues[block.hue].solid, width: 2, dash: [4 * k, 3 * k], radius}
    : {stroke: theme.free, width: 1.2 * k, radius});
  const fill = block.hue ? theme.ink : theme.ink3;
  if (w < 16 * k) return;
  if (!isLarge) return paint.text(x + w / 2, y + h * 0.66, "h" + block.number, {size, fill, weight: 550, align: "center", max: w - 3});
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
  const width = paint.measure(text, size, 700) + size * 0.5;
  paint.rect(right - width, top, width, size * 1.25, {fill: isNow ? theme.now : theme.chip, radius: 4});
  paint.text(right - width / 2, top + size * 0.98, text, {size, weight: 700, align: "center", fill: isNow ? theme.onNow : theme.chipInk});
  return width;
}

// Filled and empty slots, those written in this frame in yellow; above 32 one bar with the numbers.
function drawSlots(paint, x, y, width, height, block, hue, k) {
  const {theme} = paint;
  const {size, fill, written} = block;
  if (size > MOST_SLOTS || width / size < 1.6) {
    paint.rect(x + 0.5, y, width - 1, height, {fill: theme.paper, stroke: hue.solid, width: 0.8});
    paint.rect(x + 0.5, y, ((width - 1) * fill) / size, height, {fill: hue.solid});
    return;
  }
  const pitch = width / size;
  const slot = pitch - Math.max(0.8, pitch * 0.22);
  for (let i = 0; i < size; i++) {
    if (i >= fill) paint.rect(x + i * pitch, y, slot, height, {fill: theme.paper, stroke: hue.solid, width: 0.8});
    else if (i < fill - written) paint.rect(x + i * pitch, y, slot, height, {fill: hue.solid});
    else {
      paint.rect(x + i * pitch, y - k, slot, height + 2 * k, {fill: theme.paper, stroke: theme.nowEdge, width: 0.9});
      paint.rect(x + i * pitch + 0.4, y - k + 0.4, (slot - 0.8) * block.progress, height + 2 * k - 0.8, {fill: theme.now});
    }
  }
}

// 18 px and up: id, count when shared, fill bar.
function drawSmallCell(paint, x, y, w, h, block, k) {
  const {theme} = paint;
  const radius = w * 0.12;
  const size = Math.max(10.5 * k, Math.min(12 * k, h * 0.5));
  if (block.state === "host") return drawHostCell(paint, x, y, w, h, block, k);
  if (block.state === "free") {
    fadeOut(paint, x, y, w, h, block, radius);
    paint.rect(x + 0.7, y + 0.7, w - 1.4, h - 1.4, {stroke: theme.free, width: 1.3, radius});
    paint.text(x + w / 2, y + h * 0.66, block.id, {size, weight: 550, align: "center", fill: theme.ink3, max: w - 3});
    return;
  }
  const isShared = block.ref > 1;
  const hue = theme.hues[isShared ? "S" : block.hue];
  const isFull = block.fill >= block.size;
  if (isFull) paint.rect(x, y, w, h, {fill: hue.solid, radius});
  else paint.rect(x + 1, y + 1, w - 2, h - 2, {fill: hue.tint, stroke: hue.solid, width: 2, radius});
  if (isShared) paint.rect(x, y, w, h, {fill: paint.pattern(isFull ? "stripes" : "hatch"), radius});
  if (!isFull) paint.rect(x + 3, y + h - 6.5, ((w - 6) * block.fill) / block.size, 3.4, {fill: hue.solid});
  const label = paint.fit(isShared ? "×" + block.ref : String(block.id), size, 650, w - 3);
  if (!label.text) return;
  const baseline = y + h * (isFull ? 0.68 : 0.58);
  if (isShared) paint.rect(x + (w - label.width) / 2 - 2, baseline - size * 0.84, label.width + 4, size * 1.06,
    {fill: isFull ? hue.solid : theme.paper, radius: 2});
  paint.text(x + w / 2, baseline, label.text, {size, weight: 650, align: "center", fill: isFull ? hue.on : theme.ink});
}

// 5 px and up: solid, outline, one diagonal when shared.
function drawTinyCell(paint, x, y, w, h, block, k) {
  const {theme} = paint;
  if (block.state === "host") return drawHostCell(paint, x, y, w, h, block, k);
  if (block.state === "free") {
    paint.rect(x + 0.5, y + 0.5, w - 1, h - 1, {stroke: theme.free, width: 1, radius: 1});
    return;
  }
  const isShared = block.ref > 1;
  const hue = theme.hues[isShared ? "S" : block.hue];
  if (block.fill >= block.size) paint.rect(x, y, w, h, {fill: hue.solid, radius: w > 7 ? 1 : 0});
  else paint.rect(x + 0.8, y + 0.8, w - 1.6, h - 1.6, {fill: hue.tint, stroke: hue.solid, width: 1.6, radius: 1});
  if (isShared) paint.line([[x + 1.5, y + h - 1.5], [x + w - 1.5, y + 1.5]], {stroke: theme.stripe, width: Math.max(1.4, w * 0.2)});
}
