// Next to go: the leaves of the radix tree in the order in which they would be evicted, then those that a running request locks.
definePanel({
  name: "next",
  place: "right",
  order: -1,
  grow: 0.6,
  needs: run => run.tree,
  create(view, box) {
    const list = element("ol", {class: "kv-next"});
    box.body.append(list);
    return {
      draw(frame) {
        const {words, k} = view, {run} = frame;
        const {now: {parent, lock_ref: locks, last_access: last}, alive} = treeOf(frame);
        box.element.kvRun = run;
        const policy = run.header.settings?.eviction ?? "lru", age = {lru: n => last[n], mru: n => -last[n], fifo: n => n, filo: n => -n}[policy];
        box.title(words.nextToGo, words.compare.values[policy] ?? policy);
        const inner = new Set(parent);
        const leaves = alive.filter(n => !inner.has(n));
        box.say(!age ? words.notPublished : leaves.length ? "" : words.treeEmpty);
        const shown = age ? leaves.sort((a, b) => (locks[a] > 0) - (locks[b] > 0) || age(a) - age(b)).slice(0, Math.floor(box.size(view)[1] / (22 * k))) : [];
        resizeList(list, shown.length, () => element("li", {}, element("b"), element("span", {dir: "auto"}), element("em")));
        shown.forEach((n, i) => {
          const row = list.children[i], isLocked = locks[n] > 0;
          setAttribute(row, "data-sel", "n" + n);
          row.title = nodeSpoken(frame, n, words);
          row.classList.toggle("kv-future", isLocked);
          setTexts(row, [isLocked ? "" : i + 1, nodeText(frame, n), isLocked ? words.locked : words.usedAt(last[n])]);
        });
      },
    };
  },
});
