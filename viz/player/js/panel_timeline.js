// Batch timeline on the iteration clock: a row is a request, a column an iteration. Past is solid, the future pale.
// Long runs show the iterations around the cursor, many requests the rows from the oldest running one on; both windows
// follow from the frame alone, so that the same frame always looks the same; the last row is for what the sentence is about.
definePanel({
  name: "timeline",
  place: "bottom",
  create(view, box) {
    const canvas = box.canvas({bleed: 6});
    const paint = new Paint(canvas.element);
    const labels = element("div", {class: "kv-lanes"});
    box.body.append(labels);
    const legend = new Legend(box);
    let scrolled = null;
    box.body.addEventListener("wheel", event => {
      if (!box.rows || box.rows.count <= box.rows.shown) return;
      event.preventDefault();
      scrolled = Math.max(0, Math.min(box.rows.count - box.rows.shown, (scrolled ?? box.rows.top) + Math.sign(event.deltaY)));
      view.player.redraw();
    }, {passive: false});
    return {
      height: run => timelineHeight(run.requests.length),
      reset() { scrolled = null; },
      draw(frame) {
        const {run} = frame;
        const {words, theme, k} = view;
        const {hasPreemption, hasIdle} = run.lanes;
        legend.draw(view, [hasPreemption && "preempted", hasIdle && "idle", "wait", "prefill", "decode", "end"].filter(Boolean));
        const [width, height] = canvas.begin(paint, view);
        const columns = columnWindow(run.numSteps, frame.column, width, k);
        const rows = (box.rows = rowWindow(frame, columns, height, k, scrolled));
        const hidden = rows.count > rows.shown;
        box.title(words.timeline, hidden ? words.timelineRows(rows.shown, rows.count, run.requests.length) : words.timelineRemark);
        setAttribute(canvas.element, "aria-label", words.timelineLabel(columns.first + 1, columns.last + 1, frame.column + 1));
        if (!run.numSteps) return box.say(words.noSteps);
        drawAxis(paint, columns, theme, k);
        rows.visible.forEach((r, i) =>
          drawLane(new LanePainter(paint, columns, frame, k, AXIS * k + i * rows.pitch, rows.pitch), run, r, words));
        placeLabels(labels, run, rows, view);
        const x = columns.x(frame.column);
        if (!frame.isStart) paint.rings([[x, AXIS * k - 1, columns.pitch - 1.5, rows.shown * rows.pitch + 2 - 2 * k, 1]], 0.8 * k);
      },
    };
  },
});

const AXIS = 16;
const LABELS = 190;

// CSS pixels at k = 1, heading not included.
function timelineHeight(numRequests) {
  if (numRequests <= 4) return AXIS + 24 * Math.max(2, numRequests);
  if (numRequests <= 6) return AXIS + 18 * numRequests;
  return AXIS + 15 * Math.min(8, numRequests);
}

// Requests that were there in the visible iterations, all of them where they fit.
function rowWindow(frame, columns, height, k, scrolled) {
  const {run} = frame;
  const requests = requestsNear(run, columns, Math.floor((height - AXIS * k) / (15 * k)));
  const count = requests.length;
  const room = height - AXIS * k;
  const pitch = Math.max(Math.min(15 * k, room / 2), Math.min(24 * k, room / Math.max(1, count)));
  const shown = Math.min(count, Math.max(1, Math.floor((room + 1) / pitch)));
  const most = count - shown;
  const oldest = frame.running.length ? run.requestOf[frame.running[0]] : frame.waiting[0] ?? (frame.isDone ? run.requests.length - 1 : 0);
  const half = Math.max(1, Math.floor(shown / 2));
  const wanted = Math.floor(Math.max(0, upperBound(requests, oldest) - 1) / half) * half;
  const top = Math.max(0, Math.min(most, scrolled ?? wanted));
  return {visible: withSubject(requests, top, shown, frame.subject.request), count, shown, top, pitch};
}

function requestsNear(run, {first, last}, fits) {
  const all = Array.from(run.requests.keys());
  if (all.length <= fits) return all;
  return all.filter(r => run.lanes.spans[r].from <= last && run.lanes.spans[r].to >= first);
}

function columnWindow(numSteps, column, width, k) {
  const room = width - LABELS * k;
  const all = room / Math.max(1, numSteps);
  if (all >= 8 * k) return windowOf(0, numSteps - 1, Math.min(64 * k, all), k);
  const count = Math.min(numSteps, Math.floor(room / (14 * k)));
  const half = Math.floor(count / 2);
  const first = Math.max(0, Math.min(numSteps - count, Math.floor((column / half) - 0.5) * half));
  return windowOf(first, first + count - 1, room / count, k);
}

function windowOf(first, last, pitch, k) {
  return {first, last, pitch, x: step => LABELS * k + (step - first) * pitch};
}

function drawAxis(paint, columns, theme, k) {
  const every = [1, 5, 10, 20, 50, 100].find(n => n * columns.pitch >= 34 * k) ?? 200;
  for (let step = columns.first; step <= columns.last; step++)
    if ((step + 1) % every === 0 || step === 0)
      paint.text(columns.x(step) + columns.pitch / 2, 10.5 * k, formatNumber(step + 1),
        {size: 11.5 * k, align: "center", fill: theme.ink3});
}

// Row names are elements: exact text for search and screen readers, cut by the browser when too long.
function placeLabels(holder, run, rows, view) {
  const {words, k} = view;
  const {visible} = rows;
  const mark = [rows.pitch, k, ...visible].join();
  if (holder.mark === mark) return;
  holder.mark = mark;
  while (holder.children.length < rows.shown) holder.append(element("div", {}, element("b", {dir: "auto"}), element("span")));
  while (holder.children.length > rows.shown) holder.lastChild.remove();
  for (let i = 0; i < rows.shown; i++) {
    const r = visible[i];
    const [lane, request] = [holder.children[i], run.requests[r]];
    Object.assign(lane.style, {top: AXIS * k + i * rows.pitch + "px", height: rows.pitch - 4 * k + "px"});
    lane.classList.toggle("kv-dense", rows.pitch < 20 * k);
    setAttribute(lane, "data-request", r);
    setAttribute(lane, "title", `${request.id}: ${words.laneTextLong(request)}`);
    setText(lane.children[0], request.id);
    setText(lane.children[1], request.n > 1 || r === 0 ? words.laneTextLong(request) : words.laneText(request));
  }
}
