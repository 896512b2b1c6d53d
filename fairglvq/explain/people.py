"""People as a model sees them: scaled, with the way back to original units and the words for their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairglvq.datasets.base import Block, Dataset
from fairglvq.datasets.split import Scaling

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """People as a model sees them: X (n, d) scaled, classes y and groups s as positions in their names.

    A scaled value z means ``z * span + low`` in original units. ``measured`` marks whom rates are about.
    """

    X: Floats = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    s: NDArray[np.int64] = field(repr=False)
    measured: NDArray[np.bool_] = field(repr=False)
    low: Floats = field(repr=False)
    span: Floats = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    favourable: int
    group_column: str = ""

    def original(self, z: Floats) -> Floats:
        """Scaled values (..., d) in original units."""
        return z * self.span + self.low

    def scaled(self, x: Floats) -> Floats:
        """Original values (..., d) as the model sees them."""
        return (x - self.low) / self.span

    @cached_property
    def mean(self) -> Floats:
        """The average person (d,), scaled."""
        return self.X.mean(axis=0)

    @cached_property
    def lowest(self) -> Floats:
        """Smallest value of each column (d,), in original units."""
        return self.original(self.X.min(axis=0))

    @cached_property
    def highest(self) -> Floats:
        """Largest value of each column (d,), in original units."""
        return self.original(self.X.max(axis=0))

    @cached_property
    def whole(self) -> dict[str, bool]:
        """Which number columns hold nothing but whole numbers."""
        found = {}
        for block in self.blocks:
            if block.kind == "number":
                values = self.X[:, block.start] * self.span[block.start] + self.low[block.start]
                # Scaling and back costs some rounding.
                away = np.abs(values - np.round(values))
                found[block.column] = bool(np.all(away <= 1e-9 * np.maximum(1.0, np.abs(values))))
        return found

    def block(self, column: str) -> Block:
        """The block of an original column."""
        for block in self.blocks:
            if block.column == column:
                return block
        raise ValueError(f"no column {column!r}; there are {', '.join(block.column for block in self.blocks)}")


def population(data: Dataset, held_out: NDArray[np.bool_] | None = None) -> Population:
    """People of a data set, every column scaled to [0, 1] on those who are not held out."""
    held_out = np.zeros(len(data.y), bool) if held_out is None else np.asarray(held_out, bool)
    return scaled_population(data, Scaling.fit(data.X[~held_out]), held_out)


def scaled_population(data: Dataset, scaling: Scaling, held_out: NDArray[np.bool_] | None = None) -> Population:
    """People of a data set, scaled as a model needs them; with nobody held out everybody is measured."""
    classes, groups = list(data.class_names), list(data.group_names)
    return Population(
        X=scaling.apply(data.X),
        y=positions(data.y, classes),
        s=positions(data.s, groups),
        measured=np.ones(len(data.y), bool) if held_out is None or not held_out.any() else held_out,
        low=scaling.low,
        span=scaling.span,
        blocks=data.blocks,
        classes=tuple(str(data.class_names[c]) for c in classes),
        groups=tuple(str(data.group_names[g]) for g in groups),
        favourable=classes.index(data.favourable),
        group_column=data.group_column,
    )


def positions(values: NDArray[Any], names: list) -> NDArray[np.int64]:
    """Where each value stands in a list of names that need not be sorted."""
    place = {name: position for position, name in enumerate(names)}
    return np.fromiter((place[value] for value in values.tolist()), np.int64, len(values))
