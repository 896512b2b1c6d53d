"""Texts of the lesson with places filled: numbers as the language writes them, marks as the pictures draw them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from string import Formatter
from typing import NamedTuple

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


class Numerals(NamedTuple):
    """How a language writes numbers: what follows a share, points and one point; its signs for "," and "."."""

    share: str
    points: str
    point: str
    signs: str = ",."


NUMERALS = {
    "en": Numerals("%", "\N{NO-BREAK SPACE}points", "\N{NO-BREAK SPACE}point"),
    "de": Numerals("\N{NO-BREAK SPACE}%", "\N{NO-BREAK SPACE}Punkte", "\N{NO-BREAK SPACE}Punkt", ".,"),
}


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
    digits, own = _digits(kind, value), NUMERALS[language]
    points = own.point if digits == "1" else own.points
    unit = {"share": own.share, "points": points}.get(kind, "")
    return digits.translate(str.maketrans(",.", own.signs)) + unit


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
