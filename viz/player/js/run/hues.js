// Who wears which colour: five hues at most at a time, handed out in turn. Those who are alive together in any of the runs on
// screen get different ones, and a request the same one in all panes: each sequence its own, or else each request; where that
// takes more than five, colour says state only.
const OWNER_HUES = ["A", "B", "C", "D", "E"];
const MOST_COLOURED = 2000;

class Hues {
  // bySequence: sequence -> hue, or null where colour says state.
  constructor(bySequence) { this.bySequence = bySequence; }

  get saysOwner() { return this.bySequence !== null; }

  // "A".."E", or "P" (private) where colour says state. `focus` holds the few that are looked at then (selection.js).
  of(sequence) { return this.focus?.get(sequence) ?? this.bySequence?.[sequence] ?? "P"; }
}

// Gives every run its hues.
function colourRuns(runs) {
  const isFew = runs.every(run => run.numSequences <= MOST_COLOURED);
  const hues = isFew ? handOut(runs, (request, i) => `${i} ${request.id}`) ?? handOut(runs, request => request.id) : null;
  runs.forEach((run, i) => { run.hues = new Hues(run.tree ? run.tree.hues() : hues && hues[i]); });
}

// Sequence -> hue for each run, or null when more than five overlap. `nameOf(request, sample)` says who wears one.
function handOut(runs, nameOf) {
  const wearers = new Map();
  const names = runs.map((run, i) => Array.from(run.requestOf, (r, sequence) => {
    const name = nameOf(run.requests[r], sequence - run.requests[r].first_sequence);
    const life = run.lanes.life(sequence);
    if (!wearers.has(name)) wearers.set(name, []);
    if (life) wearers.get(name).push({run: i, ...life});
    return name;
  }));
  const hueOf = new Map();
  const taken = OWNER_HUES.map(() => []);
  for (const [name, lives] of wearers) {
    if (!lives.length) continue;
    const turn = OWNER_HUES.map((_, n) => (hueOf.size + n) % OWNER_HUES.length);
    const hue = turn.find(n => !taken[n].some(other => lives.some(life => overlap(life, other))));
    if (hue === undefined) return null;
    taken[hue].push(...lives);
    hueOf.set(name, OWNER_HUES[hue]);
  }
  return names.map(list => list.map(name => hueOf.get(name) ?? "P"));
}

function overlap(a, b) { return a.run === b.run && a.from <= b.to && b.from <= a.to; }
