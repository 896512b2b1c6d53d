"""The lesson as students do it: with a mouse in English on a screen, by keyboard alone in German on a phone."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from browser import Watch, wait_idle
from playwright.sync_api import expect

from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS, TOLERANCE, step_of
from fairglvq.lesson.texts import text, words

pytestmark = pytest.mark.browser
READY = '.stage[data-ready="1"]'
FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  return one;
}"""
SAID = {
    "prototype": "nobody", "gap": "none", "hiding": "costly", "forces": "none", "strength": "much", "limit": "fairer",
    "measures": "larger", "people": "both",
}  # fmt: skip


class Student:
    """Somebody at the lesson, with a mouse."""

    language = "en"

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.goto(f"{url}/lesson{query}")
        self.settled()

    def settled(self):
        self.page.wait_for_selector(READY, timeout=60_000, state="attached")
        wait_idle(self.page)
        return self

    @property
    def progress(self):
        query = parse_qs(urlsplit(self.page.url).query)
        return Progress.from_text(query.get("progress", [""])[0])

    def word(self, key):
        return words(self.language)[key]

    def text(self, key):
        return text(key, self.language)

    def slider(self, panel):
        return self.page.locator(f'[data-action="slider-{panel}"]')

    def reads(self, step):
        """Wait until the words of a step are there."""
        expect(self.page.get_by_role("heading", name=f"{step.number}. {self.text(step.key).title}")).to_be_visible()
        self.settled()

    def canvas(self, panel):
        return self.page.locator(f'canvas[data-panel="{panel}"]')

    # ---- what a hand does ----

    def press(self, target):
        target.click()

    def choose(self, name):
        self.press(self.page.get_by_role("button", name=name, exact=True))
        wait_idle(self.page)

    def move_a_prototype(self):
        """Drag the prototype that a click selects; where it stands is found by looking."""
        canvas = self.canvas("glvq")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        x, y = self.find_prototype(box)
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        mouse.up()

    def find_prototype(self, box):
        """A place on the picture where the pointer is over a prototype."""
        for i in range(1, 40):
            for j in range(1, 40):
                x, y = box["x"] + box["width"] * i / 40, box["y"] + box["height"] * j / 40
                self.page.mouse.move(x, y)
                if self.canvas("glvq").evaluate("(canvas) => canvas.classList.contains('over')"):
                    return x, y
        raise AssertionError("no prototype can be grabbed")

    def turn(self, slider, share):
        """Put a slider to a share of its length."""
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        slider.click(position={"x": max(1, min(box["width"] - 1, share * box["width"])), "y": box["height"] / 2})

    def type(self, target, typed):
        target.fill(typed)
        target.press("Enter")

    # ---- what opens the gates ----

    def do_prototype(self):
        self.move_a_prototype()

    def do_gap(self):
        shares = [float(found) for found in re.findall(r"(\d+)% of \d", self.page.locator(".fgs-groups").inner_text())]
        field = self.page.get_by_role("spinbutton")
        self.type(field, f"{abs(shares[0] - shares[1]) + 3 + 100 * TOLERANCE:g}")
        expect(self.page.get_by_text(self.word("not yet"))).to_be_visible()
        self.type(field, f"{abs(shares[0] - shares[1]):g}")

    def do_hiding(self):
        self.turn(self.slider("inp"), 1)

    def do_forces(self):
        self.press(self.page.locator('[data-action="view"]'))
        self.press(self.page.locator('[data-action="show-forces"]'))
        self.turn(self.page.locator('[data-action="scrub"]'), 0)

    def do_strength(self):
        self.turn(self.slider("fairglvq"), 4 / 12)  # C = 1 of the film

    def do_limit(self):
        self.turn(self.slider("fairglvq"), 1)
        self.done("strong")
        self.turn(self.slider("paritylvq"), 0)

    def do_measures(self):
        self.turn(self.slider("fairglvq"), 0)

    def do_people(self):
        for verdict, option in zip(step_of("people").gate.verdicts, ("yes", "no", "unsure"), strict=True):
            box = self.page.locator(f".st-key-lesson_person_{verdict.key}")
            self.press(box.get_by_role("button", name=self.word(option), exact=True))
            expect(box.get_by_text(f"{self.word('your verdict')}: {self.word(option)}")).to_be_visible()

    def done(self, deed):
        """Wait until a task is ticked off."""
        step = STEPS[self.progress.step - 1]
        task = self.text(step.key).tasks[deed][:20]
        expect(self.page.locator(".st-key-lesson_task").get_by_text(re.compile(f"☑ {re.escape(task)}"))).to_be_visible()

    def walk(self, step):
        """One step: predict, do, see what happened; the way on is closed until then."""
        self.reads(step)
        following = self.page.locator(f".st-key-lesson_step_{step.number + 1} button")
        if step.number < len(STEPS):
            expect(following).to_be_disabled()
        expect(self.page.locator(".st-key-lesson_task, .st-key-lesson_outcome, .st-key-lesson_next")).to_have_count(0)
        self.choose(self.text(step.key).options[SAID[step.key]])
        expect(self.page.locator(".st-key-lesson_question")).to_contain_text(self.word("said"))
        self.settled()
        getattr(self, f"do_{step.key}")()
        expect(self.page.locator(".st-key-lesson_next")).to_be_visible()
        outcome = self.page.locator(".st-key-lesson_outcome")
        expect(outcome).to_contain_text(re.compile(r"\d"))
        expect(outcome).not_to_contain_text("…")
        happened = step.key in ("hiding", "strength", "measures", "people")
        expect(outcome).to_contain_text(self.word("right" if happened else "wrong"))

    def go_on(self, step):
        coming = STEPS[step.number]
        self.choose(f"{self.word('next')} {coming.number}: {self.text(coming.key).title}")
