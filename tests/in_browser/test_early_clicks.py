"""A visitor who clicks while the page is still being drawn loses nothing that the link asked for.

On a throttled processor each listed element is clicked in the first animation frame in which it exists. Whatever the
clicks do, the address must go on saying what the link said.
"""

import re
from urllib.parse import parse_qsl, urlencode

import pytest
from browser import Watch, wait_for, wait_idle

pytestmark = pytest.mark.browser

# Clicks by the text of an element; in every frame, each text once.
CLICKER = """
(() => {
  const wanted = %s;
  window.earlyClicks = [];
  const within = (root) => [...root.querySelectorAll("*")].flatMap((element) => [
    ...(element.matches("button, summary, label, [role=tab]") ? [element] : []),
    ...(element.shadowRoot ? within(element.shadowRoot) : []),
  ]);
  const look = () => {
    for (const element of within(document)) {
      const text = element.textContent.trim();
      const found = wanted.find((name) =>
        (text.startsWith(name) || text.endsWith(name)) && !window.earlyClicks.includes(name));
      if (found && !element.disabled) {
        window.earlyClicks.push(found);
        element.click();
      }
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""

SMALL = {"batch": "100", "epochs": "10", "alpha": "3"}  # trained in a moment
TRADEOFF = {
    "data": "three_classes", "folds": "3", "seeds": "2", "k": "3", "methods": "glvq.inp.fairglvq.logistic_regression",
    "s_fairglvq": "0_0.{rate}", "x": "equal_opportunity", **SMALL,
}  # fmt: skip
PAGES = {
    "playground": (
        "", {"data": "local", "C": "2.35", "k": "7", "seed": "11", "beta": "3", "test": "0.3", **SMALL},
        ["More", "Forces", "Trails", "Points"],
    ),
    "trade-off": ("tradeoff", TRADEOFF, ["Compute", "More", "Against strength", "Best points"]),
    "bundled": (
        "tradeoff", {"data": "compas", "methods": "glvq.fairglvq", "s_fairglvq": "0_0.5_1", "y": "equal_opportunity"},
        ["More", "Limit", "Best points", "Against strength", "Export"],
    ),
    "prototypes": (
        "prototypes", {"data": "german", "C": "2.35", "k": "3", "seed": "11", "beta": "3", "test": "0.3", **SMALL},
        ["Side by side", "More", "Equal opportunity", "Number of people", "Export"],
    ),
}  # fmt: skip
ROUNDS = (4, 10, 20)  # how many times slower than this machine


@pytest.mark.parametrize("rate", ROUNDS)
@pytest.mark.parametrize("name", PAGES)
def test_an_early_click_changes_nothing_that_the_link_asked_for(browser, app, name, rate):
    path, query, clicks = PAGES[name]
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        watch = Watch(page)
        page.add_init_script(CLICKER % clicks)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": rate})
        query = {name: value.format(rate=rate) for name, value in query.items()}
        page.goto(f"{app}/{path}?{urlencode(query)}")
        wait_for(lambda: len(page.evaluate("window.earlyClicks")) == len(clicks), 90, f"clicks on {clicks}")
        wait_idle(page, 90)
        found = dict(parse_qsl(re.sub(r"^[^?]*\??", "", page.url)))
        found.pop("view", None)  # what is looked at on the stage may be clicked away
        assert found == query
        assert watch.problems == []
    finally:
        context.close()
