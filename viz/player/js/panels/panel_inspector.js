// The inspector: what is known of the selected block or request in this frame, and its whole life, where a click on a line
// leads to that moment. Without a selection it follows what the latest rare sentence was about.
const MOST_ENTRIES = 300;

definePanel({
  name: "inspector",
  place: "right",
  create(view, box) {
    const {words, selection} = view;
    box.head.append(button(words.log, () => view.player.ask("log"), {class: "kv-key", title: words.logKey}));
    const facts = element("dl", {class: "kv-facts"});
    const cell = element("canvas", {class: "kv-portrait", "aria-hidden": "true"});
    const paint = new Paint(cell);
    const title = element("h2", {}, words.lifeTitle);
    const life = element("ol", {class: "kv-life"});
    const foot = element("p", {class: "kv-foot"}, "○ ", words.stillToCome);
    const card = element("div", {class: "kv-card"}, facts, cell, title, life, foot);
    box.body.append(card);
    let shown = "", version = -1, room = 0;
    life.addEventListener("click", event => {
      const line = event.target.closest("button");
      if (line) view.player.goEvent(Number(line.dataset.event), box.element.kvRun);
    });
    return {
      log() { box.element.hidden = !box.element.hidden; },
      details() {
        if (box.element.hidden) view.player.ask("log");
        (life.querySelector(".kv-current button") ?? life.querySelector("button"))?.focus();
      },
      draw(frame) {
        if (box.element.hidden) return;
        const {run} = frame;
        box.element.kvRun = run;
        const chosen = targetHere(selection.target, frame);
        const target = chosen ?? latestSubject(frame);
        card.hidden = !target;
        box.title(target ? titleOf(target, run, words) : words.inspector, 
          !target ? "" : !chosen ? words.latest : selection.pointed ? words.underPointer : words.selected);
        box.say(target ? "" : words.nothingChosen);
        if (!target) return;
        const lines = target.kind === "n" ? nodeFacts(frame, target.id, words) : target.kind === "b" ? blockFacts(frame, target.id, words) : requestFacts(frame, target, words);
        showFacts(facts, lines);
        const isSmall = target.kind === "b" && run.numGpuBlocks > 64 && hasBlock(run, target.id);
        cell.hidden = !isSmall;
        if (isSmall) drawPortrait(paint, frame, target.id, view);
        const entries = lifeOf(run, target, words);
        foot.hidden = entries.every(entry => entry.event <= frame.event);
        const mark = `${nameOf(target)} ${run.runId} ${frame.event} ${frame.since}`;
        if (version !== view.version) room = life.clientHeight;
        version = view.version;
        if (shown !== mark) showLife(life, entries, frame, room, 24 * view.k);
        shown = mark;
      },
    };
  },
});

function hasBlock(run, id) { return id >= run.firstBlock && id < run.firstBlock + run.numGpuBlocks; }

// A target as this run knows it; null when it does not.
function targetHere(target, frame) {
  if (!target || target.run.header === frame.run.header) return target;
  const [r] = marksOf(frame, target)?.requests ?? [];
  return r === undefined ? null : {kind: "r", id: r, run: frame.run};
}

// What the last rare sentence up to this frame was about.
function latestSubject(frame) {
  const {run, speaker} = frame;
  const {event, code} = run.sentences;
  let row = Math.max(upperBound(event, frame.event) - 1, -1);
  if (speaker && !run.messages.isCommon(code[speaker.row])) row = speaker.row;
  for (let tries = 2000; row >= 0 && tries > 0; row--, tries--) {
    if (run.messages.isCommon(code[row])) continue;
    const {happenings} = run;
    for (let i = lowerBound(happenings.event, event[row]); happenings.event[i] === event[row]; i++) {
      const {kind, request, block, target} = run.happening(i);
      if (target > 0 && run.tree && VOCABULARY.of_node.includes(kind)) return {kind: "n", id: target, run};
      if (request >= 0) return kind === "copied" || kind === "written_in_place" ? {kind: "b", id: block, run} : {kind: "r", id: request, run};
    }
  }
  return null;
}

function titleOf({kind, id}, run, words) {
  if (kind === "b") return run.host && id >= run.host.first ? words.hostName(id - run.host.first) : words.blockName(id);
  if (kind === "n") return words.nodeName(id);
  const request = run.requests[kind === "s" ? run.requestOf[id] : id];
  return kind === "s" && request.n > 1 ? words.sequenceTitle(run.sequenceName(id)) : words.requestTitle(request.id);
}

function showFacts(list, lines) {
  resizeList(list, lines.length, () => element("div", {}, element("dt"), element("dd", {dir: "auto"})));
  lines.forEach((texts, i) => {
    setTexts(list.children[i], texts);
    const node = list.children[i].lastChild, isLong = texts[1].length > 18;
    node.classList.toggle("kv-long", isLong);
    node.title = isLong ? texts[1] : "";
  });
}

function blockFacts(frame, id, words) {
  const {run} = frame;
  const {state, ref_count: refs, fill, owner} = frame.columns("blocks");
  const before = frame.before("blocks", "ref_count", id);
  const names = (frame.readers.get(id) ?? []).map(sequence => run.sequenceName(sequence));
  const holders = names.length ? names.slice(0, 6).join(", ") + (names.length > 6 ? " …" : "") : owner[id] >= 0 && state[id] ? run.sequenceName(owner[id]) : words.none;
  return [
    [words.facts.readers, holders],
    [words.facts.references, before !== refs[id] ? `${before} → ${refs[id]}` : String(refs[id])],
    [words.facts.written, words.ofSlots(state[id] ? fill[id] : 0, run.blockSize)],
    [words.facts.holds, state[id] ? tokensIn(frame, id, words) : words.nothing],
  ];
}

