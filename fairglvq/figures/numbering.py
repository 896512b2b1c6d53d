"""Where to write the numbers of marks on a map, so that none hides another number or a mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PLOT = 280  # pixels of a map's shorter side on a phone; on a larger screen there is more room
GAP = 2  # pixels on either side of a number: "10" beside "5" must not read as "105"
SIDES = {
    "top center": (0, -1),
    "middle right": (1, 0),
    "bottom center": (0, 1),
    "middle left": (-1, 0),
    "top right": (1, -1),
    "bottom right": (1, 1),
    "bottom left": (-1, 1),
    "top left": (-1, -1),
}
"""Plotly's text positions, the most usual first, and which way they lie (right, down)."""

Box = tuple[float, float, float, float]


class Numbers(NamedTuple):
    """A text per mark, empty where another mark's text includes its number, and the side it is written on."""

    texts: list[str]
    sides: list[str]


def numbers(
    places: NDArray[np.float64],
    sizes: NDArray[np.float64],
    names: Sequence[int],
    *,
    font: float,
    extent: float,
    others: NDArray[np.float64] | None = None,
) -> Numbers:
    """Numbers beside marks at places (P, 2) with these diameters in pixels, on a map ``extent`` units wide and high.

    A mark whose centre lies inside a larger one shares its text: "3, 5". ``others`` are places (n, 2) of small marks
    without a number, which must not be covered either.
    """
    scale = PLOT / extent if extent > 0 else 1.0
    at = places * [scale, -scale]  # pixels, downwards as on a screen
    radius = np.asarray(sizes, float) / 2
    inner: dict[int, list[int]] = {}
    for p in np.argsort(-radius, kind="stable").tolist():
        inside = [q for q in inner if np.hypot(*(at[p] - at[q])) < radius[q]]
        inner.setdefault(inside[0] if inside else p, []).append(p)
    marks = [_around(centre, r) for centre, r in zip(at, radius, strict=True)]
    taken = [] if others is None else [_around(centre, 4.0) for centre in others * [scale, -scale]]
    texts, sides = [""] * len(at), ["top center"] * len(at)
    for q, own in inner.items():
        texts[q] = ", ".join(map(str, sorted(names[p] for p in own)))
        in_the_way = [*taken, *(mark for p, mark in enumerate(marks) if p not in own)]
        boxes = {side: _beside(at[q], radius[q], way, texts[q], font) for side, way in SIDES.items()}
        sides[q] = min(boxes, key=lambda side: sum(_shared(boxes[side], box) for box in in_the_way))
        taken.append(boxes[sides[q]])
    return Numbers(texts, sides)


def _around(centre: NDArray[np.float64], radius: float) -> Box:
    x, y = centre
    return x - radius, y - radius, x + radius, y + radius


def _beside(centre: NDArray[np.float64], radius: float, way: tuple[int, int], text: str, font: float) -> Box:
    """The box that a text fills on one side of a mark; Plotly leaves a little room between them."""
    off = 1.25 * radius + 1
    half_width, half_height = 0.3 * font * len(text) + GAP, font / 2
    x, y = centre[0] + way[0] * (off + half_width), centre[1] + way[1] * (off + half_height)
    return x - half_width, y - half_height, x + half_width, y + half_height


def _shared(a: Box, b: Box) -> float:
    """The area that two boxes share."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(0.0, wide) * max(0.0, high)
