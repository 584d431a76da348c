// Who wears which colour: five hues at most at a time, handed out like seats, the lowest free one first.
// Up to five sequences alive together get one each; else up to five requests do; beyond that colour says state only.
const OWNER_HUES = ["A", "B", "C", "D", "E"];

class Hues {
  constructor(run) {
    const lives = Array.from({length: run.numSequences}, (_, sequence) => run.lanes.life(sequence));
    this.bySequence = assignHues(lives);
    if (!this.bySequence) {
      const byRequest = assignHues(run.requests.map(request => joinLives(lives, request)));
      if (byRequest) this.bySequence = lives.map((_, sequence) => byRequest[run.requestOf[sequence]]);
    }
    this.saysOwner = this.bySequence !== null;
  }

  // "A".."E", or "P" (private) where colour says state. `focus` holds the few that are looked at then (selection.js).
  of(sequence) { return this.focus?.get(sequence) ?? this.bySequence?.[sequence] ?? "P"; }
}

function joinLives(lives, request) {
  const known = lives.slice(request.first_sequence, request.first_sequence + request.n).filter(Boolean);
  if (!known.length) return null;
  return {from: Math.min(...known.map(life => life.from)), to: Math.max(...known.map(life => life.to))};
}

// A hue for every life, or null when more than five overlap.
function assignHues(lives) {
  const hues = lives.map(() => "P");
  const order = lives.map((_, i) => i).filter(i => lives[i]).sort((a, b) => lives[a].from - lives[b].from || a - b);
  const takenUntil = OWNER_HUES.map(() => -1);
  for (const i of order) {
    const free = takenUntil.findIndex(until => until < lives[i].from);
    if (free < 0) return null;
    hues[i] = OWNER_HUES[free];
    takenUntil[free] = lives[i].to;
  }
  return hues;
}
