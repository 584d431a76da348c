// KV blocks: physical memory, one square a block, in the anatomy that the number of blocks and the room allow.
definePanel({
  name: "blocks",
  place: "left",
  needs: run => run.tracks.blocks || !run.tracks.strips,
  create(view, box) {
    const canvas = box.canvas({bleed: 8});
    const paint = new Paint(canvas.element);
    const legend = new Legend(box);
    return {
      draw(frame) {
        const {run} = frame;
        const {words, theme, k} = view;
        box.title(words.blocks, words.blocksRemark(run.blockSize));
        if (!run.tracks.blocks) return box.say(words.notPublished);
        box.say("");
        const isMany = run.numGpuBlocks > MANY_BLOCKS;
        legend.draw(view, isMany ? [] : run.hues.saysOwner ? OWNER_LEGEND : STATE_LEGEND);
        const [width, height] = canvas.begin(paint, view);
        const layout = box.layout(`${run.numGpuBlocks} ${k}`, width, height,
          () => (isMany ? pixelLayout(run.numGpuBlocks, width - 92 * k, height) : gridLayout(run.numGpuBlocks, width, height, k)));
        canvas.element.dataset.mode = layout.mode;
        canvas.element.dataset.columns = layout.columns;
        setAttribute(canvas.element, "aria-label", words.blocksLabel(frame.usage, run.numGpuBlocks));
        if (layout.mode === "pixel") return drawPixelGrid(paint, layout, frame, view);
        drawCells(paint, layout, frame, view);
      },
    };
  },
});

const MANY_BLOCKS = 4096;
const OWNER_LEGEND = ["full", "open", "shared", "copy", "free", "now"];
const STATE_LEGEND = ["private", "privateOpen", "shared", "free", "now"];

function drawCells(paint, layout, frame, view) {
  const {run} = frame;
  const now = frame.columns("blocks");
  const isLarge = layout.mode === "large";
  const draw = {large: drawLargeCell, small: drawSmallCell, tiny: drawTinyCell}[layout.mode];
  const copies = frame.happened(HAPPENING.copied).filter(copy => copy.target < run.numGpuBlocks);
  const oldRefs = refsBeforeCopies(frame, copies);
  const copied = new Set(copies.map(copy => copy.target));
  for (let id = 0; id < run.numGpuBlocks; id++) {
    const [x, y] = cellPosition(layout, id);
    draw(paint, x, y, layout.width, layout.height, describeBlock(frame, now, id, isLarge, oldRefs, copied), view.k);
  }
  const scale = isLarge ? Math.min(1.1 * view.k, layout.width / 64) : layout.mode === "small" ? 0.62 * view.k : 0.5 * view.k;
  const boxes = ids => ids.filter(id => id < run.numGpuBlocks).map(id => {
    const [x, y] = cellPosition(layout, id);
    return [x, y, layout.width, layout.height, layout.width * 0.09];
  });
  const alone = new Set([...oldRefs.keys(), ...copied]);
  const runs = [...frame.changedBlocks.keys()].filter(id => !alone.has(id)).sort((a, b) => a - b);
  paint.rings([...Paint.joinBoxes(boxes(runs), layout.pitchX - layout.width + 0.5), ...boxes([...alone])], scale);
  if (copies.length <= 8 && layout.mode !== "tiny") drawCopyArrows(paint, layout, copies, frame, view.k, view.words);
}

function describeBlock(frame, now, id, isLarge, oldRefs, copied) {
  const {run} = frame;
  const size = run.blockSize;
  const changed = frame.changedBlocks.get(id);
  if (!now.state[id]) {
    const was = changed?.state && changed.owner >= 0 ? run.sequenceName(changed.owner) : "";
    return {id, state: "free", was};
  }
  const owner = now.owner[id];
  const block = {id, state: "used", size, fill: now.fill[id], ref: now.ref_count[id], hue: owner >= 0 ? run.hues.of(owner) : "K"};
  if (!isLarge) return block;
  const readers = frame.readers.get(id) ?? [];
  const isShared = block.ref > 1;
  const request = run.requests[run.requestOf[readers[0] ?? owner]];
  const holder = isShared ? -1 : readers[0] ?? owner;
  if (holder >= 0) block.hue = run.hues.of(holder);
  block.name = isShared ? request?.id ?? "" : holder >= 0 ? run.sequenceName(holder) : "";
  block.readers = readers.map(sequence => run.hues.of(sequence));
  block.oldRef = oldRefs.get(id) ?? (changed?.ref && changed.ref !== block.ref ? changed.ref : 0);
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
