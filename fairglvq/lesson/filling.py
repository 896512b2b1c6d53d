"""Texts of the lesson with places filled: numbers as the language writes them, marks as the pictures draw them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from string import Formatter

from fairglvq import wording
from fairglvq.grammar import GROUP_SHAPES, SHAPES, Theme, class_colours
from fairglvq.lesson.numbers import NUMBERS, Kind
from fairglvq.lesson.texts import words

UNKNOWN = "…"
"""In place of a number that is not known yet."""

FORCES: dict[str, dict[Theme, str]] = {
    "force_pull": {"light": "inherit", "dark": "inherit"},
    "force_push": {"light": "#c2185b", "dark": "#ff7ab8"},
    "force_sum": {"light": "#1b7f2a", "dark": "#7ee081"},
}
"""The arrows of the stage, in its colours (`theme.js`)."""

MARKS = ("A", "B", "loan", "no_loan", *FORCES)
"""Places for what pictures draw: a town's shape, a label's colour, an arrow."""

UNITS: dict[str, dict[Kind, str]] = {
    "en": {"share": "%", "points": "\N{NO-BREAK SPACE}points"},
    "de": {"share": "\N{NO-BREAK SPACE}%", "points": "\N{NO-BREAK SPACE}Punkte"},
}
ONE_POINT = {"en": "point", "de": "Punkt"}

_GERMAN = str.maketrans(",.", ".,")


def fill(text: str, numbers: Mapping[str, float], language: str, theme: Theme = "light") -> str:
    """A text as Markdown with some HTML, every place filled. "{gap:n}" is the German dative: "von 5 Punkten"."""
    parts = []
    for literal, name, ending, _ in Formatter().parse(text):
        parts.append(literal)
        if name is not None:
            found = mark(name, language, theme) if name in MARKS else written(name, numbers[name], language)
            parts.append(found + (ending or "") if found.endswith("Punkte") else found)
    return "".join(parts)


def written(name: str, value: float, language: str) -> str:
    """A number as the language writes it, with its unit."""
    return shown(NUMBERS[name].kind, value, language)


def shown(kind: Kind, value: float, language: str) -> str:
    """A number of some kind with its unit."""
    if math.isnan(value):
        return UNKNOWN
    digits = _digits(kind, value)
    if kind == "points" and digits == "1":
        return f"1\N{NO-BREAK SPACE}{ONE_POINT[language]}"
    return (digits.translate(_GERMAN) if language == "de" else digits) + UNITS[language].get(kind, "")


def _digits(kind: Kind, value: float) -> str:
    if kind == "count":
        return wording.number(value, 0)
    if kind == "number":
        return f"{value:.3g}"
    text = wording.number(100 * value, 1)
    return text.removesuffix(".0")


def mark(name: str, language: str, theme: Theme) -> str:
    """A shape or colour of the pictures with its word."""
    word = words(language)[f"mark {name}"]
    if name in ("A", "B"):
        return f"{SHAPES[GROUP_SHAPES['AB'.index(name)]].glyph}\N{NO-BREAK SPACE}{word}"
    if name in FORCES:
        return f'<b style="color:{FORCES[name][theme]}">{word}</b>'
    colour = class_colours(2)[("no_loan", "loan").index(name)].mark(theme)
    return f'<span style="color:{colour}">■</span>\N{NO-BREAK SPACE}{word}'
