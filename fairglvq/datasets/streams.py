"""The 2-D sets as streams: points arrive batch by batch, and their distribution changes on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fairglvq.datasets.synthetic import DEFINITIONS, Definition

Drift = Literal["none", "border", "groups"]
DRIFTS: tuple[Drift, ...] = ("none", "border", "groups")
SHIFT = 0.5
"""How far a drift moves all points, along both axes, in units of the box around the centres."""
SHARE = 0.9
"""What share of the points the first group has after its drift."""


class Batch(NamedTuple):
    """Points (n, 2), the box around the centres of their Gaussians being [0, 1]², with labels and groups."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.int64]
    s: npt.NDArray[np.int64]


def stream(
    name: str = "xor",
    *,
    points: int = 100_000,
    batch_size: int = 1_000,
    drift: Drift = "border",
    at: float = 0.5,
    seed: int = 0,
) -> Iterator[Batch]:
    """Draw a 2-D set as a stream that drifts once.

    After a share ``at`` of all points, "border" moves points and borders together, so that what was learned lies in
    the wrong place; "groups" makes the first group nine in ten of those who arrive. No batch is kept.
    """
    if name not in DEFINITIONS:
        raise ValueError(f"name must be one of {', '.join(map(repr, DEFINITIONS))}; got {name!r}")
    if drift not in DRIFTS:
        raise ValueError(f"drift must be one of {', '.join(map(repr, DRIFTS))}; got {drift!r}")
    if points < 1 or batch_size < 1 or not 0 <= at <= 1:
        raise ValueError(f"points and batch_size must be at least 1 and at from 0 to 1; got {points, batch_size, at}")
    return _batches(DEFINITIONS[name], points, batch_size, drift, at, np.random.default_rng(seed))


def _batches(definition: Definition, points, batch_size, drift, at, rng) -> Iterator[Batch]:
    for start in range(0, points, batch_size):
        n = min(batch_size, points - start)
        drifted = start >= at * points
        if drift == "groups" and drifted:
            yield _mostly_first_group(definition, n, rng)
        else:
            X, y, s = _draw(definition, n, rng)
            yield Batch(X + SHIFT if drift == "border" and drifted else X, y, s)


def _draw(definition: Definition, n: int, rng: np.random.Generator) -> Batch:
    centres = np.array(definition.centres, dtype=float)
    X, y, s = definition.draw(rng.integers(len(centres), size=n), rng)
    low, span = centres.min(axis=0), np.ptp(centres, axis=0)
    return Batch((X - low) / np.where(span > 0, span, 1.0), y, s)


def _mostly_first_group(definition: Definition, n: int, rng: np.random.Generator) -> Batch:
    """Of more points than are needed, some of each group; each group keeps its own distribution."""
    wanted = rng.random(n) < SHARE
    parts: list[Batch] = []
    for first, count in ((True, int(wanted.sum())), (False, int(n - wanted.sum()))):
        while count > 0:
            drawn = _draw(definition, 4 * count + 8, rng)
            rows = np.flatnonzero((drawn.s == 0) == first)[:count]
            parts.append(Batch(drawn.X[rows], drawn.y[rows], drawn.s[rows]))
            count -= len(rows)
    order = rng.permutation(n)
    return Batch(*(np.concatenate(values)[order] for values in zip(*parts, strict=True)))
