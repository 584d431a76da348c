// What is selected and what the pointer is on: one block, sequence or request, marked in all panels of all panes.
// A target is {kind: "b" | "s" | "r" | "n" (node), id, run}, in a link and in `data-sel` of an element `b7`, `s3`, `r2`, `n5`. A canvas knows
// its targets by `pick(x, y)`. A request is the same one in every pane, a block only in its own.
const NOTHING = {blocks: new Set(), sequences: new Set(), requests: new Set(), nodes: new Set()};
const FOCUS_HUES = ["B", "C", "D", "E", "A"];

class Selection {
  constructor(player) {
    this.player = player;
    this.selected = this.pointed = null;
    const {root} = player;
    root.addEventListener("pointermove", event => { if (!event.buttons) this.tell(event.target, this.point(this.targetAt(event))); });
    root.addEventListener("pointerleave", () => this.point(null));
    root.addEventListener("click", event => {
      const button = event.target.closest?.("button:not([data-sel])");
      const target = event.target.kvDragged || button ? null : this.targetAt(event);
      if (target) this.select(nameOf(target) === nameOf(this.selected) ? null : target);
    });
  }

  get target() { return this.pointed ?? this.selected; }

  targetAt(event) {
    const node = event.target.closest?.("[data-sel], canvas");
    if (!node) return null;
    if (node.pick) return node.pick(...pointIn(node, event));
    let owner = node;
    while (owner && !owner.kvRun) owner = owner.parentNode;
    return readTarget(node.dataset.sel, owner?.kvRun ?? this.player.run);
  }

  read(name, run) {
    const target = readTarget(name, run);
    if (target) this.select(target);
  }

  select(target) {
    this.selected = target;
    this.player.link.select(nameOf(target) || null);
    this.player.redraw();
  }

  point(target) {
    if (nameOf(target) === nameOf(this.pointed)) return null;
    this.pointed = target;
    this.player.redraw();
    return target;
  }

  // Chips and pictures say what is under the pointer.
  tell(node, target) {
    const {player} = this;
    const frame = target && player.shown.find(({run}) => run === target.run)?.frame;
    if (frame && node.matches("canvas, .kv-chip")) node.title = targetText(frame, target, player.words);
    else if (node.matches("canvas") && !this.pointed) node.title = "";
  }

  clear() {
    this.pointed = null;
    if (this.selected) this.select(null);
  }

  // Enter: the details of what is selected, or else of what the sentence is about.
  open() {
    if (!this.selected && this.pointed) this.select(this.pointed);
    // the details of a selection of this very moment are not drawn yet
    this.player.draw();
    this.player.ask("details");
  }

  // Beyond five hues only the target and what shares with it keep one.
  prepare(frame) {
    const {hues} = frame.run;
    if (!hues.saysOwner) hues.focus = focusHues(frame, this.marks(frame, this.target));
  }

  // {blocks, sequences, requests}: all that belongs to a target in this frame.
  marks(frame, target = this.selected) {
    return target ? frame.once("marks " + nameOf(target), () => marksOf(frame, target) ?? NOTHING) : NOTHING;
  }

  // Draws what is marked; `boxes(marks)` are those of one panel.
  outline(paint, frame, k, boxes) {
    const isSame = nameOf(this.pointed) === nameOf(this.selected);
    if (this.pointed && !isSame) paint.outlines(boxes(this.marks(frame, this.pointed)), 1.3 * k, k);
    if (this.selected) paint.outlines(boxes(this.marks(frame)), 2.4 * k, k);
  }

  // Says it instead of what was about to be said of the moment.
  say(text) {
    clearTimeout(this.player.speaking);
    setText(this.player.layout.live, text);
  }

  // Elements that name the target: chips, rows, labels.
  markNodes() {
    const {root, frame} = this.player;
    const mark = nameOf(this.selected) + nameOf(this.pointed);
    if (!mark && !this.marked) return;
    this.marked = mark;
    for (const node of root.querySelectorAll("[data-sel]")) {
      const target = readTarget(node.dataset.sel, this.player.run);
      for (const [name, subject] of [["kv-selected", this.selected], ["kv-pointed", this.pointed]])
        node.classList.toggle(name, Boolean(frame && subject && target && isPartOf(target, this.marks(frame, subject))));
    }
  }
}

