"""The words of the lesson: one Markdown file per step and language, and one of words for the page around them.

A file is a title and sections. A section is text, then lines "- key: text" for what has several parts::

    # Title

    ## question
    How far apart are the towns?
    - none: Not at all.
    - many: Very far.

Texts have places for numbers and marks, such as "{glvq_gap}": the names in `numbers.NUMBERS` and `filling.MARKS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from fairglvq.lesson.steps import step_of

FOLDER = Path(__file__).parent / "texts"
LANGUAGES = {"en": "English", "de": "Deutsch"}
_SECTION = re.compile(r"^## +(.+)$", re.MULTILINE)
_ITEM = re.compile(r"^- ([\w ,-]+?): +(.*(?:\n(?!- |\n).*)*)", re.MULTILINE)


class Section(NamedTuple):
    """The text of a section, and its parts by key."""

    text: str
    items: Mapping[str, str]


@dataclass(frozen=True)
class ChallengeText:
    """A challenge in words; ``options`` and ``answers`` (by option) are of its question why, if it has one."""

    task: str
    hints: tuple[str, str]
    solved: str
    why: str
    options: Mapping[str, str]
    answer: str


@dataclass(frozen=True)
class StepText:
    """A step in words. ``options`` and ``happened`` are by option of the prediction, ``tasks`` by deed."""

    title: str
    idea: str
    terms: Mapping[str, str]
    question: str
    options: Mapping[str, str]
    happened: Mapping[str, str]
    why: str
    task: str
    tasks: Mapping[str, str]
    formula: str
    more: str
    challenges: Mapping[str, ChallengeText]


@cache
def text(step_key: str, language: str) -> StepText:
    """A step in one of the `LANGUAGES`."""
    step = step_of(step_key)
    title, parts = parsed(_file(f"{step.number}_{step.key}", language))
    question, task = parts["question"], parts["task"]
    return StepText(
        title=title,
        idea=parts["idea"].text,
        terms=parts["terms"].items,
        question=question.text,
        options=question.items,
        happened=parts["happened"].items,
        why=parts["why"].text,
        task=task.text,
        tasks=task.items,
        formula=parts["formula"].text,
        more=parts["more"].text if "more" in parts else "",
        challenges={one.key: _challenge(parts[f"challenge {one.key}"]) for one in step.challenges},
    )


@cache
def words(language: str, around: str = "words") -> Mapping[str, str]:
    """The words around the steps: of the page ("words") or of the handout."""
    return parsed(_file(around, language))[1]["words"].items


def parsed(source: str) -> tuple[str, dict[str, Section]]:
    """Title and sections of a file."""
    head, *rest = _SECTION.split(source)
    sections = {}
    for name, body in zip(rest[::2], rest[1::2], strict=True):
        items = {key: _one_line(value) for key, value in _ITEM.findall(body)}
        sections[name.strip()] = Section(_ITEM.sub("", body).strip(), items)
    return head.strip().removeprefix("# "), sections


def places(source: str) -> set[str]:
    """The names of the places in a text."""
    return {name for _, name, _, _ in Formatter().parse(source) if name is not None}


def _challenge(section: Section) -> ChallengeText:
    items = dict(section.items)
    hints = items.pop("hint one"), items.pop("hint two")
    solved, why, answer = (items.pop(name, "") for name in ("solved", "why", "answer"))
    return ChallengeText(section.text, hints, solved, why, items, answer)


def _file(name: str, language: str) -> str:
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r} is unknown; there are {', '.join(LANGUAGES)}")
    return (FOLDER / language / f"{name}.md").read_text("utf-8")


def _one_line(value: str) -> str:
    return " ".join(value.split())
