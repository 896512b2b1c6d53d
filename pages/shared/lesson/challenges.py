"""Challenges of a step: the target, what is in view, the best so far, hints, and why something cannot be done."""

from __future__ import annotations

import streamlit as st

from fairglvq.lesson.filling import shown
from fairglvq.lesson.steps import Challenge
from pages.shared.lesson import course
from pages.shared.lesson.step_words import Reader, options
from pages.shared.visit import visit
from pages.shared.widgets import button


def draw(reader: Reader) -> None:
    """All challenges of the step, once its gate is open."""
    if course.passed(reader.step):
        for challenge in reader.step.challenges:
            with st.container(key=f"lesson_challenge_{challenge.key}", border=True):
                _challenge(reader, challenge)


def _challenge(reader: Reader, challenge: Challenge) -> None:
    text = reader.text.challenges[challenge.key]
    result = course.progress().results.get(challenge.key)
    reader.write(f"**{reader.word('challenge')}** ({reader.word('optional')}). {text.task}")
    if result is None:
        st.markdown(reader.word("not tried"))
    else:
        st.markdown(f"**{reader.word('best')}:** {_scores(reader, result.accuracy, result.gap)}")
    if result and result.solved:
        reader.write(f"**{reader.word('solved')}.** {text.solved}")
        return
    _hints(reader, challenge)
    if challenge.why and result:
        _why(reader, challenge)


def _scores(reader: Reader, accuracy: float, gap: float) -> str:
    share, points = shown("share", accuracy, reader.language), shown("points", gap, reader.language)
    return f"{reader.word('accuracy')} {share}, {reader.word('gap')} {points}"


def _hints(reader: Reader, challenge: Challenge) -> None:
    hints, given = reader.text.challenges[challenge.key].hints, visit().lesson.hints.get(challenge.key, 0)
    for hint in hints[:given]:
        reader.write(f"**{reader.word('hint')}:** {hint}")
    if given < len(hints):
        label = reader.word("another hint" if given else "hint")
        button(label, _give_hint, challenge.key, given + 1, key=f"lesson_hint_{challenge.key}_{given}")


def _give_hint(key: str, number: int) -> None:
    visit().lesson.hints[key] = number


def _why(reader: Reader, challenge: Challenge) -> None:
    text, answer = reader.text.challenges[challenge.key], course.progress().answers.get(challenge.key)
    if answer is None:
        reader.write(f"**{text.why}**")
        options(challenge.key, text.options)
    else:
        reader.write(f"**{reader.word('said')}:** {text.options[answer]}")
        reader.write(text.answer)
