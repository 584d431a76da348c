// The current frame as real tables, in a disclosure that opens over the picture: what the canvases show, for reading, copying
// and for choosing a sequence or a block with the keyboard.
const MAX_TABLE_ROWS = 200;

class TableView {
  constructor(words) {
    this.words = words;
    const table = head => {
      const caption = element("caption"), body = element("tbody");
      const row = element("tr", {}, ...head.map(text => element("th", {scope: "col"}, text)));
      return {caption, body, node: element("table", {}, caption, element("thead", {}, row), body)};
    };
    this.sequences = table(words.tableHead);
    this.blocks = table(words.blockHead);
    this.more = element("p");
    this.element = element("details", {class: "kv-table"}, element("summary", {}, words.table),
      element("div", {tabindex: 0, role: "region", "aria-label": words.table}, this.sequences.node, this.blocks.node, this.more));
    this.element.addEventListener("toggle", () => { if (this.frame) this.draw(this.frame); });
  }

  toggle() { this.element.open = !this.element.open; }

  draw(frame) {
    this.frame = frame;
    if (!this.element.open) return;
    const {run} = frame;
    const {words} = this;
    this.element.kvRun = run;
    const now = frame.columns("sequences");
    const alive = now ? Array.from(now.status.keys()).filter(s => now.status[s] > STATUS.PENDING && now.status[s] < STATUS.FINISHED) : [];
    setText(this.sequences.caption, frame.step < 0 ? words.start : frame.isDone ? words.done : words.iteration(frame.step));
    const hidden = fillRows(this.sequences.body, alive, sequence => ["s" + sequence, run.sequenceName(sequence), words.status[now.status[sequence]],
      formatNumber(now.num_computed_tokens[sequence]), memoryText(frame, sequence, words)]);
    const blocks = frame.columns("blocks");
    const used = blocks ? Array.from(blocks.state.keys()).filter(id => blocks.state[id]) : [];
    this.blocks.node.hidden = !blocks;
    setText(this.blocks.caption, words.blocks);
    const hiddenBlocks = fillRows(this.blocks.body, used, id => ["b" + id, String(id), (frame.readers.get(id) ?? []).slice(0, 8).map(s => run.sequenceName(s)).join(", "),
      String(blocks.ref_count[id]), words.ofSlots(blocks.fill[id], run.blockSize)]);
    setText(this.more, [hidden && `${words.tableHead[0]}: ${words.more(hidden)}`, hiddenBlocks && `${words.blockHead[0]}: ${words.more(hiddenBlocks)}`].filter(Boolean).join(" · "));
  }
}

// Rows with a button for their subject in front; returns how many do not fit.
function fillRows(body, keys, cellsOf) {
  body.replaceChildren(...keys.slice(0, MAX_TABLE_ROWS).map(key => {
    const [sel, name, ...cells] = cellsOf(key);
    return element("tr", {}, element("th", {scope: "row", dir: "auto"}, element("button", {type: "button", "data-sel": sel}, name)),
      ...cells.map(text => element("td", {}, text)));
  }));
  return Math.max(0, keys.length - MAX_TABLE_ROWS);
}

function memoryText(frame, sequence, words) {
  if (frame.run.tracks.tables)
    return Array.from(tableOf(frame, sequence), slot => frame.columns("tables").block[slot]).join(", ");
  const strips = frame.columns("strips");
  if (!strips || strips.start[sequence] < 0) return "";
  return `${strips.start[sequence]} + ${words.stripUse(strips.used[sequence], strips.size[sequence])}`;
}
