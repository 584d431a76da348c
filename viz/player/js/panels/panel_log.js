// The event log: every event that has something to say, around the cursor, with its glyph and its sentence; a click goes there.
// Only the lines in sight are elements, so that a hundred thousand events scroll as well as ten.
const MOST_LINES = 400000;
const LINE = 54;

definePanel({
  name: "log",
  place: "right",
  order: 1,
  create(view, box) {
    const {words} = view;
    box.element.hidden = true;
    box.head.append(button(words.inspector, () => view.player.ask("log"), {class: "kv-key", title: words.logKey}));
    const list = element("div", {class: "kv-log"});
    const scroller = element("div", {class: "kv-card kv-scroll", tabindex: 0, "aria-label": words.log}, list);
    box.body.append(scroller);
    let frame = null, followed = -1, base = 0;
    const fill = () => {
      if (!frame) return;
      const {run} = frame;
      const height = LINE * view.k;
      const count = Math.min(MOST_LINES, run.sentences.event.length);
      const first = Math.max(0, Math.floor(scroller.scrollTop / height) - 1);
      const shown = Math.min(count - first, Math.ceil(scroller.clientHeight / height) + 2);
      list.style.height = count * height + "px";
      const mark = [run.runId, frame.event, frame.since, first, shown, base, height].join();
      if (list.kvMark === mark) return;
      list.kvMark = mark;
      showLines(list, frame, base + first, Math.max(0, shown), first * height, view);
    };
    scroller.addEventListener("scroll", fill);
    list.addEventListener("click", event => {
      const line = event.target.closest("button");
      if (!line) return;
      scroller.focus({preventScroll: true});
      view.player.goEvent(Number(line.dataset.event), frame.run);
    });
    return {
      log() {
        box.element.hidden = !box.element.hidden;
        followed = -1;
      },
      draw(now) {
        if (box.element.hidden) return;
        frame = now;
        const {event} = now.run.sentences;
        box.element.kvRun = now.run;
        box.title(words.log, words.logRemark(event.length));
        box.say(event.length ? "" : words.nothingHappened);
        const here = now.speaker?.row ?? upperBound(event, now.event) - 1;
        if (here !== followed) {
          followed = here;
          base = clamp(here - MOST_LINES / 2, 0, event.length - MOST_LINES);
          list.style.height = Math.min(MOST_LINES, event.length) * LINE * view.k + "px";
          scroller.scrollTop = (here - base + 0.5) * LINE * view.k - scroller.clientHeight / 2;
        }
        fill();
      },
    };
  },
});

function showLines(list, frame, first, count, top, view) {
  const {run} = frame;
  const {event, code, operands} = run.sentences;
  frame.words = view.words;
  const lines = Array.from({length: count}, (_, i) => {
    const row = first + i, {kind, text} = run.messages.of(code[row]);
    const isNow = event[row] > frame.since && event[row] <= frame.event;
    return element("button", {type: "button", "data-event": event[row], title: run.messages.tag(kind),
      class: isNow ? "kv-current" : event[row] > frame.event ? "kv-future" : "", style: `top:${top + i * LINE * view.k}px`},
    icon(view.theme.glyphs[kind] ?? view.theme.glyphs.other), element("small", {}, logPlace(run, event[row], view.words)),
    element("span", {}, ...sentenceNodes(text, j => operands[j]?.[row] ?? -1, frame)));
  });
  list.replaceChildren(...lines);
}

function logPlace(run, event, words) {
  const {step, number} = stepOfEvent(run, event);
  return step < 0 ? words.start : `${step + 1}${number ? " · " + number : ""}`;
}
