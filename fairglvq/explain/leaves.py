"""The leaves of a tree as cells: who is in them, what they answer, and the conditions that lead there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairglvq.explain.people import Floats, PeopleInCells, Population, moves_of
from fairglvq.trees.structure import LEAF, Tree


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A tree over scaled people, with the positions of classes and of majority groups of its leaves.

    ``rules`` are the conditions of each leaf in original columns and units, ``questions`` what each node that is split
    asks: whoever it is true of goes left.
    """

    tree: Tree
    labels: NDArray[np.int64]  # (P,)
    pseudo: NDArray[np.int64]  # (P,) by vote of the training people
    rules: Sequence[str]
    questions: Mapping[int, str] = field(default_factory=dict)

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


class Node(NamedTuple):
    """A node of a tree as a diagram: rows from top to bottom, the true branch above a question and the other below."""

    row: int
    depth: int
    parent: int  # its place among the nodes; -1 for the root
    words: str  # the question, or the rule of a leaf
    leaf: int  # its number from 0, -1 for a question
    people: int  # measured ones who come here


def diagram(explained: ExplainedTree) -> list[Node]:
    """All nodes of a tree, the root first."""
    tree, model = explained.model.tree, explained.model
    leaf_of = {int(node): leaf for leaf, node in enumerate(tree.leaves)}
    found: list[Node] = []
    rows = _rows(tree)

    def add(node: int, depth: int, parent: int) -> int:
        place = len(found)
        leaf = leaf_of.get(node, -1)
        words = model.questions[node] if leaf < 0 else model.rules[leaf]
        found.append(Node(rows[node], depth, parent, words, leaf, int(explained.sizes[leaf]) if leaf >= 0 else 0))
        if leaf < 0:
            inside = sum(add(int(side[node]), depth + 1, place) for side in (tree.left, tree.right))
            found[place] = found[place]._replace(people=inside)
        return found[place].people

    add(0, 0, -1)
    return found


def _rows(tree: Tree) -> dict[int, int]:
    """The row of each node: those on its left above it, those on its right below."""
    order: list[int] = []
    waiting: list[int] = []
    node = 0
    while waiting or node != LEAF:
        while node != LEAF:
            waiting.append(node)
            node = int(tree.left[node])
        order.append(waiting.pop())
        node = int(tree.right[order[-1]])
    return {node: row for row, node in enumerate(order)}


def explain_tree(people: Population, model: TreeModel) -> ExplainedTree:
    """Find everybody's leaf, and the one beside it that they would be in without it."""
    leaf, beside = model.tree.apply(people.X), model.tree.runner_up(people.X)
    moves = moves_of(people, model.labels, leaf, beside)
    counted = moves.sum(axis=3), model.labels, people.favourable
    return ExplainedTree(*counted, people, leaf, beside, model, moves=moves)
