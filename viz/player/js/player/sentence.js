// The sentences of a run and the box that shows one. Templates and operands come from Python; here operands are put in:
// {b0} a block chip, {s1} a sequence chip, {r0} a request chip, {n2} or {n2|block|blocks} a number, {S3} a list of sequences, {w4} the words of a node;
// **...** is bold.
function sentencesOf(feed) {
  const [event, code, ...operands] = feed.columns("sentences", 8);
  const [lists] = feed.columns("operands", 1);
  return {event, code, operands, lists};
}

// What a frame says: {row, number, count, step, isUpdate}, or null. At an event the sentence of that event; at a step the
// rarest of all that happened since the step before. Changes are counted from one step to the next.
function speakerOf({run, since, event: until, isMany}) {
  const {event, code} = run.sentences, {scheduled} = run.steps;
  const step = run.firstStepShowing(until);
  const [from, to] = isMany ? [since, until] : [scheduled[step - 1] ?? 0, scheduled[step] ?? run.numEvents];
  let best = -1, number = 0, count = 0;
  for (let i = upperBound(event, from); event[i] <= to; i++) {
    const isChange = !run.messages.isQuiet(code[i]);
    if (isChange) count++;
    if (event[i] > since && event[i] <= until && !(code[best] <= code[i])) [best, number] = [i, isChange && count];
  }
  return best < 0 ? null : {...stepOfEvent(run, event[best]), row: best, number, count};
}

// The templates of a run: code -> {kind, text}. Codes are numbered by rarity, the rarest first.
class Messages {
  constructor(player) {
    this.templates = (player.messages ?? []).map(([kind, text]) => ({kind, text}));
    this.tags = player.tags ?? {};
  }

  of(code) { return this.templates[code] ?? {kind: "decode", text: ""}; }

  tag(kind) { return this.tags[kind] ?? kind; }

  isQuiet(code) { return VOCABULARY.quiet.includes(this.of(code).kind); }

  isCommon(code) { return VOCABULARY.common.includes(this.of(code).kind); }
}

class SentenceBox {
  // player.moveEvent leads to the change before and after.
  constructor(player, words) {
    this.tag = element("b");
    this.place = element("small");
    this.text = element("p");
    const arrow = (text, label, by) => button(text, () => player.moveEvent(by), {label});
    this.walk = element("span", {class: "kv-walk"}, arrow("‹", words.before, -1), arrow("›", words.next, 1));
    this.element = element("div", {class: "kv-say"}, element("div", {class: "kv-tag"}, this.tag, this.walk, this.place), this.text);
  }

  // `isNotice`: black instead of yellow, for what is said about the player and not about the run.
  show(tag, place, nodes, {isNotice = false, hasMore = false} = {}) {
    this.walk.hidden = !hasMore;
    this.element.classList.toggle("kv-notice", isNotice);
    setText(this.tag, tag);
    setText(this.place, place);
    this.text.replaceChildren(...nodes);
    this.text.classList.remove("kv-long");
    // measuring lays out the page, which is cheap only once all panels have drawn
    if (this.text.textContent.length > 70) queueMicrotask(() => {
      this.text.classList.toggle("kv-long", this.text.scrollHeight > this.element.clientHeight);
    });
  }

  // Room for the longest place in the tag, so that the sentence never moves sideways.
  reserve(view, widest) {
    if (this.version === view.version) return;
    this.version = view.version;
    const paint = new Paint(element("canvas"));
    paint.begin(view.theme, 1, 1);
    this.tag.parentNode.style.minWidth = paint.measure(widest, 12 * view.k, 500) + 33 * view.k + "px";
  }

  get spoken() { return this.text.textContent; }
}

// Nodes of a template; `fill(field)` gives those of the field between { and }.
function templateNodes(template, fill) {
  return template.split("**").flatMap((part, i) => {
    const nodes = part.split(/\{([^}]*)\}/).flatMap((text, j) => (j % 2 ? fill(text) : [text]));
    return i % 2 ? [element("b", {}, ...nodes)] : nodes;
  });
}

// Nodes of a sentence; `operand(i)` gives its i-th operand.
function sentenceNodes(template, operand, frame) {
  return templateNodes(template, field => operandNodes(field, operand(Number(field[1])), frame));
}

