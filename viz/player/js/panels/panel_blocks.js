// KV blocks: physical memory, one square a block, in the anatomy that the number of blocks and the room allow. Host memory is
// a row below. Very many blocks are pixels; a rectangle drawn over them opens as cells until Escape.
definePanel({
  name: "blocks",
  place: run => (run.tracks.nodes || run.player.showsWords ? "bottom" : "left"),
  needs: run => (run.tracks.blocks || !run.tracks.strips) && !run.player.showsLanes,
  create(view, box) {
    const grid = {part: null, drag: null, cursor: -1, lens: {}};
    const pick = (x, y) => {
      const id = grid.layout ? blockAt(grid, x, y) : -1;
      return id < 0 ? null : {kind: "b", id, run: grid.run};
    };
    const canvas = box.canvas(pick);
    const {paint} = canvas;
    const legend = new Legend(box);
    const reset = () => { const was = grid.part; grid.part = null; return Boolean(was); };
    const whole = button(view.words.wholePool, () => { reset(); view.player.redraw(); }, {class: "kv-key", hidden: ""});
    box.head.append(whole, ...(view.player.run.player.showsWords ? [] : wordsButton(view)));
    dragRectangle(canvas.element, grid, view);
    listenToCursor(canvas.element, grid, view, "b", {
      start: () => Math.max(grid.run.firstBlock, blockAt(grid, 1, 1)),
      next: (id, dx, dy) => {
        const {columns, stride = columns, share = 1} = grid.layout, {firstBlock: first, numGpuBlocks} = grid.run;
        return clamp(id + dx + dy * stride * share, first, first + numGpuBlocks - 1);
      },
      text: id => blockText(grid.frame, id, view.words),
    });
    return {
      reset,
      height: run => (run.player.showsWords ? (run.forks ? 104 : 92) : 116),
      close: () => clearTimeout(grid.lens.timer),
      draw(frame) {
        const {run} = frame;
        const {words, k} = view;
        grid.run = run;
        grid.frame = frame;
        whole.hidden = !grid.part;
        box.title(words.blocks, words.blocksRemark(run.blockSize) + (run.tree ? words.ofTree : ""));
        if (!run.tracks.blocks) return box.say(words.notPublished);
        box.say("");
        const isMany = run.numGpuBlocks > MANY_BLOCKS;
        legend.draw(view, run.tree || (isMany && !grid.part) ? [] : legendKinds(run));
        const size = canvas.begin(view), [width, height] = size;
        // where the legend stands right below, room for a ring, or for arrows
        const foot = run.player.showsWords ? (run.forks ? LARGE.arrowGap : 8) * k : 0;
        grid.height = height;
        Object.assign(grid, box.layout(`${run.numGpuBlocks} ${run.host?.size} ${k} ${grid.part} ${size} ${foot}`, () => layoutPools(run, grid.part, width, height - foot, k)));
        const {layout} = grid;
        canvas.element.dataset.mode = layout.mode;
        canvas.element.dataset.columns = layout.columns;
        canvas.label(words.blocksLabel(run.numGpuBlocks, frame.usage.used, frame.usage.shared, run.numGpuBlocks - frame.usage.used));
        if (grid.part) setText(box.remark, words.poolPart(blockAt(grid, 1, 1), run.numGpuBlocks));
        if (layout.mode === "pixel") drawPixelGrid(paint, grid, frame, view);
        else drawCells(paint, grid, frame, view);
        if (grid.host) drawHost(paint, grid, frame, view);
        drawCursor(paint, grid, view);
      },
    };
  },
});

const MANY_BLOCKS = 4096;
// A copy only where there are samples, what is kept only where something is.
function legendKinds(run) {
  return VOCABULARY.legends[run.hues.saysOwner ? "owners" : "states"].flatMap(kind => (kind === "copied" && !run.forks ? [] : kind === "free" && run.keeps ? ["known", kind] : kind));
}

const CELLS = {large: drawLargeCell, small: drawSmallCell, tiny: drawTinyCell};

