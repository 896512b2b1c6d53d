"""People as input of a model: scaled, with the way back to original units and the words for their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairglvq.datasets.base import Block, Dataset, TraitBlocks, trait_blocks
from fairglvq.datasets.split import Scaling
from fairglvq.explain.links import Column, Links, find_links
from fairglvq.fairness.cells import Cells, count

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """People as input of a model: X (n, d) scaled, classes y and groups s as positions in their names.

    A scaled value z means ``z * span + low`` in original units. ``measured`` marks the people whom rates are about.
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
        """Original values (..., d), scaled."""
        return (x - self.low) / self.span

    def values(self, block: Block) -> Floats:
        """Everybody's values (n, width) in a block, in original units."""
        return self.X[:, block.columns] * self.span[block.columns] + self.low[block.columns]

    def categories(self, block: Block) -> NDArray[np.int64]:
        """Everybody's place (n,) among the categories of a block."""
        values = self.values(block)
        return np.round(values[:, 0]).astype(int) if block.kind == "binary" else values.argmax(axis=1)

    @cached_property
    def mean(self) -> Floats:
        """The average person (d,), scaled."""
        return self.X.mean(axis=0)

    @cached_property
    def variance(self) -> Floats:
        """The variance of each column (d,), scaled."""
        return self.X.var(axis=0)

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
        """Which number columns hold only whole numbers below 2^53, which floats and browsers represent exactly."""
        found = {}
        for block in self.blocks:
            if block.kind == "number":
                values = self.values(block)[:, 0]
                # Scaling and back costs some rounding.
                away = np.abs(values - np.round(values))
                size = np.abs(values)
                found[block.column] = bool(np.all((away <= 1e-9 * np.maximum(1.0, size)) & (size < 2**53)))
        return found

    @cached_property
    def traits(self) -> tuple[TraitBlocks, ...]:
        """What people are described by: the blocks of every original column."""
        return trait_blocks(self.blocks)

    @property
    def columns(self) -> list[str]:
        """The names of all original columns."""
        return [trait[0].column for trait in self.traits]

    def trait(self, column: str) -> TraitBlocks:
        """The blocks of an original column."""
        for trait in self.traits:
            if trait[0].column == column:
                return trait
        raise ValueError(f"no column {column!r}; there are {', '.join(self.columns)}")

    @cached_property
    def links(self) -> Links:
        """Which columns change with which."""
        return find_links([self._column(block) for block, *_ in self.traits])

    def _column(self, block: Block) -> Column:
        if block.kind == "number":
            numbers, codes = np.unique(self.values(block)[:, 0], return_inverse=True)
            return Column(block.column, True, [self.readable(block, value) for value in numbers.tolist()], codes)
        present, codes = np.unique(self.categories(block), return_inverse=True)
        return Column(block.column, False, [block.categories[code] for code in present], codes)

    def readable(self, block: Block, value: float) -> float:
        """A number in original units without the rounding errors of scaling: 0.3, not 0.30000000000000004."""
        if self.whole[block.column] and abs(value - round(value)) < 1e-6:
            return float(round(value))
        return float(f"{value:.12g}")


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


@dataclass(frozen=True, eq=False)
class PeopleInCells(Cells):
    """The cells of a model, of prototypes or of leaves, with everybody in theirs; counts are of the measured people."""

    people: Population
    nearest: NDArray[np.int64] = field(repr=False)  # (n,) whose cell a person is in
    runner_up: NDArray[np.int64] = field(repr=False)  # (n,) whose cell it would be without that one

    @property
    def decisions(self) -> NDArray[np.int64]:
        """Everybody's class by this model (n,)."""
        return self.answers[self.nearest]


def moves_of(
    people: Population, answers: NDArray[np.int64], nearest: NDArray[np.int64], runner_up: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Measured people (P, K, G, K) by cell, true class, group, and answer of the cell that would be next."""
    m, K = people.measured, len(people.classes)
    shape = len(answers), K, len(people.groups), K
    return count(shape, nearest[m], people.y[m], people.s[m], answers[runner_up[m]])
