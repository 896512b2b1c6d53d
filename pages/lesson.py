"""The lesson: eight steps on a live stage. Predict, do, see; doing opens the next step."""

from __future__ import annotations

from typing import Any

import streamlit as st

from fairglvq.lesson.numbers import limit_points
from fairglvq.lesson.steps import STEPS, Step
from fairglvq.lesson.texts import LANGUAGES, words
from pages.shared import menu, student, training
from pages.shared.lesson import challenges, course, people
from pages.shared.lesson import words as said
from pages.shared.playground import picture
from pages.shared.style import STYLE
from pages.shared.visit import visit
from pages.shared.widgets import button, one_of

OWN_STYLE = """<style>
.st-key-lesson_steps { gap: 0.35rem; }
.st-key-lesson_steps button { min-width: 2.2rem; padding: 0.1rem 0.5rem; }
.st-key-lesson_terms p { font-size: 0.85rem; line-height: 1.35; margin: 0 0 0.25rem; }
.st-key-lesson_terms { padding-left: 0.8rem; border-left: 3px solid currentColor; }
.st-key-lesson_formula {
  padding: 0.4rem 0.7rem; border-radius: 0.5rem; background: var(--st-secondary-background-color, Canvas);
}
[class*="st-key-lesson_"] button[kind="secondary"] p { text-align: left; }
[data-testid="stColumn"]:has(.st-key-lesson_stage) { position: sticky; top: 4rem; align-self: flex-start; }
@media (max-width: 640px) {
  [data-testid="stColumn"]:has(.st-key-lesson_stage) { position: static; }
}
</style>"""


def main() -> None:
    """Where the lesson stands, its models, the words."""
    step = course.begin()
    st.html(STYLE + OWN_STYLE)
    head = st.container(key="lesson_head")
    training.trained()
    seen = course.look(step)
    if seen is not None:
        course.check(step, seen)
    with head:
        heading(step)
    left, right = st.columns([5, 7], gap="medium")
    with right, st.container(key="lesson_stage"):
        stage(step)
    with left:
        if seen is None:
            st.markdown(words(visit().lesson.language)["waiting"])
        else:
            reader = said.Reader(step, seen, visit().lesson.language)
            tell(reader)
    course.write_link()
    student.listen(course.progress)


def heading(step: Step) -> None:
    """The steps, open and closed, and the language."""
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_steps"):
        for one in STEPS:
            kind = "primary" if one is step else "secondary"
            button(
                str(one.number), course.go, one.number, key=f"lesson_step_{one.number}", type=kind,
                disabled=not course.may_enter(one.number),
            )  # fmt: skip
        one_of("Language", LANGUAGES, "lesson.language", label_visibility="collapsed")
        student.door(visit().lesson.language)
    student.banner(course.progress(), visit().lesson.language, course.go)


def stage(step: Step) -> None:
    """The models in view, and what looks after their training."""
    top, below = training.picture()
    model = visit().lesson.model
    if model.shown is not None:
        settings, show = model.shown
        with below:
            picture.mount(settings, show, key=f"lesson_stage_{step.key}", **extras(step))
        if settings == model.settings:
            picture.order_films(settings)
            course.train_ahead(step)
    with top:
        training.watch()


def extras(step: Step) -> dict[str, Any]:
    """What a step adds to the description of its scene."""
    found: dict[str, Any] = {"without": course.hidden(step), "layout": "beside" if step.curve_beside else ""}
    if step.limit_line and course.revealed(step):
        found["limit"] = limit_points(step.settings.dataset)
    return found


def tell(reader: said.Reader) -> None:
    """The words of the step."""
    with st.container(key="lesson_before"):
        said.before(reader)
    with st.container(key="lesson_after"):
        said.after(reader)
        if reader.step.gate.verdicts:
            people.draw(reader)
        said.onward(reader)
        challenges.draw(reader)


menu.require_app()
main()
