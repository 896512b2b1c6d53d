"""The leaves of a tree as cells: who is in them, what they answer, and the conditions that lead there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairglvq.explain.people import Floats, PeopleInCells, Population, moves_of
from fairglvq.trees.structure import Tree


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A tree over scaled people, with the positions of classes and of majority groups of its leaves.

    ``rules`` are the conditions of each leaf in original columns and units.
    """

    tree: Tree
    labels: NDArray[np.int64]  # (P,)
    pseudo: NDArray[np.int64]  # (P,) by vote of the training people
    rules: Sequence[str]

    def decide(self, X: Floats) -> NDArray[np.int64]:
        """The class of the leaf (n,) of scaled people (n, d)."""
        return self.labels[self.tree.apply(X)]

    def borders(self, feature: int) -> Floats:
        """Where the tree splits a feature, from low to high."""
        return np.unique(self.tree.threshold[self.tree.feature == feature])


@dataclass(frozen=True, eq=False)
class ExplainedTree(PeopleInCells):
    """A tree with everybody in its leaves."""

    model: TreeModel

    @property
    def rules(self) -> Sequence[str]:
        """The conditions (P,) of each leaf."""
        return self.model.rules


def explain_tree(people: Population, model: TreeModel) -> ExplainedTree:
    """Find everybody's leaf, and the one beside it that they would be in without it."""
    leaf, beside = model.tree.apply(people.X), model.tree.runner_up(people.X)
    moves = moves_of(people, model.labels, leaf, beside)
    counted = moves.sum(axis=3), model.labels, people.favourable
    return ExplainedTree(*counted, people, leaf, beside, model, moves=moves)
