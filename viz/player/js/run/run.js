// One run as the browser holds it: header, requests, steps, tracks, happenings, decisions, sentences.
// It is made from what has arrived so far (feed.js) and never changes: more rows make another Run over the same columns.
// It answers what lies where; it draws nothing and decides nothing.
class Run {
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
    this.numSequences = largest(this.requests.map(request => request.first_sequence + request.n));
    this.requestOf = new Int32Array(this.numSequences);
    this.requests.forEach((request, r) => this.requestOf.fill(r, request.first_sequence, request.first_sequence + request.n));
    this.joinTracks(feed);
    this.tokens = feed.columns("tokens", 2);
    this.words = feed.words;
    this.tree = this.tracks.nodes && new Tree(this);
    this.sentences = sentencesOf(feed);
    this.blockSize = this.header.block_size ?? this.header.settings?.block_size ?? 16;
    this.player = (this.header.player ??= {});
    this.messages = new Messages(this.player);
    this.lanes = new Lanes(this);
    this.bookmarks = (this.player.bookmarks ?? []).map(({event, text}) => ({text, place: placeOfEvent(this, event)}));
    // where `n` and `p` stop
    this.notable = Int32Array.from(new Set(this.eventsOf(...VOCABULARY.notable)));
  }

  // Whether blocks are ever kept without a reader.
  get keeps() { return (this.keptSome ??= this.tracks.blocks?.values[this.tracks.blocks.field("state")].some(state => state > 1) ?? false); }

  // Whether several samples write behind one prompt, so that blocks may be copied.
  get forks() { return this.requests.some(({n}) => n > 1); }

  // When the last step ends, in seconds.
  get lastTime() { return this.endTime[this.numSteps - 1] ?? 0; }

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
      if (spec.name === "nodes") numKeys = largest(rows[1]) + 1;
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
    const count = largest(pools.map(pool => pool.first + (pool.size ?? 0)));
    return !pools.length || pools.some(pool => pool.size == null) ? largest(keys, count - 1) + 1 : count;
  }

  // Steps whose scheduled cut lies at or before the event: the clock of the ramps.
  ticks(event) { return upperBound(this.steps.scheduled, event); }

  // First step whose scheduled cut shows what happened at `event`; numSteps when none does.
  firstStepShowing(event) { return upperBound(this.steps.scheduled, event - 1); }

  // Slot numbers of the block table of a sequence, by logical index.
  slotsOf(sequence) {
    return this.slots.order.subarray(this.slots.first[sequence], this.slots.first[sequence + 1]);
  }

  // Happening number i as {kind: its name, event, request, ...}.
  happening(i) { return {...rowOf(this.happenings, i), kind: VOCABULARY.happenings[this.happenings.kind[i]]}; }

  // Numbers of the happenings of these kinds, and the events at which they were, one for each.
  happeningsOf(...kinds) {
    const wanted = VOCABULARY.happenings.map(name => kinds.includes(name));
    const rows = [];
    this.happenings.kind.forEach((kind, i) => { if (wanted[kind]) rows.push(i); });
    return rows;
  }

  eventsOf(...kinds) { return Int32Array.from(this.happeningsOf(...kinds), i => this.happenings.event[i]); }

  requestName(r) { return this.requests[r]?.id ?? "?"; }

  sequencesOf(r) { return range(this.requests[r].n, this.requests[r].first_sequence); }

  // "B", or "A2" for the second sample of A; "req-7.2" where the id ends in a digit.
  sequenceName(sequence) {
    const request = this.requests[this.requestOf[sequence]];
    if (!request) return "?";
    if (request.n < 2) return request.id;
    return request.id + (/\d$/.test(request.id) ? "." : "") + (sequence - request.first_sequence + 1);
  }
}

// Slots of a ragged track sorted by sequence, then by logical index.
function slotsBySequence([sequences, indices], numSequences) {
  const first = new Int32Array(numSequences + 1);
  for (const sequence of sequences) {
    if (!(sequence >= 0 && sequence < numSequences)) throw new BadRun("sequence", sequence, numSequences);
    first[sequence + 1]++;
  }
  for (let s = 0; s < numSequences; s++) first[s + 1] += first[s];
  const order = new Int32Array(sequences.length);
  const next = first.slice();
  for (let slot = 0; slot < sequences.length; slot++) order[next[sequences[slot]]++] = slot;
  for (let s = 0; s < numSequences; s++) order.subarray(first[s], first[s + 1]).sort((a, b) => indices[a] - indices[b]);
  return {first, order};
}
