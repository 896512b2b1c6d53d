"""How fast the lesson is, measured in Chromium: `make measure`.

Every step opened by its link and entered from another one, on a server that knows its models. Times are of this
machine at this moment, so its load is printed too, and the playground's time beside the lesson's.
"""

import statistics
import time

from browser import ONE_PROCESS, chromium, streamlit_app, wait_idle
from playground import READY, load

from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS

ALL = Progress(1, {step.key: step.prediction.options[0] for step in STEPS}, frozenset(step.key for step in STEPS))
ROUNDS = 3


def main():
    print(f"load before: {load()}")
    with streamlit_app("app.py") as url, chromium(*ONE_PROCESS) as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        links = [f"{url}/lesson?progress={ALL.at(step.number).to_text()}" for step in STEPS]
        for link in (url, *links):
            opened(context, link)
        playground = [opened(context, url) for _ in range(ROUNDS)]
        lesson = [opened(context, link) for _ in range(ROUNDS) for link in links]
        print(f"opened: playground {statistics.median(playground):.2f} s, a step {statistics.median(lesson):.2f} s")
        page = context.new_page()
        page.goto(links[-1])
        page.wait_for_selector(READY)
        wait_idle(page)
        steps = [entered(page, step) for _ in range(ROUNDS) for step in STEPS]
        print(f"from step to step: {statistics.median(steps):.2f} s, at most {max(steps):.2f} s")
    print(f"load after: {load()}")


def opened(context, link):
    """Seconds from the address to the picture."""
    page = context.new_page()
    began = time.perf_counter()
    page.goto(link)
    page.wait_for_selector(READY, timeout=120_000)
    took = time.perf_counter() - began
    wait_idle(page)
    page.close()
    return took


def entered(page, step):
    """Seconds from the click on a step's number to its words and its picture."""
    began = time.perf_counter()
    page.locator(f".st-key-lesson_step_{step.number} button").click()
    page.wait_for_selector(f'h1:has-text("{step.number}. ")')
    page.wait_for_selector(READY)
    wait_idle(page)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
