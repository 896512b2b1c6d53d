"""Numbers, names and lists as they stand in sentences, tables and pictures: one function per idea.

Shares are fractions from 0 to 1, differences of shares are in points (hundredths). This module imports nothing of the
project, so that every other module may use it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

UNKNOWN = "unknown"
"""A number that does not exist, such as the rate of a group without people."""

SMALL_N = "small n"
"""The flag of a rate that rests on fewer than `intervals.SMALL` people."""

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


# Numbers


def number(value: float, decimals: int) -> str:
    """A number with so many decimals, a true minus sign and thousands set apart: "−1,234.5"."""
    if math.isnan(value):
        return UNKNOWN
    text = f"{abs(value):,.{decimals}f}"
    return f"\N{MINUS SIGN}{text}" if value < 0 and float(text.replace(",", "")) != 0 else text


def of_column(value: float, decimals: int) -> str:
    """A value of a table's column: a number, without a mark in what may be a year: "2020.5", "12,345"."""
    text = number(value, decimals)
    return text if abs(value) >= 10_000 else text.replace(",", "")


def signed(value: float, decimals: int) -> str:
    """The same with a plus sign if it reads as more than 0: "+3.2"."""
    text = number(value, decimals)
    return f"+{text}" if value > 0 and float(text.replace(",", "")) != 0 else text


def percent(share: float, decimals: int = 1) -> str:
    """A share in percent: "12.3%". What is not nothing does not read as 0: "under 0.1%"."""
    if share > 0 and float(f"{100 * share:.{decimals}f}") == 0:
        return f"under {10.0**-decimals:.{decimals}f}%"
    text = number(100 * share, decimals)
    return text if text == UNKNOWN else f"{text}%"


def points(share: float) -> str:
    """A difference of two shares in points: 0.123 is "12.3"."""
    return number(100 * share, 1)


def gap(share: float) -> str:
    """A gap or another difference of two shares in words: "12.3 points"."""
    text = points(share)
    return text if text == UNKNOWN else f"{text} points"


def shown_difference(a: float, b: float) -> float:
    """The difference a - b of two shares after rounding to tenths of a point, as they are shown."""
    return round(a, 3) - round(b, 3)


def in_hundredths(shares: Any) -> Any:
    """Shares or gaps, one or many, as axes and tables show them: in percent or in points, rounding errors cut off."""
    return np.round(np.multiply(shares, 100.0), 10)


def at_most(share: float) -> float:
    """A bound rounded up to the tenth of a point that is shown, so that it still holds."""
    return math.ceil(round(1000 * share, 9)) / 1000


def signed_points(share: float) -> str:
    """A difference of two shares in points, with its sign: "+12.3"."""
    return signed(100 * share, 1)


def interval(low: float, high: float) -> str:
    """From where to where, in points: "−1.5 to 12.3"."""
    return f"{points(low)} to {points(high)}"


def of_hundred(share: float) -> str:
    """How many of 100 people: "12". What is not quite none or all has a decimal: "0.4", "99.6"."""
    nearly = 0 < share < 0.005 or 0.995 < share < 1
    return number(100 * share, 1 if nearly else 0)


def value(found: object, digits: int = 6) -> str:
    """A value of a column, like `of_column`; ``digits`` are enough to tell people apart, a border needs all of them."""
    if not isinstance(found, float) or not math.isfinite(found):
        return str(found)
    mark = "," if abs(found) >= 10_000 else ""
    text = f"{abs(found):{mark}.0f}" if found == round(found) else f"{abs(found):{mark}.{digits}g}"
    return f"\N{MINUS SIGN}{text}" if found < 0 else text


def exact(found: float) -> str:
    """A number with all its digits and without a needless decimal point, as a table's own value: "3", "0.25"."""
    return str(int(found)) if float(found).is_integer() else repr(float(found))


def time_left(seconds: float) -> str:
    """An estimate: "about 5 s to go"."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s to go"
    return f"about {seconds / 60:.0f} min to go" if seconds < 5400 else f"about {seconds / 3600:.1f} h to go"


# Counts


def count(n: float, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 row", "1,200 rows"; ``many`` where the plural is not ``one`` with an s."""
    return f"{n:,.15g} {one if n == 1 else many or one + 's'}"


def all_of(n: int) -> str:
    """How many out of as many: "both", "all 3"."""
    return "both" if n == 2 else f"all {n:,}"


def with_article(noun: str) -> str:
    """A noun with its article: "a gap", "an equal opportunity gap"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def people(n: int) -> str:
    """How many people: "1 person", "1,200 people"."""
    return count(n, "person", "people")


def rows(n: int) -> str:
    """How many rows: "1 row", "1,200 rows"."""
    return count(n, "row")


def counted(names: Sequence[str], counts: Sequence[int], *, shares: bool = False) -> str:
    """How many of each: "3 “yes” (30.0%), 7 “no” (70.0%)". Names come quoted, for they may be numbers themselves."""
    total = sum(counts)
    return ", ".join(
        f"{n:,} {name}" + (f" ({percent(n / total)})" if shares and total else "")
        for name, n in zip(names, counts, strict=True)
    )


def n_equals(n: int, small: bool) -> str:
    """On how many people a rate rests: "n = 120", "n = 12, small n"."""
    return f"n = {n:,}, {SMALL_N}" if small else f"n = {n:,}"


def flagged(text: str, small: bool) -> str:
    """A name or a count, flagged if it is of few people: "women (small n)"."""
    return f"{text} ({SMALL_N})" if small else text


# Names and lists


def listed(items: Sequence[str], most: int | None = None) -> str:
    """Items in a sentence: "a, b and c"; of more than ``most`` only the first: "a, b and 7 more"."""
    if most is not None and len(items) > most:
        items = [*items[:most], f"{len(items) - most:,} more"]
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def capital(sentence: str) -> str:
    """A sentence that begins with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def cut(text: object, longest: int) -> str:
    """A text of at most so many letters: "occupati…"."""
    words = str(text)
    return words if len(words) <= longest else words[: longest - 1] + "…"


def quoted(name: object) -> str:
    """A name in a sentence: in quotation marks, cut if long, its reading direction kept to itself."""
    text = cut(name, 60)
    return f"“\u2068{text}\u2069”" if _RIGHT_TO_LEFT.search(text) else f"“{text}”"


def quoted_names(names: Sequence[object]) -> str:
    """Names in a sentence: "“a”, “b” and 3 more"."""
    return listed([quoted(name) for name in names], most=6)


# Axes


class AxisTrait(NamedTuple):
    """How much one original column moves people along an axis.

    A number moves them in the direction of the axis where its weight is above 0, against it where it is below. Of a
    column of words, ``value`` is the one that the weight is about.
    """

    column: str
    weight: float
    value: str | None = None

    @property
    def words(self) -> str:
        """Who stands in the direction of the axis: "more age", "sex Male", "marital-status other than Divorced"."""
        if self.value is None:
            return f"{'more' if self.weight >= 0 else 'less'} {self.column}"
        return f"{self.column} {'' if self.weight >= 0 else 'other than '}{self.value}"


def axis_name(traits: Sequence[AxisTrait]) -> str:
    """An axis by the columns that make it: "education, married, capital gain"."""
    return ", ".join(trait.column for trait in traits)


def axis_direction(traits: Sequence[AxisTrait]) -> str:
    """Who stands at its far end: "more education, sex Male, less children"."""
    return ", ".join(trait.words for trait in traits)
