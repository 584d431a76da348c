// The key map. Keys act when the focus is in the player or on the page around it; letters and signs only in the player.
// Text fields, sliders, lists and dialogs of the page keep their keys, and so do all combinations with Ctrl, Alt, Meta.
const KEYS = {
  ArrowRight: (p, e) => p.move(e.shiftKey ? 10 : 1),
  ArrowLeft: (p, e) => p.move(e.shiftKey ? -10 : -1),
  ".": p => p.moveEvent(1),
  ",": p => p.moveEvent(-1),
  n: p => p.moveHappening(1),
  p: p => p.moveHappening(-1),
  " ": p => p.togglePlay(),
  Home: p => p.goStart(),
  End: p => p.goEnd(),
  PageDown: p => p.moveBookmark(1),
  PageUp: p => p.moveBookmark(-1),
  "[": p => p.changeSpeed(-1),
  "]": p => p.changeSpeed(1),
  d: p => p.goDifference(),
  0: p => p.choosePane(-1),
  1: p => p.choosePane(0),
  2: p => p.choosePane(1),
  3: p => p.choosePane(2),
  t: p => p.toggleClock(),
  l: p => p.toggleLecture(),
  f: p => p.toggleFullScreen(),
  c: p => p.copyLink(),
  g: p => p.dialogs.open("goTo"),
  T: p => p.table.toggle(),
  h: p => p.dialogs.open("help"),
  "?": p => p.dialogs.open("help"),
  Escape: p => p.escape(),
  Enter: p => p.selection.open(),
  e: p => p.ask("log"),
  "+": p => p.ask("zoom", 1),
  "-": p => p.ask("zoom", -1),
};
const TYPING = "input:not([type=range]), textarea, select, [contenteditable=''], [contenteditable=true], [role=textbox], [role=combobox]";

// Listens until the returned function is called.
function listenToKeys(player) {
  const {root} = player;
  const inside = event => {
    if (handleKey(player, event)) { event.preventDefault(); event.stopPropagation(); return; }
    const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isLetter) event.stopPropagation();
  };
  const outside = event => {
    const isPage = event.composedPath()[0].contains?.(root.getRootNode().host ?? root);
    if (isPage && (event.key.length > 1 || event.key === " ") && handleKey(player, event)) event.preventDefault();
  };
  root.addEventListener("keydown", inside);
  document.addEventListener("keydown", outside);
  return () => {
    root.removeEventListener("keydown", inside);
    document.removeEventListener("keydown", outside);
  };
}

function handleKey(player, event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return false;
  const target = event.composedPath()[0];
  const isControl = target.matches?.("button, summary, a");
  if (target.matches?.(TYPING) && event.key !== "Escape") return false;
  if (isControl && (event.key === " " || event.key === "Enter")) return false;
  const name = event.shiftKey || event.key.length > 1 ? event.key : event.key.toLowerCase();
  if (player.dialogs.isOpen && name !== "Escape") return false;
  const action = Object.hasOwn(KEYS, name) ? KEYS[name] : null;
  if (!action || !player.run) return false;
  action(player, event);
  return true;
}
