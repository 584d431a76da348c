// One run as the browser holds it: header, requests, steps, tracks, happenings, decisions, sentences.
// It is made from what has arrived so far (feed.js) and never changes: more rows make another Run over the same columns.
// It answers what lies where; it draws nothing and decides nothing.
class Run {
  static async read(blob) {
    const feed = new RunFeed();
    await feed.push(blob);
    return feed.finish().run();
  }

  constructor(feed) {
    this.header = feed.header;
    this.runId = feed.runId;
    this.isRunning = feed.runId === undefined;
    this.requests = feed.requests.slice();
    this.numEvents = feed.numEvents;
    const columns = (name, names) => {
      const list = feed.columns(name, names.length);
      return Object.fromEntries(names.map((n, i) => [n, list[i]]));
    };
    this.steps = columns("steps", VOCABULARY.step_columns);
    this.numSteps = this.steps.begin.length;
    [this.startTime, this.endTime] = feed.columns("times", 2, Float64Array);
    this.happenings = columns("happenings", VOCABULARY.happening_columns);
    this.decisions = columns("decisions", VOCABULARY.decision_columns);
    this.numSequences = this.requests.reduce((sum, request) => Math.max(sum, request.first_sequence + request.n), 0);
    this.requestOf = new Int32Array(this.numSequences);
    this.requests.forEach((request, r) => this.requestOf.fill(r, request.first_sequence, request.first_sequence + request.n));
    this.joinTracks(feed);
    this.sentences = sentencesOf(feed);
    this.blockSize = this.header.block_size ?? this.header.settings?.block_size ?? 16;
    this.player = this.header.player ?? {};
    this.messages = new Messages(this.player);
    this.lanes = new Lanes(this);
    this.hues = new Hues(this);
    this.bookmarks = (this.player.bookmarks ?? []).map(({event, text}) => ({text, place: placeOfEvent(this, event)}));
    this.notable = notableEvents(this.happenings);
  }

  get name() { return this.player.run_name ?? this.header.name ?? ""; }

  joinTracks(feed) {
    this.tracks = {};
    const published = VOCABULARY.tracks.filter(spec => (this.header.tracks ?? []).includes(spec.name));
    for (const spec of published) {
      const numColumns = 2 + spec.fields.length + (spec.ramps.length ? 1 : 0);
      const rows = feed.columns(spec.name, numColumns);
      const keys = spec.name === "tables" ? feed.slotKeys : null;
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
    this.firstBlock = pool?.first ?? 0;
    this.host = (this.header.pools ?? [])[1] ?? null;
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

// Events at which something happened that `n` and `p` stop at.
function notableEvents({event, kind}) {
  const kinds = ["rejected", "admitted", "shared", "copied", "preempted", "resumed", "finished", "moved_out", "moved_in"];
  const notable = new Set(kinds.map(name => HAPPENING[name]));
  return Int32Array.from(new Set(event.filter((_, i) => notable.has(kind[i]))));
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
