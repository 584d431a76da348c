// What stands in a cell of the batch, the same in a row of a request and in a place: P for a prompt, then name and count as far as
// there is room. And a place that idles.
function drawCellText(paint, [x, y, w, h], {isPrompt, name, count, fill, hue}, k) {
  const size = clamp(h * 0.62, Math.min(12 * k, h * 0.96), 16 * k), middle = x + w / 2, baseline = y + h / 2 + size * 0.35;
  const isPale = fill !== hue.on;
  if (w < 7 * k || h < 11 * k) return;
  if (w < 44 * k) {
    const text = isPrompt ? "P" : paint.measure(name, size, 650) <= w - 4 ? name : "";
    paint.text(middle, baseline, text, {size, weight: isPrompt ? 700 : 650, align: "center", fill});
    return;
  }
  const edge = Math.min(4 * k, h * 0.14), small = Math.max(size * 0.84, Math.min(size, 11.5 * k));
  let left = x + Math.min(11 * k, h * 0.4);
  if (isPrompt) {
    paint.rect(x + edge, y + edge, 15 * k, h - 2 * edge, {fill: isPale ? hue.solid : hue.on, radius: 3 * k});
    paint.text(x + edge + 7.5 * k, baseline - size * 0.04, "P", {size: Math.min(12 * k, size * 0.9), weight: 700, align: "center", fill: isPale ? hue.on : hue.solid});
    left = x + edge + 20 * k;
  }
  const room = paint.measure(count, small) + 12 * k;
  const hasCount = left + room <= x + w;
  const shown = paint.fit(name, size, 650, x + w - left - (hasCount ? room : 4 * k));
  // a name is whole or, where the count has to give way for it, cut
  if (shown.text === name || !hasCount) paint.text(left, baseline, shown.text, {size, weight: 650, fill});
  if (hasCount) paint.text(x + w - 6 * k, baseline, count, {size: small, align: "right", fill});
}

// Tokens of the output after a step, "3/5"; of a prompt in parts, how much of it is stored.
function countText(run, stretch, step) {
  const request = run.requests[run.requestOf[stretch.sequence]];
  const computed = computedAt(stretch, step);
  if (computed < request.prompt_len) return `${formatNumber(computed)}/${formatNumber(request.prompt_len)}`;
  return `${computed - request.prompt_len + stretch.ahead}/${request.output_len}`;
}

function drawIdle(paint, [x, y, w, h], word, {alpha, fill, ...style}, k) {
  const {theme} = paint;
  paint.rect(x, y, w, h, {fill: theme.paper, ...style});
  paint.waste(x, y, w, h, {dash: [4 * k, 3 * k], alpha, ...style});
  const size = clamp(h * 0.6, Math.min(11.5 * k, h * 1.05), 13.5 * k);
  const room = paint.measure(word, size, 650);
  if (size >= 8 * k && w >= room + 14 * k)
    paint.text(x + Math.min((w - room) / 2, 36 * k), y + h / 2 + size * 0.36, word, {size, weight: 650, fill, ground: theme.paper, pad: 5 * k});
}

// From afar: what `values` of the steps reach of `most`, a column for each pixel.
function drawShare(paint, axis, run, values, {most, top, height, now, fill, alpha = 1}) {
  const [first, last] = axis.steps(run);
  const end = Math.min(axis.right, axis.end(run, last));
  for (let x = Math.floor(Math.max(axis.left, axis.begin(run, first))); x < end; x++) {
    const from = axis.stepAt(run, x), to = Math.max(from, axis.stepAt(run, x + 1) - 1);
    const h = Math.min(1, total(values.subarray(from, to + 1)) / (to - from + 1) / most) * height;
    paint.rect(x, top + height - h, 1, h, {fill, alpha: from > now ? 0.4 : alpha});
  }
}
