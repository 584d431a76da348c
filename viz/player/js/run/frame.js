// What one place of a run shows: the state, and what changed since the place before. Panels read nothing else.
// Lists that only some panels need are made when first asked for; a frame is thrown away with the next one.
class Frame {
  constructor(run, cursor, place) {
    cursor.seek(place.event);
    Object.assign(this, place);
    this.run = run;
    this.cursor = cursor;
    this.place = place;
    this.ticksSince = run.ticks(place.since);
    this.progress = 1;
    this.made = {};
  }

  once(name, make) { return name in this.made ? this.made[name] : (this.made[name] = make()); }

  get isStart() { return this.event === 0; }

  // Whether it shows all that happened since another step, and not one event.
  get isMany() { return this.isStep || this.isGap; }

  get isDone() { return this.event === this.run.numEvents && this.step >= this.run.numSteps && !this.run.isRunning; }

  // The step whose column is ringed; the last one at the end.
  get column() { return clamp(this.step, 0, Math.max(0, this.run.numSteps - 1)); }

  // Field -> values by key.
  columns(trackName) {
    return this.once("columns " + trackName, () => {
      const track = this.run.tracks[trackName];
      return track && Object.fromEntries(track.fields.map((name, f) => [name, this.cursor.column(track, f)]));
    });
  }

  // The value that a key had before this frame's events.
  before(trackName, fieldName, key) {
    const track = this.run.tracks[trackName];
    const row = track.rowBefore(this.cursor.rows[trackName][key], this.since);
    return track.value(track.field(fieldName), row, this.ticksSince);
  }

  // Keys with rows in this frame, each once.
  touched(trackName) {
    return this.once("touched " + trackName, () => {
      const track = this.run.tracks[trackName];
      if (!track) return new Set();
      return new Set(track.key.subarray(track.numRowsAt(this.since), this.cursor.numRows[trackName]));
    });
  }

  // Blocks that changed hands, in ascending order: block -> {state, ref, owner} as they were before. Growing does not count.
  get changedBlocks() {
    return this.once("changedBlocks", () => {
      const changed = new Map();
      for (const block of [...this.touched("blocks")].sort((a, b) => a - b)) {
        const [state, ref, owner] = ["state", "ref_count", "owner"].map(name => this.before("blocks", name, block));
        const now = this.columns("blocks");
        if (state !== now.state[block] || ref !== now.ref_count[block] || owner !== now.owner[block])
          changed.set(block, {state, ref, owner});
      }
      return changed;
    });
  }

  // Slots of block tables that name another block than before.
  get changedSlots() {
    return this.once("changedSlots", () => {
      const now = this.columns("tables")?.block;
      return new Set([...this.touched("tables")].filter(slot => this.before("tables", "block", slot) !== now[slot]));
    });
  }

  // Happenings of this frame, of some kinds or of all.
  happened(...kinds) {
    const list = this.once("happened", () => {
      const {event} = this.run.happenings;
      const found = [];
      for (let i = upperBound(event, this.since); event[i] <= this.event; i++)
        found.push(this.run.happening(i));
      return found;
    });
    return kinds.length ? list.filter(happening => kinds.includes(happening.kind)) : list;
  }

  // Sequences that hold a place in the batch, grouped by request in order of arrival.
  get running() {
    return this.once("running", () => {
      const status = this.columns("sequences")?.status ?? [];
      return range(status.length).filter(s => isInBatch(status[s]));
    });
  }

  // Requests in the queue, in its order.
  get waiting() {
    return this.once("waiting", () => {
      const {status = [], rank = []} = this.columns("requests") ?? {};
      return range(status.length).filter(r => isQueued(status[r])).sort((a, b) => rank[a] - rank[b] || a - b);
    });
  }

  // Block -> running sequences whose table names it.
  get readers() {
    return this.once("readers", () => {
      const readers = new Map();
      const blocks = this.columns("tables")?.block;
      if (!blocks) return readers;
      for (const sequence of this.running)
        for (const slot of this.run.slotsOf(sequence)) {
          const block = blocks[slot];
          if (block < 0) continue;
          if (readers.has(block)) readers.get(block).push(sequence); else readers.set(block, [sequence]);
        }
      return readers;
    });
  }

  // Blocks of the pool: in use is what somebody reads. What is kept without a reader is free like any other, its content is known.
  get usage() {
    return this.once("usage", () => {
      const usage = {used: 0, shared: 0, saved: 0, kept: 0};
      const now = this.columns("blocks");
      const {firstBlock, numGpuBlocks} = this.run;
      for (let b = firstBlock; b < (now ? firstBlock + numGpuBlocks : 0); b++) {
        if (!now.state[b]) continue;
        if (!now.ref_count[b]) { usage.kept++; continue; }
        usage.used++;
        if (now.ref_count[b] > 1) { usage.shared++; usage.saved += now.ref_count[b] - 1; }
      }
      return usage;
    });
  }

  // The last word of the scheduler about a request, up to this frame: a row of the decisions, or null.
  decision(request) {
    const {event, request: requests} = this.run.decisions;
    const rows = (this.run.decisionsOf ??= groupRows(requests, this.run.requests.length));
    const list = rows[request] ?? [];
    const past = firstOf(list.length, i => event[list[i]] > this.event);
    return past ? rowOf(this.run.decisions, list[past - 1]) : null;
  }
}
