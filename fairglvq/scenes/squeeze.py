"""The plane of drawn data squeezed so that Euclidean distances in the picture are a model's learned distances.

d(x, w) = |Ω(x - w)| is the plain distance after P = (Ω'Ω)^½. P is symmetric: nothing turns, what counts less becomes
shorter. It is scaled so that the direction that counts most keeps its length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairglvq.wording import number

FLOOR = 1e-6  # of the longest: a direction that does not count at all keeps this much, or nothing could be drawn back
SLANT = 0.26  # radians (15°) between the directions of P and the axes, up to which the axes keep their names
ALIKE = 1.1  # times as much, and less, is no difference in words
ALL = 50.0  # times as much, and more, leaves nothing for the other


def squeeze_of(omega: np.ndarray, axes: list[str]) -> dict[str, Any]:
    """How the stage squeezes the plane for a metric Ω (2, 2): P, what it does in words, and whether it is slanted."""
    _, lengths, directions = np.linalg.svd(omega)
    lengths = np.maximum(lengths / lengths[0], FLOOR)
    return {
        "matrix": ((directions.T * lengths) @ directions).tolist(),
        "words": weights_in_words(omega, axes),
        "slanted": _slanted(lengths, directions),
    }


def weights_in_words(omega: np.ndarray, axes: list[str]) -> str:
    """How much the axes count for a metric: "weight on savings: 4.9 times that on income"."""
    _, lengths, directions = np.linalg.svd(omega)
    weights = np.linalg.norm(omega, axis=0)  # how long a step of 1 along each axis is
    heavy = int(weights[1] > weights[0])
    most, least = f"on {axes[heavy]}", f"that on {axes[1 - heavy]}"
    times = weights[heavy] / max(weights[1 - heavy], FLOOR * weights[heavy])
    if _slanted(lengths, directions):
        most, least = "along a slant", "that across"
        times = lengths[0] / max(lengths[1], FLOOR * lengths[0])
    if times < ALIKE:
        return f"about the same weight on {axes[0]} and {axes[1]}"
    if times >= ALL:
        return f"nearly all weight {most}"
    return f"weight {most}: {number(times, 1 if times < 9.95 else 0)} times {least}"


def _slanted(lengths: np.ndarray, directions: np.ndarray) -> bool:
    """Whether squeezing mixes the axes so much that their names would no longer be true."""
    return bool(lengths[0] >= ALIKE * lengths[1] and np.abs(directions[0]).min() > np.sin(SLANT))
