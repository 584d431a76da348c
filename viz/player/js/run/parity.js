// Compares the state hashes that travel with a run to the state here, one a turn so that nothing has to wait, on a cursor
// of its own. The result, "equal/all", stands in data-parity of the root.
async function checkParity(player, isCurrent) {
  let equal = 0, count = 0;
  for (const {run} of player.panes) {
    const hashes = run.player.hashes ?? [];
    const cursor = new Cursor(run);
    count += hashes.length;
    for (const [event, crc] of hashes) {
      await new Promise(resume => setTimeout(resume, 0));
      if (!isCurrent()) return;
      cursor.seek(event);
      if (cursor.crc() === crc) equal++;
    }
  }
  player.root.dataset.parity = `${equal}/${count}`;
}
