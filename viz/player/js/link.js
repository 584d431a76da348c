// The place in the link: `f` of the query (or of the hash, for a file), written without a new entry in the history.
// A burst of steps writes once it is over, play once a second; a browser that refuses is left alone.
class Link {
  // where: "query", "hash" or "" for no link at all.
  constructor(where) {
    this.where = where;
    this.timer = 0;
    this.written = 0;
  }

  read() {
    if (!this.where) return null;
    const text = this.where === "hash" ? location.hash.slice(1) : location.search;
    return new URLSearchParams(text).get("f");
  }

  write(name, isPlaying) {
    if (!this.where) return;
    clearTimeout(this.timer);
    const wait = isPlaying ? Math.max(0, this.written + 1000 - performance.now()) : 150;
    this.timer = setTimeout(() => {
      this.written = performance.now();
      try { history.replaceState(history.state, "", this.address(name)); } catch { this.where = ""; }
    }, wait);
  }

  address(name) {
    const url = new URL(location.href);
    if (this.where === "hash") url.hash = "f=" + name; else url.searchParams.set("f", name);
    return url;
  }

  close() { clearTimeout(this.timer); }
}
