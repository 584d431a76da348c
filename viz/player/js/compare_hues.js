// One colour for one request in all panes: sequences that are alive together in any of the runs get different hues, the five
// in turn. Where that takes more than five, colour says state in all of them.
const MOST_SHARED = 600;

function shareHues(runs) {
  if (runs.length < 2) return;
  const shared = runs.every(run => run.hues.saysOwner && run.numSequences <= MOST_SHARED) ? sharedHues(runs) : null;
  runs.forEach((run, i) => {
    run.hues.bySequence = shared && shared[i];
    run.hues.saysOwner = shared !== null;
  });
}

// Sequence -> hue for each run, or null.
function sharedHues(runs) {
  const byName = new Map();
  runs.forEach((run, i) => {
    for (let sequence = 0; sequence < run.numSequences; sequence++) {
      const request = run.requests[run.requestOf[sequence]];
      const name = `${sequence - request.first_sequence} ${request.id}`;
      if (!byName.has(name)) byName.set(name, {lives: [], sequences: [], hue: -1});
      byName.get(name).lives[i] = run.lanes.life(sequence);
      byName.get(name).sequences[i] = sequence;
    }
  });
  const known = [...byName.values()];
  for (const [i, one] of known.entries()) {
    const taken = new Set(known.slice(0, i).filter(other => overlap(one.lives, other.lives)).map(other => other.hue));
    one.hue = OWNER_HUES.map((_, n) => (i + n) % OWNER_HUES.length).find(hue => !taken.has(hue)) ?? -1;
    if (one.hue < 0) return null;
  }
  return runs.map((run, i) => {
    const hues = Array.from({length: run.numSequences}, () => "P");
    for (const {sequences, hue} of known) if (sequences[i] !== undefined) hues[sequences[i]] = OWNER_HUES[hue];
    return hues;
  });
}

function overlap(a, b) { return a.some((life, i) => life && b[i] && life.from <= b[i].to && b[i].from <= life.to); }