// "prompt 97–100", "output 1–12": by its place in the table of a reader.
function tokensIn(frame, block, words) {
  const {run} = frame;
  const tables = frame.columns("tables")?.block;
  const sequences = frame.readers.get(block) ?? [frame.columns("blocks").owner[block]];
  if (!tables || !(sequences[0] >= 0)) return "";
  const slots = run.slotsOf(sequences[0]);
  const slot = slots.find(candidate => tables[candidate] === block);
  if (slot === undefined) return "";
  const first = run.tracks.tables.keys[1][slot] * run.blockSize;
  const last = first + frame.columns("blocks").fill[block];
  const prompt = run.requests[run.requestOf[sequences[0]]].prompt_len;
  if (run.words.length) return textOf(run, sequences[0], first, last);
  const span = (from, to) => (from === to ? to : `${from}–${to}`);
  return [first < prompt && words.promptTokens(span(first + 1, Math.min(last, prompt))),
    last > prompt && words.outputTokens(span(Math.max(first, prompt) + 1 - prompt, last - prompt))].filter(Boolean).join(", ") || words.nothing;
}

function nodeFacts(frame, id, words) {
  const {num_tokens: count, lock_ref: locks, last_access: last} = nodeAt(frame, id);
  const names = Array.from(marksOf(frame, {kind: "n", id, run: frame.run}).sequences, s => frame.run.sequenceName(s));
  return [[words.facts.holds, nodeText(frame, id)], [words.facts.stored, words.tokens(count)],
    [words.facts.readers, names.join(", ") || words.none], [words.facts.locks, words.lockedBy(locks)], [words.facts.used, words.logicalTime(last)]];
}

function requestFacts(frame, {kind, id}, words) {
  const {run} = frame;
  const r = kind === "r" ? id : run.requestOf[id];
  const request = run.requests[r];
  const s = kind === "r" ? request.first_sequence : id;
  const now = frame.columns("sequences"), status = frame.columns("requests")?.status[r];
  const blocks = marksOf(frame, {kind, id, run}).blocks;
  const refs = frame.columns("blocks")?.ref_count;
  const shared = refs ? [...blocks].filter(block => refs[block] > 1).length : 0;
  const decision = frame.decision(r);
  const isOut = status === STATUS.WAITING || status === STATUS.REJECTED;
  const seat = now.seat[s];
  return [
    [words.facts.prompt, (request.n > 1 ? words.promptFacts : words.promptFact)(request.prompt_len, request.output_len, request.n)],
    [words.facts.status, words.status[isOut ? status : now.status[s]] + (seat >= 0 ? `, ${words.place(seat + 1)}` : "")],
    isOut && decision ? [words.facts.why, status === STATUS.REJECTED ? rejectionText(decision, words) : datedReason(decision, frame, words)]
      : [words.facts.output, words.ofTokens(Math.max(0, now.num_tokens[s] - request.prompt_len), request.output_len)],
    run.tracks.strips ? [words.facts.stored, words.tokens(now.num_computed_tokens[s])] : [words.facts.blocks, (shared ? words.blocksShared : words.blocksOf)(blocks.size, shared)],
  ];
}

// The 48 px form of a block that is smaller in the grid.
function drawPortrait(paint, frame, id, view) {
  const {k, theme} = view;
  const [w, h] = [64 * k, 53 * k];
  paint.begin(theme, w + 2, h + 2);
  paint.ctx.translate(1, 1);
  drawLargeCell(paint, 0, 0, w, h, describeBlock(frame, frame.columns("blocks"), id, true, new Map(), new Set()), k);
}

// Past solid, future pale, this frame yellow; the line of now stays in sight.
function showLife(list, entries, frame, room, pitch) {
  const here = entries.findLastIndex(entry => entry.event <= frame.event);
  const first = clamp(here - MOST_ENTRIES / 2, 0, entries.length - MOST_ENTRIES);
  const shown = entries.slice(first, first + MOST_ENTRIES);
  resizeList(list, shown.length, () =>
    element("li", {}, element("button", {type: "button"}, element("i"), element("span", {dir: "auto"}), element("b"))));
  let now = 0;
  shown.forEach(({event, last, text, note}, i) => {
    const line = list.children[i], button = line.firstChild;
    const isNow = event <= frame.event && last > frame.since;
    line.className = isNow ? "kv-current" : event > frame.event ? "kv-future" : "";
    setAttribute(button, "data-event", Math.min(last, Math.max(event, frame.event)));
    setText(button.children[1], text);
    button.title = text;
    setText(button.children[2], note);
    if (isNow || first + i === here) now = i;
  });
  // whole rows, at the end as well: the space below the last one is 1.58 of them
  const top = Math.floor(Math.min(now + 1 - room / 2 / pitch, shown.length + 1.58 - room / pitch)) * pitch;
  // scrolling lays out the page, which is cheap only once all panels have drawn
  queueMicrotask(() => { list.scrollTop = top; });
}
