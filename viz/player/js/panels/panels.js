// The panels of the player. A panel is one file `panel_<name>.js` that calls definePanel once; nothing else has to change:
//
//   definePanel({name, place, order, needs, create})
//     place    "metrics", "left", "middle", "right" or "bottom": the region of layout.js, or run => one of them; several panels may share one
//     order    where they do, smaller is higher (0 when left out)
//     grow     share of the region's height against its neighbours (1 when left out)
//     needs    run => whether this panel is for that run at all
//     create   (view, box) => {draw(frame), close?(), reset?(), details?(), log?(), zoom?(by)}; called once for a run that
//              needs it; `reset` answers Escape and says whether there was something to undo
//
// `view` has {theme, words, k, version, root, player, selection}, where `version` counts changes of size; `frame` is a Frame
// (frame.js). draw is pure: the same frame and view give the same picture. Text from a run goes through setText,
// textContent or a canvas, never through markup.
function definePanel(panel) { (definePanel.all ??= []).push({order: 0, grow: 1, needs: () => true, ...panel}); }

function panelsFor(run) {
  return definePanel.all.filter(panel => panel.needs(run) && !(run.player.showsWords && VOCABULARY.without_words.includes(panel.name))).sort((a, b) => a.order - b.order);
}

// `count` entries of a list from `top` on; the last place goes to `subject` where it is in the list but not among them.
function withSubject(list, top, count, subject) {
  const shown = list.slice(top, top + count);
  if (shown.length && list.includes(subject) && !shown.includes(subject)) shown.splice(-1, 1, subject);
  return shown;
}

// The frame of a panel: a heading with a remark, a body, a line for when there is nothing to draw.
class PanelBox {
  constructor(panel) {
    this.heading = element("b");
    this.remark = element("span");
    this.head = element("div", {class: "kv-heading"}, this.heading, this.remark);
    this.message = element("p", {class: "kv-message", hidden: ""});
    this.body = element("div", {class: "kv-body"}, this.message);
    this.element = element("section", {class: "kv-panel", "data-panel": panel.name}, this.head, this.body);
    this.element.style.flexGrow = panel.grow;
  }

  title(heading, remark = "") {
    setText(this.heading, heading);
    setText(this.remark, remark);
    setAttribute(this.element, "aria-label", heading);
  }

  // Shows one sentence instead of the body; "" takes it away.
  say(text) {
    setText(this.message, text);
    this.message.hidden = !text;
    this.element.classList.toggle("kv-empty", Boolean(text));
  }

  // Width and height of the body, read once for each size of the player: reading after writing costs a layout.
  size(view) {
    if (this.sizedFor !== view.version) {
      this.sizedFor = view.version;
      this.measured = [this.body.clientWidth, this.body.clientHeight];
    }
    return this.measured;
  }

  // A sharp canvas over the whole body; `bleed` pixels more on each side leave room for rings. `pick(x, y)` says which
  // target of the selection lies there: what was noted down in `hits`, if nothing else is given.
  canvas(pick, bleed = 8) {
    const node = element("canvas", {class: "kv-canvas", role: "img"});
    const paint = new Paint(node), hits = new Hits();
    this.body.append(node);
    let edge = 0;
    node.pick = (x, y) => (pick ?? hits.pick)(x - edge, y - edge);
    return {
      element: node, paint, hits,
      label: text => setAttribute(node, "aria-label", text),
      begin: view => {
        edge = bleed * view.k;
        hits.clear();
        const [width, height] = this.size(view);
        if (this.fitted !== view.version) {
          this.fitted = view.version;
          const box = {left: -edge, top: -edge, width: width + 2 * edge, height: height + 2 * edge};
          for (const [side, pixels] of Object.entries(box)) node.style[side] = pixels + "px";
        }
        paint.begin(view.theme, width + 2 * edge, height + 2 * edge);
        paint.ctx.translate(edge, edge);
        return [width, height];
      },
    };
  }

  // A value that depends only on a key, made again when that changes.
  layout(key, make) {
    if (this.layoutKey !== key) Object.assign(this, {layoutKey: key, laidOut: make()});
    return this.laidOut;
  }
}
