"""A point among the people in words: numbers in original units, shares of categories, and how two points differ."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairglvq import wording
from fairglvq.datasets.base import Block, columns_of
from fairglvq.explain.people import Floats, Population

SEEN = 0.005
"""A gap between two points smaller than this reads as none."""


class Trait(NamedTuple):
    """One original column of a prototype, a person or an average.

    A number, also one in bins, has a ``value`` in original units. A category has ``shares``, one per entry of
    ``categories``: training moves each column of a one-hot block by itself, so a prototype's values may be a little
    below 0 and need not sum to 1; to be read as shares they are clipped and brought to a sum of 1. ``outside`` says
    that a number lies beyond everybody in the data, or that values of a category were far from being shares (below 0
    or above 1 by more than 0.1). ``decimals`` is the useful precision of a number.
    """

    column: str
    value: float
    shares: tuple[float, ...]
    categories: tuple[str, ...]
    place: float  # of a number between the smallest (0) and the largest (1) in the data
    outside: bool
    decimals: int

    @property
    def top(self) -> int:
        """The largest category."""
        return int(np.argmax(self.shares))

    def words(self, category: int | None = None) -> str:
        """The value, or the share of a category (the largest one if none is named)."""
        if not self.shares:
            return wording.of_column(self.value, self.decimals)
        category = self.top if category is None else category
        return f"{self.categories[category]} {wording.percent(self.shares[category], 0)}"


class Difference(NamedTuple):
    """How two points differ in one original column.

    ``part`` is the column's part of their squared distance among the scaled people, a number's bins included; the parts
    of all columns add up to it.
    ``category`` is where the shares differ most, -1 for a number. ``gap`` is the difference as it is read: of that
    share, or of a number as a part of its range in the data.
    """

    own: Trait
    other: Trait
    part: float
    category: int
    gap: float

    def words(self, other: str) -> str:
        """For example "age 48.1 (average 38.5)"."""
        if self.category < 0:
            return f"{self.own.column} {self.own.words()} ({other} {self.other.words()})"
        there = wording.percent(self.other.shares[self.category], 0)
        return f"{self.own.column}: {self.own.words(self.category)} ({other} {there})"


def traits(people: Population, z: Floats) -> list[Trait]:
    """A point z (d,) among the scaled people, column by column in original units and categories."""
    x = people.original(z)
    return [_trait(people, blocks[0], x) for blocks in people.traits]


def differences(people: Population, z: Floats, other: Floats) -> list[Difference]:
    """What sets z (d,) apart from another point among the scaled people, the largest gap first."""
    squares = (z - other) ** 2
    found = []
    for own, there, blocks in zip(traits(people, z), traits(people, other), people.traits, strict=True):
        part = float(squares[columns_of(blocks)].sum())
        if own.shares:
            apart = np.abs(np.subtract(own.shares, there.shares))
            category, gap = int(apart.argmax()), float(apart.max())
        else:
            category, gap = -1, abs(own.place - there.place)
        found.append(Difference(own, there, part, category, gap))
    return sorted(found, key=lambda difference: -difference.gap)


def _trait(people: Population, block: Block, x: Floats) -> Trait:
    if block.kind == "number":
        j = block.start
        low, high = float(people.lowest[j]), float(people.highest[j])
        value, wide = float(x[j]), high - low
        place = (value - low) / wide if wide > 0 else 0.5
        outside = not low - 1e-9 * max(1.0, wide) <= value <= high + 1e-9 * max(1.0, wide)
        decimals = max(0, 2 - math.floor(math.log10(wide))) if wide > 0 else 2
        return Trait(block.column, value, (), (), place, outside, min(decimals, 12))
    raw = x[block.columns]
    if block.kind == "binary":
        one = float(np.clip(raw[0], 0.0, 1.0))
        shares = np.array([1.0 - one, one])
    else:
        shares = np.maximum(raw, 0.0)
        total = shares.sum()
        shares = shares / total if total > 0 else np.full(len(shares), 1 / len(shares))
    outside = bool(raw.min() < -0.1 or raw.max() > 1.1)
    return Trait(block.column, math.nan, tuple(shares.tolist()), block.categories, math.nan, outside, 0)
