// A legend: small squares in the look of the picture, each with its word. Drawn once for a theme and size.
class Legend {
  constructor(box) {
    this.element = element("div", {class: "kv-legend"});
    box.element.append(this.element);
  }

  draw(view, kinds) {
    const mark = `${view.theme.name} ${view.k} ${kinds}`;
    if (this.mark === mark) return;
    this.mark = mark;
    this.element.hidden = !kinds.length;
    // what is kept is grey like a block of nobody, so then those that stand for any owner wear a hue
    const owner = kinds.includes("known") ? "A" : "K";
    this.element.replaceChildren(...kinds.map(kind => element("span", {}, legendMark(kind, view, owner), view.words.legend[kind])));
  }
}

// A block of the vocabulary, one of the marks below, both, or the glyph of a happening.
function legendMark(kind, {theme, k}, owner = "K") {
  const canvas = element("canvas", {"aria-hidden": "true"});
  const size = 13 * k, edge = 4 * k;
  Object.assign(canvas.style, {width: size + 2 * edge + "px", height: size + 2 * edge + "px", margin: `${-edge}px`});
  const paint = new Paint(canvas);
  paint.begin(theme, size + 2 * edge, size + 2 * edge);
  paint.ctx.translate(edge, edge);
  const draw = LEGEND_MARKS[kind], [hue, look] = VOCABULARY.legend_blocks[kind] ?? [];
  if (hue) paint.block(0, 0, size, size, theme.hues[hue === "K" ? owner : hue], {radius: 2, ...look});
  draw?.(paint, size, theme, theme.hues.K);
  if (!hue && !draw) paint.glyph(kind, size / 2, size / 2, size * 0.45, theme.ink);
  return canvas;
}

const LEGEND_MARKS = {
  free: (p, z, t) => p.box(0, 0, z, z, {stroke: t.mark, width: 1.3, radius: 2}),
  known: (p, z, t, hue) => p.block(0, 0, z, z, hue, {radius: 2}),
  copied: (p, z, t) => p.disc(z * 0.64, z * 0.36, z * 0.2, {fill: t.ink}),
  now: (p, z) => p.rings([[3, 3, z - 6, z - 6, 1]], 0.72),
  wait: (p, z, t) => p.line([[0, z / 2], [z, z / 2]], {stroke: t.mark, width: 2}),
  prefill: (p, z, t, hue) => {
    p.block(0, -1, z, z + 2, hue, {radius: 2});
    p.text(z / 2, z * 0.84, "P", {size: z * 0.85, weight: 700, align: "center", fill: hue.on});
  },
  decode: (p, z, t, hue) => p.block(0, z * 0.2, z, z * 0.6, hue, {radius: 1.5}),
  end: (p, z, t) => p.rect(z - 5, -1, 3.4, z + 2, {fill: t.ink}),
  preempted: (p, z, t) => {
    p.rect(0, -1, z, z + 2, {fill: t.ink, radius: 2});
    p.glyph("preempt", z / 2, z / 2, z * 0.34, t.paper);
  },
  idle: (p, z) => p.waste(0, 1, z, z - 2, {dash: [3, 2]}),
  unused: (p, z, t, hue) => {
    p.waste(0, 0, z, z);
    p.box(0, 0, z, z, {stroke: hue.solid, width: 1.6});
  },
  hole: (p, z) => p.waste(0, 0, z, z, {dash: [3, 2]}),
};