function operandNodes(field, value, frame) {
  const {run} = frame;
  const [[kind], one, many] = field.split("|");
  if (kind === "b") return [blockChip(value, frame)];
  if (kind === "s") return [sequenceChip(run, value)];
  if (kind === "r") return [requestChip(run, value)];
  if (kind === "n") return [formatNumber(value) + (one === undefined ? "" : " " + (value === 1 ? one : many))];
  if (kind === "w") return [chip(nodeText(frame, value), "kv-block", run.tree.hue(value), "n" + value)];
  const {lists} = run.sentences;
  const members = Array.from(lists.subarray(value + 1, value + 1 + Math.max(0, lists[value] ?? 0)));
  return listNodes(members.map(sequence => sequenceChip(run, sequence)), frame.words);
}

// "A3", "A3 and A4", "A3, A4 and A5"; above four "A3, A4, A5 and 7 more".
function listNodes(chips, words) {
  const shown = chips.length > 4 ? [...chips.slice(0, 3), words.listMore(chips.length - 3)] : chips;
  return shown.flatMap((item, i) => (i === 0 ? [item] : [i === shown.length - 1 ? words.listLast : ", ", item]));
}

function chip(text, className, hue, target) {
  const node = element("span", {class: "kv-chip " + className, dir: "auto", "data-sel": target}, text);
  node.style.setProperty("--kv-hue", hue ? `var(--kv-${hue})` : "var(--kv-ink)");
  if (hue) node.style.setProperty("--kv-on", `var(--kv-on-${hue})`);
  if (text.length > 24) node.title = text;
  return node;
}

// Outlined in the hue of its owner; ink where it is shared or free.
function blockChip(block, frame) {
  const now = frame.columns("blocks");
  const owner = now && block >= 0 && now.state[block] && now.ref_count[block] === 1 ? now.owner[block] : -1;
  return chip(String(block), "kv-block", owner >= 0 ? frame.run.hues.of(owner) : null, "b" + block);
}

function sequenceChip(run, sequence) { return chip(run.sequenceName(sequence), "kv-owner", run.hues.of(sequence), "s" + sequence); }

function requestChip(run, r) {
  const request = run.requests[r];
  if (!request) return chip("?", "kv-owner", "K");
  return chip(request.id, "kv-owner", request.n > 1 && run.hues.saysOwner ? "S" : run.hues.of(request.first_sequence), "r" + r);
}

// {sequence, request} that a rare sentence is about, -1 for none: panels that cannot show all keep a row for them. What
// happens in every other step is not rare, and a row that changes all the time would only flicker.
function subjectOf(frame) {
  const {speaker, run} = frame;
  const none = {sequence: -1, request: -1};
  if (!speaker || run.messages.isCommon(run.sentences.code[speaker.row])) return none;
  const event = run.sentences.event[speaker.row];
  return frame.happened().find(happening => happening.event === event && happening.request >= 0) ?? none;
}

function showSentence(box, frame, player) {
  const {words} = player;
  if (player.notice) return box.show(player.noticeTag, "", noticeNodes(player.notice), {isNotice: true});
  const {tag, place, nodes} = frameSentence(frame, words, player.options.waiting);
  box.show(tag, place, nodes, {hasMore: frame.speaker?.count > 1 || !(frame.isStep || frame.isStart)});
}

// {tag, place, nodes} of what one run says at a frame; `waiting` while nothing has happened, where somebody knows why.
function frameSentence(frame, words, waiting) {
  const {run, speaker} = frame;
  frame.words = words;
  const say = (tag, place, template) => ({tag, place, nodes: sentenceNodes(template, () => 0, frame)});
  if (frame.isStart) return say(words.start, words.ofRun(run.numSteps), waiting || words.nothingYet);
  if (frame.isDone) return say(words.done, words.ofRun(run.numSteps), summaryText(frame, words));
  if (!speaker) return say(words.quietTag, words.inIteration(frame.column), words.quiet);
  const message = run.messages.of(run.sentences.code[speaker.row]);
  const operand = i => run.sentences.operands[i]?.[speaker.row] ?? -1;
  const where = speaker.isUpdate ? words.after(speaker.step) : words.inIteration(speaker.step);
  const change = speaker.count > 1 && speaker.number ? (frame.isMany ? words.mainChange : words.change)(speaker.number, speaker.count) : "";
  return {tag: run.messages.tag(message.kind), place: [where, change].filter(Boolean).join(" · "), nodes: sentenceNodes(message.text, operand, frame)};
}

// Bold switches only: the text may come from a link and is never taken for a template.
function noticeNodes(text) {
  return templateNodes(text, field => [`{${field}}`]);
}
