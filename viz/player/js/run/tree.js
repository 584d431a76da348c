// The radix tree of a run over its whole course: every node that ever exists keeps one place. Leaves get rows in the order in
// which they were first stored, parents stand midway, and a node that will be split stands where it lies afterwards, so
// that the place left of it waits for its upper half. While a run still arrives rows are only ever added.
class Tree {
  constructor(run) {
    const {key, values: [parents], numKeys, numRows} = run.tracks.nodes;
    this.run = run;
    for (const name of ["parent", "row", "branch", "depth"]) this[name] = new Int32Array(numKeys);
    this.kids = Array.from({length: numKeys}, () => []);
    this.most = this.deepest = 0;
    const born = new Set(), alive = new Set();
    for (let row = 0; row < numRows; row++) {
      const n = key[row];
      if (parents[row] < 0) { alive.delete(n); continue; }
      this.parent[n] = parents[row];
      born.add(n);
      alive.add(n);
      this.most = Math.max(this.most, alive.size);
    }
    const {parent, row, branch, depth, kids} = this;
    depth[0] = -1;
    let rows = 0;
    const seen = new Uint8Array(numKeys);
    for (const n of born) {
      if (seen[n]) continue;
      const path = [];
      let top = n;
      for (; top && !seen[top]; top = parent[top]) { seen[top] = 1; path.push(top); }
      const here = top && !kids[top].length ? row[top] : rows++;
      const hue = top ? branch[top] : kids[0].length;
      for (const m of path.reverse()) {
        kids[parent[m]]?.push(m);
        depth[m] = depth[parent[m]] + 1;
        row[m] = here;
        branch[m] = hue;
        this.deepest = Math.max(this.deepest, depth[m]);
      }
    }
  }

  // A node wears the hue of its branch under the root; with more than five of them colour says nothing.
  hue(n) { return this.kids[0].length > 5 ? "P" : OWNER_HUES[this.branch[n]]; }

  // Hues of the sequences: that of the branch in which they are stored.
  hues() {
    const {numSequences, happenings: {sequence, target}} = this.run;
    const hues = Array(numSequences).fill("P");
    for (const i of this.run.happeningsOf("hit", "inserted", "locked")) if (target[i] > 0) hues[sequence[i]] = this.hue(target[i]);
    return this.kids[0].length > 5 ? null : hues;
  }

  // Rows below `root` when so many columns are shown: {row, order, rows, fold: node -> the node whose box shows it, -1 for none}.
  layout(root, columns) {
    const {parent, kids, depth, run} = this;
    const row = Float64Array.from(this.row), fold = new Int32Array(row.length).fill(-1), order = [];
    const last = depth[root] + columns - (root ? 1 : 0);
    const stack = root ? [root] : kids[0].toReversed();
    let rows = 0;
    while (stack.length) {
      const n = stack.pop();
      fold[n] = depth[n] > last ? fold[parent[n]] : n;
      if (fold[n] === n) {
        order.push(n);
        if (!run.isRunning && (depth[n] === last || !kids[n].length)) row[n] = rows++;
      }
      for (let i = kids[n].length; i--;) stack.push(kids[n][i]);
    }
    if (run.isRunning) rows = 1 + largest(order.map(n => row[n]));
    else for (const n of order.toReversed()) if (depth[n] < last && kids[n].length) row[n] = (row[kids[n][0]] + row[kids[n].at(-1)]) / 2;
    return {row, order, rows, fold};
  }

  // The words of a stretch of the token pool, the first fifty of them; a token without a word is its number,
  // one that is only known to be generated a dot.
  text(first, count) {
    return Array.from(this.run.tokens[0].subarray(first, first + Math.min(count, 50)), token => (token < 0 ? "•" : this.run.header.vocabulary?.[token] ?? token)).join(" ");
  }
}

// What a frame shows of the tree: {now: the columns, alive: nodes in it, fresh, gone, split: nodes stored, evicted, made by a split in this frame, hot: what was hit}.
function treeOf(frame) {
  return frame.once("tree", () => {
    const now = frame.columns("nodes"), {parent} = now, alive = [];
    parent.forEach((above, n) => { if (above >= 0) alive.push(n); });
    const split = new Set(frame.happened("split").map(({target}) => target)), fresh = new Set(), gone = new Set(), hot = new Set();
    for (const n of frame.touched("nodes")) {
      const was = frame.before("nodes", "parent", n) >= 0, is = parent[n] >= 0;
      if (is && !was && !split.has(n)) fresh.add(n);
      if (was && !is) gone.add(n);
    }
    for (const {target} of frame.happened("hit")) for (let n = target; n > 0 && !hot.has(n); n = parent[n]) hot.add(n);
    return {now, alive, fresh, gone, split, hot};
  });
}

// {first, num_tokens, ...} of a node, of one that left the tree as it was before.
function nodeAt(frame, n) {
  const {nodes} = frame.run.tracks;
  const now = frame.cursor.rows.nodes[n];
  const row = now >= 0 && nodes.values[0][now] < 0 ? nodes.previous[now] : now;
  return Object.fromEntries(nodes.fields.map((name, f) => [name, nodes.value(f, row, 0)]));
}

function nodeText(frame, n) {
  const {first, num_tokens: count} = nodeAt(frame, n);
  return frame.run.tree.text(first, count);
}

// {node, token}: for each block the node whose tokens it holds, or held until now, 0 for none, and where they stand in the pool.
function treeBlocks(frame) {
  return frame.once("treeBlocks", () => {
    const {run} = frame, {now, alive, gone} = treeOf(frame), [, slots] = run.tokens, {state = []} = frame.columns("blocks") ?? {};
    const [node, token] = [0, 1].map(() => new Int32Array(state.length));
    for (const n of [...gone, ...alive]) {
      const {first, num_tokens: count} = gone.has(n) ? nodeAt(frame, n) : {first: now.first[n], num_tokens: now.num_tokens[n]};
      for (let i = first; i < first + count; i += run.blockSize) {
        const block = Math.floor(slots[i] / run.blockSize);
        if (state[block] && gone.has(n)) continue;
        node[block] = n;
        token[block] = i;
      }
    }
    return {node, token};
  });
}
