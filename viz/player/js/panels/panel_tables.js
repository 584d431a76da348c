// Block tables: for each running sequence the physical block of each logical block. Long tables keep their first entry and
// the last ones; when more sequences run than fit, the last row is given to the one that the sentence is about.
definePanel({
  name: "tables",
  place: "middle",
  needs: run => (run.tracks.tables || !run.tracks.strips) && !run.tree,
  create(view, box) {
    const canvas = box.canvas();
    const {paint, hits} = canvas;
    return {
      draw(frame) {
        const {words} = view;
        const {run} = frame;
        box.title(words.tables, words.tablesRemark);
        if (!run.tracks.tables) return box.say(words.notPublished);
        box.say(frame.running.length ? "" : words.nobodyRuns);
        const [width, height] = canvas.begin(view);
        if (frame.running.length) drawTables(paint, frame, view, width, height, hits);
        canvas.label(words.tablesLabel(frame.running.length));
      },
    };
  },
});

function drawTables(paint, frame, view, width, height, hits) {
  const {run} = frame;
  const {k, theme, words} = view;
  const names = nameWidth(run, paint, k), head = 18 * k;
  const cell = Math.max(31 * k, paint.measure("0".repeat(String(run.firstBlock + run.numGpuBlocks - 1).length), 13.5 * k, 650) + 7 * k);
  const fits = Math.max(3, Math.floor((width - names) / cell));
  const groups = frame.running.reduce((count, s, i, all) => count + (i > 0 && run.requestOf[s] !== run.requestOf[all[i - 1]] ? 1 : 0), 0);
  const roomy = head + frame.running.length * 30 * k + groups * 8 * k <= height;
  const [pitch, space] = roomy ? [30 * k, 8 * k] : [25 * k, 0];
  const perPage = roomy ? frame.running.length : Math.max(1, Math.floor((height - head - 16 * k) / pitch));
  const wanted = [...view.selection.marks(frame).sequences].find(sequence => frame.running.includes(sequence));
  const shown = withSubject(frame.running, 0, perPage, wanted ?? frame.subject.sequence);
  const isWhole = shown.every(sequence => tableOf(frame, sequence).length <= fits);
  for (let j = 0; isWhole && j < fits; j++)
    paint.text(names + j * cell + (cell - 3 * k) / 2, 11 * k, j, {size: 11.5 * k, align: "center", fill: theme.ink3});
  const rings = [];
  let y = head;
  shown.forEach((sequence, i) => {
    if (i > 0 && run.requestOf[sequence] !== run.requestOf[shown[i - 1]]) y += space;
    drawTable(paint, frame, sequence, {y, names, cell, height: pitch - 5 * k, fits, k}, rings, hits);
    y += pitch;
  });
  paint.rings(Paint.joinBoxes(rings, 4 * k), 0.8 * k);
  const ringed = new Set(rings.map(String));
  view.selection.outline(paint, frame, 0.8 * k, marks => {
    const entries = hits.boxes("b", id => marks.blocks.has(id), 3 * k).map(entry => [...entry, ringed.has(String(entry))]);
    return [...hits.boxes("s", id => marks.sequences.has(id), 4 * k), ...Paint.joinBoxes(entries, 4 * k)];
  });
  const hidden = frame.running.length - shown.length;
  if (hidden) paint.text(0, y + 11 * k, words.more(hidden), {size: 12.5 * k, fill: theme.ink2});
}

// Room for the longest sequence name of the run, within limits.
function nameWidth(run, paint, k) {
  if (run.nameWidthFor !== k) {
    const names = range(Math.min(run.numSequences, 2000)).map(sequence => run.sequenceName(sequence));
    run.nameWidth = largest(names.map(name => paint.measure(name.slice(0, 20), 14 * k, 700)));
    run.nameWidthFor = k;
  }
  return clamp(run.nameWidth + 18 * k, 40 * k, 88 * k);
}

// Slots of a sequence that name a block now.
function tableOf(frame, sequence) {
  const blocks = frame.columns("tables").block;
  return frame.run.slotsOf(sequence).filter(slot => blocks[slot] >= 0);
}

function drawTable(paint, frame, sequence, {y, names, cell, height, fits, k}, rings, hits) {
  const {run} = frame;
  const {theme} = paint;
  const tag = names - 8 * k;
  drawName(paint, run, sequence, y, tag, height, k);
  hits.add([0, y, tag, height], "s", sequence, run);
  const slots = tableOf(frame, sequence);
  const skipped = slots.length > fits ? slots.length - fits + 1 : 0;
  for (let j = 0; j < fits; j++) {
    const x = names + j * cell, w = cell - 3 * k, middle = x + w / 2, baseline = y + height / 2 + 4.7 * k;
    if (skipped && j === 1) {
      paint.text(middle, baseline, "+" + skipped, {size: 12 * k, align: "center", fill: theme.ink2, max: w});
      continue;
    }
    const slot = slots[skipped && j > 1 ? j + skipped - 1 : j];
    if (slot === undefined) {
      paint.line([[x + w * 0.38, y + height / 2], [x + w * 0.62, y + height / 2]], {stroke: theme.mark, width: 1.4 * k});
      continue;
    }
    const block = frame.columns("tables").block[slot];
    drawEntry(paint, frame, block, run.hues.of(sequence), {x, y, w, height, baseline, k});
    hits.add([x, y, w, height], "b", block, run);
    if (frame.changedSlots.has(slot)) rings.push([x, y, w, height, 3 * k]);
  }
}

function drawEntry(paint, frame, block, owner, {x, y, w, height, baseline, k}) {
  const {theme} = paint;
  const blocks = frame.columns("blocks");
  const isOpen = blocks ? blocks.fill[block] < frame.run.blockSize : false;
  const isShared = blocks ? blocks.ref_count[block] > 1 : false;
  const hue = theme.hues[isShared ? "S" : owner];
  paint.block(x, y, w, height, hue, {isOpen, isShared, radius: 3 * k, width: 2 * k});
  paint.text(x + w / 2, baseline, block, {size: 13.5 * k, weight: 650, align: "center", fill: isOpen ? theme.ink : hue.on, max: w - 2 * k,
    ground: isShared && (isOpen ? theme.paper : hue.solid), pad: 2.5 * k});
}
