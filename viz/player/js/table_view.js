// The current frame as a real table, in a disclosure below the picture: what the canvases show, for reading and copying.
const MAX_TABLE_ROWS = 200;

class TableView {
  constructor(words) {
    this.words = words;
    this.body = element("tbody");
    this.more = element("p");
    const head = element("tr", {}, ...words.tableHead.map(text => element("th", {scope: "col"}, text)));
    const table = element("table", {}, element("caption", {}, ""), element("thead", {}, head), this.body);
    this.caption = table.querySelector("caption");
    this.element = element("details", {class: "kv-table"}, element("summary", {}, words.table), element("div", {}, table, this.more));
    this.element.addEventListener("toggle", () => { if (this.frame) this.draw(this.frame); });
  }

  toggle() { this.element.open = !this.element.open; }

  draw(frame) {
    this.frame = frame;
    if (!this.element.open) return;
    const {run} = frame;
    const {words} = this;
    const now = frame.columns("sequences");
    const alive = Array.from(now.status.keys()).filter(s => now.status[s] > STATUS.PENDING && now.status[s] < STATUS.FINISHED);
    setText(this.caption, frame.step < 0 ? words.start : frame.isDone ? words.done : words.iteration(frame.step));
    this.body.replaceChildren(...alive.slice(0, MAX_TABLE_ROWS).map(sequence => element("tr", {},
      element("th", {scope: "row", dir: "auto"}, run.sequenceName(sequence)),
      element("td", {}, words.status[now.status[sequence]]),
      element("td", {}, formatNumber(now.num_computed_tokens[sequence])),
      element("td", {}, memoryText(frame, sequence, words)))));
    setText(this.more, alive.length > MAX_TABLE_ROWS ? words.more(alive.length - MAX_TABLE_ROWS) : "");
  }
}

function memoryText(frame, sequence, words) {
  if (frame.run.tracks.tables)
    return Array.from(tableOf(frame, sequence), slot => frame.columns("tables").block[slot]).join(", ");
  const strips = frame.columns("strips");
  if (!strips || strips.start[sequence] < 0) return "";
  return `${strips.start[sequence]} + ${words.stripUse(strips.used[sequence], strips.size[sequence])}`;
}
