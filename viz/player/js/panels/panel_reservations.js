// Reservations of the contiguous managers, the counterpart of the block tables: how much of its strip each sequence uses.
definePanel({
  name: "reservations",
  place: "middle",
  needs: run => run.tracks.strips,
  create(view, box) {
    const canvas = box.canvas();
    const {paint, hits} = canvas;
    return {
      draw(frame) {
        const {words, theme, k} = view;
        const strips = stripsOf(frame).sort((a, b) => a.sequence - b.sequence);
        box.title(words.stripList, words.stripListRemark);
        box.say(strips.length ? "" : words.nobodyRuns);
        const [width, height] = canvas.begin(view);
        const pitch = 30 * k, lane = 25 * k, tag = 32 * k, numbers = 104 * k;
        const rows = extra => Math.floor((height + extra * k) / pitch);
        const shown = strips.slice(0, strips.length > rows(5) ? Math.max(1, rows(-16)) : undefined);
        canvas.label(`${words.stripList}: ${plural(strips.length, "sequence")}`);
        shown.forEach((strip, i) => {
          const y = i * pitch, x = tag + 8 * k, scale = (width - x - numbers) / strip.size;
          drawName(paint, frame.run, strip.sequence, y, tag, lane, k);
          drawStrip(paint, strip, theme.hues[frame.run.hues.of(strip.sequence)], (from, to, draw) => draw(x + from * scale, y, (to - from) * scale, lane));
          paint.text(width, y + 17 * k, words.stripUse(strip.used, strip.size), {size: 13 * k, align: "right", max: numbers - 8 * k});
          hits.add([0, y, width, lane], "s", strip.sequence, frame.run);
        });
        view.selection.outline(paint, frame, 0.8 * k, ({sequences}) => hits.boxes("s", id => sequences.has(id), 4 * k));
        if (strips.length > shown.length)
          paint.text(0, shown.length * pitch + 12 * k, words.more(strips.length - shown.length), {size: 12.5 * k, fill: theme.ink2});
      },
    };
  },
});

// A strip in its three parts: solid holds tokens, stripes on a tint will, dots never will. `place(from, to, draw)` calls draw for
// each piece of a range of its slots.
function drawStrip(paint, {used, end, size}, hue, place) {
  const {theme} = paint;
  place(0, size, (...box) => paint.rect(...box, {fill: theme.paper}));
  place(end, size, (...box) => paint.waste(...box));
  place(used, end, (...box) => {
    paint.rect(...box, {fill: hue.tint});
    paint.rect(...box, {fill: paint.pattern("hatch")});
  });
  place(0, used, (...box) => paint.rect(...box, {fill: hue.solid}));
  place(0, size, (x, y, w, h) => { if (w > 2) paint.box(x, y, w, h, {stroke: hue.solid, width: 2}); });
}

// The name of a sequence on its hue, in front of its row.
function drawName(paint, run, sequence, y, width, height, k) {
  const hue = paint.theme.hues[run.hues.of(sequence)];
  paint.rect(0, y, width, height, {fill: hue.solid, radius: 4 * k});
  paint.text(width / 2, y + height / 2 + 4.9 * k, run.sequenceName(sequence),
    {size: 14 * k, weight: 700, align: "center", fill: hue.on, max: width - 4 * k});
}
