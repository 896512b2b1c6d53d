"""Words beside the last point of a curve, where they cover nothing.

Where there is room depends on the size of the picture, which is not known when it is made. So every place is tried at
two sizes, a phone's and a desk's, and one that is free at both is taken; words without such a place are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from fairglvq.grammar import BACKGROUNDS, Theme
from fairglvq.tradeoff.curve import point_of, strength_words

LETTER = 11
"""Height of the letters in pixels."""

SIZES = ((250, 330), (720, 400))
"""Width and height of the plot in pixels."""

PLACES = (
    "bottom right", "top right", "middle right", "bottom left", "top left", "middle left", "bottom center",
    "top center",
)  # fmt: skip
AWAY = 8.5
"""Pixels from the middle of a mark to its words, as Plotly sets them for marks of this size."""

BAR, SOLID = 1, 100
"""What it costs to cross an error bar, and to cover a line, a mark or other words: more than any number of bars."""


def halo(theme: Theme) -> str:
    """A rim in the colour of the page, so that an error bar passes behind the words."""
    return ", ".join([f"0 0 2px {BACKGROUNDS[theme]}"] * 4)


class Box(NamedTuple):
    """A rectangle in pixels, y upwards."""

    left: float
    low: float
    right: float
    high: float

    def wider(self, by: float) -> Box:
        """The same with a margin around it."""
        return Box(self.left - by, self.low - by, self.right + by, self.high + by)

    def meets(self, start: np.ndarray, end: np.ndarray) -> bool:
        """Whether a straight line from start to end crosses it."""
        first, last = 0.0, 1.0  # the part of the line that is inside, cut side by side
        for axis, (low, high) in enumerate(((self.left, self.right), (self.low, self.high))):
            way = end[axis] - start[axis]
            if way == 0:
                if not low <= start[axis] <= high:
                    return False
                continue
            enters, leaves = sorted(((low - start[axis]) / way, (high - start[axis]) / way))
            first, last = max(first, enters), min(last, leaves)
        return first <= last


class Stroke(NamedTuple):
    """A line in shares of the plot, its reach to either side in pixels, and what it costs to cover it."""

    start: np.ndarray
    end: np.ndarray
    reach: float
    cost: float


def label_strengths(figure: go.Figure, ranges: list[list[float]]) -> None:
    """Write the largest strength beside the last point of each curve of a method.

    That one is enough to show which way a curve runs, and the smallest ones often coincide.
    """
    strokes = [stroke for trace in figure.data for stroke in _strokes(trace, ranges)]
    taken: list[list[Box]] = []  # per label, its box at each size
    for trace in figure.data:
        words = _words(trace)
        if not words:
            continue
        last = _shares(trace, ranges)[-1]
        found = [(_cost(boxes, strokes, taken), boxes, place) for place, boxes in _candidates(last, words)]
        cost, boxes, place = min(found, key=lambda one: one[0])
        if cost < SOLID:
            taken.append(boxes)
            trace.update(
                mode=f"{trace.mode}+text", text=[""] * (len(trace.x) - 1) + [words], textposition=place
            )  # fmt: skip


def _words(trace: Any) -> str:
    """The strength of a curve's last point; nothing for what is no method of ours."""
    identifier = trace.customdata[-1][0] if trace.customdata is not None else ""
    return strength_words(*point_of(identifier)) if identifier else ""


def _candidates(point: np.ndarray, words: str) -> Iterator[tuple[str, list[Box]]]:
    """Every place with the box of the words at each size."""
    wide = 0.52 * LETTER * len(words)
    for place in PLACES:
        boxes = []
        for size in SIZES:
            x, y = point * size
            left = x + AWAY if "right" in place else x - AWAY - wide if "left" in place else x - wide / 2
            low = y + AWAY if "top" in place else y - AWAY - LETTER if "bottom" in place else y - LETTER / 2
            boxes.append(Box(left, low, left + wide, low + LETTER))
        yield place, boxes


def _cost(boxes: list[Box], strokes: list[Stroke], taken: list[list[Box]]) -> float:
    cost = 0.0
    for number, (box, size) in enumerate(zip(boxes, SIZES, strict=True)):
        if box.left < 0 or box.low < 0 or box.right > size[0] or box.high > size[1]:
            cost += SOLID
        for other in taken:
            cost += SOLID * _overlap(box.wider(2), other[number])
        cost += sum(
            stroke.cost for stroke in strokes if box.wider(stroke.reach).meets(stroke.start * size, stroke.end * size)
        )
    return cost


def _overlap(one: Box, other: Box) -> bool:
    return one.left < other.right and other.left < one.right and one.low < other.high and other.low < one.high


def _shares(trace: Any, ranges: list[list[float]]) -> np.ndarray:
    """Points in shares of the plot, (n, 2)."""
    values = np.column_stack([np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)])
    low, high = np.array(ranges).T
    return (values - low) / (high - low)


def _strokes(trace: Any, ranges: list[list[float]]) -> Iterator[Stroke]:
    """Everything that a trace draws."""
    points = _shares(trace, ranges)
    if "markers" in trace.mode:
        for point in points:
            yield Stroke(point, point, trace.marker.size / 2, SOLID)
    if "lines" in trace.mode:
        for start, end in pairwise(points):
            yield Stroke(start, end, trace.line.width / 2 + 1, SOLID)
    for axis, bars in enumerate((trace.error_x, trace.error_y)):
        if bars.array is not None:
            low, high = ranges[axis]
            for point, spread in zip(points, np.asarray(bars.array, dtype=float), strict=True):
                reach = np.eye(2)[axis] * spread / (high - low)
                yield Stroke(point - reach, point + reach, 1, BAR)
