// Reads the container of a run: magic, then parts of compressed JSON and binary tables (engine/trace/codec.py).
// A table lies column by column, each column as byte planes; codes.js turns stored columns into true ones.
// What the numbers mean is the business of run.js; a part or table that nobody knows is passed over there.
const MAGIC = "KVSCOPE1";
const MAX_PART_BYTES = 512 * 1024 * 1024;

// Why a run cannot be shown: the name of a label of `bad`, and the values in it.
class BadRun extends Error {
  constructor(name, ...values) {
    super(name);
    this.values = values;
  }
}

// Parts of a container that arrives in pieces of any size.
class PartReader {
  constructor() {
    this.memory = new CodeMemory();
    this.rest = new Uint8Array(0);
    this.numRead = 0;
  }

  // The parts that these bytes complete; what is left over waits for the next ones.
  async push(bytes) {
    this.rest = this.rest.length ? joinBytes(this.rest, bytes) : bytes;
    const parts = [];
    if (this.numRead === 0) {
      const magic = String.fromCharCode(...this.rest.subarray(0, MAGIC.length));
      if (!MAGIC.startsWith(magic))
        throw new BadRun("magic", MAGIC);
      if (magic.length < MAGIC.length) return parts;
      this.drop(MAGIC.length);
    }
    while (this.rest.length >= 8) {
      const [rawLength, packedLength] = this.lengths();
      if (rawLength > MAX_PART_BYTES) throw new BadRun("limit", rawLength, MAX_PART_BYTES);
      if (packedLength > this.rest.length - 8) break;
      parts.push(decodePart(await inflate(this.rest.subarray(8, 8 + packedLength), rawLength), this.memory));
      this.drop(8 + packedLength);
    }
    return parts;
  }

  lengths() {
    const view = new DataView(this.rest.buffer, this.rest.byteOffset, 8);
    return [view.getUint32(0, true), view.getUint32(4, true)];
  }

  drop(count) {
    this.rest = this.rest.subarray(count);
    this.numRead += count;
  }

  // Complains about a part that has begun and will not go on.
  finish() {
    if (this.numRead === 0) throw new BadRun("short");
    if (!this.rest.length) return;
    if (this.rest.length < 8) throw new BadRun("middle", this.numRead);
    throw new BadRun("cut", this.lengths()[1], this.numRead + 8);
  }
}

function joinBytes(a, b) {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

async function inflate(packed, rawLength) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = new Uint8Array(rawLength);
  const reader = stream.getReader();
  let filled = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (filled + piece.value.length > rawLength) throw new BadRun("longer", rawLength);
    raw.set(piece.value, filled);
    filled += piece.value.length;
  }
  if (filled !== rawLength) throw new BadRun("announced", filled, rawLength);
  return raw;
}

// raw bytes -> {...JSON, tables: {name: {rows, columns: [Int32Array | Float64Array]}}}
function decodePart(raw, memory) {
  const jsonLength = raw.length < 4 ? Infinity : new DataView(raw.buffer).getUint32(0, true);
  if (jsonLength > raw.length - 4) throw new BadRun("description");
  const part = JSON.parse(new TextDecoder().decode(raw.subarray(4, 4 + jsonLength)));
  const tables = {};
  memory.openPart();
  let at = 4 + jsonLength;
  for (const [name, rows, cols, dtype, codes] of part.tables ?? []) {
    const size = rows * cols * (dtype === "f8" ? 8 : 4);
    if (!(rows >= 0 && cols >= 0) || size > raw.length - at)
      throw new BadRun("rows", name, rows, cols);
    const planes = raw.subarray(at, at + size);
    at += size;
    const columns = dtype === "f8" ? readDoubles(planes, rows, cols, codes[0] === "d") : readInts(name, planes, rows, cols, codes, memory);
    tables[name] = {rows, columns};
  }
  return {...part, tables};
}

function readInts(name, planes, rows, cols, codes, memory) {
  const columns = Array.from({length: cols}, (_, c) => {
    const column = new Int32Array(rows);
    const b0 = c * 4 * rows, b1 = b0 + rows, b2 = b1 + rows, b3 = b2 + rows;
    for (let i = 0; i < rows; i++)
      column[i] = planes[b0 + i] | (planes[b1 + i] << 8) | (planes[b2 + i] << 16) | (planes[b3 + i] << 24);
    return column;
  });
  return decodeColumns(name, columns, codes, memory);
}

// Doubles lie as one column in row order, each counted from the one before on its 64 bits.
function readDoubles(planes, rows, cols, isDelta) {
  const count = rows * cols;
  const bytes = new Uint8Array(count * 8);
  for (let b = 0; b < 8; b++) for (let i = 0; i < count; i++) bytes[i * 8 + b] = planes[b * count + i];
  const bits = new BigInt64Array(bytes.buffer);
  if (isDelta) for (let i = 1; i < count; i++) bits[i] += bits[i - 1];
  const numbers = new Float64Array(bytes.buffer);
  return Array.from({length: cols}, (_, c) => Float64Array.from({length: rows}, (_, row) => numbers[row * cols + c]));
}
