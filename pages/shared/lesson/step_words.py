"""The words of a step beside the stage: the idea, the question, the answer and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from fairglvq.lesson.filling import UNKNOWN, fill
from fairglvq.lesson.numbers import Seen
from fairglvq.lesson.steps import STEPS, Step
from fairglvq.lesson.texts import StepText, text, words
from pages.shared.lesson import course
from pages.shared.style import theme
from pages.shared.visit import visit
from pages.shared.widgets import button, control


@dataclass(frozen=True)
class Reader:
    """A step, what is in view of it, and the language it is read in."""

    step: Step
    seen: Seen
    language: str

    @property
    def text(self) -> StepText:
        """The words of the step."""
        return text(self.step.key, self.language)

    def word(self, key: str) -> str:
        """A word of the page."""
        return words(self.language)[key]

    def filled(self, source: str) -> str:
        """A text with its numbers."""
        return fill(source, self.seen, self.language, theme())

    def write(self, source: str, key: str | None = None) -> None:
        """Show a text with its numbers."""
        with st.container(key=key):
            st.markdown(self.filled(source), unsafe_allow_html=True)


def before(reader: Reader) -> None:
    """The idea, its terms, and the question or the answer given."""
    text = reader.text
    st.title(f"{reader.step.number}. {text.title}", anchor=False)
    reader.write(text.idea)
    terms = "\n\n".join(f"**{term}**: {means}" for term, means in text.terms.items())
    reader.write(f"**{reader.word('terms')}**\n\n{terms}", key="lesson_terms")
    with st.container(key="lesson_question", border=True):
        if course.answered(reader.step):
            answer = course.progress().answers[reader.step.prediction.key]
            reader.write(f"**{reader.word('said')}:** {text.options[answer]}")
            if not course.revealed(reader.step):
                st.markdown(f"**{reader.word('room waits')}**")
        else:
            reader.write(f"**{reader.word('predict')}** {text.question}")
            options(reader.step.prediction.key, text.options)


def options(key: str, texts: Mapping[str, str]) -> None:
    """A button per answer."""
    for option, answer in texts.items():
        button(answer, course.answer, key, option, key=f"lesson_{key}_{option}", width="stretch")


def after(reader: Reader) -> None:
    """The tasks and the outcome, in the order in which they happen."""
    if not course.revealed(reader.step):
        return
    if not (course.ready(reader.step, reader.seen) or course.passed(reader.step)):
        st.markdown(reader.word("waiting"))
        return
    if reader.step.reveals_at_once:
        outcome(reader)
    _task(reader)
    if course.passed(reader.step) and not reader.step.reveals_at_once:
        outcome(reader)


def _task(reader: Reader) -> None:
    step, text = reader.step, reader.text
    with st.container(key="lesson_task"):
        reader.write(f"**{reader.word('task')}.** {text.task}")
        for deed, task in text.tasks.items():
            done = course.passed(step) or (step.key, deed) in visit().lesson.deeds
            reader.write(f"☑ {task} *({reader.word('done')})*" if done else f"☐ {task}")
        if step.gate.typed and not course.passed(step):
            _typed(reader)


def outcome(reader: Reader) -> None:
    """The answer given, the outcome, and why."""
    step, text = reader.step, reader.text
    answer, happened = course.progress().answers[step.prediction.key], course.happened(step, reader.seen)
    if happened is None:
        st.markdown(reader.word("waiting"))
        return
    sentence = reader.filled(text.happened[happened])
    with st.container(key="lesson_outcome", border=True):
        verdict = reader.word("right" if answer == happened else "wrong")
        st.markdown(f"**{reader.word('happened')}: {verdict}** {text.options[happened]}")
        st.markdown(reader.word("again") if UNKNOWN in sentence else sentence, unsafe_allow_html=True)
        reader.write(f"**{reader.word('why')}:** {text.why}")
        reader.write(text.formula, key="lesson_formula")


def onward(reader: Reader) -> None:
    """Further words, and the button to the next step."""
    step = reader.step
    if not course.passed(step):
        return
    if reader.text.more:
        reader.write(reader.text.more)
    last = step.number == len(STEPS)
    with st.container(key="lesson_next"):
        st.markdown(f"**{reader.word('finished' if last else 'passed')}**")
        if last:
            st.page_link("pages/playground.py", label=reader.word("playground"))
        else:
            coming = step.number + 1
            label = f"{reader.word('next')} {coming}: {text(STEPS[step.number].key, reader.language).title}"
            button(label, course.go, coming, type="primary", key=f"lesson_next_{coming}")


def _typed(reader: Reader) -> None:
    here = visit().lesson
    kept = here.typed[1] if here.typed and here.typed[0] == reader.step.key else None
    control(
        "number_input", reader.word("typed"), None if kept is None else round(100 * kept, 6), _keep_typed,
        name="lesson_typed", min_value=0.0, max_value=100.0, step=0.1,
    )  # fmt: skip
    if kept is not None:
        st.markdown(reader.word("not yet"))


def _keep_typed(points: float | None) -> None:
    step = STEPS[course.progress().step - 1]
    visit().lesson.typed = None if points is None else (step.key, points / 100)
