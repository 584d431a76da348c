// The key map. Keys act when the focus is in the player or on the page around it; letters and signs only in the player.
// Text fields, sliders, lists and dialogs of the page keep their keys, and so do all combinations with Ctrl, Alt, Meta.
// Which key asks whom for what is a table in viz/player/vocabulary.py: the way from the player to the verb, its value, and the
// value with Shift.
const TYPING = "input:not([type=range]), textarea, select, [contenteditable=''], [contenteditable=true], [role=textbox], [role=combobox]";
const CLOSED_LIST = "[role=combobox][aria-expanded=false]";
const CONTROL = "button, summary, a";

// Whether keys belong to what somebody types there, or to a list that is open.
function isTyping(node) { return node.matches?.(TYPING) && !node.matches(CLOSED_LIST); }

// Listens until the signal says stop.
function listenToKeys(player, signal) {
  const {root} = player;
  const inside = event => {
    if (handleKey(player, event)) { event.preventDefault(); event.stopPropagation(); return; }
    const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isLetter) event.stopPropagation();
  };
  // on the page around it, on its buttons and on a list that is closed again
  const outside = event => {
    const target = event.composedPath()[0];
    const isPage = target.contains?.(root.getRootNode().host ?? root);
    const isIdle = target.matches?.(`${CLOSED_LIST}, button:not([role]), a`) && /^(Arrow|Page|Home|End)/.test(event.key);
    if ((isPage && (event.key.length > 1 || event.key === " ")) || isIdle) if (handleKey(player, event)) event.preventDefault();
  };
  root.addEventListener("keydown", inside, {signal});
  document.addEventListener("keydown", outside, {signal});
}

function handleKey(player, event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return false;
  const target = event.composedPath()[0];
  if (isTyping(target) && event.key !== "Escape") return false;
  if (target.matches?.(CONTROL) && (event.key === " " || event.key === "Enter")) return false;
  const name = event.shiftKey || event.key.length > 1 ? event.key : event.key.toLowerCase();
  if (player.dialogs.isOpen && name !== "Escape") return false;
  if (!Object.hasOwn(VOCABULARY.keys, name) || !player.run) return false;
  const [way, value, shifted = value] = VOCABULARY.keys[name];
  const names = way.split("."), verb = names.pop();
  names.reduce((owner, part) => owner[part], player)[verb](event.shiftKey ? shifted : value);
  return true;
}
