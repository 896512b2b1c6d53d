// What the menu does in the browser; run once per window.
if (!window.fairglvqMenu) {
  window.fairglvqMenu = true;

  // Streamlit adds an entry to the browser's history when a page is entered, and another when the page writes its address.
  // Until the visitor does something they are merged, so that one Back leads to the page before.
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let entering = true;
  const { set } = Object.getOwnPropertyDescriptor(Document.prototype, "title");
  let title = document.title; // as Streamlit wrote it last; a browser that translates pages changes the one that is shown
  Object.defineProperty(document, "title", {
    get: () => title,
    set: (text) => set.call(document, (title = text)),
  });
  const inOwnAddress = (write) => (state, unused, url) => {
    const { pathname } = new URL(url ?? "", location.href), elsewhere = pathname !== location.pathname;
    // What a page shows may come before the page is entered, or after it was left, and belongs to no other page's
    // address. The title is that of the page which sent it. Streamlit writes it again together with the page's path.
    const wanted = window.fairglvqTitles[pathname.split("/").pop()];
    if (!elsewhere && wanted && wanted !== title) return;
    if (elsewhere || !entering) write(state, unused, url);
    else replace(state, unused, url);
    entering ||= elsewhere;
  };
  history.pushState = inOwnAddress(push);
  history.replaceState = inOwnAddress(replace);
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