function nameOf(target) { return target ? target.kind + target.id : ""; }

function readTarget(name, run) {
  const match = /^([bsrn])(\d{1,8})$/.exec(name ?? "");
  if (!match || !run) return null;
  const limit = {b: run.tracks.blocks?.numKeys ?? 0, s: run.numSequences, r: run.requests.length, n: run.tracks.nodes?.numKeys ?? 0}[match[1]];
  return Number(match[2]) < limit ? {kind: match[1], id: Number(match[2]), run} : null;
}

function isPartOf({kind, id}, marks) { return marks[{b: "blocks", s: "sequences", r: "requests", n: "nodes"}[kind]].has(id); }

function marksOf(frame, {kind, id, run}) {
  const isOwn = run.header === frame.run.header;
  const {node} = frame.run.tree ? treeBlocks(frame) : {node: []};
  if (kind === "b" || kind === "n") {
    if (!isOwn) return null;
    const blocks = kind === "b" ? [id] : [];
    if (kind === "n") node.forEach((n, block) => { if (n === id) blocks.push(block); });
    const sequences = new Set(blocks.flatMap(block => frame.readers.get(block) ?? []));
    return {blocks: new Set(blocks), sequences, requests: new Set(Array.from(sequences, s => frame.run.requestOf[s])), nodes: new Set([kind === "n" ? id : node[id]])};
  }
  const source = run.requests[kind === "r" ? id : run.requestOf[id]];
  const r = isOwn ? (kind === "r" ? id : run.requestOf[id]) : frame.run.requests.findIndex(request => request.id === source?.id);
  const request = frame.run.requests[r];
  if (!request) return null;
  const sequences = kind === "s" ? [request.first_sequence + Math.min(id - source.first_sequence, request.n - 1)]
    : frame.run.sequencesOf(r);
  const blocks = new Set();
  if (frame.run.tracks.tables) for (const s of sequences) for (const slot of tableOf(frame, s)) blocks.add(frame.columns("tables").block[slot]);
  return {blocks, sequences: new Set(sequences), requests: new Set([r]), nodes: new Set(Array.from(blocks, block => node[block]))};
}

// "block 7, A3 and A4, ref 2, 3 of 4 filled", "A2, decode, 103 tokens".
function targetText(frame, {kind, id}, words) {
  if (kind === "b") return blockText(frame, id, words);
  if (kind === "n") return nodeSpoken(frame, id, words);
  const {run} = frame;
  const s = kind === "s" ? id : run.requests[id].first_sequence;
  const now = frame.columns("sequences");
  const name = kind === "s" ? run.sequenceName(id) : run.requestName(id);
  return [name, now && words.status[now.status[s]], now?.num_computed_tokens[s] ? words.tokens(now.num_computed_tokens[s]) : ""].filter(Boolean).join(", ");
}

// What lies where in a picture, noted down while it is drawn: `add([x, y, w, h], target)`, `pick(x, y)`.
class Hits {
  constructor() { this.list = []; }

  clear() { this.list.length = 0; }

  add(box, kind, id, run) { this.list.push({box, target: {kind, id, run}}); }

  pick = (x, y) => this.list.findLast(({box: [left, top, w, h]}) => x >= left && y >= top && x < left + w && y < top + h)?.target ?? null;

  // Boxes of the targets of one kind for which `isMarked(id)`, with the radius for outlines.
  boxes(kind, isMarked, radius) {
    return this.list.filter(({target}) => target.kind === kind && isMarked(target.id)).map(({box}) => [...box, radius]);
  }
}

// Sequence -> hue: the target first, then those that read a block with it, by request.
function focusHues(frame, {blocks, sequences}) {
  const focus = new Map();
  if (!sequences.size) return focus;
  const requests = [];
  const add = s => {
    const r = frame.run.requestOf[s];
    if (!requests.includes(r)) requests.push(r);
    const hue = FOCUS_HUES[requests.indexOf(r)];
    if (hue) focus.set(s, hue);
  };
  sequences.forEach(add);
  const refs = frame.columns("blocks")?.ref_count;
  for (const block of blocks) if (refs?.[block] > 1) frame.readers.get(block)?.forEach(add);
  return focus;
}
