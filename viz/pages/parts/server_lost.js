// When its server does not answer, Streamlit covers the page with a dialog and takes all below out of reach. The player needs
// no server, so that dialog is closed as it opens; a line of page.css says what is the matter. One observer for all pages.
if (!window.kvscopeServerLost) {
  window.kvscopeServerLost = new MutationObserver(() => {
    const dialog = document.querySelector('[data-testid="stDialog"]');
    if (dialog?.textContent.startsWith("Connection error")) dialog.querySelector("button")?.click();
  });
  window.kvscopeServerLost.observe(document.body, {childList: true});
}
