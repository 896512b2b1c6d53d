"""The leaves of a tree as cells: who is in them, what they answer, and the conditions that lead there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairglvq.explain.people import Population
from fairglvq.fairness.cells import Cells, count
from fairglvq.trees.structure import Tree


@dataclass(frozen=True, eq=False)
class ExplainedTree(Cells):
    """A tree with everybody in its leaves; counts are of the measured people."""

    pseudo: NDArray[np.int64]  # (P,) majority groups of the training people
    rules: Sequence[str]  # (P,) conditions in original columns and units


def explain_tree(
    people: Population, tree: Tree, labels: NDArray[np.int64], pseudo: NDArray[np.int64], rules: Sequence[str]
) -> ExplainedTree:
    """Find everybody's leaf, and the one beside it that they would be in without it."""
    m = people.measured
    shape = (len(labels), len(people.classes), len(people.groups), len(people.classes))
    leaf, beside = tree.apply(people.X[m]), tree.runner_up(people.X[m])
    moves = count(shape, leaf, people.y[m], people.s[m], labels[beside])
    return ExplainedTree(moves.sum(axis=3), labels, people.favourable, pseudo, rules, moves=moves)
