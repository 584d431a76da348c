// The regions of the player and their sizes. Everything grows with one factor `k`, 1 at 1232 x 640 and 1.5 at 1848 x 960.
// Regions: title, metrics · sentence · left, middle, right · bottom · transport. Narrow players fold by CSS.
const REGIONS = ["metrics", "left", "middle", "right", "bottom"];
const MIN_HEIGHT = 440;
const LOW = 600;
const LECTURE_SCALE = 1.35;

class Layout {
  constructor(player, words) {
    const {root} = player;
    this.root = root;
    this.title = element("h1");
    this.subtitle = element("p");
    this.tabs = element("div", {class: "kv-tabs", role: "tablist", hidden: ""});
    this.regions = Object.fromEntries(REGIONS.map(name => [name, element("div", {class: "kv-region kv-" + name})]));
    const {metrics, left, middle, right, bottom} = this.regions;
    this.switches = element("div", {class: "kv-switches"});
    this.sentence = new SentenceBox(player, words);
    this.stage = element("div", {class: "kv-stage"},
      (this.top = element("header", {class: "kv-top"}, element("div", {class: "kv-title"}, this.title, this.subtitle, this.tabs), metrics,
        this.switches)),
      this.sentence.element, (this.main = element("div", {class: "kv-main"}, left, middle, right)), bottom);
    this.live = element("div", {class: "kv-live", "aria-live": "polite"});
  }

  get isLecture() { return this.root.classList.contains("kv-lecture"); }

  // Canvases have larger type in a lecture, with the same room.
  get canvasScale() { return this.k * (this.isLecture ? LECTURE_SCALE : 1); }

  // Fits the stage to the room; returns whether anything changed.
  measure(fixedHeight) {
    const width = this.root.clientWidth;
    const height = Math.max(fixedHeight ?? roomBelow(this.root), fixedHeight ? 200 : MIN_HEIGHT);
    const k = Math.round(Math.max(1, Math.min(1.75, width / 1232, height / 640)) * 50) / 50;
    const mark = `${width} ${height} ${k}`;
    if (mark === this.mark) return false;
    this.mark = mark;
    this.k = k;
    this.root.style.setProperty("--kv-k", k);
    this.root.style.setProperty("--kv-height", height + "px");
    this.root.classList.toggle("kv-low", height < LOW * k);
    this.root.classList.toggle("kv-narrow", width < 1100);
    this.root.classList.toggle("kv-stacked", width < 800);
    return true;
  }

  // A subtitle that is too long for one line gets two small ones.
  fitTitle() {
    const {subtitle, subtitle: {classList: classes}} = this;
    classes.remove("kv-long");
    classes.toggle("kv-long", subtitle.scrollWidth > subtitle.clientWidth);
  }

  // Puts panels for a run into their regions; returns what draws them.
  fill(run, view) {
    for (const region of Object.values(this.regions)) region.replaceChildren();
    // in a lecture the numbers stand below the tables, and either tables or lanes are left; words need the whole width
    if (this.isLecture && !run.player.showsWords) this.main.append(this.regions.metrics); else this.switches.before(this.regions.metrics);
    this.root.classList.toggle("kv-tree", Boolean(run.tree));
    this.root.classList.toggle("kv-words", Boolean(run.player.showsWords));
    this.root.classList.toggle("kv-with-lanes", this.isLecture && !isAboutMemory(run));
    return panelsFor(run).map(panel => {
      const box = new PanelBox(panel);
      const place = panel.place.call ? panel.place(run) : panel.place;
      this.regions[place].append(box.element);
      const drawn = panel.create(view, box);
      if (drawn.height) this.root.style.setProperty("--kv-" + place, drawn.height(run));
      return drawn;
    });
  }
}

// Whether a run tells of memory (sharing, copies, strips) rather than of places in the batch.
function isAboutMemory(run) {
  return run.tracks.strips || run.happeningsOf("shared", "copied", "moved_out").length > 0;
}

// Height from the upper edge of the player to the lower edge of the window, with room for the line of the table; the whole window
// when it starts far down.
function roomBelow(root) {
  let top = root.getBoundingClientRect().top;
  for (let node = root; node; node = node.parentNode ?? node.host) top += node.scrollTop ?? 0;
  const edge = 2 + 18 * clamp(Math.min(innerWidth / 1280, innerHeight / 720), 1, 1.75);
  return top < 0.35 * innerHeight ? innerHeight - top - edge : innerHeight - 96;
}
