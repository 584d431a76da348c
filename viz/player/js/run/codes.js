// How the columns of a table come back from their codes; engine/trace/columns.py and predict.py say what each one means.
// p plain, d sum, kN sum by key, hN held by key, tN taken from the rows of `tables`; taken, walk, owner predict block ids
// from the order in which blocks were given up and from their neighbours in a table.
const NONE = -(2 ** 31);

// Whole number >= -1 -> whole number, growing as needed.
class IntMap {
  constructor() { this.values = new Int32Array(1024).fill(NONE); }

  get(key, otherwise) {
    const value = key + 1 < this.values.length ? this.values[key + 1] : NONE;
    return value === NONE ? otherwise : value;
  }

  set(key, value) {
    if (!(key >= -1 && key < 2 ** 25)) throw new BadRun("key", key);
    if (key + 1 >= this.values.length) {
      const grown = new Int32Array(2 ** Math.ceil(Math.log2(key + 2))).fill(NONE);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[key + 1] = value;
  }
}

// What the rows of `tables` so far have taught; one for a run, told of every part.
class CodeMemory {
  constructor() {
    this.slots = new Map();
    this.keys = [[], []];
    this.held = [];
    for (const name of ["after", "before", "freedAfter", "freedBefore", "owners"]) this[name] = new IntMap();
    this.taken = this.freed = this.lastKey = -1;
    this.openPart();
  }

  // The rows of `tables` in the part that is being read.
  openPart() { this.rows = {count: 0, event: [], sequence: [], named: [], link: [], block: []}; }

  slotOf(sequence, index) {
    if (!this.slots.has(sequence)) this.slots.set(sequence, []);
    const row = this.slots.get(sequence);
    if (row[index] === undefined) {
      row[index] = this.held.length;
      this.keys[0].push(sequence);
      this.keys[1].push(index);
      this.held.push(-1);
    }
    return row[index];
  }
}

// Stored columns -> true columns; `tables` comes back as event, slot, block.
function decodeColumns(name, columns, codes, memory) {
  const rank = code => (code === "taken" ? 2 : code[0] === "k" || code[0] === "h" ? 1 : 0);
  const order = codes.map((_, i) => i).sort((a, b) => rank(codes[a]) - rank(codes[b]) || a - b);
  let slots = null;
  for (const i of order) {
    const [code, x] = [codes[i], columns[i]];
    const key = columns[Number(code[1])];
    if (code === "d") sumUp(x);
    else if (rank(code) === 1 && key) goOnByKey(x, key, code[0] === "h");
    else if (code === "t1" || code === "t3") takeFromTables(columns[0], x, code, memory);
    else if (code === "taken") slots = decodeTaken(columns, memory);
    else if (code === "walk") decodeWalk(columns[0], x, memory);
    else if (code === "owner") decodeOwner(columns, x, memory);
    else if (code !== "p") throw new BadRun("code", name, code);
  }
  return name === "tables" && slots ? [columns[0], slots, columns[3]] : columns;
}

function sumUp(x) { for (let row = 1; row < x.length; row++) x[row] = (x[row] + x[row - 1]) | 0; }

// From what the key had before: a sum, or the same where it is held.
function goOnByKey(x, key, isHeld) {
  const last = new Map();
  for (let row = 0; row < x.length; row++) {
    const before = last.get(key[row]);
    x[row] = !isHeld ? (x[row] + (before ?? 0)) | 0 : x[row] ? x[row] - 2 : before ?? -1;
    last.set(key[row], x[row]);
  }
}

function takeFromTables(events, x, code, {rows}) {
  const named = latestOf(rows, events, code === "t1" ? rows.sequence : rows.named);
  for (let row = 0; row < x.length; row++) x[row] = x[row] ? x[row] - 2 : named[row];
}

// For each event what the last row of `tables` at or before it says, -1 where there is none.
function latestOf(rows, events, column) {
  let past = 0;
  return events.map(event => {
    while (past < rows.count && rows.event[past] <= event) past++;
    return past ? column[past - 1] : -1;
  });
}

function decodeTaken([event, sequence, index, x], memory) {
  const count = x.length;
  const [slots, named, link] = [0, 1, 2].map(() => new Int32Array(count));
  for (let row = 0; row < count; row++) slots[row] = memory.slotOf(sequence[row], index[row]);
  const {held, freedAfter, freedBefore} = memory;
  for (let row = 0; row < count; row++) {
    const [code, slot, taken] = [x[row], slots[row], memory.taken];
    let block = code === 0 ? -1 : code - 3;
    if (code === 1) block = freedAfter.get(taken, taken + 1);
    if (code === 2) block = freedBefore.get(taken, taken - 1);
    link[row] = -1;
    if (block < 0) {
      named[row] = held[slot];
      freedAfter.set(memory.freed, named[row]);
      freedBefore.set(named[row], memory.freed);
      memory.freed = named[row];
    } else {
      named[row] = memory.taken = block;
      const left = memory.slots.get(sequence[row])[index[row] - 1];
      if (left !== undefined) link[row] = held[left];
    }
    held[slot] = x[row] = block;
  }
  memory.rows = {count, event, sequence, named, link, block: x};
  return slots;
}

function decodeWalk(events, x, memory) {
  const {after, before} = memory;
  const {count, event, named, link, block} = memory.rows;
  let past = 0, lastEvent = -1;
  for (let row = 0; row < x.length; row++) {
    let first = past;
    for (; past < count && event[past] <= events[row]; past++) {
      if (event[past] < events[row]) first = past + 1;
      if (block[past] >= 0 && link[past] >= 0) {
        after.set(link[past], block[past]);
        before.set(block[past], link[past]);
      }
    }
    const [code, key] = [x[row], memory.lastKey];
    const isFirst = events[row] !== lastEvent && first < past;
    if (code > 2) x[row] = code - 3;
    else if (isFirst) x[row] = code === 0 ? named[first] : code === 1 ? named[past - 1] : link[first];
    else x[row] = code === 0 ? after.get(key, -1) : code === 1 ? before.get(key, -1) : -1;
    memory.lastKey = x[row];
    lastEvent = events[row];
  }
}

function decodeOwner([events, keys], x, {rows, owners}) {
  const named = latestOf(rows, events, rows.sequence);
  for (let row = 0; row < x.length; row++) {
    const code = x[row];
    x[row] = code > 1 ? code - 3 : code ? named[row] : owners.get(keys[row], -1);
    owners.set(keys[row], x[row]);
  }
}
