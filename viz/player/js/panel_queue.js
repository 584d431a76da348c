// The waiting queue: who waits, for how much, and what the scheduler last said about it. A request refused in this frame
// stands at the top as a closed row.
definePanel({
  name: "queue",
  place: "right",
  create(view, box) {
    const list = element("ol", {class: "kv-queue"});
    box.body.append(list);
    const rest = element("p", {class: "kv-more"});
    box.body.append(rest);
    return {
      draw(frame) {
        const {run} = frame;
        const {words, k} = view;
        const refused = frame.happened(HAPPENING.rejected).map(happening => happening.request);
        box.title(words.queue, frame.waiting.length ? words.queueRemark : "");
        box.say(frame.waiting.length || refused.length ? "" : words.nobodyWaits);
        const room = Math.max(1, Math.floor((box.size(view)[1] - 18 * k) / (54 * k)));
        const all = [...refused.slice(0, Math.max(1, room - 1)), ...frame.waiting];
        const shown = all.slice(0, all.length > room ? room : all.length);
        while (list.children.length < shown.length)
          list.append(element("li", {}, element("b", {dir: "auto"}), element("span"), element("em")));
        while (list.children.length > shown.length) list.lastChild.remove();
        shown.forEach((r, i) => {
          const isRefused = i < refused.length;
          const [row, decision] = [list.children[i], frame.decision(r)];
          row.classList.toggle("kv-refused", isRefused);
          row.classList.toggle("kv-head", !isRefused && r === frame.waiting[0]);
          setText(row.children[0], run.requests[r].id);
          setText(row.children[1], queueText(frame, r, words));
          setText(row.children[2], waitText(frame, r, isRefused, decision, words));
        });
        setText(rest, all.length > shown.length ? words.more(all.length - shown.length) : "");
      },
    };
  },
});

function queueText(frame, r, words) {
  const request = frame.run.requests[r];
  const status = frame.columns("requests").status[r];
  if (status !== STATUS.PREEMPTED) return words.promptOf(request.prompt_len);
  return words.recompute(frame.columns("sequences").num_tokens[request.first_sequence]);
}

function waitText(frame, r, isRefused, decision, words) {
  const nameOf = other => frame.run.requests[other]?.id ?? "?";
  if (isRefused) return decision ? rejectionText(decision) : "";
  const action = decision && VOCABULARY.actions[decision.action];
  if (action === "skip") return reasonText(decision, nameOf);
  if (action === "preempt") return words.madeRoom(decision.other === r ? null : nameOf(decision.other));
  const head = frame.waiting[0];
  return r === head ? "" : `is behind ${nameOf(head)}`;
}
