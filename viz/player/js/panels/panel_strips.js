// KV memory of the contiguous managers: the pool as lines of slots, a strip for each sequence. Solid holds tokens, stripes
// on a tint are reserved and will be used, dots never will be, a dashed box with dots is a hole.
definePanel({
  name: "strips",
  place: "left",
  needs: run => run.tracks.strips,
  create(view, box) {
    const canvas = box.canvas();
    const {paint, hits} = canvas;
    const legend = new Legend(box);
    return {
      draw(frame) {
        const {words, k} = view;
        box.title(words.strips, words.stripsRemark);
        legend.draw(view, ["tokens", "reserved", "unused", "hole", "now"]);
        const [width, height] = canvas.begin(view);
        const strips = stripsOf(frame);
        const total = numSlots(frame.run);
        const {count, used, size} = stripSums(frame);
        canvas.label(words.stripsLabel(count, used, size));
        drawStrips(paint, stripLines(frame.run, total, width, height, k), strips, total, frame, view, hits);
        view.selection.outline(paint, frame, 0.8 * k, ({sequences}) => hits.boxes("s", id => sequences.has(id), 2 * k));
      },
    };
  },
});

// Lines with the same round number of slots each; one line for each full reservation where there are a few of them.
function stripLines(run, total, width, height, k) {
  const left = 46 * k;
  const most = clamp(Math.min(Math.ceil(total / 64), Math.floor((height + 8 * k) / (34 * k))), 1, 8);
  const whole = run.header.settings?.max_model_len;
  const unit = 2 ** Math.max(0, Math.floor(Math.log2(total / most)) - 2);
  const isWhole = whole <= total && total / whole <= most && total / whole > 3;
  const slots = isWhole ? whole : Math.ceil(total / most / unit) * unit;
  const count = Math.ceil(total / slots);
  const pitch = Math.min(64 * k, (height + 8 * k) / count);
  return {count, slots, left, pitch, height: pitch - 10 * k, scale: (width - left) / slots};
}

function drawStrips(paint, lines, strips, total, frame, view, hits) {
  const {run} = frame;
  const {theme, k} = view;
  for (let line = 0; line < lines.count; line++)
    paint.text(lines.left - 8 * k, line * lines.pitch + lines.height / 2 + 4 * k, formatNumber(line * lines.slots),
      {size: 11.5 * k, align: "right", fill: theme.ink3});
  for (const [start, size] of holesBetween(strips, total))
    for (const {x, y, w} of pieces(lines, start, size))
      paint.waste(x, y, w, lines.height, {dash: w > 3 ? [4 * k, 3 * k] : null});
  const rings = [];
  for (const strip of strips) {
    const hue = theme.hues[run.hues.of(strip.sequence)];
    drawStrip(paint, strip, hue, (from, to, draw) => {
      for (const {x, y, w} of pieces(lines, strip.start + from, to - from)) draw(x, y, w, lines.height);
    });
    const whole = pieces(lines, strip.start, strip.size);
    for (const {x, y, w} of whole) hits.add([x, y, w, lines.height], "s", strip.sequence, run);
    labelStrip(paint, lines, strip, whole, run, view);
    const before = frame.before("strips", "start", strip.sequence);
    if (before !== strip.start) rings.push(...whole.map(({x, y, w}) => [x, y, w, lines.height, 2 * k]));
  }
  for (const sequence of frame.touched("strips")) {
    const [start, size] = ["start", "size"].map(name => frame.before("strips", name, sequence));
    if (start >= 0 && frame.columns("strips").start[sequence] < 0)
      rings.push(...pieces(lines, start, size).map(({x, y, w}) => [x, y, w, lines.height, 2 * k]));
  }
  paint.rings(rings, 0.8 * k);
}

// The parts of a range of slots, line by line.
function pieces(lines, start, size) {
  const found = [];
  for (let at = start; at < start + size;) {
    const line = Math.floor(at / lines.slots);
    const stop = Math.min(start + size, (line + 1) * lines.slots);
    const x = lines.left + (at - line * lines.slots) * lines.scale;
    found.push({x, y: line * lines.pitch, w: (stop - at) * lines.scale});
    at = stop;
  }
  return found;
}

// Name and numbers on a plate of paper, where they fit.
function labelStrip(paint, lines, strip, whole, run, view) {
  const {theme, k, words} = view;
  const widest = whole.reduce((best, piece) => (piece.w > best.w ? piece : best));
  const size = Math.min(15 * k, lines.height * 0.55);
  if (widest.w < 16 * k) return;
  const name = paint.fit(run.sequenceName(strip.sequence), size, 700, widest.w - 14 * k);
  if (!name.text) return;
  const use = "  " + words.stripUse(strip.used, strip.size);
  const useWidth = paint.measure(use, size * 0.82, 400);
  const full = name.width + useWidth + 20 * k <= widest.w;
  const middle = widest.y + lines.height / 2;
  const width = name.width + (full ? useWidth : 0) + 10 * k;
  const hidesTokens = whole.length === 1 && strip.used * lines.scale < width + 12 * k;
  const behind = hidesTokens && widest.w - strip.end * lines.scale > width + 12 * k;
  const x = widest.x + (behind ? strip.end * lines.scale : 0) + 4 * k;
  paint.rect(x, middle - size * 0.72, width, size * 1.44, {fill: theme.paper, radius: 3 * k});
  paint.text(x + 5 * k, middle + size * 0.36, name.text, {size, weight: 700});
  if (full) paint.text(x + 5 * k + name.width, middle + size * 0.34, use, {size: size * 0.82, fill: theme.ink2});
}
