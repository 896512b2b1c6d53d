"""How fast the prototypes page is, measured in Chromium: `make measure`.

Adult with 40 prototypes. Times are of this machine at this moment, so its load is printed too.
"""

import statistics
import time

from browser import chromium, streamlit_app, wait_idle
from playground import READY, load

ADULT = "?data=adult&k=20&epochs=10"
CARD = "h4.prototype"
REPEATS = 5


def main():
    print(f"load before: {load()}")
    with streamlit_app("app.py") as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{url}/{ADULT}")
        page.wait_for_selector(READY, timeout=300_000)
        wait_idle(page)
        for turn in ("first", "again"):
            summary, charts = switched(page)
            print(f"from the trained playground ({turn}): cards in view after {summary:.2f} s, charts {charts:.2f} s")
        opened = [card(page, number) for number in range(REPEATS)]
        print(f"another card with its removal: {1000 * statistics.median(opened):.0f} ms (median of {REPEATS})")
    print(f"load after: {load()}")


def switched(page):
    """Seconds from the click on the menu to the first card and to the first chart."""
    page.get_by_role("link", name="Playground", exact=True).click()
    page.wait_for_selector(READY, timeout=60_000)
    wait_idle(page)
    began = time.perf_counter()
    page.get_by_role("link", name="Prototypes", exact=True).click()
    page.wait_for_selector(CARD, timeout=60_000)
    cards = time.perf_counter() - began
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=60_000)
    charts = time.perf_counter() - began
    wait_idle(page)
    return cards, charts


def card(page, number):
    """Seconds from the click on a small card to the open card."""
    before = page.locator("h3.prototype").inner_text()
    button = page.get_by_role("button", name="Open card").nth(number + 1)
    began = time.perf_counter()
    button.click()
    page.wait_for_function("before => document.querySelector('h3.prototype')?.innerText !== before", arg=before)
    took = time.perf_counter() - began
    wait_idle(page)
    return took


if __name__ == "__main__":
    main()
