// The entry. mount() may be called again with the same root for new runs or a new theme: it keeps one player per root and
// returns the same clean-up every time, because Streamlit forgets the one of an earlier call.
const players = new WeakMap();
// Those of runs that arrive piece by piece, by name: Streamlit may take such a parent away and put up another one at any time.
const followed = new Map(), ABSENCE = 2000;

// blobs: 1 to 3 Uint8Array. options: {height: pixels or null, link: "query" | "hash" | "", frame: "12.3" or null, words,
// isFeed: the blobs are the next bytes of runs that arrive piece by piece, cut anywhere; first: the position of the first one,
// where they may be known already; name: of such a run; ask(position): called when there are bytes missing before it}.
function mount(parent, blobs, options = {}) {
  const {name} = options;
  let mounted = players.get(parent) ?? followed.get(name);
  if (!mounted) {
    const root = element("div", {class: "kv", role: "group", tabindex: -1});
    parent.append(root);
    const player = new Player(root, options);
    const close = () => {
      player.close();
      root.remove();
      players.delete(parent);
      followed.delete(name);
    };
    const unmount = name ? () => setTimeout(() => root.isConnected || close(), ABSENCE) : close;
    mounted = {player, unmount, mark: null, received: 0};
    players.set(parent, mounted);
    if (name) followed.set(name, mounted);
  }
  const {player} = mounted;
  if (player.root.parentNode !== parent) parent.append(player.root);
  player.options = options;
  if (options.isFeed) {
    const {received} = mounted, {first = received} = options;
    // not while mounting: Streamlit may lose what is said then
    if (first > received) setTimeout(options.ask, 200, received);
    else {
      blobs.slice(0, 3).forEach((blob, i) => player.feed(i, blob.slice(received - first)));
      mounted.received = Math.max(received, first + blobs[0].length);
      player.redraw();
    }
    return mounted.unmount;
  }
  const mark = blobs.map(blob => `${blob.length}:${crc32(new Int32Array(blob.slice(0, blob.length & ~3).buffer))}`).join();
  if (mounted.mark === mark) player.redraw();
  else {
    mounted.mark = mark;
    player.load(blobs.slice(0, 3));
  }
  return mounted.unmount;
}

// Bytes from viz/player/__init__.py: u32 length of a JSON object {options, lengths}, the object, the blobs.
function unpackEnvelope(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const {options, lengths} = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let at = 4 + length;
  const blobs = lengths.map(size => bytes.subarray(at, (at += size)));
  return {options, blobs};
}

// What Streamlit calls, once for each change of data or theme.
function entry(component) {
  const {options, blobs} = unpackEnvelope(component.data);
  options.ask = position => component.setTriggerValue("missing", position);
  return mount(component.parentElement, blobs, options);
}
