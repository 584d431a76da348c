// Batch timeline: a row is a request or a place in the batch, a column an iteration (or its time). Past is solid, the future
// pale. Long runs show a page around the cursor, many requests the rows from the oldest running one on, both from the frame
// alone; zoom, drag, wheel and search change that until Escape. Columns below a pixel show the share of busy places.
definePanel({
  name: "timeline",
  place: "bottom",
  order: 2,
  needs: run => !run.tree || run.player.showsLanes,
  create(view, box) {
    const look = {zoom: 0, from: null, scrolled: null, isPlaces: false, found: -1};
    const pick = (x, y) => targetIn(look, x, y, view.k);
    const canvas = box.canvas(pick, 6);
    const {paint} = canvas;
    const labels = element("div", {class: "kv-lanes"});
    box.body.append(labels);
    const legend = new Legend(box);
    const tools = new TimelineTools(look, view);
    box.head.append(tools.element, legend.element);
    listenToTimeline(box.body, canvas.element, look, view);
    let drawn = null;
    return {
      height: run => timelineHeight(run.requests.length),
      zoom: by => zoomTimeline(look, by),
      reset() {
        const was = look.zoom || look.from !== null || look.scrolled !== null;
        Object.assign(look, {zoom: 0, from: null, scrolled: null});
        return Boolean(was);
      },
      draw(frame) {
        const {run} = frame;
        const {words, theme, k} = view;
        const {hasPreemption, hasIdle} = run.lanes;
        legend.draw(view, [hasPreemption && "preempted", (hasIdle || look.isPlaces) && "idle", "wait", "prefill", "decode", "end"].filter(Boolean));
        const [width, height] = canvas.begin(view);
        const {course, position} = view.player;
        const axis = (look.axis = new TimelineAxis(course, position, LABELS * k, width - LABELS * k, k, look));
        look.run = run;
        box.element.kvRun = run;
        tools.draw(run);
        box.title(words.timeline);
        if (!run.numSteps) return box.say(words.noSteps);
        box.say("");
        drawAxis(paint, axis, course.length, theme, k);
        const isBusy = axis.pitch < 1;
        const rows = (look.rows = isBusy ? busyRows(run) : look.isPlaces ? placeRows(run, look, height, k) : rowWindow(frame, axis, height, k, look, view));
        box.title(words.timeline, isBusy ? words.busy(rows.most) : rows.count > rows.shown ? (look.isPlaces ? words.placeRows : words.timelineRows)(rows.shown, rows.count, run.requests.length)
          : axis.isTime ? words.timelineTime : words.timelineRemark);
        const [first, last] = axis.steps(run);
        canvas.label(words.timelineLabel(first + 1, last + 1, frame.column + 1));
        if (isBusy) drawBusy(paint, axis, frame, rows.most, AXIS * k, height - AXIS * k - 2);
        else if (look.isPlaces) drawPlaces(paint, axis, frame, rows, view);
        else rows.visible.forEach((r, i) => drawLane(new LanePainter(paint, axis, frame, k, AXIS * k + i * rows.pitch, rows.pitch), run, r, words));
        const froms = drawn !== frame && frame.progress < 1 ? lanesOf(labels) : null;
        placeLabels(labels, run, rows, view, look.isPlaces && !isBusy);
        if (froms) slideRequests(frame, froms, labels, view);
        drawn = frame;
        drawNow(paint, axis, frame, rows, isBusy ? height - AXIS * k : rows.shown * rows.pitch, view);
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

// Requests that were there in the visible iterations, all of them where they fit, and the one that is looked for.
function rowWindow(frame, axis, height, k, look, view) {
  const {run} = frame;
  const room = height - AXIS * k;
  const chosen = [...view.selection.marks(frame).requests][0] ?? look.found;
  const requests = requestsNear(run, axis, Math.floor(room / (15 * k)), chosen);
  const count = requests.length;
  const {pitch, shown} = fitRows(count, room, Math.min(15 * k, room / 2), 24 * k);
  const oldest = frame.running.length ? run.requestOf[frame.running[0]] : frame.waiting[0] ?? (frame.isDone ? run.requests.length - 1 : 0);
  const half = Math.max(1, Math.floor(shown / 2));
  const wanted = Math.floor(Math.max(0, upperBound(requests, oldest) - 1) / half) * half;
  const top = clamp(look.scrolled ?? wanted, 0, count - shown);
  return {visible: withSubject(requests, top, shown, chosen >= 0 ? chosen : frame.subject.request), count, shown, top, pitch};
}

// How high the rows are, and how many there is room for.
function fitRows(count, room, least, most) {
  const pitch = Math.max(least, Math.min(most, room / Math.max(1, count)));
  return {pitch, shown: Math.min(count, Math.max(1, Math.floor((room + 1) / pitch)))};
}

function requestsNear(run, axis, fits, chosen) {
  const all = range(run.requests.length);
  if (all.length <= fits) return all;
  const [first, last] = axis.steps(run);
  return all.filter(r => r === chosen || (run.lanes.spans[r].from <= last && run.lanes.spans[r].to >= first));
}

// Places of the batch, with a row for those who wait below them.
function placeRows(run, look, height, k) {
  const places = (run.places ??= new Places(run));
  const waits = places.waits.some(({steps}) => steps[1] > steps[0]) ? Math.min(2, run.requests.length) : 0;
  const room = height - AXIS * k - waits * 13 * k;
  const count = places.rows.length;
  const {pitch, shown} = fitRows(count, room, Math.min(15 * k, room), 34 * k);
  const top = clamp(look.scrolled ?? 0, 0, count - shown);
  return {places, visible: range(shown, top), count, shown, top, pitch, waits};
}

function drawPlaces(paint, axis, frame, rows, view) {
  const {places, top, shown, pitch, waits} = rows;
  const {k} = view;
  const part = {rows: places.rows.slice(top, top + shown), waits: places.waits, at: (seat, step) => places.at(seat + top, step)};
  const box = {top: AXIS * k, pitch, numRows: shown, waitTop: AXIS * k + shown * pitch, waitRows: waits};
  const painter = new PlacePainter(paint, axis, {run: frame.run, frame, places: part}, box, view);
  painter.clockNow = view.player.course.at(view.player.position) + (axis.isTime ? 0 : 1);
  paint.clipped(axis.left - 8 * k, 0, axis.right - axis.left + 14 * k, 4000, () => painter.draw());
}

function busyRows(run) {
  run.mostRunning ??= largest(run.steps.num_running, 1);
  return {visible: [], count: 0, shown: 0, top: 0, pitch: 0, most: run.header.settings?.max_num_seqs ?? run.mostRunning};
}

function drawBusy(paint, axis, frame, most, top, height) {
  paint.rect(axis.left, top, axis.right - axis.left, height, {fill: paint.theme.panel});
  drawShare(paint, axis, frame.run, frame.run.steps.num_running, {most, top, height, now: frame.isStart ? -1 : frame.column, fill: paint.theme.hues.P.solid});
}

function drawAxis(paint, axis, length, theme, k) {
  for (const {x, text} of axis.ticks(34 * k))
    if (x < Math.min(axis.right, axis.x(length) + 1)) paint.text(x, 9 * k, text, {size: 11.5 * k, align: "center", fill: theme.ink3});
  if (axis.isTime) paint.text(axis.left - 14 * k, 9 * k, axisUnit(axis), {size: 11.5 * k, align: "right", fill: theme.ink3});
}

// The ring around the current column; between two steps a line.
function drawNow(paint, axis, frame, rows, height, view) {
  const {k, theme} = view;
  if (frame.isStart) return;
  const [x, w] = axis.column(frame.run, frame.column);
  const isGap = frame.place.isGap;
  const at = isGap ? axis.x(view.player.position.time) : x;
  if (at < axis.left - 1 || at > axis.right) return;
  if (isGap || w < 4) {
    paint.nowLine([[at, AXIS * k - 3], [at, AXIS * k + height]], 3 * k);
  // neither the end cap before it nor the P after it is covered
  } else paint.rings([[x + 3.5 * k, AXIS * k + k, w - 5.3 * k, height - 4 * k, 1]], 0.8 * k);
}

// Row names are elements: exact text for search and screen readers, cut by the browser when too long.
function placeLabels(holder, run, rows, view, isPlaces) {
  const {words, k} = view;
  const {visible, shown} = rows;
  const mark = [rows.pitch, k, isPlaces, run.runId, ...visible].join();
  if (holder.mark === mark) return;
  holder.mark = mark;
  resizeList(holder, shown, () => element("div", {}, element("b", {dir: "auto"}), element("span")));
  for (let i = 0; i < shown; i++) {
    const lane = holder.children[i], request = isPlaces ? null : run.requests[visible[i]];
    Object.assign(lane.style, {top: AXIS * k + i * rows.pitch + "px", height: rows.pitch - 4 * k + "px"});
    lane.classList.toggle("kv-dense", rows.pitch < 20 * k);
    for (const [name, value] of [["data-request", visible[i]], ["data-sel", "r" + visible[i]], ["title", request && `${request.id}: ${laneText(request, words)}`]])
      if (request) setAttribute(lane, name, value); else lane.removeAttribute(name);
    setTexts(lane, [request ? request.id : words.place(visible[i] + 1),
      !request ? "" : request.n > 1 || visible[i] === 0 ? laneText(request, words) : words.laneShort(request.prompt_len, request.output_len)]);
  }
}

function targetIn({rows, run, axis, isPlaces}, x, y, k) {
  const i = rows?.pitch ? Math.floor((y - AXIS * k) / rows.pitch) : -1;
  if (i < 0 || i >= rows.shown || x < axis.left || x > axis.right) return null;
  if (!isPlaces) return {kind: "r", id: rows.visible[i], run};
  const stretch = rows.places.at(rows.visible[i], axis.stepAt(run, x));
  return stretch ? {kind: "s", id: stretch.sequence, run} : null;
}

function lanesOf(labels) {
  return new Map([...labels.children].map(lane => [lane.dataset.sel, lane.getBoundingClientRect()]));
}

// Requests that are admitted slide from the queue to their lane; those that are preempted go back to its head.
function slideRequests(frame, froms, labels, view) {
  const {run} = frame;
  const queue = view.queueBoxes ?? new Map();
  const tos = lanesOf(labels);
  for (const {kind, request} of frame.happened("admitted", "resumed", "preempted").slice(0, 40)) {
    const sel = "r" + request;
    const isIn = kind !== "preempted";
    const row = view.root.querySelector(`[data-panel=queue] [data-sel=${sel}]`);
    const [from, to] = isIn ? [queue.get(sel), tos.get(sel)] : [froms.get(sel), row?.getBoundingClientRect()];
    if (from && to) slide(view, from, to, run.requests[request].id, run.hues.of(run.requests[request].first_sequence));
  }
}

// "100 + 62 tokens, 4 samples"
function laneText({prompt_len: prompt, output_len: output, n}, words) { return (n > 1 ? words.laneSamples : words.laneText)(prompt, output, n); }
