// What the menu does in the browser; run once per window.
if (!window.fairglvqMenu) {
  window.fairglvqMenu = true;

  // Streamlit adds an entry to the browser's history when a page is entered, and another when the page writes its address.
  // Until the visitor does something they are merged, so that one Back leads to the page before.
  const push = history.pushState.bind(history);
  let entering = true;
  history.pushState = (state, title, url) => {
    const elsewhere = new URL(url, location.href).pathname !== location.pathname;
    if (elsewhere || !entering) push(state, title, url);
    else history.replaceState(state, title, url);
    entering ||= elsewhere;
  };
  for (const act of ["pointerdown", "keydown"]) window.addEventListener(act, () => (entering = false), true);

  // A message of the page being left, a slider's for example, that reaches a busy server right after a click on the menu
  // replaces that click there. If a run ends and the chosen page is not in view, the link is clicked again.
  let chosen = null;
  window.addEventListener("popstate", () => (chosen = null));
  window.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[data-testid*="Nav"]');
    if (link && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) chosen = link;
  }, true);
  new MutationObserver(([{ target }]) => {
    if (!chosen || target.dataset.testScriptState !== "notRunning") return;
    if (chosen.isConnected && chosen.pathname !== location.pathname) chosen.click();
    chosen = null; // only once: the chosen page may redirect
  }).observe(document.body, { attributes: true, attributeFilter: ["data-test-script-state"], subtree: true });
}
