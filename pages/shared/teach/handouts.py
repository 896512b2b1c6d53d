"""The lesson on paper, for the teacher: a handout and its answers in every language, made when a button is pressed."""

from __future__ import annotations

from functools import cache, partial

import streamlit as st

from fairglvq.lesson.texts import LANGUAGES
from fairglvq.report import handout_name
from pages.shared.server import training_service
from pages.shared.widgets import download

INTRO = (
    "The lesson on four pages: its pictures, its questions, and space for what students expect and see. "
    "The answer sheet has what came true and why. Open the file in a browser and print it."
)


def draw() -> None:
    """A button for each language and kind."""
    st.header("On paper", anchor=False)
    st.markdown(INTRO)
    for language, name in LANGUAGES.items():
        with st.container(horizontal=True, key=f"handout_{language}"):
            for answers, label in ((False, "Handout"), (True, "Answer sheet")):
                download(
                    f"{label}, {name}", partial(_sheet, language, answers), handout_name(language, answers=answers),
                    "text/html", key=f"handout_{language}_{answers}",
                )  # fmt: skip


def _sheet(language: str, answers: bool) -> str:
    from fairglvq.report.handout import to_html  # with it Numba: only who presses a button waits for it

    return to_html(_models(), language, answers=answers)


@cache
def _models():
    """The models of the lesson; most are cached once a visitor has done it."""
    from fairglvq.report.handout import models

    return models(training_service())
