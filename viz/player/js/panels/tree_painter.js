// Draws what is in sight of a radix tree: edges, boxes with their words, padlocks, ticks of recency, and what happens now: the path
// that was hit, what was stored, split or evicted.
function drawTree(paint, {frame, layout, top, height, folds}, view, hits) {
  const {run} = frame, {theme} = paint, {k, words, selection} = view;
  const {row, order, fold, isBars, first, left, gap, pitch, start, w, h, tree} = layout;
  const {now, alive, fresh, gone, split, hot} = treeOf(frame), hasWords = run.header.vocabulary;
  const place = n => [left + (tree.depth[n] - first) * (w + gap), start + (row[n] + 0.5) * pitch - top + (isBars ? 0 : 7 * k)];
  const root = [14 * k, clamp(start + layout.length / 2 - top, 14 * k, height - 30 * k)];
  const shown = order.filter(n => (now.parent[n] >= 0 || gone.has(n)) && Math.abs(place(n)[1] - height / 2) < height / 2 + pitch);
  // a box between two rows at the edge would be cut
  const isWhole = n => Math.abs(start + (row[n] + 0.5) * pitch - top - height / 2) <= (height - pitch) / 2 + 2;
  for (const n of shown.toSorted((a, b) => hot.has(a) - hot.has(b))) {
    const {parent} = nodeAt(frame, n), isHot = hot.has(n);
    const [x, y] = parent && fold[parent] >= 0 ? place(parent) : [root[0] + 9 * k - w, root[1]];
    for (const [stroke, width] of isHot ? [[theme.nowEdge, 9], [theme.now, 6.6], [theme.nowEdge, 2]] : [[theme.mark, 2]])
      paint.curve(x + w, y, ...place(n), {stroke, width: width * k, dash: gone.has(n) ? [4 * k, 4 * k] : []});
  }
  paint.disc(...root, 9 * k, {fill: theme.ink});
  paint.text(root[0], root[1] + 25 * k, words.root, {size: 12 * k, align: "center", fill: theme.ink2});
  const holders = isBars ? new Map() : holdersOf(frame), folded = new Map(), rings = [];
  const newest = largest(alive.map(n => now.last_access[n])), oldest = alive.reduce((age, n) => Math.min(age, now.last_access[n]), newest);
  for (const n of alive) if (fold[n] >= 0 && fold[n] !== n) folded.set(fold[n], (folded.get(fold[n]) ?? 0) + 1);
  for (const n of shown.filter(isWhole)) {
    const [x, middle] = place(n), y = middle - h / 2, body = [x, y, w, h, 7 * k];
    const {num_tokens: count, lock_ref: locks, last_access: last} = nodeAt(frame, n);
    const hue = theme.hues[tree.hue(n)], isGone = gone.has(n), isNow = isGone || fresh.has(n);
    const fill = isGone ? theme.ink2 : isNow ? theme.ink : hue.on;
    if (isGone) paint.box(x, y, w, h, {fill: theme.paper, stroke: theme.mark, width: 1.8 * k, dash: [5 * k, 4 * k], radius: 7 * k});
    else paint.block(x, y, w, h, hue, {isOpen: isNow, radius: 7 * k, width: 2.3 * k});
    if (isNow) rings.push(body);
    hits.add(body.slice(0, 4), "n", n, run);
    let right;
    // a plate at the right, with a glyph in it; returns its box and moves on to the left
    const plate = (text, baseline, size, fill, ground, glyph) => {
      const room = paint.text(right, baseline, (glyph ? "\u2003" + (text && " ") : "") + text, {size, weight: 700, align: "right", fill, ground, pad: 5 * k, max: 0.7 * w});
      if (glyph) paint.glyph(glyph, right - room + size * 0.45, baseline - size * 0.36, size * 0.48, fill);
      right -= room + 14 * k;
      return [right + 9 * k, baseline - size, room + 10 * k, 1.3 * size];
    };
    const size = isBars ? 12 * k : Math.min(16 * k, h * 0.55);
    const chip = (text, glyph) => plate(text, middle + size * 0.3, size * 0.85, isGone ? theme.paper : theme.chipInk, isGone ? theme.ink : theme.chip, glyph);
    right = x + w - 21 * k;
    if (isGone) chip("", "evict");
    else for (let i = 0; i < 5; i++)
      paint.rect(x + w - 11 * k, middle + h * (0.28 - i * 0.16), 5 * k, h * 0.11, {fill, alpha: 4 * (last - oldest) >= (newest - oldest) * i ? 1 : 0.28});
    if (folded.has(n)) folds.add(chip("+" + folded.get(n)), "n", n, run);
    if (locks) chip(locks, "lock");
    const max = right - x - 12 * k, from = x + 12 * k;
    const text = isBars ? formatNumber(count) : hasWords ? nodeText(frame, n) : words.tokens(count);
    const small = clamp((0.99 * size * max) / paint.measure(text, size, 550), Math.min(12.5 * k, size), size);
    linesOf(paint, text, small, h > 36 * k ? max : Infinity).forEach((line, i, lines) => {
      const y = middle + (i - (lines.length - 1) / 2) * 1.2 * small;
      const to = from + paint.text(from, y + small * 0.36, middleCut(paint, line, small, max), {size: small, weight: 550, fill, max, alpha: isGone ? 1 - 0.4 * frame.progress : 1});
      if (isGone) paint.line([[from, y], [to, y]], {stroke: fill, width: 1.3 * k});
    });
    if (split.has(n)) paint.nowLine([[x + w + 2 * k, y], [x + w + 2 * k, y + h]], 4 * k);
    if (isBars) continue;
    right = x + w - 6 * k;
    const tag = (...look) => plate(look[0], y - (isNow ? 11 : 5) * k, 12 * k, look[1], look[2]);
    if (isGone) tag(words.evictedNow(count), theme.ink);
    if (split.has(n)) tag(words.splitNow, theme.onNow, theme.now);
    for (const s of holders.get(n) ?? []) {
      const own = theme.hues[run.hues.of(s)];
      if (right > x + 80 * k) hits.add(tag(run.sequenceName(s), own.on, own.solid), "s", s, run);
    }
    if (hasWords) paint.text(x + 2 * k, y - (isNow ? 11 : 5) * k, words.words(count), {size: 12 * k, fill: theme.ink2, max: right - x});
  }
  paint.rings(rings, k);
  const ringed = new Set(rings.map(String));
  selection.outline(paint, frame, 0.9 * k, marks => hits.boxes("n", n => marks.nodes.has(n), 7 * k).map(body => [...body, ringed.has(String(body))]));
}

// Node -> running sequences whose path ends there.
function holdersOf(frame) {
  const holders = new Map(), {node} = treeBlocks(frame), blocks = frame.columns("tables")?.block;
  if (blocks) for (const s of frame.running) {
    const n = node[blocks[frame.run.slotsOf(s).findLast(slot => node[blocks[slot]] > 0)]];
    if (n) holders.set(n, [...holders.get(n) ?? [], s]);
  }
  return holders;
}

// A text in two lines where it is too long for one.
function linesOf(paint, text, size, room) {
  const parts = text.split(" "), half = Math.ceil(parts.length / 2);
  return parts.length > 1 && paint.measure(text, size, 550) > room ? [parts.slice(0, half), parts.slice(half)].map(line => line.join(" ")) : [text];
}

// A text without its middle where it is too long.
function middleCut(paint, text, size, room) {
  const length = paint.measure(text, size, 550), half = Math.floor((text.length * room) / length / 2) - 1;
  return length <= room || half < 3 ? text : `${text.slice(0, half).replace(/ \S*$/, "")} … ${text.slice(-half).replace(/^\S* /, "")}`;
}
