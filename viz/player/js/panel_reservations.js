// Reservations of the contiguous managers, the counterpart of the block tables: how much of its strip each sequence uses.
definePanel({
  name: "reservations",
  place: "middle",
  needs: run => run.tracks.strips,
  create(view, box) {
    const hits = new Hits();
    const canvas = box.canvas({bleed: 8, pick: hits.pick});
    const paint = new Paint(canvas.element);
    return {
      draw(frame) {
        const {words, theme, k} = view;
        const strips = stripsOf(frame).sort((a, b) => a.sequence - b.sequence);
        box.title(words.stripList, words.stripListRemark);
        box.say(strips.length ? "" : words.nobodyRuns);
        const [width, height] = canvas.begin(paint, view);
        const shown = strips.slice(0, Math.max(1, Math.floor((height - 16 * k) / (30 * k))));
        setAttribute(canvas.element, "aria-label", `${words.stripList}: ${plural(strips.length, "sequence")}`);
        hits.clear();
        shown.forEach((strip, i) => {
          drawReservation(paint, frame, strip, {y: i * 30 * k, width, k, words});
          hits.add([0, i * 30 * k, width, 25 * k], "s", strip.sequence, frame.run);
        });
        view.selection.outline(paint, frame, 0.8 * k, ({sequences}) => hits.boxes("s", id => sequences.has(id), 4 * k));
        if (strips.length > shown.length)
          paint.text(0, shown.length * 30 * k + 12 * k, words.more(strips.length - shown.length), {size: 12.5 * k, fill: theme.ink2});
      },
    };
  },
});

function drawReservation(paint, frame, strip, {y, width, k, words}) {
  const {theme} = paint;
  const {run} = frame;
  const hue = theme.hues[run.hues.of(strip.sequence)];
  const [tag, height, numbers] = [32 * k, 25 * k, 104 * k];
  paint.rect(0, y, tag, height, {fill: hue.solid, radius: 4 * k});
  paint.text(tag / 2, y + 17.4 * k, run.sequenceName(strip.sequence),
    {size: 14 * k, weight: 700, align: "center", fill: hue.on, max: tag - 4 * k});
  const [x, w] = [tag + 8 * k, width - tag - 8 * k - numbers];
  const at = slots => (slots / strip.size) * w;
  paint.rect(x + at(strip.end), y, w - at(strip.end), height, {fill: paint.pattern("dots")});
  paint.rect(x, y, at(strip.end), height, {fill: hue.tint});
  paint.rect(x, y, at(strip.end), height, {fill: paint.pattern("hatch")});
  paint.rect(x, y, at(strip.used), height, {fill: hue.solid});
  paint.rect(x + 1, y + 1, w - 2, height - 2, {stroke: hue.solid, width: 2});
  paint.text(width, y + 17 * k, words.stripUse(strip.used, strip.size), {size: 13 * k, align: "right", max: numbers - 8 * k});
}