// {layout, host}: where the blocks of the device and of the host lie.
function layoutPools(run, part, width, height, k) {
  const {numGpuBlocks: count, firstBlock: first} = run;
  const room = run.host ? Math.min(0.3 * height, 62 * k) : 0;
  const isMany = count > MANY_BLOCKS;
  const all = {...(isMany ? pixelLayout(count, width - 92 * k, height - room) : gridLayout(count, width, height - room, k)), first, count};
  const layout = isMany && part ? partLayout(all, part, width, height - room, k) : all;
  const host = run.host && {...gridLayout(run.host.size, width - 40 * k, room - 18 * k, k), first: run.host.first, count: run.host.size,
    x: 40 * k, y: height - room + 18 * k};
  return {all, layout, host};
}

function layoutOf(grid, id) { return [grid.layout, grid.host].find(layout => layout && layout.mode !== "pixel" && hasCell(layout, id)); }

function blockAt({layout, host}, x, y) {
  const id = cellAt(layout, x, y);
  return id < 0 && host && host.mode !== "pixel" ? cellAt(host, x, y) : id;
}

// [x, y, width, height, radius] of the blocks that are shown, the ringed ones marked as such.
function cellBoxes(grid, ids, ringed = null) {
  return ids.flatMap(id => {
    const layout = layoutOf(grid, id);
    return layout ? [[...cellPosition(layout, id), layout.width, layout.height, layout.width * 0.09, ringed?.has(id)]] : [];
  });
}

function drawCells(paint, grid, frame, view) {
  const {run} = frame;
  const {layout} = grid;
  const {k} = view;
  const now = frame.columns("blocks");
  const isLarge = layout.mode === "large";
  const copies = frame.happened("copied").filter(copy => hasCell(layout, copy.target) && hasCell(layout, copy.block));
  const oldRefs = refsBeforeCopies(frame, copies);
  const copied = new Set(copies.map(copy => copy.target));
  forEachCell(layout, id => CELLS[layout.mode](paint, ...cellPosition(layout, id), layout.width, layout.height,
    describeBlock(frame, now, id, isLarge, oldRefs, copied), k));
  const scale = isLarge ? Math.min(1.1 * k, layout.width / 64) : layout.mode === "small" ? 0.62 * k : 0.5 * k;
  const alone = new Set([...oldRefs.keys(), ...copied]);
  const nodes = run.tree && treeBlocks(frame).node, {hot, fresh} = run.tree ? treeOf(frame) : {};
  const isRinged = id => !alone.has(id) && (!nodes || (now.state[id] && (fresh.has(nodes[id]) || !frame.changedBlocks.get(id).state)));
  const runs = [...frame.changedBlocks.keys()].filter(isRinged);
  const gap = layout.pitchX - layout.width + 0.5;
  paint.rings([...Paint.joinBoxes(cellBoxes(grid, runs), gap), ...cellBoxes(grid, [...alone])], scale);
  if (hot?.size && layout.mode !== "tiny") for (const [x, y, w, h] of Paint.joinBoxes(cellBoxes(grid, range(nodes.length).filter(id => hot.has(nodes[id]))), gap))
    paint.nowLine([[x, y + h + 4 * k], [x + w, y + h + 4 * k]], 4 * k);
  view.selection.outline(paint, frame, scale, marks => Paint.joinBoxes(cellBoxes(grid, [...marks.blocks].sort((a, b) => a - b), frame.changedBlocks), gap));
  if (copies.length <= 8 && layout.mode !== "tiny") drawCopyArrows(paint, layout, copies, frame, k, view.words);
}

