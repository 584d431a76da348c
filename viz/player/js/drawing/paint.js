// Drawing on a sharp canvas: rectangles, lines, measured text, the three patterns, rings, arrows, glyphs.
// Coordinates are CSS pixels; `k` is the scale of the whole player (1 at 1280 x 720, 1.5 at 1920 x 1080).
class Paint {
  constructor(canvas) {
    this.canvas = canvas;
    this.ctx = canvas.getContext("2d");
    this.patterns = {};
    this.widths = new Map();
  }

  // Clears and fits the canvas to its box; returns [width, height] in CSS pixels.
  begin(theme, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    if (this.theme !== theme || this.ratio !== ratio) this.patterns = {};
    if (this.theme?.font !== theme.font || this.widths.size > 5000) this.widths.clear();
    this.theme = theme;
    this.ratio = ratio;
    this.fontNow = "";
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ctx.clearRect(0, 0, width, height);
    return [width, height];
  }

  rect(x, y, w, h, style) {
    const {ctx} = this, {fill, stroke, radius = 0, alpha = 1} = style;
    if (!radius && fill && !stroke) {
      ctx.globalAlpha = alpha;
      ctx.fillStyle = fill;
      ctx.fillRect(x, y, w, h);
      ctx.globalAlpha = 1;
      return;
    }
    ctx.beginPath();
    ctx.roundRect(x, y, Math.max(0, w), Math.max(0, h), Math.max(0, Math.min(radius, w / 2, h / 2)));
    this.ink(style);
  }

  // Fills and outlines the path that was laid.
  ink({fill, stroke, width = 1, dash, alpha = 1}) {
    const {ctx} = this;
    ctx.globalAlpha = alpha;
    if (fill) { ctx.fillStyle = fill; ctx.fill(); }
    if (stroke) { ctx.strokeStyle = stroke; ctx.lineWidth = width; ctx.setLineDash(dash ?? []); ctx.stroke(); }
    ctx.globalAlpha = 1;
  }

  // A path through points, drawn in a style.
  line(points, style) {
    const {ctx} = this;
    ctx.lineJoin = "round";
    ctx.beginPath();
    points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    this.ink(style);
  }

  // From one point to another, level at both ends.
  curve(x1, y1, x2, y2, style) {
    const {ctx} = this, middle = (x1 + x2) / 2;
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.bezierCurveTo(middle, y1, middle, y2, x2, y2);
    this.ink(style);
  }

