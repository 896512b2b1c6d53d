"""The leaves of a tree as cells: who is in them, what they answer, and the conditions that lead there."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairglvq.explain.people import Floats, PeopleInCells, Population, moves_of
from fairglvq.trees.structure import Tree


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A tree over scaled people, with the positions of classes and of majority groups of its leaves.

    ``rules`` are the conditions of each leaf in original columns and units, ``questions`` the condition of each node
    that is split: people for whom it is true go left.
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
    people: int  # measured people in it


def diagram(explained: ExplainedTree) -> list[Node]:
    """All nodes of a tree, the root first."""
    tree, model = explained.model.tree, explained.model
    leaf_of = {int(node): leaf for leaf, node in enumerate(tree.leaves)}
    found: list[Node] = []
    rows = itertools.count()

    def add(node: int, depth: int, parent: int) -> int:
        """Add a node and all below it, those on its left in rows above it; returns its people."""
        place, leaf = len(found), leaf_of.get(node, -1)
        if leaf >= 0:
            found.append(Node(next(rows), depth, parent, model.rules[leaf], leaf, int(explained.sizes[leaf])))
        else:
            found.append(Node(-1, depth, parent, model.questions[node], leaf, 0))  # row and people are known below
            above, row = add(int(tree.left[node]), depth + 1, place), next(rows)
            people = above + add(int(tree.right[node]), depth + 1, place)
            found[place] = found[place]._replace(row=row, people=people)
        return found[place].people

    add(0, 0, -1)
    return found


def explain_tree(people: Population, model: TreeModel) -> ExplainedTree:
    """Find everybody's leaf, and the one beside it that they would be in without it."""
    leaf, beside = model.tree.apply(people.X), model.tree.runner_up(people.X)
    moves = moves_of(people, model.labels, leaf, beside)
    counted = moves.sum(axis=3), model.labels, people.favourable
    return ExplainedTree(*counted, people, leaf, beside, model, moves=moves)
