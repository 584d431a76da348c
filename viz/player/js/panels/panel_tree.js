// The radix tree: a column for each depth, a box for each run of tokens, at the same place for the whole run (run/tree.js).
// What lies deeper than there are columns is folded into `+n`, which a click opens until Escape; taller trees scroll, and
// follow what happens.
definePanel({
  name: "tree",
  place: "left",
  needs: run => run.tree,
  create(view, box) {
    const {words, player, selection} = view;
    const look = {root: 0, exact: 0, top: 0, cursor: -1, folds: new Hits()};
    const canvas = box.canvas(), {element: node, paint} = canvas;
    const legend = new Legend(box);
    const open = n => {
      Object.assign(look, {root: n, exact: 0});
      player.redraw();
    };
    box.head.append(button(words.memoryOrBatch, () => {
      look.frame.run.player.showsLanes ^= 1;
      player.showPanes();
    }, {class: "kv-key"}));
    node.addEventListener("wheel", event => {
      if (scrollTo(look, look.exact + event.deltaY)) event.preventDefault();
      player.redraw();
    }, {passive: false});
    node.addEventListener("click", event => {
      const fold = look.folds.pick(...pointIn(node, event, 8 * view.k));
      if (!fold) return;
      event.stopPropagation();
      open(fold.id);
    });
    listenToCursor(node, look, view, "n", {
      start: () => focusOf(look) ?? look.layout.order[0],
      next: (id, dx, dy) => nodeBeside(look, id, dx, dy),
      text: id => nodeSpoken(look.frame, id, words),
    });
    return {
      reset: () => look.root > 0 && !open(0),
      draw(frame) {
        const {run} = frame, {k, theme} = view;
        const {now, alive, fresh, gone, split, hot} = treeOf(frame);
        const [width, height] = canvas.begin(view);
        const layout = box.layout(`${run.numEvents} ${run.isRunning} ${look.root} ${k} ${width} ${height}`, () => layoutTree(run.tree, look.root, width, height, k));
        Object.assign(look, {frame, height, layout});
        box.title(words.tree, look.root ? words.treePart : words.treeRemark);
        box.say(alive.length || gone.size ? "" : words.treeEmpty);
        legend.draw(view, VOCABULARY.legends.tree);
        const {fold, row, pitch, start, length} = layout;
        const focus = look.cursor >= 0 ? look.cursor : [...selection.marks(frame).nodes].find(Boolean) ?? focusOf(look), followed = `${focus} ${frame.event}`;
        if (fold[focus] >= 0 && look.followed !== followed) {
          const y = start + (row[fold[focus]] + 0.5) * pitch - look.exact - height / 2;
          if (Math.abs(y) > height / 2 - pitch / 2 + 1) look.exact += y;
        }
        look.followed = followed;
        scrollTo(look, look.exact);
        look.folds.clear();
        drawTree(paint, look, view, canvas.hits);
        if (length > height) paint.rect(width - 3 * k, (look.top / length) * height, 4 * k, Math.max(9 * k, (height * height) / length), {fill: theme.mark, radius: 2 * k});
        canvas.label(words.treeLabel(alive.length, total(alive.map(n => now.num_tokens[n]))));
        const shown = {hitPath: hot, new: fresh, evicted: gone, split, locked: alive.filter(n => now.lock_ref[n]), folds: look.folds.list.map(({target}) => target.id)};
        for (const [name, nodes] of Object.entries(shown)) node.dataset[name] = [...nodes].join(" ");
        Object.assign(node.dataset, {mode: layout.isBars ? "bars" : "boxes", nodes: alive.length});
      },
    };
  },
});

const MOST_BOXES = 60;

function layoutTree(tree, root, width, height, k) {
  const isBars = tree.most > MOST_BOXES, {isRunning} = tree.run;
  const left = 44 * k, gap = 30 * k, room = width - left - 8 * k + gap, first = root ? tree.depth[root] : 0;
  // a run that goes on has room for three columns from the beginning, so that hardly ever a box moves
  const columns = clamp(Math.floor(room / (166 * k)), 1, Math.max(isRunning ? 3 : 1, tree.deepest + 1 - first));
  const laid = tree.layout(root, columns);
  // whole rows in sight, so that none is cut
  const whole = least => height / Math.max(1, Math.floor(height / least));
  const dense = whole((isBars ? 29 : 48) * k);
  const pitch = isBars || isRunning || laid.rows * dense > height ? dense : Math.min(height / Math.max(1, laid.rows), Math.max(dense, 76 * k));
  const length = laid.rows * pitch;
  return {...laid, tree, isBars, first, left, gap, pitch, length, w: Math.min(room / columns - gap, 306 * k), h: isBars ? 22 * k : Math.min(44 * k, pitch - 26 * k),
    start: isRunning ? 0 : Math.max(0, (height - length) / 2)};
}

// By whole rows; returns whether that is somewhere else.
function scrollTo(look, top) {
  const {exact: was, layout: {length, pitch}} = look;
  look.exact = clamp(top, 0, Math.max(0, length - look.height));
  look.top = Math.round(look.exact / pitch) * pitch;
  return look.exact !== was;
}

// The node that this frame is about.
function focusOf({frame}) {
  const {hot, fresh, gone, split} = treeOf(frame);
  return [...hot, ...fresh, ...gone, ...split][0];
}

// Where an arrow leads: to the parent, the first child, or up and down in the column.
function nodeBeside({frame, layout: {order, row, tree: {depth}}}, id, dx, dy) {
  const {parent} = treeOf(frame).now;
  if (dx < 0) return parent[id] || id;
  const list = order.filter(n => parent[n] >= 0 && (dx ? parent[n] === id : depth[n] === depth[id])).sort((a, b) => row[a] - row[b]);
  return list[dx ? 0 : clamp(list.indexOf(id) + dy, 0, list.length - 1)] ?? id;
}

// “sea = mer”: 2 tokens, 1 lock, used 5
function nodeSpoken(frame, id, words) {
  const {num_tokens: count, lock_ref: locks, last_access: last} = nodeAt(frame, id);
  return words.nodeSpoken(nodeText(frame, id), count, locks, last);
}
