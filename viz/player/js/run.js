// One run as the browser holds it: header, requests, steps, tracks, happenings, decisions, sentences.
// It is joined from the parts of one blob and answers what lies where; it draws nothing and decides nothing.
class Run {
  static async read(blob) {
    const run = new Run();
    run.pieces = new Map();
    run.requests = [];
    const keys = await readParts(blob, part => run.take(part));
    if (!run.header) throw new BadRun("the run has no header.");
    if (run.runId === undefined) throw new BadRun("the run is cut short: its end is missing.");
    run.join(keys.map(column => Int32Array.from(column)));
    return run;
  }

  take(part) {
    if (part.part === "header") this.header = part;
    if (part.part === "chunk") for (const request of transpose(part.requests ?? {})) this.requests.push(request);
    if (part.part === "end") this.runId = String(part.run_id ?? "");
    if (part.num_events >= 0) this.numEvents = part.num_events;
    for (const [name, table] of Object.entries(part.tables))
      if (this.pieces.has(name)) this.pieces.get(name).push(table); else this.pieces.set(name, [table]);
  }

  join(keys) {
    const columns = (name, names) => {
      const joined = joinTables(this.pieces.get(name) ?? [], names.length);
      return Object.fromEntries(names.map((n, i) => [n, joined[i]]));
    };
    this.numEvents ??= 0;
    this.steps = columns("steps", VOCABULARY.step_columns);
    this.numSteps = this.steps.begin.length;
    [this.startTime, this.endTime] = joinTables(this.pieces.get("times") ?? [], 2, Float64Array);
    this.happenings = columns("happenings", VOCABULARY.happening_columns);
    this.decisions = columns("decisions", VOCABULARY.decision_columns);
    this.numSequences = this.requests.reduce((sum, request) => Math.max(sum, request.first_sequence + request.n), 0);
    this.requestOf = new Int32Array(this.numSequences);
    this.requests.forEach((request, r) => this.requestOf.fill(r, request.first_sequence, request.first_sequence + request.n));
    this.joinTracks(keys);
    this.sentences = sentencesOf(this.pieces);
    this.pieces = null;
    this.blockSize = this.header.block_size ?? this.header.settings?.block_size ?? 16;
    this.player = this.header.player ?? {};
    this.messages = new Messages(this.player);
    this.lanes = new Lanes(this);
    this.hues = new Hues(this);
    this.bookmarks = (this.player.bookmarks ?? []).map(({event, text}) => ({text, place: placeOfEvent(this, event)}));
    this.notable = notableEvents(this.happenings);
  }

  joinTracks(slotKeys) {
    this.tracks = {};
    const published = VOCABULARY.tracks.filter(spec => (this.header.tracks ?? []).includes(spec.name));
    for (const spec of published) {
      const numColumns = 2 + spec.fields.length + (spec.ramps.length ? 1 : 0);
      const rows = joinTables(this.pieces.get(spec.name) ?? [], numColumns);
      const keys = spec.name === "tables" ? slotKeys : null;
      let numKeys = this.numSequences;
      if (spec.name === "requests") numKeys = this.requests.length;
      if (keys) numKeys = keys[0].length;
      if (spec.name === "blocks") numKeys = this.countBlocks(rows[1]);
      this.tracks[spec.name] = new Rows(spec, rows, numKeys, this.steps.scheduled, keys);
    }
    this.trackList = published.map(spec => this.tracks[spec.name]);
    if (this.tracks.tables) this.slots = slotsBySequence(this.tracks.tables.keys, this.numSequences);
    const pool = (this.header.pools ?? [])[0];
    this.poolSize = pool?.size ?? null;
    this.numGpuBlocks = this.poolSize ?? this.tracks.blocks?.numKeys ?? 0;
  }

  countBlocks(keys) {
    const pools = this.header.pools ?? [];
    let count = pools.reduce((most, pool) => Math.max(most, pool.first + (pool.size ?? 0)), 0);
    if (!pools.length || pools.some(pool => pool.size == null))
      for (const key of keys) if (key >= count) count = key + 1;
    return count;
  }

  // Steps whose scheduled cut lies at or before the event: the clock of the ramps.
  ticks(event) { return upperBound(this.steps.scheduled, event); }

  // First step whose scheduled cut shows what happened at `event`; numSteps when none does.
  firstStepShowing(event) { return upperBound(this.steps.scheduled, event - 1); }

  // Slot numbers of the block table of a sequence, by logical index.
  slotsOf(sequence) {
    return this.slots.order.subarray(this.slots.first[sequence], this.slots.first[sequence + 1]);
  }

  // "B", or "A2" for the second sample of A; "req-7.2" where the id ends in a digit.
  sequenceName(sequence) {
    const request = this.requests[this.requestOf[sequence]];
    if (!request) return "?";
    if (request.n < 2) return request.id;
    return request.id + (/\d$/.test(request.id) ? "." : "") + (sequence - request.first_sequence + 1);
  }
}

// {name: [value, ...]} -> [{name: value}, ...]
function transpose(lists) {
  const names = Object.keys(lists);
  return names.length ? lists[names[0]].map((_, i) => Object.fromEntries(names.map(name => [name, lists[name][i]]))) : [];
}

// Events at which something happened that `n` and `p` stop at.
function notableEvents({event, kind}) {
  const kinds = ["rejected", "admitted", "shared", "copied", "preempted", "resumed", "finished", "moved_out", "moved_in"];
  const notable = new Set(kinds.map(name => HAPPENING[name]));
  return Int32Array.from(new Set(event.filter((_, i) => notable.has(kind[i]))));
}

function joinTables(tables, numColumns, ArrayType = Int32Array) {
  const numRows = tables.reduce((sum, table) => sum + table.rows, 0);
  return Array.from({length: numColumns}, (_, c) => {
    if (tables.length === 1 && tables[0].columns[c]) return tables[0].columns[c];
    const column = new ArrayType(numRows);
    let at = 0;
    for (const table of tables) { if (table.columns[c]) column.set(table.columns[c], at); at += table.rows; }
    return column;
  });
}

// Slots of a ragged track sorted by sequence, then by logical index.
function slotsBySequence([sequences, indices], numSequences) {
  const first = new Int32Array(numSequences + 1);
  for (const sequence of sequences) {
    if (!(sequence >= 0 && sequence < numSequences)) throw new BadRun(`a block table names sequence ${sequence} of ${numSequences}.`);
    first[sequence + 1]++;
  }
  for (let s = 0; s < numSequences; s++) first[s + 1] += first[s];
  const order = new Int32Array(sequences.length);
  const next = first.slice();
  for (let slot = 0; slot < sequences.length; slot++) order[next[sequences[slot]]++] = slot;
  for (let s = 0; s < numSequences; s++) order.subarray(first[s], first[s + 1]).sort((a, b) => indices[a] - indices[b]);
  return {first, order};
}
