// The rows of a track and a cursor through them. A row says "from event e on, the fields of key k are these".
// `previous` links each row to the one before of the same key, so that a cursor walks back as cheaply as forward:
// its whole state is one row number a key. Ramps are evaluated when read: value + rate x ticks since.
class Rows {
  constructor(spec, columns, numKeys, scheduled, keys) {
    this.name = spec.name;
    this.fields = spec.fields;
    this.defaults = spec.defaults;
    this.isRamp = spec.fields.map(field => spec.ramps.includes(field));
    this.numKeys = numKeys;
    this.keys = keys;
    [this.event, this.key] = columns;
    this.values = columns.slice(2, 2 + spec.fields.length);
    this.rate = spec.ramps.length ? columns[2 + spec.fields.length] : null;
    this.numRows = this.event.length;
    this.ticks = this.rate && ticksOfRows(this.event, scheduled);
    this.previous = new Int32Array(this.numRows);
    const last = new Int32Array(numKeys).fill(-1);
    for (let row = 0; row < this.numRows; row++) {
      const key = this.key[row];
      if (!(key >= 0 && key < numKeys)) throw new BadRun("track", this.name, key, numKeys);
      this.previous[row] = last[key];
      last[key] = row;
    }
  }

  field(name) { return this.fields.indexOf(name); }

  // Number of rows with event <= `event`.
  numRowsAt(event) { return upperBound(this.event, event); }

  // The value of field number `f` in row `row` (-1: no row yet) when `ticks` steps have reached their scheduled cut.
  value(f, row, ticks) {
    if (row < 0) return this.defaults[f];
    const value = this.values[f][row];
    return this.isRamp[f] ? (value + Math.imul(this.rate[row], ticks - this.ticks[row])) | 0 : value;
  }

  // The row that held before the events after `event` happened, seen from a later `row` of the same key.
  rowBefore(row, event) {
    while (row >= 0 && this.event[row] > event) row = this.previous[row];
    return row;
  }
}

// A position in a run: for every track the row in force for each key.
class Cursor {
  constructor(run) {
    this.run = run;
    this.event = 0;
    this.ticks = 0;
    this.rows = {};
    this.numRows = {};
    this.made = {};
    for (const track of run.trackList) {
      this.rows[track.name] = new Int32Array(track.numKeys).fill(-1);
      this.numRows[track.name] = 0;
      this.made[track.name] = track.fields.map((_, f) => ({numRows: 0, values: new Int32Array(track.numKeys).fill(track.defaults[f])}));
    }
    this.seek(0);
  }

  seek(event) {
    for (const track of this.run.trackList) {
      const current = this.rows[track.name];
      const {event: events, key, previous} = track;
      let next = this.numRows[track.name];
      while (next < track.numRows && events[next] <= event) { current[key[next]] = next; next++; }
      while (next > 0 && events[next - 1] > event) { next--; current[key[next]] = previous[next]; }
      this.numRows[track.name] = next;
    }
    this.event = event;
    this.ticks = this.run.ticks(event);
  }

  // All values of one field, by key. It is always the same array: when the cursor has moved by a few rows, only their keys
  // are read again, because most of a large memory stays as it is from step to step.
  column(track, f) {
    const rows = this.rows[track.name], made = this.made[track.name][f], {values} = made, numRows = this.numRows[track.name];
    const [from, to] = [made.numRows, numRows].sort((a, b) => a - b);
    made.numRows = numRows;
    if (track.isRamp[f] || to - from > track.numKeys / 2) for (let key = 0; key < track.numKeys; key++) values[key] = track.value(f, rows[key], this.ticks);
    else for (let row = from; row < to; row++) values[track.key[row]] = track.value(f, rows[track.key[row]], this.ticks);
    return values;
  }

  // The number that Frame.crc() of engine/trace/frame.py gives for the same event.
  crc() {
    let crc = 0;
    for (const track of this.run.trackList)
      for (let f = 0; f < track.fields.length; f++) crc = crc32(this.column(track, f), crc);
    return crc;
  }
}

function ticksOfRows(events, scheduled) {
  const ticks = new Int32Array(events.length);
  for (let row = 0, step = 0; row < events.length; row++) {
    while (step < scheduled.length && scheduled[step] <= events[row]) step++;
    ticks[row] = step;
  }
  return ticks;
}
