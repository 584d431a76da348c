// Three small windows inside the player: "go to iteration", the list of keys, the link. Escape closes them and gives the focus back.
class Dialogs {
  constructor(player, words) {
    this.player = player;
    this.open_ = null;
    this.goToInput = element("input", {type: "number", min: 1, step: 1, inputmode: "numeric", "aria-label": words.goTo});
    this.goToHint = element("small");
    const form = element("form", {}, element("label", {}, words.goTo, this.goToInput), this.goToHint);
    form.addEventListener("submit", event => {
      event.preventDefault();
      const step = Number(this.goToInput.value) - 1;
      this.close();
      if (Number.isInteger(step)) player.goStep(clamp(step, 0, player.run.numSteps - 1));
    });
    const line = ([keys, action, only]) => element("div", {class: only}, element("dt", {}, keys), element("dd", {}, action));
    this.signs = element("div", {class: "kv-legend"});
    const closer = button("Esc", () => this.close(), {class: "kv-key", label: words.close});
    this.words = words;
    this.address = element("input", {type: "text", readonly: "", "aria-label": words.link});
    this.windows = {
      link: element("div", {class: "kv-dialog kv-copy", role: "dialog", "aria-label": words.link, hidden: ""},
        element("label", {}, words.copyThis, this.address)),
      goTo: element("div", {class: "kv-dialog", role: "dialog", "aria-label": words.goTo, hidden: ""}, form),
      help: element("div", {class: "kv-dialog kv-help", role: "dialog", "aria-label": words.help, tabindex: -1, hidden: ""},
        element("h2", {}, words.help, closer), element("dl", {}, ...words.keys.map(line)), element("b", {}, words.marksTitle), this.signs),
    };
    this.elements = Object.values(this.windows);
  }

  get isOpen() { return this.open_ !== null; }

  open(name) {
    this.close();
    this.player.pause();
    this.open_ = name;
    this.windows[name].hidden = false;
    if (name === "link") return;
    const {run, place, view} = this.player;
    if (name === "help") {
      this.signs.replaceChildren(...Object.entries(this.words.glyphs).map(([kind, text]) => element("span", {}, legendMark(kind, view), text)));
      return this.windows.help.focus();
    }
    setText(this.goToHint, this.words.goToHint(run.numSteps));
    this.goToInput.max = run.numSteps;
    this.goToInput.value = clamp(place.step, 0, run.numSteps - 1) + 1;
    this.goToInput.focus();
    this.goToInput.select();
  }

  // The address selected, so that Ctrl+C takes it.
  showLink(address) {
    this.address.value = address;
    this.address.focus();
    this.address.select();
  }

  close() {
    if (!this.open_) return;
    this.windows[this.open_].hidden = true;
    this.open_ = null;
    this.player.root.focus({preventScroll: true});
  }
}
