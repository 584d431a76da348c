// What is in the blocks of a real model: for each running sequence its blocks, one after the other, with the words of their
// tokens. The prompt is regular, the answer bold, what is written in this frame yellow. Below, who waits and what was said.
definePanel({
  name: "words",
  place: "left",
  needs: run => run.player.showsWords,
  create(view, box) {
    const canvas = box.canvas();
    box.head.append(...wordsButton(view));
    return {
      draw(frame) {
        const {words} = view;
        box.title(words.texts, words.textsRemark);
        const [width, height] = canvas.begin(view);
        const rows = [...frame.running.map(s => ({s, blocks: textBlocks(frame, s)})), ...quietRows(frame, words)];
        box.say(rows.length ? "" : words.nobodyRuns);
        drawTexts(canvas, frame, view, rows, width, height);
        canvas.label(rows.map(({s, blocks, text}) => `${frame.run.sequenceName(s)}: ${text ?? blocks.map(({id, tokens}) => `${id} ${tokens.map(token => token.text).join("")}`).join(" | ")}`).join("; "));
      },
    };
  },
});

// The way from the words to the pictures of memory and back.
function wordsButton({player, words}) {
  return player.run.player.showsWords == null ? [] : [button(words.wordsOrMemory, () => player.toggleWords(), {class: "kv-key"})];
}

function wordAt(run, s, position) {
  const request = run.requests[run.requestOf[s]];
  return run.words[position < request.prompt_len ? request.first_sequence : s]?.[position] ?? "·";
}

function textOf(run, s, first, past) { return range(Math.max(0, past - first), first).map(i => wordAt(run, s, i)).join("").trim(); }

// [{id, slot, tokens: [{text, isBold, isNew}]}]. A block has one content, whoever reads it; new are words only in the row of
// the sequence that writes them, in the iteration that computes them.
function textBlocks(frame, s) {
  const {run} = frame, size = run.blockSize, {block: ids} = frame.columns("tables");
  const {fill, owner} = frame.columns("blocks"), isWriting = frame.cursor.ticks > frame.ticksSince;
  return Array.from(tableOf(frame, s), slot => {
    const first = run.tracks.tables.keys[1][slot] * size;
    const id = ids[slot], old = isWriting && owner[id] === s ? first + filledBefore(frame, id) : Infinity;
    return {id, slot, tokens: range(clamp(fill[id], 0, size), first).map(position => ({
      text: wordAt(run, s, position), isBold: position >= run.requests[run.requestOf[s]].prompt_len, isNew: position >= old,
    }))};
  });
}

// How much of what is in a block nobody computed in this frame: it was in it before, unless the block was taken anew in
// between, or it is a copy.
function filledBefore(frame, id) {
  const {run: {tracks: {blocks}}, cursor, since, ticksSince} = frame, copy = frame.happened("copied").find(({target}) => target === id);
  if (copy) return copy.amount;
  const f = blocks.field("fill");
  let row = cursor.rows.blocks[id], least = Infinity;
  for (; row >= 0 && blocks.event[row] > since; row = blocks.previous[row]) least = Math.min(least, blocks.values[f][row]);
  return Math.min(least, blocks.value(f, row, ticksSince));
}

// Those who wait, with the reason, and those who are done, with their last words; the latest one first.
function quietRows(frame, words) {
  const {run} = frame, {status, num_tokens: known} = frame.columns("sequences");
  const done = range(status.length).filter(s => status[s] === STATUS.FINISHED).reverse();
  return [...frame.waiting.map(r => ({s: run.requests[r].first_sequence, text: `${words.status[STATUS.WAITING]}: ${waitText(frame, r, false, frame.decision(r), words) || queueText(frame, r, words)}`})),
    ...done.map(s => ({s, text: textOf(run, s, run.requests[run.requestOf[s]].prompt_len, known[s])}))];
}

// The largest type in which everything fits, without the numbers beside it where they take too much room; at the smallest one
// blocks in the middle are left out, then rows at the end.
function drawTexts({paint, hits}, frame, view, rows, width, height) {
  const {k, words, theme} = view, {run} = frame;
  const full = rows.filter(row => row.blocks), quiet = rows.length - full.length;
  let left, size, pitch, gap;
  const breakLines = most => { for (const row of full) row.lines = brokenLines(paint, row.blocks, size, width - left, run.blockSize, most, k); };
  const heightOfFull = () => total(full.map(row => Math.max(1, row.lines.length) * pitch + gap));
  const {isLecture} = view.player.layout;
  for (const [wanted, room] of [[17, 184], [14.5, 184], [12.5, 184], [12.5, 52], ...(isLecture ? [[10.5, 52]] : [])]) {
    left = room * k;
    size = wanted * k;
    gap = (wanted < 12 ? 3 : 6) * k;
    pitch = 2.75 * size + 8 * k;
    breakLines(Infinity);
    if (heightOfFull() + Math.min(quiet, 4) * 24 * k <= height) break;
  }
  const room = height - Math.min(quiet, 2) * 24 * k;
  if (heightOfFull() > room) breakLines(Math.max(1, Math.floor((room / full.length - gap) / pitch)));
  const rings = [];
  let y = 4 * k, hidden = 0;
  for (const {s, lines, text} of rows) {
    const tall = lines ? Math.max(1, lines.length) * pitch : 24 * k;
    if (hidden || y + tall - 8 * k > height) { hidden++; continue; }
    paint.clipped(0, y - 9 * k, width + 9 * k, tall + 18 * k, () => {
      paint.ctx.translate(0, y);
      drawName(paint, run, s, 0, 40 * k, lines ? Math.min(40 * k, pitch - 8 * k) : 19 * k, k);
      if (!lines) return paint.text(54 * k, 14.5 * k, text, {size: 13.5 * k, fill: theme.ink2, max: width - 54 * k});
      if (left > 99 * k) speedTexts(frame, s, words).forEach((line, i) => paint.text(50 * k, (14 + 17 * i) * k, line, {size: (i ? 12 : 13) * k, weight: i ? 400 : 650, fill: i ? theme.ink2 : theme.ink, max: left - 54 * k}));
    });
    hits.add([0, y, 40 * k, tall], "s", s, run);
    lines?.forEach((line, i) => {
      for (const block of line) drawTextBlock(paint, frame, block, [left + block.x, y + i * pitch, block.width, pitch - 8 * k], s, size, k, rings, hits);
    });
    y += tall + (lines ? gap : 0);
  }
  paint.rings(rings, 0.8 * k);
  if (hidden) paint.text(width, height, words.more(hidden), {size: 12 * k, align: "right", fill: theme.ink2, ground: theme.paper});
  view.selection.outline(paint, frame, 0.8 * k, marks => [...hits.boxes("b", id => marks.blocks.has(id), 4 * k), ...hits.boxes("s", id => marks.sequences.has(id), 4 * k)]);
}

