// A run as it arrives: bytes of its container, cut anywhere, become parts, and parts become columns that grow.
// run() gives the run as far as it has come; a run without its end part is still running.
class RunFeed {
  constructor() {
    this.reader = new PartReader();
    this.tables = new Map();
    this.requests = [];
    // sequence -> what its tokens read as; those of a prompt with the first sequence of its request
    this.words = [];
    this.numEvents = 0;
  }

  // Takes the next bytes; returns whether a part was completed by them.
  async push(bytes) {
    const parts = await this.reader.push(bytes);
    for (const part of parts) this.take(part);
    return parts.length > 0;
  }

  take(part) {
    if (part.part === "header") this.header = part;
    if (part.part === "chunk") for (const request of transpose(part.requests ?? {})) this.requests.push(request);
    const [owners = [], positions, texts] = part.words ?? [];
    owners.forEach((s, i) => { (this.words[s] ??= [])[positions[i]] = texts[i]; });
    if (part.part === "end") this.runId = String(part.run_id ?? "");
    if (part.num_events >= 0) this.numEvents = part.num_events;
    for (const [name, table] of Object.entries(part.tables)) {
      if (!this.tables.has(name)) this.tables.set(name, new GrowingTable());
      this.tables.get(name).append(table);
    }
  }

  // No more bytes will come by themselves: half a part is an error, a missing end is not.
  finish() {
    this.reader.finish();
    if (!this.header) throw new BadRun("header");
    return this;
  }

  // Block tables number their (sequence, index) pairs in order of appearance.
  get slotKeys() { return this.reader.memory.keys.map(column => Int32Array.from(column)); }

  columns(name, count, ArrayType = Int32Array) {
    const table = this.tables.get(name);
    return Array.from({length: count}, (_, c) => table?.column(c) ?? new ArrayType(0));
  }

  run() { return this.header ? new Run(this) : null; }
}

// Columns with room for more rows. What arrives is only put aside and joined when somebody asks, so that a run that comes as
// a whole is copied once, and one that is still running has room for what comes next.
class GrowingTable {
  constructor() {
    this.rows = this.joined = 0;
    this.columns = [];
    this.pieces = [];
  }

  append(piece) {
    this.pieces.push(piece);
    this.rows += piece.rows;
  }

  column(c) {
    if (this.pieces.length) this.join();
    return this.columns[c]?.subarray(0, this.rows);
  }

  join() {
    const [first] = this.pieces, {joined, rows} = this;
    this.columns = first.columns.map((like, c) => {
      const before = this.columns[c];
      if (before?.length >= rows) return before;
      const column = new like.constructor(Math.max(rows, 2 * joined));
      if (before) column.set(before.subarray(0, joined));
      return column;
    });
    for (const piece of this.pieces) {
      this.columns.forEach((column, c) => { if (piece.columns[c]) column.set(piece.columns[c], this.joined); });
      this.joined += piece.rows;
    }
    this.pieces = [];
  }
}

// {name: [value, ...]} -> [{name: value}, ...]
function transpose(lists) {
  const names = Object.keys(lists);
  return names.length ? lists[names[0]].map((_, i) => Object.fromEntries(names.map(name => [name, lists[name][i]]))) : [];
}