  // Draws what lies inside a rectangle.
  clipped(x, y, w, h, draw) {
    const {ctx} = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, y, w, h);
    ctx.clip();
    draw();
    ctx.restore();
  }

  // A rectangle whose stroke lies inside it.
  box(x, y, w, h, style) {
    const half = (style.width ?? 1) / 2;
    this.rect(x + half, y + half, w - 2 * half, h - 2 * half, style);
  }

  // The body of a block: solid when it is full, a tint with an outline while it is written, stripes when it is shared.
  block(x, y, w, h, hue, {isOpen, isShared, radius = 0, width = 2, alpha = 1}) {
    if (isOpen) this.box(x, y, w, h, {fill: hue.tint, stroke: hue.solid, width, radius});
    else this.rect(x, y, w, h, {fill: hue.solid, radius});
    const edge = isOpen ? width : 0;
    if (isShared) this.rect(x + edge, y + edge, w - 2 * edge, h - 2 * edge, {fill: this.pattern(isOpen ? "hatch" : "stripes"), radius, alpha});
  }

  // Dots for what is wasted, in a dashed box where nobody has it.
  waste(x, y, w, h, style = {}) {
    this.rect(x, y, w, h, {fill: this.pattern("dots"), ...style});
    if (style.dash) this.box(x, y, w, h, {stroke: this.theme.idle, width: 1.3, ...style});
  }

  disc(x, y, radius, style) {
    this.ctx.beginPath();
    this.ctx.arc(x, y, radius, 0, 2 * Math.PI);
    this.ink(style);
  }

  font(size, weight) {
    const font = `${weight} ${size}px ${this.theme.font}`;
    if (font !== this.fontNow) this.ctx.font = this.fontNow = font;
  }

  measure(text, size, weight = 400) {
    const key = `${weight} ${size} ${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.font(size, weight);
      this.widths.set(key, (width = this.ctx.measureText(text).width));
    }
    return width;
  }

  // The text, or its beginning and "…", and the width of that; "" and 0 when not even one character fits.
  fit(text, size, weight, max) {
    const width = this.measure(text, size, weight);
    if (width <= max) return {text, width};
    this.font(size, weight);
    const fitted = fitText(this.ctx, text, max);
    return {text: fitted, width: fitted ? this.measure(fitted, size, weight) : 0};
  }

  // Draws text on its base line and returns its width; cut with "…" beyond `max`, not drawn at all when nothing fits. `ground`
  // is the colour of a plate behind it, `pad` wider on each side.
  text(x, y, text, {size = 13, weight = 400, align = "left", fill = this.theme.ink, max = Infinity, alpha = 1, ground, pad = 3} = {}) {
    const {text: fitted, width} = this.fit(String(text), size, weight, max);
    if (!fitted) return 0;
    const left = align === "center" ? x - width / 2 : align === "right" ? x - width : x;
    if (ground) this.rect(left - pad, y - size * 0.88, width + 2 * pad, size * 1.18, {fill: ground, radius: Math.min(pad, 3)});
    this.font(size, weight);
    this.ctx.globalAlpha = alpha;
    this.ctx.fillStyle = fill;
    this.ctx.fillText(fitted, left, y);
    this.ctx.globalAlpha = 1;
    return width;
  }

  // "stripes" (shared), "hatch" (shared and open, reserved) or "dots" (wasted).
  pattern(name) {
    return (this.patterns[name] ??= makePattern(this.ctx, name, this.theme, this.ratio));
  }

  // Yellow is now: edges first and yellow on top, so that neighbouring rings melt together.
  rings(boxes, k) {
    const grow = 3.5 * k;
    for (const [stroke, width] of [[this.theme.nowEdge, 5.4 * k], [this.theme.now, 3.4 * k]])
      for (const [x, y, w, h, radius] of boxes)
        this.rect(x - grow, y - grow, w + 2 * grow, h + 2 * grow, {stroke, width, radius: radius + grow});
  }

  // The line of the moment, from one point to another.
  nowLine(points, width) {
    for (const [stroke, wide] of [[this.theme.nowEdge, width * 1.67], [this.theme.now, width]]) this.line(points, {stroke, width: wide});
  }

  // What is selected or pointed at: a line of ink around it, around its ring where it has one (sixth entry of a box).
  outlines(boxes, width, k) {
    for (const [x, y, w, h, radius, isRinged] of boxes) {
      const grow = (isRinged ? 7 : 2) * k;
      for (const [stroke, wide] of [[this.theme.paper, width + 1.6 * k], [this.theme.ink, width]])
        this.rect(x - grow, y - grow, w + 2 * grow, h + 2 * grow, {stroke, width: wide, radius: radius + grow});
    }
  }

  // Boxes [x, y, w, h, radius] that follow each other in a row, at most `gap` apart, joined to one each; ringed ones (sixth
  // entry) stay alone and come last.
  static joinBoxes(boxes, gap) {
    const joined = [];
    for (const box of boxes.filter(other => !other[5])) {
      const before = joined.at(-1);
      const distance = before ? box[0] - (before[0] + before[2]) : Infinity;
      if (before && before[1] === box[1] && distance >= -0.5 && distance <= gap) before[2] = box[0] + box[2] - before[0];
      else joined.push([...box]);
    }
    return [...joined, ...boxes.filter(box => box[5])];
  }

  // Lines with rounded corners and a head at their end, drawn up to the share `progress` of their length. A halo of paper,
  // below all of them, parts them from what they cross.
  arrows(paths, {width, radius, progress = 1}) {
    const {ctx, theme} = this;
    const head = 3.3 * width;
    const lines = paths.map(points => {
      const path = shorten(points, progress);
      const tip = path.at(-1), before = path.at(-2);
      const angle = Math.atan2(tip[1] - before[1], tip[0] - before[0]);
      const stop = [tip[0] - head * 0.7 * Math.cos(angle), tip[1] - head * 0.7 * Math.sin(angle)];
      return {tip, angle, line: [...path.slice(0, -1), stop]};
    });
    ctx.setLineDash([]);
    for (const [color, wide] of [[theme.paper, width * 1.9], [theme.ink, width]]) {
      ctx.strokeStyle = ctx.fillStyle = color;
      ctx.lineWidth = wide;
      for (const {line} of lines) {
        ctx.beginPath();
        ctx.moveTo(...line[0]);
        for (let i = 1; i < line.length - 1; i++) ctx.arcTo(...line[i], ...line[i + 1], radius);
        ctx.lineTo(...line.at(-1));
        ctx.stroke();
      }
    }
    for (const {tip: [x, y], angle} of lines) {
      const corner = side => [x - head * Math.cos(angle + side), y - head * Math.sin(angle + side)];
      this.line([[x, y], corner(-0.48), corner(0.48)], {fill: theme.ink});
    }
  }

  // The glyph of a happening, centred, about 2 x size high: the same in picture, transport and sentence.
  glyph(kind, x, y, z, fill) {
    const {ctx} = this;
    ctx.save();
    ctx.translate(x, y);
    ctx.scale(z / 10, z / 10);
    ctx.translate(-12, -12);
    ctx.fillStyle = fill;
    ctx.fill((GLYPH_SHAPES[kind] ??= new Path2D(this.theme.glyphs[kind])));
    ctx.restore();
  }
}

const GLYPH_SHAPES = {};

function makePattern(ctx, name, theme, ratio) {
  const size = name === "dots" ? 6 : 10;
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(size * ratio);
  const c = tile.getContext("2d");
  c.scale(tile.width / size, tile.width / size);
  if (name === "dots") {
    c.fillStyle = theme.idle;
    c.beginPath();
    c.arc(3, 3, 1.15, 0, 2 * Math.PI);
    c.fill();
  } else {
    c.strokeStyle = name === "stripes" ? theme.stripe : theme.mark;
    c.globalAlpha = name === "stripes" ? 1 : 0.6;
    c.lineWidth = name === "stripes" ? 2.5 : 2.2;
    for (const shift of [-size, 0, size]) {
      c.beginPath();
      c.moveTo(shift - 2, size + 2);
      c.lineTo(shift + size + 2, -2);
      c.stroke();
    }
  }
  const pattern = ctx.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(size / tile.width));
  return pattern;
}

// The first part of a polyline, by share of its length.
function shorten(points, share) {
  if (share >= 1) return points;
  const length = (a, b) => Math.hypot(b[0] - a[0], b[1] - a[1]);
  let left = Math.max(0.02, share) * points.slice(1).reduce((sum, point, i) => sum + length(points[i], point), 0);
  const path = [points[0]];
  for (let i = 1; i < points.length; i++) {
    const part = length(points[i - 1], points[i]);
    const t = part > left ? left / part : 1;
    path.push([points[i - 1][0] + t * (points[i][0] - points[i - 1][0]), points[i - 1][1] + t * (points[i][1] - points[i - 1][1])]);
    if (t < 1) break;
    left -= part;
  }
  return path;
}
