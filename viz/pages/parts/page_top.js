// A link to another page leads to its top. The pages share one scroller, which keeps its place where the new page comes before
// the old one has gone. Told by the address, because until then the old page is on the screen. One listener for all pages.
if (!window.kvscopePageTop) {
  window.kvscopePageTop = true;
  document.addEventListener("click", event => {
    const link = event.target.closest?.("a[href]"), from = location.pathname;
    if (!link || new URL(link.href).pathname === from || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const look = tries => {
      if (location.pathname !== from) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
      else if (tries) setTimeout(look, 30, tries - 1);
    };
    look(300);
  }, true);
}
