// The moment in the link: frame `f`, pane, clock, time `t` and selection `sel`, in the query or, for a file, in the hash,
// written without a new entry in the history. What is as usual is left out.
// A burst of steps writes once it is over, play once a second; a browser that refuses is left alone.
const LINK_NAMES = ["f", "pane", "lead", "clock", "t", "sel"];

class Link {
  // where: "query", "hash" or "" for no link at all.
  constructor(where) {
    this.where = where;
    this.path = location.pathname;
    this.timer = 0;
    this.written = 0;
    this.values = {};
  }

  // Name -> text or null.
  readAll() {
    const text = this.where === "hash" ? location.hash.slice(1) : this.where ? location.search : "";
    const parameters = new URLSearchParams(text);
    return Object.fromEntries(LINK_NAMES.map(name => [name, parameters.get(name)]));
  }

  // What was to be written belongs to the address that was left.
  forget() {
    clearTimeout(this.timer);
    this.values = {};
  }

  // Keeps the selection, `r2` or null, from now on.
  select(sel) { this.write({sel}, false); }

  // Values to keep from now on; null takes one away.
  write(values, isPlaying) {
    Object.assign(this.values, values);
    if (!this.where) return;
    clearTimeout(this.timer);
    const wait = isPlaying ? Math.max(0, this.written + 1000 - performance.now()) : 150;
    this.timer = setTimeout(() => this.flush(), wait);
  }

  // Writes at once and returns the address.
  flush() {
    clearTimeout(this.timer);
    this.written = performance.now();
    const address = this.address();
    // after a fast way back the address is already that of another page
    try { if (this.where && location.pathname === this.path) history.replaceState(history.state, "", address); } catch { this.where = ""; }
    return String(address);
  }

  address() {
    const url = new URL(location.href);
    const parameters = this.where === "hash" ? new URLSearchParams(url.hash.slice(1)) : url.searchParams;
    for (const [name, value] of Object.entries(this.values))
      if (value == null) parameters.delete(name); else parameters.set(name, value);
    if (this.where === "hash") url.hash = parameters;
    return url;
  }

  close() { clearTimeout(this.timer); }
}
