// Closing a popover of the bar leaves the focus on its button, where the letters of the player do nothing. Escape and the
// pointer give it back to the player; who closes the popover by its button with a key stays there. One listener for all pages.
if (!window.kvscopePopoverFocus) {
  window.kvscopePopoverFocus = true;
  const popover = () => document.querySelector('[data-testid="stPopoverBody"]');
  const player = () => [...document.querySelectorAll("[data-testid=stBidiComponentIsolated], [data-testid=stBidiComponentRegular] *")]
    .map(host => host.shadowRoot?.querySelector(".kv")).find(Boolean);
  const isFree = element => element === document.body || element?.matches('[data-testid="stPopoverButton"]');
  const watch = event => {
    if (!popover() || (event.type === "click" ? !event.detail : event.key !== "Escape")) return;
    // a list that is open inside takes Escape first, and the popover stays
    const give = tries => setTimeout(() => {
      if (popover()) { if (tries) give(tries - 1); } else if (isFree(document.activeElement)) player()?.focus({preventScroll: true});
    }, 50);
    give(8);
  };
  document.addEventListener("keydown", watch, true);
  document.addEventListener("click", watch, true);
}
