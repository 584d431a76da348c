// The metric strip: a few numbers of this frame, each with its course over the run and a cursor on it.
definePanel({
  name: "metrics",
  place: "metrics",
  create(view, box) {
    const row = element("dl", {class: "kv-metrics"});
    box.body.append(row);
    let run = null, version = 0;
    let metrics = [];
    return {
      draw(frame) {
        if (run !== frame.run) {
          run = frame.run;
          metrics = chooseMetrics(run).map(metric => addMetric(metric));
          row.replaceChildren(...metrics.map(metric => metric.node));
          view.root.style.setProperty("--kv-metric-count", metrics.length);
        }
        box.title(view.words.player(""), "");
        if (version !== view.version) {
          version = view.version;
          for (const metric of metrics) reserveRoom(metric, frame, view);
          for (const {paint} of metrics) paint.room = [paint.canvas.clientWidth, paint.canvas.clientHeight];
        }
        for (const metric of metrics) drawMetric(metric, frame, view);
      },
    };
  },
});

// name -> {value(frame), series: one number a step}. Only what the run can tell; a track that it does not publish is replaced
// by the numbers of its steps.
function chooseMetrics(run) {
  const {steps} = run;
  const hasRequests = Boolean(run.tracks.requests);
  const {blocks, strips} = run.tracks;
  const used = frame => (blocks ? frame.usage.used : strips ? stripSums(frame).size : steps.num_used[frame.column] ?? 0);
  const kept = blocks && run.keeps ? frame => frame.usage.kept : null;
  const metrics = [{name: strips ? "slots" : "blocks", value: used, series: steps.num_used, cap: run.poolSize, kept}];
  if (run.tree) {
    const [hit, asked] = ["hit", "admitted"].map(kind => sumsOf(run, kind));
    const rate = event => Math.round((100 * hit(event)) / (asked(event) || 1));
    metrics.push({name: "hits", value: frame => rate(frame.event), series: steps.scheduled.map(rate)});
  }
  const saved = !run.tree && savedBySharing(run);
  if (saved) metrics.push({name: "saved", value: frame => frame.usage.saved, series: saved});
  const copies = run.eventsOf("copied");
  const copiesUntil = event => upperBound(copies, event);
  if (copies.length)
    metrics.push({name: "copies", value: frame => copiesUntil(frame.event), series: steps.scheduled.map(copiesUntil)});
  const computing = frame => {
    if (frame.isStart || frame.isDone || frame.isGap) return 0;
    const most = steps.num_scheduled_sequences[frame.column] ?? 0;
    // between two events, and after the last step of a run that goes on, those count that are in the batch by then
    return (frame.isStep && frame.step < run.numSteps) || !run.tracks.sequences ? most : Math.min(most, frame.running.length);
  };
  metrics.push({name: "batch", value: computing, series: steps.num_scheduled_sequences});
  metrics.push({name: "waiting", value: frame => (hasRequests ? frame.waiting.length : steps.num_waiting[frame.column] ?? 0), series: steps.num_waiting});
  return metrics;
}

// Tokens of all happenings of a kind up to an event.
function sumsOf(run, kind) {
  let sum = 0;
  const sums = run.happeningsOf(kind).map(i => (sum += run.happenings.amount[i])), events = run.eventsOf(kind);
  return event => sums[upperBound(events, event) - 1] ?? 0;
}

// Blocks that would be needed more if nobody shared, at each scheduled cut; null when nobody ever shares.
function savedBySharing(run) {
  const track = run.tracks.blocks;
  if (!track) return null;
  const [refs, f] = [new Int32Array(track.numKeys), track.field("ref_count")];
  const series = new Int32Array(run.numSteps);
  let saved = 0, most = 0;
  for (let row = 0, step = 0; step < run.numSteps; step++) {
    for (; row < track.numRows && track.event[row] <= run.steps.scheduled[step]; row++) {
      const [key, after] = [track.key[row], track.values[f][row]];
      saved += Math.max(0, after - 1) - Math.max(0, refs[key] - 1);
      refs[key] = after;
    }
    series[step] = saved;
    most = Math.max(most, saved);
  }
  return most ? series : null;
}

function addMetric(metric) {
  const [valueNode, unitNode, nameNode] = ["b", "span", "dt"].map(tag => element(tag));
  const textNode = element("div", {}, valueNode, unitNode);
  const canvas = element("canvas", {"aria-hidden": "true"});
  const node = element("div", {"data-metric": metric.name}, nameNode, element("dd", {}, textNode, canvas));
  return {...metric, most: largest(metric.series), node, nameNode, valueNode, unitNode, textNode, paint: new Paint(canvas)};
}

function drawMetric(metric, frame, view) {
  const {words, k, theme} = view;
  const value = metric.value(frame);
  setText(metric.valueNode, formatNumber(value));
  const kept = metric.kept?.(frame) ?? 0;
  setText(metric.unitNode, unitText(words, words.metrics[metric.name][1], metric.cap, value, kept));
  metric.node.title = kept ? words.keptBlocks(kept) : "";
  const [width, height] = metric.paint.room;
  if (width < 20) return;
  metric.paint.begin(theme, width, height);
  drawSparkline(metric.paint, metric, frame.column, {width, height, k});
}

// Room for the longest number and unit of the run, so that nothing moves when they change.
function reserveRoom(metric, frame, view) {
  const {k, theme, words} = view;
  const [label, unit] = words.metrics[metric.name];
  metric.paint.begin(theme, 1, 1);
  setText(metric.nameNode, label);
  setText(metric.valueNode, formatNumber(metric.value(frame)));
  const longest = unitText(words, unit, metric.cap, 2, metric.kept && metric.cap);
  setText(metric.unitNode, longest);
  const most = metric.paint.measure(formatNumber(metric.most), 23 * k, 700);
  metric.textNode.style.minWidth = most + 5 * k + metric.paint.measure(longest, 13 * k) + "px";
}

function drawSparkline(paint, {series, cap, most}, column, {width, height, k}) {
  if (series.length < 2) return;
  const {theme} = paint;
  const edge = 4.5 * k;
  const top = Math.max(1, cap ?? 0, most);
  const x = i => edge + (i / (series.length - 1)) * (width - 2 * edge);
  const y = value => height - edge - (value / top) * (height - 2 * edge);
  const every = Math.max(1, Math.floor(series.length / (2 * width)));
  const points = [];
  for (let i = 0; i < series.length; i += every) points.push([x(i), y(series[i])]);
  paint.line(points, {stroke: theme.mark, width: 1.6 * k});
  paint.line([[x(column), 0], [x(column), height]], {stroke: theme.ink, width: 1.4 * k});
  paint.disc(x(column), y(series[column]), 3.4 * k, {fill: theme.now, stroke: theme.nowEdge, width: 1.2 * k});
}

// "of 64", "of 64, 3 kept" where that is short, "block", "blocks"
function unitText(words, unit, size, value, kept = 0) { return size && kept && size < 1000 ? words.ofKept(size, kept) : size ? words.ofSteps(size) : !unit ? "" : value === 1 ? unit : unit + "s"; }
