"""How fast the trade-off page is, measured in Chromium: `make measure`.

Times are of this machine at this moment, so its load is printed too.
"""

import statistics
import tempfile
import time
from pathlib import Path

from browser import chromium, streamlit_app, wait_idle
from playground import load, open_page, slider

CHART = ".st-key-curve_chart .scatterlayer .point"
# The first frames with a picture of the curve, still or alive, and with marks that answer; looked for at every frame.
LOOKOUT = f"""(() => {{
  const look = () => {{
    const alive = document.querySelector("{CHART}");
    if (alive || document.querySelector(".st-key-t_box .still")?.naturalWidth) window.seenAt ??= performance.now();
    if (alive) window.aliveAt = performance.now();
    else requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}})()"""
XOR = "?data=xor&seeds=1&eta=0.01"  # the paper's four methods, 13 strengths of C, 5 folds; not bundled
ADULT = "?data=adult&eta=0.1"


def main():
    print(f"load before: {load()}")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "rows.sqlite")
        with streamlit_app("app.py", FAIRGLVQ_STORE=store) as url, chromium() as browser:
            seen, answers = first_chart(browser, url)
            print(
                f"cold: bundled Adult curve in view {seen:.2f} s after page load, answers clicks after {answers:.2f} s"
            )
            warm = [first_chart(browser, url) for _ in range(5)]
            seen, answers = (statistics.median(times) for times in zip(*warm, strict=True))
            print(f"warm: in view {seen:.2f} s after page load, answers clicks after {answers:.2f} s (medians of 5)")
            fresh_sweep(browser, url)
            during_a_long_run(browser, url)
    print(f"load after: {load()}")


def first_chart(browser, url):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(LOOKOUT)
    page.goto(f"{url}/tradeoff", wait_until="commit")
    page.wait_for_function("() => window.aliveAt", timeout=60_000)
    seen, answers = page.evaluate("() => [window.seenAt / 1000, window.aliveAt / 1000]")
    page.close()
    return seen, answers


def ordered(browser, url, query):
    """A page with a run just begun, and when."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{url}/tradeoff{query}")
    page.wait_for_selector("h1", timeout=60_000)
    wait_idle(page)
    page.wait_for_selector(".st-key-offer button")
    began = time.perf_counter()
    page.locator(".st-key-offer button").click()
    page.wait_for_selector('[data-testid="stProgress"]')
    return page, began


def fresh_sweep(browser, url):
    page, began = ordered(browser, url, XOR)
    # The curve is drawn anew with every count of finished models; the constant's five were there before.
    page.wait_for_function(
        "() => parseInt(document.querySelector('[data-testid=stProgress]')?.innerText) > 5", timeout=120_000
    )
    first = time.perf_counter() - began
    page.get_by_role("button", name="Compute again").wait_for(timeout=300_000)
    print(f"fresh XOR sweep: first points after {first:.1f} s, finished after {time.perf_counter() - began:.1f} s")
    page.close()


def during_a_long_run(browser, url):
    page, _ = ordered(browser, url, ADULT)
    playground = open_page(browser, url)
    times, _ = slider(playground, "Fairness strength C")
    print(f"playground while an Adult sweep runs: {statistics.median(times):.0f} ms from slider to picture (median)")
    began = time.perf_counter()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Stopped:").wait_for(timeout=30_000)
    print(f"Cancel: {time.perf_counter() - began:.1f} s")
    page.close()


if __name__ == "__main__":
    main()