// Host memory in its row, and arrows for the blocks that move between the pools in this frame.
function drawHost(paint, grid, frame, view) {
  const {host, layout} = grid;
  const {k, theme, words} = view;
  const now = frame.columns("blocks");
  paint.text(0, host.y + 14 * k, words.host, {size: 12.5 * k, fill: theme.ink2, max: 38 * k});
  if (host.mode === "pixel") {
    let used = 0;
    for (let id = host.first; id < host.first + host.count; id++) if (now.state[id]) used++;
    paint.text(host.x, host.y + 14 * k, words.hostUse(used, host.count), {size: 13 * k});
    return;
  }
  forEachCell(host, id => {
    const owner = now.owner[id];
    const isUsed = now.state[id] && owner >= 0;
    CELLS[host.mode](paint, ...cellPosition(host, id), host.width, host.height, {state: "host", number: id - host.first,
      hue: isUsed ? frame.run.hues.of(owner) : null, name: isUsed ? frame.run.sequenceName(owner) : ""}, k);
  });
  const ids = [...frame.changedBlocks.keys()].filter(id => hasCell(host, id));
  paint.rings(Paint.joinBoxes(cellBoxes(grid, ids), host.pitchX - host.width + 0.5), 0.7 * k);
  const moves = frame.happened("moved_out", "moved_in");
  if (layout.mode === "pixel" || moves.length > 12) return;
  const middle = (id, isTop) => {
    const from = layoutOf(grid, id);
    if (!from) return null;
    const [x, y] = cellPosition(from, id);
    return [x + from.width / 2, isTop ? y : y + from.height];
  };
  const paths = moves.map(({block, target}) => [middle(block, block > target), middle(target, target > block)]);
  paint.arrows(paths.filter(path => path[0] && path[1]), {width: 2 * k, radius: 0, progress: frame.progress});
}

function describeBlock(frame, now, id, isLarge, oldRefs, copied) {
  const {run, progress} = frame;
  const size = run.blockSize;
  const changed = frame.changedBlocks.get(id);
  const {node, token} = run.tree ? treeBlocks(frame) : {node: []}, n = node[id];
  const word = n && isLarge && run.header.vocabulary ? run.tree.text(token[id], size) : "";
  if (!now.state[id]) {
    if (n) return {id, state: "free", progress, gone: word};
    const isReleased = changed?.state && changed.owner >= 0;
    return {id, state: "free", progress, was: isReleased ? run.sequenceName(changed.owner) : "",
      wasHue: isReleased ? run.hues.of(changed.owner) : null};
  }
  const owner = now.owner[id];
  const block = {id, state: "used", size, fill: now.fill[id], ref: now.ref_count[id], hue: owner >= 0 ? run.hues.of(owner) : "K",
    progress};
  if (n) Object.assign(block, {hue: run.tree.hue(n), isNew: treeOf(frame).fresh.has(n)});
  else if (run.hues.focus?.size && block.ref === 1) block.hue = run.hues.of(frame.readers.get(id)?.[0] ?? owner);
  if (!isLarge) return block;
  const readers = frame.readers.get(id) ?? [];
  const isShared = block.ref > 1;
  const request = run.requests[run.requestOf[readers[0] ?? owner]];
  const holder = isShared ? -1 : readers[0] ?? owner;
  if (holder >= 0 && !n) block.hue = run.hues.of(holder);
  block.name = n ? word : isShared ? request?.id ?? "" : holder >= 0 ? run.sequenceName(holder) : "";
  block.readers = readers.map(sequence => run.hues.of(sequence));
  block.oldRef = n && block.ref < 2 ? 0 : oldRefs.get(id) ?? (changed?.ref && changed.ref !== block.ref ? changed.ref : 0);
  block.isCopy = copied.has(id);
  block.written = frame.isStep && !changed && block.fill < size ? Math.max(0, block.fill - frame.before("blocks", "fill", id)) : 0;
  return block;
}

// Reference count of each copied block just before its first copy of this frame.
function refsBeforeCopies(frame, copies) {
  const track = frame.run.tracks.blocks;
  const refs = new Map();
  for (const {block, event} of copies) {
    if (refs.has(block)) continue;
    const row = track.rowBefore(frame.cursor.rows.blocks[block], event - 1);
    refs.set(block, track.value(track.field("ref_count"), row, 0));
  }
  return refs;
}
