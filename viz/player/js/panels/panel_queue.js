// The waiting queue: who waits, for how much, and what the scheduler last said about it. A request refused in this frame
// stands at the top as a closed row.
const QUEUE_PITCH = 40;

definePanel({
  name: "queue",
  place: "middle",
  order: 1,
  needs: run => !run.tree,
  create(view, box) {
    const list = element("ol", {class: "kv-queue"});
    box.body.append(list);
    let drawn = null;
    return {
      height: rowsOfQueue,
      draw(frame) {
        const {run} = frame;
        const {words, k, selection} = view;
        box.element.kvRun = run;
        if (drawn !== frame && frame.progress < 1) view.queueBoxes = new Map([...list.children].map(row => [row.dataset.sel, row.getBoundingClientRect()]));
        drawn = frame;
        const refused = frame.happened("rejected").map(happening => happening.request);
        const all = [...refused, ...frame.waiting];
        const room = Math.max(1, Math.floor((box.size(view)[1] + 6 * k) / (QUEUE_PITCH * k)));
        const chosen = [...selection.marks(frame).requests].find(r => all.includes(r));
        const shown = withSubject(all, 0, room, chosen ?? frame.subject.request);
        box.title(words.queue, all.length ? shown.length < all.length ? words.queueRemark(shown.length, all.length) : words.queueOrder : "");
        const start = run.startTime[frame.column], waited = largest(frame.happened("admitted").map(({request}) => start - (run.requests[request].arrival_s ?? start)));
        box.say(all.length ? "" : waited > 0 ? words.nobodyNow(formatTime(waited)) : words.nobodyWaits);
        resizeList(list, shown.length, () => element("li", {}, element("b", {dir: "auto"}), element("span"), element("em")));
        shown.forEach((r, i) => {
          const isRefused = refused.includes(r);
          const [row, decision] = [list.children[i], frame.decision(r)];
          row.classList.toggle("kv-refused", isRefused);
          row.classList.toggle("kv-head", !isRefused && r === frame.waiting[0]);
          setAttribute(row, "data-sel", "r" + r);
          const texts = [run.requests[r].id, queueText(frame, r, words), waitText(frame, r, isRefused, decision, words)];
          setTexts(row, texts);
          setAttribute(row, "title", texts.join(" · "));
        });
      },
    };
  },
});

// Rows that the queue ever needs, three at most; fewer where many sequences need the room for their tables.
function rowsOfQueue(run) {
  return clamp(largest(run.steps.num_waiting), 1, largest(run.steps.num_running) > 6 ? 2 : 3);
}

function queueText(frame, r, words) {
  const {prompt_len: prompt} = frame.run.requests[r], {status, num_tokens: known} = frame.columns("sequences");
  if (frame.columns("requests").status[r] !== STATUS.PREEMPTED) return words.promptOf(prompt);
  return words.recompute(frame.run.sequencesOf(r).reduce((sum, s) => sum + (status[s] === STATUS.FINISHED ? 0 : known[s] - prompt), prompt));
}

function waitText(frame, r, isRefused, decision, words) {
  const {run} = frame;
  if (isRefused) return decision ? rejectionText(decision, words) : "";
  const action = decision && VOCABULARY.actions[decision.action];
  const head = frame.waiting[0];
  // what was said when another was at the head is no longer true
  if (action === "skip" && head === (decision.other < 0 ? r : decision.other)) return datedReason(decision, frame, words);
  if (action === "preempt") return decision.other === r ? words.noRoom : words.madeRoom(run.requestName(decision.other));
  return r === head ? "" : words.behind(run.requestName(head));
}
