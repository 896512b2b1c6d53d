"""The lesson as students do it: with a mouse in English on a screen, by keyboard alone in German on a phone."""

import re
from functools import cache
from urllib.parse import parse_qs, urlsplit

import pytest
from browser import Watch, visits, wait_idle
from playwright.sync_api import expect

from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS, TOLERANCE, step_of
from fairglvq.lesson.texts import text, words
from fairglvq.scenes.points import load_points
from fairglvq.scenes.training import train_part

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


@cache
def trained_by_glvq(settings):
    """People (n, 2) and prototypes (P, 2) of a drawn set."""
    points = load_points(settings)
    return points.X, train_part(settings, points, "glvq", lambda share: None).prototypes[-1]


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

    def signature(self):
        """What the stage calls the models that it shows."""
        return self.page.locator(".stage").evaluate("(root) => root.dataset.modelSignature")

    def canvas(self, panel):
        return self.page.locator(f'canvas[data-panel="{panel}"]')

    # ---- what a hand does ----

    def press(self, target):
        target.click()

    def choose(self, name):
        self.press(self.page.get_by_role("button", name=name, exact=True))
        wait_idle(self.page)

    def move_a_prototype(self):
        self.drag(step_of("prototype").settings, 0, lambda x, y: (x, y + 0.3))

    def drag(self, settings, number, to):
        """Drag a prototype of GLVQ from where training has put it."""
        X, W = trained_by_glvq(settings)
        canvas, mouse = self.canvas("glvq"), self.page.mouse
        canvas.scroll_into_view_if_needed()
        box, low, high = canvas.bounding_box(), X.min(axis=0), X.max(axis=0)
        scale = 0.94 * min(box["width"] / (high[0] - low[0]), box["height"] / (high[1] - low[1]))

        def place(x, y):
            right, up = (x - (low[0] + high[0]) / 2) * scale, (y - (low[1] + high[1]) / 2) * scale
            return box["x"] + box["width"] / 2 + right, box["y"] + box["height"] / 2 - up

        mouse.move(*place(*W[number]))
        mouse.down()
        mouse.move(*place(*to(*W[number])), steps=4)
        mouse.up()

    def be_fair_by_hand(self):
        """The challenge of step 2, as its second hint says it."""
        settings = step_of("gap").settings
        box = self.page.locator(".st-key-lesson_challenge_byhand")
        for number, (x, _) in enumerate(trained_by_glvq(settings)[1]):
            if x > 0.85:
                self.drag(settings, number, lambda x, y: (x, 1 - y))
                expect(box).to_contain_text(self.word("best"))
        expect(box).to_contain_text(self.text("gap").challenges["byhand"].solved)
        assert self.progress.results["byhand"].solved

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
        self.turn(self.slider("fairglvq"), 0.4)

    def do_limit(self):
        expect(self.page.locator(".fgs-plot .fgs-line-limit")).to_have_count(1)
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
        parts = {"slider": self.slider("fairglvq"), "tradeoff": self.page.locator(".fgs-plot")}
        moving = [parts[part] for part in step.hidden_before if part in parts]
        for part in moving:
            expect(part).to_be_hidden()
        self.choose(self.text(step.key).options[SAID[step.key]])
        for part in moving:
            expect(part).to_be_visible()
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


class KeyboardStudent(Student):
    """Somebody without a mouse, who reads German."""

    language = "de"

    def press(self, target):
        self.tab_to(target)
        self.page.keyboard.press("Enter")

    def tab_to(self, target):
        """Press Tab until the focus is there; the way round the page begins anew at its end."""
        target.first.wait_for(state="attached")
        for _ in range(150):
            if target.first.evaluate(f"(wanted) => ({FOCUSED})() === wanted"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to {target}")

    def move_a_prototype(self):
        self.tab_to(self.canvas("glvq"))
        for key in ("Enter", *["Alt+Shift+ArrowUp"] * 6):
            self.page.keyboard.press(key)

    def turn(self, slider, share):
        self.tab_to(slider)
        if share in (0, 1):
            self.page.keyboard.press("End" if share else "Home")
            return
        for _ in range(40):  # a model that comes meanwhile puts the slider to its own strength
            C = float(slider.get_attribute("aria-valuetext"))
            if C == 1:
                return
            self.page.keyboard.press("ArrowRight" if C < 1 else "ArrowLeft")

    def type(self, target, typed):
        self.tab_to(target)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(typed)
        self.page.keyboard.press("Enter")


@pytest.fixture
def mouse(browser, app):
    yield from visits(browser, app, Student)


@pytest.fixture
def keys(browser, app):
    yield from visits(browser, app, KeyboardStudent)


def test_a_student_with_a_mouse_does_two_steps_and_finds_them_again(mouse):
    student = mouse()
    for step in STEPS[:2]:
        student.walk(step)
        student.go_on(step)
    student.reads(STEPS[2])
    student.settled().page.reload()
    student.reads(STEPS[2])
    student.choose("1")
    student.reads(STEPS[0])
    student.page.go_back()
    student.reads(STEPS[2])


@pytest.mark.long
def test_a_student_with_a_mouse_does_all_steps_and_finds_them_again(mouse):
    student = mouse()
    for step in STEPS:
        student.walk(step)
        if step.key == "gap":
            student.be_fair_by_hand()
        if step.number < len(STEPS):
            student.go_on(step)
    assert student.progress.passed == {step.key for step in STEPS}
    student.page.reload()
    student.reads(STEPS[-1])
    expect(student.page.locator(".st-key-lesson_next")).to_contain_text(student.word("finished"))
    student.choose("7")
    student.reads(STEPS[6])
    student.page.go_back()
    student.reads(STEPS[7])
    student.page.go_forward()
    student.reads(STEPS[6])
    expect(student.page.locator(".st-key-lesson_question")).to_contain_text(student.text("measures").options["larger"])
    student.page.get_by_role("link", name="Playground").click()
    expect(student.page.get_by_role("radiogroup", name="Data set")).to_be_visible()
    student.settled()  # the playground has its own model: all three methods, and C as it comes
    expect(student.page.locator("canvas")).to_have_count(3)
    strength = student.page.get_by_test_id("stSidebar").get_by_role("slider", name="Fairness strength C")
    expect(strength).to_have_value("1.5")
    student.page.get_by_role("link", name="Lesson").click()
    student.reads(STEPS[6])


@pytest.mark.long
def test_a_student_with_a_keyboard_does_all_steps_in_german_on_a_phone(keys):
    student = keys("?lang=de", viewport={"width": 390, "height": 844})
    before = student.signature()
    student.move_a_prototype()  # not before the prediction
    student.page.keyboard.press("Escape")
    assert student.signature() == before
    for step in STEPS:
        student.walk(step)
        if step.number < len(STEPS):
            student.go_on(step)
    assert {step.prediction.key: SAID[step.key] for step in STEPS}.items() <= student.progress.answers.items()
    assert student.page.evaluate("document.documentElement.scrollWidth") <= 390
