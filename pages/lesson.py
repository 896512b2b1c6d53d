"""The lesson: eight steps on a live stage. Predict, do, see; doing opens the next step."""

from __future__ import annotations

from typing import Any

import streamlit as st

from fairglvq.lesson.numbers import limit_points
from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS, Step
from fairglvq.lesson.texts import LANGUAGES, words
from pages.shared import menu, student, training
from pages.shared.lesson import challenges, course, keeping, people, step_words
from pages.shared.playground import picture
from pages.shared.style import NO_CONTROLS, STYLE
from pages.shared.visit import visit
from pages.shared.widgets import button, one_of

OWN_STYLE = """<style>
.st-key-lesson_steps { gap: 0.35rem; }
.st-key-lesson_steps button { min-width: 2.2rem; min-height: 2.2rem; padding: 0.1rem 0.4rem; }
.st-key-lesson_body { display: grid; grid-template: auto 1fr / minmax(0, 4fr) minmax(0, 7fr); gap: 0.6rem 1.6rem; }
.st-key-lesson_body > :has(> .st-key-lesson_before) { grid-area: 1 / 1; }
.st-key-lesson_body > :has(> .st-key-lesson_after) { grid-area: 2 / 1; }
.st-key-lesson_body > :has(> .st-key-lesson_stage) {
  grid-area: 1 / 2 / span 2; align-self: start; position: sticky; top: 4rem;
}
.st-key-lesson_body [data-testid="stVerticalBlock"] { gap: 0.55rem; }
.st-key-lesson_body p { font-size: 0.93rem; line-height: 1.45; margin: 0 0 0.45rem; }
.st-key-lesson_body p:last-child { margin-bottom: 0; }
.st-key-lesson_body [data-testid="stCaptionContainer"] { margin-bottom: 0; }
.st-key-lesson_body button p { margin: 0; text-align: left; }
:is(.st-key-lesson_question, [class*="st-key-lesson_challenge_"]) button { justify-content: flex-start; }
.st-key-lesson_terms { padding-left: 0.7rem; border-left: 3px solid currentColor; }
.st-key-lesson_terms p { font-size: 0.84rem; line-height: 1.35; margin: 0 0 0.2rem; }
.st-key-lesson_formula {
  padding: 0.4rem 0.7rem; border-radius: 0.5rem; background: var(--st-secondary-background-color, Canvas);
}
[class*="st-key-lesson_person_"] table { table-layout: fixed; width: 100%; }
[class*="st-key-lesson_person_"] :is(th, td) { font-size: 0.8rem; padding: 0.2rem 0.3rem; }
[class*="st-key-lesson_person_"] :is(th, td) * { overflow-wrap: anywhere; }
@media (max-width: 760px) {
  .st-key-lesson_body { display: flex; }
  .st-key-lesson_body > :has(> .st-key-lesson_stage) { position: static; align-self: stretch; }
}
</style>"""


TALLEST = 0.5  # of the screen's height, so that the numbers under a picture are visible with it


def main() -> None:
    """The steps, the models and the words."""
    step = course.begin()
    st.html(STYLE + NO_CONTROLS + OWN_STYLE)
    head = st.container(key="lesson_head")
    training.trained()
    seen = course.in_view(step)
    if seen is not None and course.check(step, seen):
        st.toast(words(visit().lesson.language)["finished" if step is STEPS[-1] else "passed"])
    with head:
        heading(step)
    with st.container(key="lesson_body"):
        before, shown, after = (st.container(key=f"lesson_{part}") for part in ("before", "stage", "after"))
    with shown:
        stage(step)
    if seen is None:
        before.markdown(words(visit().lesson.language)["waiting"])
    else:
        reader = step_words.Reader(step, seen, visit().lesson.language)
        with before:
            step_words.before(reader)
        with after:
            draw_words(reader)
    course.write_link()
    student.poll(course.progress)


def heading(step: Step) -> None:
    """The steps, open and closed, and the language."""
    language, progress = visit().lesson.language, course.progress()
    notice = words(language)
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_steps"):
        for one in STEPS:
            kind = "primary" if one is step else "secondary"
            button(
                str(one.number), course.go, one.number, key=f"lesson_step_{one.number}", type=kind,
                disabled=not course.may_enter(one.number),
            )  # fmt: skip
        one_of("Language", LANGUAGES, "lesson.language", label_visibility="collapsed")
        if progress != Progress():
            button(notice["restart"], course.start_again, key="lesson_restart", type="tertiary")
        student.join_form(language)
    if visit().lesson.repaired == progress:
        st.caption(notice["repaired"])
    elif progress == Progress():
        st.caption(notice["intro"])
    student.banner(progress, language, course.go)


def stage(step: Step) -> None:
    """The models in view, and the polling of their training."""
    top, below = training.picture()
    model = visit().lesson.model
    if model.shown is not None:
        settings, show = model.shown
        with below:
            scene = picture.mount(settings, show, key=f"lesson_stage_{visit().lesson.entries}", **extras(step))
            if course.passed(step) and settings == model.settings:
                keeping.draw(step, scene, settings)
        if settings == model.settings:
            picture.submit_films(settings)
            course.train_ahead(step)
    with top:
        training.watch()


def extras(step: Step) -> dict[str, Any]:
    """What a step adds to the description of its scene."""
    found: dict[str, Any] = {"without": course.hidden(step), "layout": "beside" if step.curve_beside else ""}
    found |= {"tallest": TALLEST, "from_top": True}
    if step.limit_line and course.revealed(step):
        found["limit"] = limit_points(step.settings.dataset)
    return found


def draw_words(reader: step_words.Reader) -> None:
    """The tasks, the outcome, and what comes next."""
    step_words.after(reader)
    if reader.step.gate.verdicts:
        people.draw(reader)
    step_words.onward(reader)
    challenges.draw(reader)


menu.require_app()
main()
