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
    this.element.replaceChildren(...kinds.map(kind => {
      const canvas = element("canvas", {"aria-hidden": "true"});
      const size = 13 * view.k, edge = 4 * view.k;
      Object.assign(canvas.style, {width: size + 2 * edge + "px", height: size + 2 * edge + "px", margin: `${-edge}px`});
      const paint = new Paint(canvas);
      paint.begin(view.theme, size + 2 * edge, size + 2 * edge);
      paint.ctx.translate(edge, edge);
      LEGEND_MARKS[kind](paint, size, view.theme);
      return element("span", {}, canvas, view.words.legend[kind]);
    }));
  }
}

const LEGEND_MARKS = {
  full: (p, z, t) => p.rect(0, 0, z, z, {fill: t.hues.K.solid, radius: 2}),
  private: (p, z, t) => p.rect(0, 0, z, z, {fill: t.hues.P.solid, radius: 2}),
  privateOpen: (p, z, t) => p.rect(1, 1, z - 2, z - 2, {fill: t.hues.P.tint, stroke: t.hues.P.solid, width: 2, radius: 2}),
  open: (p, z, t) => p.rect(1, 1, z - 2, z - 2, {fill: t.hues.K.tint, stroke: t.hues.K.solid, width: 2, radius: 2}),
  free: (p, z, t) => p.rect(0.7, 0.7, z - 1.4, z - 1.4, {stroke: t.mark, width: 1.3, radius: 2}),
  shared: (p, z, t) => {
    p.rect(0, 0, z, z, {fill: t.hues.S.solid, radius: 2});
    p.rect(0, 0, z, z, {fill: p.pattern("stripes"), radius: 2});
  },
  copy: (p, z, t) => {
    LEGEND_MARKS.open(p, z, t);
    p.disc(z * 0.64, z * 0.36, z * 0.2, {fill: t.ink});
  },
  now: (p, z) => p.rings([[3, 3, z - 6, z - 6, 1]], 0.72),
  wait: (p, z, t) => p.line([[0, z / 2], [z, z / 2]], {stroke: t.mark, width: 2}),
  prefill: (p, z, t) => {
    p.rect(0, -1, z, z + 2, {fill: t.hues.K.solid, radius: 2});
    p.text(z / 2, z * 0.84, "P", {size: z * 0.85, weight: 700, align: "center", fill: t.hues.K.on});
  },
  decode: (p, z, t) => p.rect(0, z * 0.2, z, z * 0.6, {fill: t.hues.K.solid, radius: 1.5}),
  end: (p, z, t) => p.rect(z - 5, -1, 3.4, z + 2, {fill: t.ink}),
  preempted: (p, z, t) => {
    p.rect(0, -1, z, z + 2, {fill: t.ink, radius: 2});
    p.glyph("preempt", z / 2, z / 2, z * 0.34, t.paper);
  },
  idle: (p, z, t) => {
    p.rect(0, 1, z, z - 2, {fill: p.pattern("dots")});
    p.rect(0.6, 1.6, z - 1.2, z - 3.2, {stroke: t.idle, width: 1.2, dash: [3, 2]});
  },
  tokens: (p, z, t) => p.rect(0, 0, z, z, {fill: t.hues.K.solid, radius: 2}),
  reserved: (p, z, t) => {
    p.rect(0.8, 0.8, z - 1.6, z - 1.6, {fill: t.hues.K.tint, stroke: t.hues.K.solid, width: 1.6});
    p.rect(1.6, 1.6, z - 3.2, z - 3.2, {fill: p.pattern("hatch")});
  },
  unused: (p, z, t) => {
    p.rect(0, 0, z, z, {fill: p.pattern("dots")});
    p.rect(0.8, 0.8, z - 1.6, z - 1.6, {stroke: t.hues.K.solid, width: 1.6});
  },
  hole: (p, z, t) => {
    p.rect(0, 0, z, z, {fill: p.pattern("dots")});
    p.rect(0.7, 0.7, z - 1.4, z - 1.4, {stroke: t.idle, width: 1.3, dash: [3, 2]});
  },
};
