"""A visitor who clicks while the page is still being drawn loses nothing that the link asked for.

On a throttled processor each listed element is clicked in the first animation frame in which it exists. Whatever the
clicks do, the address must go on saying what the link said.
"""

import os
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from browser import Watch, chromium, wait_for, wait_idle

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
      const text = element.textContent.trim().replace(/^[a-z_]+(?=[A-Z])/, "");  // an expander's icon is a word
      const found = wanted.find((name) => text.startsWith(name) && !window.earlyClicks.includes(name));
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

SMALL = {"batch": "50", "epochs": "10", "alpha": "3"}  # trained in a moment
# Every round with another steepness, which all these methods have: known models would change the button's words.
TRADEOFF = {
    "data": "three_classes", "folds": "3", "seeds": "2", "k": "3", "methods": "glvq.inp.fairglvq",
    "s_fairglvq": "0_0.5", "x": "equal_opportunity", "beta": "{round}.5", **SMALL,
}  # fmt: skip
PAGES = {
    "playground": (
        "", {"data": "local", "C": "2.35", "k": "7", "seed": "1{round}", "beta": "3", "test": "0.3", **SMALL},
        ["More", "Forces", "Trails", "Points"],
    ),
    "trade-off": ("tradeoff", TRADEOFF, ["Compute", "More"]),
    "prototypes": (
        "prototypes", {"data": "german", "C": "2.35", "k": "3", "seed": "1{round}", "beta": "3", **SMALL},
        ["Side by side", "More", "Export"],
    ),
    "stream": ("stream", {"data": "local", "drift": "groups", "C": "2.25"}, ["Play"]),
    "paper": (
        "paper", {"section": "algorithm", "dataset": "local", "C": "0.5", "epochs": "50", "point": "2{round}"},
        ["Code"],
    ),
    "lesson": ("lesson", {"step": "3", "lang": "de", "progress": "3"}, ["Einem Raum"]),
}  # fmt: skip
ALWAYS = ("trade-off",)  # the page on which settings were once lost; `make early-clicks` and `make long` try all
ROUNDS = int(os.environ.get("EARLY_CLICK_ROUNDS", "1"))  # six make 72 clicks: `make early-clicks`
SLOWDOWN = 4  # times


@pytest.mark.parametrize("number", range(1, ROUNDS + 1))
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name not in ALWAYS)) for name in PAGES]
)
def test_early_clicks_change_nothing_that_the_link_asked_for(app, name, number):
    path, asked, clicks = PAGES[name]
    query = {parameter: value.format(round=number) for parameter, value in asked.items()}
    with chromium() as browser:  # of its own: one that has compiled the scripts draws sooner
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        watch = Watch(page)
        page.add_init_script(CLICKER % clicks)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        page.goto(f"{app}/{path}?{urlencode(query)}", wait_until="commit")
        wait_for(lambda: len(page.evaluate("window.earlyClicks || []")) == len(clicks), 120, f"clicks on {clicks}")
        wait_idle(page, 120)
        found = dict(parse_qsl(urlsplit(page.url).query))
        found.pop("view", None)  # what is looked at on the stage may be clicked away
        assert found == query
        assert watch.problems == []
