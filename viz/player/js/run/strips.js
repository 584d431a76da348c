// Contiguous memory at one frame: which slots hold tokens, which are reserved and will be used, which never will, which are
// holes. What a strip will have used in the end is known because the run is complete.
function stripsOf(frame) {
  const now = frame.columns("strips");
  const final = finalUse(frame.run);
  const strips = [];
  now.start.forEach((start, sequence) => {
    if (start < 0) return;
    const size = now.size[sequence], used = Math.min(now.used[sequence], size);
    strips.push({sequence, start, size, used, end: clamp(final[frame.cursor.rows.strips[sequence]], used, size)});
  });
  return strips.sort((a, b) => a.start - b.start);
}

// Slots that hold tokens, and slots reserved, of all strips together.
function stripSums(frame) {
  const strips = stripsOf(frame);
  return {count: strips.length, used: total(strips.map(strip => strip.used)), size: total(strips.map(strip => strip.size))};
}

// Gaps between strips: [start, size].
function holesBetween(strips, total) {
  const holes = [];
  let at = 0;
  for (const strip of strips) {
    if (strip.start > at) holes.push([at, strip.start - at]);
    at = Math.max(at, strip.start + strip.size);
  }
  if (total > at) holes.push([at, total - at]);
  return holes;
}

// Slots of the pool; without a limit as many as the run ever reached.
function numSlots(run) {
  if (run.poolSize) return run.poolSize;
  const [start, size] = run.tracks.strips.values;
  return (run.reachedSlots ??= largest(start.map((at, row) => at + size[row]), 1));
}

// Row of the strips track -> tokens that its reservation holds when it ends.
function finalUse(run) {
  if (run.finalUse) return run.finalUse;
  const track = run.tracks.strips;
  const used = track.field("used");
  const final = (run.finalUse = new Int32Array(track.numRows));
  const next = new Int32Array(track.numKeys).fill(-1);
  for (let row = track.numRows - 1; row >= 0; row--) {
    const after = next[track.key[row]];
    next[track.key[row]] = row;
    if (track.values[0][row] < 0) continue;
    const isSame = after >= 0 && track.values[0][after] === track.values[0][row];
    const end = after < 0 ? run.numEvents : track.event[after] - 1;
    final[row] = isSame ? final[after] : track.value(used, row, run.ticks(end));
  }
  return final;
}
