// The life of one block or of one request, read off the rows and happenings of a run: what happened to it, when, and what
// stood beside it then (readers of a block, iteration of a request). An entry is {event, last, text, note}.
function lifeOf(run, {kind, id}, words) {
  const lives = (run.lives ??= new Map());
  const name = nameOf({kind, id});
  if (!lives.has(name)) {
    if (lives.size > 200) lives.clear();
    lives.set(name, kind === "n" ? lifeOfNode(run, id, words.life) : kind === "b" ? lifeOfBlock(run, id, words.life) : lifeOfRequest(run, kind === "r" ? id : run.requestOf[id], words.life));
  }
  return lives.get(name);
}

// What happened to a block, but for its allocation, which names only the last one of several; or to a node, whose lower half
// stands where other happenings name a block.
function happeningsAt(run, id, kinds) {
  const {block, target} = run.happenings;
  return run.happeningsOf(...kinds).filter(i => block[i] === id || target[i] === id).map(i => run.happening(i));
}

function lifeOfNode(run, id, words) {
  return happeningsAt(run, id, VOCABULARY.of_node).map(({kind, event, target, sequence}) => ({event, last: event,
    note: iterationOf(run, event, words), text: words.node[target === id ? kind : "lower"].replace("%", run.sequenceName(sequence))}));
}

function lifeOfBlock(run, id, words) {
  const changes = changesOfBlock(run, id);
  const named = happeningsAt(run, id, VOCABULARY.of_block);
  const events = [...new Set([...changes.keys(), ...named.map(({event}) => event)])].sort((a, b) => a - b);
  const entries = [];
  let ref = 0;
  for (const event of events) {
    const change = changes.get(event);
    if (change) ref = change.ref;
    const here = named.find(happening => happening.event === event);
    const note = ref ? "×" + ref : "";
    const who = sequence => (sequence >= 0 ? run.sequenceName(sequence) : words.somebody);
    const before = entries.at(-1);
    if (here?.kind === "shared" && before?.sharers && run.firstStepShowing(before.event) === run.firstStepShowing(event)) {
      before.sharers.push(who(here.sequence));
      Object.assign(before, {last: event, text: sharersText(before.sharers, words), note});
      continue;
    }
    const entry = {event, last: event, note};
    if (here?.kind === "shared") entry.sharers = [who(here.sequence)];
    entry.text = here ? textOfHere(here, id, entry, who, words) : textOfChange(run, change, who, words);
    if (entry.text) entries.push(entry);
  }
  return entries;
}

// Event -> {state, ref, owner, was: {state, ref, owner}} where one of them changes.
function changesOfBlock(run, id) {
  const track = run.tracks.blocks;
  const [states, refs, owners] = ["state", "ref_count", "owner"].map(name => track.values[track.field(name)]);
  const changes = new Map();
  let was = {state: 0, ref: 0, owner: -1};
  for (let row = 0; row < track.numRows; row++) {
    if (track.key[row] !== id) continue;
    const now = {state: states[row], ref: refs[row], owner: owners[row]};
    if (now.state !== was.state || now.ref !== was.ref) changes.set(track.event[row], {...now, was: changes.get(track.event[row])?.was ?? was});
    was = now;
  }
  return changes;
}

function textOfHere({kind, block, target, sequence}, id, {sharers}, who, words) {
  if (kind === "shared") return sharersText(sharers, words);
  if (kind === "copied") return block === id ? words.copiedTo(target, who(sequence)) : words.copyOf(block, who(sequence));
  if (kind === "written_in_place") return words.inPlace(who(sequence));
  if (kind === "moved_out" || kind === "moved_in") return block === id ? words.movedTo(target) : words.movedFrom(block);
  return "";
}

function textOfChange(run, {state, ref, owner, was, event}, who, words) {
  if (!state) return words.freed(who(was.owner));
  if (!was.state) return words.written(who(owner));
  return ref < was.ref ? words.readersLess(was.ref - ref) : words.readersMore(ref - was.ref);
}

function lifeOfRequest(run, r, words) {
  const request = run.requests[r];
  const rows = (run.rowsByRequest ??= groupRows(run.happenings.request, run.requests.length))[r];
  const entries = rows.map(i => run.happening(i)).map(happening => ({happening, event: happening.event}));
  const steps = run.steps.scheduled;
  for (const {from, first, isPrompt} of run.lanes.ofSequence[request.first_sequence] ?? [])
    if (isPrompt && steps[from] !== undefined) entries.push({event: steps[from], text: words.prefill(first)});
  const told = [];
  for (const {event, happening, text} of entries.sort((a, b) => a.event - b.event)) {
    const before = told.at(-1);
    const entry = {event, last: event, text: text ?? requestText(happening, run, words.request),
      note: iterationOf(run, event, words)};
    const isShare = happening?.kind === "shared";
    if (isShare && before?.isShare && before.sequence === happening.sequence && before.event === event) continue;
    if (entry.text) told.push({...entry, isShare, sequence: happening?.sequence});
  }
  return told;
}

// What a happening means to its request; which sample of it, where there are several.
function requestText({kind, sequence, block, target, amount}, run, words) {
  const who = sequence >= 0 && run.requests[run.requestOf[sequence]].n > 1 ? run.sequenceName(sequence) + ": " : "";
  const label = words[kind + (run.tracks.strips ? "_strip" : kind === "allocated" && amount === 1 ? "_one" : "")] ?? words[kind];
  return told(label, who, amount, block, target);
}

function iterationOf(run, event, words) {
  const {step} = stepOfEvent(run, event);
  return step < 0 ? "" : words.iteration(step);
}

function sharersText(list, words) { return (list.length > 1 ? words.sharers : words.sharer)(list.join(", ")); }
