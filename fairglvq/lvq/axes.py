"""What the axes of a learned metric mean: the original columns that make each row of Ω."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairglvq.datasets.base import Block, columns_of, trait_blocks
from fairglvq.wording import AxisTrait

LEAST = 0.25
"""What moves people less than this, next to what moves them most along the same axis, is not worth naming."""


def axis_traits(omega: np.ndarray, X: np.ndarray, blocks: Sequence[Block], most: int = 3) -> list[list[AxisTrait]]:
    """For every row of Ω (r, d) the traits that spread people X (n, d) most along it, the strongest first.

    A trait is an original column with all its columns of X, a number's bins among them. Its part in the axis is the
    sum of Ω_kj x_j over its columns; its weight is the standard deviation of that part. Adding a constant to Ω in all
    columns of a category changes no weight, as it changes no decision.
    """
    found: list[list[AxisTrait]] = [[] for _ in omega]
    for trait in trait_blocks(blocks):
        columns = columns_of(trait)
        own = X[:, columns] - X[:, columns].mean(axis=0)  # (n, width)
        parts = own @ omega[:, columns].T  # (n, r)
        for k, part in enumerate(parts.T):
            found[k].append(_axis_trait(trait[0], own, part))
    return [_strongest(axis, most) for axis in found]


def _axis_trait(block: Block, own: np.ndarray, part: np.ndarray) -> AxisTrait:
    """One trait along one axis, from its centred columns (n, width) and its part (n,) in the axis."""
    weight = float(part.std())
    if block.kind == "category":
        # The value that shifts most people furthest: how much its 0/1 column goes with the part.
        spread = own.std(axis=0)
        with_part = np.divide(own.T @ part, spread, out=np.zeros(len(spread)), where=spread > 0)
        value = int(np.abs(with_part).argmax())
        return AxisTrait(block.column, weight if with_part[value] >= 0 else -weight, block.categories[value])
    rises = float(own[:, 0] @ part) >= 0
    if block.kind == "binary":  # the value that lies in the direction of the axis
        return AxisTrait(block.column, weight, block.categories[int(rises)])
    return AxisTrait(block.column, weight if rises else -weight)


def _strongest(axis: list[AxisTrait], most: int) -> list[AxisTrait]:
    ordered = sorted(axis, key=lambda trait: -abs(trait.weight))[:most]
    return [trait for trait in ordered if abs(trait.weight) > LEAST * abs(ordered[0].weight)]
