"""How fast the playground feels, measured in Chromium: `make measure`.

Prints medians; times are of this machine at this moment, so its load is printed too.
"""

import os
import statistics
import time

from browser import chromium, streamlit_app, wait_idle

READY = '.stage[data-ready="1"]'
FILM = '[data-action="slider-fairglvq"]'
REPEATS = 20

# From the key that moves a slider to the frame in which the pictures of a new training are on the screen.
STOPWATCH = """(root) => {
  const before = root.dataset.revision;
  window.took = null;
  window.addEventListener("keydown", () => { window.began = performance.now(); }, { capture: true, once: true });
  const watch = new MutationObserver(() => {
    if (root.dataset.revision === before) return;
    watch.disconnect();
    requestAnimationFrame(() => { window.took = performance.now() - window.began; });
  });
  watch.observe(root, { attributes: true });
}"""

# Playwright looks for a selector at growing intervals of up to half a second; this looks at every frame.
LOOKOUT = """(() => {
  const inside = (element) => element.shadowRoot?.querySelector('.stage[data-ready="1"]');
  const look = () => {
    const place = document.querySelector(".st-key-stage");
    if (place && [...place.querySelectorAll("*")].some(inside)) window.pictureAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""


def main():
    print(f"load before: {load()}")
    began = time.perf_counter()
    with streamlit_app("app.py") as url, chromium() as browser:
        up = time.perf_counter() - began
        first = first_picture(browser, url)
        print(f"cold: server and browser up after {up:.2f} s, first trained picture {first:.2f} s after page load")
        page = open_page(browser, url)
        page.wait_for_selector(FILM, timeout=60_000)
        warm = statistics.median(first_picture(browser, url) for _ in range(5))
        print(f"warm: first trained picture {warm:.2f} s after page load (median of 5)")
        for name in ("Fairness strength C", "Batch size"):
            times, sizes = slider(page, name)
            spread = f"{min(times):.0f} to {max(times):.0f}"
            print(f"{name}: {statistics.median(times):.0f} ms to the new picture (median of {REPEATS}, {spread})")
            print(f"  {max(sizes) / 1000:.0f} KB from the server per training at most")
        print(f"dragging a prototype: {dragging(page):.0f} frames a second")
    print(f"load after: {load()}")


def load():
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def open_page(browser, url):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(url)
    page.wait_for_selector(READY, timeout=60_000)
    wait_idle(page)
    return page


def first_picture(browser, url):
    """Seconds from navigation to the first frame with a trained picture, by the page's own clock."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(LOOKOUT)
    page.goto(url, wait_until="commit")
    page.wait_for_function("() => window.pictureAt", timeout=60_000)
    took = page.evaluate("() => window.pictureAt") / 1000
    page.close()
    return took


def slider(page, name):
    """Milliseconds and bytes of several trainings, each with settings never seen before."""
    control = page.get_by_test_id("stSidebar").get_by_role("slider", name=name)
    stage = page.locator(".stage")
    times, sizes = [], []
    received = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.webSocketFrameReceived", lambda event: received.append(event["response"]["payloadData"]))
    for number in range(REPEATS):
        key = "ArrowRight" if name != "Batch size" or number % 4 < 2 else "ArrowLeft"
        if name == "Batch size":  # few choices: a new seed makes each training new, and its own time is not measured
            before = stage.get_attribute("data-revision")
            page.get_by_role("button", name="New seed").click()
            page.wait_for_selector(f'.stage:not([data-revision="{before}"])')
            settled(page)
        received.clear()
        stage.evaluate(STOPWATCH)
        control.press(key)
        page.wait_for_function("() => window.took !== null")
        times.append(page.evaluate("() => window.took"))
        settled(page)
        sizes.append(max(len(text) for text in received) * 3 // 4)  # frames arrive here as base64
    session.detach()
    return times, sizes


def settled(page):
    """The script has ended and the film of C is there: nothing else is being computed."""
    wait_idle(page)
    page.wait_for_selector(FILM, timeout=60_000)
    wait_idle(page)


def dragging(page, seconds=2.0):
    """Frames drawn per second while a prototype is moved about, one move before every frame of the browser.

    The moves are made in the page: Playwright's own wait for each other and come at about thirty a second.
    """
    canvas = page.locator('canvas[data-panel="glvq"]')
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    next(
        True
        for px in range(int(box["x"]) + 4, int(box["x"] + box["width"]), 6)
        for py in range(int(box["y"]) + 4, int(box["y"] + box["height"]), 6)
        if over_prototype(page, canvas, px, py)
    )
    page.mouse.down()
    rate = canvas.evaluate(
        """(canvas, seconds) => new Promise((done) => {
            const root = canvas.closest('.stage'), box = canvas.getBoundingClientRect();
            const before = root.framesDrawn, began = performance.now();
            const move = (now) => {
                const turn = (now - began) / 1000;
                if (turn > seconds) { done((root.framesDrawn - before) / turn); return; }
                canvas.dispatchEvent(new PointerEvent('pointermove', {
                    pointerId: 1, pointerType: 'mouse', isPrimary: true, buttons: 1, bubbles: true,
                    clientX: box.x + box.width * (0.5 + 0.3 * Math.sin(3 * turn)),
                    clientY: box.y + box.height * (0.5 + 0.3 * Math.cos(2 * turn)),
                }));
                requestAnimationFrame(move);
            };
            requestAnimationFrame(move);
        })""",
        seconds,
    )
    page.mouse.up()
    return rate


def over_prototype(page, canvas, x, y):
    page.mouse.move(x, y)
    return canvas.evaluate("(element) => element.classList.contains('over')")


if __name__ == "__main__":
    main()