// Blocks in lines with their `x` and `width`; when there are too many lines the second block gives way to a "+n", which grows.
function brokenLines(paint, blocks, size, room, blockSize, most, k) {
  for (let skipped = 0; ; skipped++) {
    const lines = [];
    let x = Infinity;
    for (const block of skipped ? [blocks[0], {skipped}, ...blocks.slice(1 + skipped)] : blocks) {
      const text = block.skipped ? 20 * k : total(block.tokens.map(token => paint.measure(token.text, size, token.isBold ? 700 : 400))) + (blockSize - block.tokens.length) * size * 0.7;
      const width = Math.min(room, Math.max(34 * k, text + 20 * k));
      if (x + width > room) { x = 0; lines.push([]); }
      lines.at(-1).push({...block, x, width});
      x += width + 8 * k;
    }
    if (lines.length <= most || skipped + 2 >= blocks.length) return lines;
  }
}

// "16 new tokens", "9.1 / s · first 212 ms"
function speedTexts(frame, s, words) {
  const {run, column} = frame, {arrival_s: arrived, prompt_len: prompt} = run.requests[run.requestOf[s]];
  const count = Math.max(0, frame.columns("sequences").num_tokens[s] - prompt), lane = run.lanes.ofSequence[s];
  // a short prompt is computed whole in the step in which it is seen to decode
  const begun = lane.find(({status}) => status === STATUS.DECODE), isLater = begun?.computed + begun?.rate * begun?.ticksBefore > prompt;
  const first = run.endTime[begun?.from - isLater], passed = run.endTime[column] - first;
  return [words.newTokens(count), passed > 0 && count > 1 ? words.speed(((count - 1) / passed).toFixed(1), formatTime(first - arrived)) : ""];
}

function drawTextBlock(paint, frame, {id, slot, skipped, tokens}, [x, y, w, h], s, size, k, rings, hits) {
  const {run} = frame, {theme} = paint;
  if (skipped) return paint.text(x + w / 2, y + h * 0.6, "+" + skipped, {size, align: "center", fill: theme.ink2});
  const count = frame.columns("blocks").ref_count[id], isShared = count > 1, isOpen = tokens.length < run.blockSize;
  const hue = theme.hues[isShared ? "S" : run.hues.of(s)], fill = isOpen ? theme.ink : hue.on, ground = isShared ? (isOpen ? theme.paper : hue.solid) : null;
  paint.block(x, y, w, h, hue, {isOpen, isShared, radius: 5 * k});
  const small = Math.min(11.5 * k, 0.92 * size);
  paint.text(x + 9 * k, y + 1.13 * small, id, {size: small, weight: 550, fill, ground});
  if (isShared) drawBadge(paint, x + w - 4 * k, y + 2 * k, small, "×" + count, false);
  let at = x + 9 * k;
  const end = x + w - 6 * k, base = y + h - 0.55 * size;
  for (const {text, isBold, isNew} of tokens) {
    const weight = isBold ? 700 : 400;
    // a mark ends where that of the next piece begins, however narrow both are; the space that a word brings stays free
    const left = at + (text.startsWith(" ") ? 2 : 0.5) * k;
    if (isNew) paint.rect(left, base - size, Math.min(at + paint.measure(text, size, weight) + 0.5 * k, end) - left, size * 1.35, {fill: theme.now, stroke: theme.nowEdge, radius: 3 * k});
    at += paint.text(at, base, text, {size, weight, fill: isNew ? theme.onNow : fill, ground: isNew ? null : ground, pad: 0.5, max: end - at});
  }
  for (; at + 0.6 * size < end && isOpen; at += 0.7 * size) paint.line([[at + 0.15 * size, base + 2 * k], [at + 0.6 * size, base + 2 * k]], {stroke: hue.solid, width: 1.6 * k});
  hits.add([x, y, w, h], "b", id, run);
  if (frame.changedSlots.has(slot) || frame.changedBlocks.has(id)) rings.push([x, y, w, h, 5 * k]);
}
