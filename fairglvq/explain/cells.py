"""Prototypes and their cells in numbers that can be checked by hand; single decisions are in `decision`.

Two things go in: a `Population` (people scaled for the model, and the words for their columns) and a `PrototypeModel`
(prototypes with labels). `explain` finds everybody's nearest and second nearest prototype once; from then on cells,
contributions and removals are sums of counts.

Rates are about the measured people: those held out from training, or all if none is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairglvq.explain.people import Floats, PeopleInCells, Population, moves_of, positions
from fairglvq.lvq.trainer import as_rows, dense_rows, squared_distances

ROUNDING = 1e-10
"""Singular values of a matrix below this share of the largest are rounding errors."""


# ---- models ----


@dataclass(frozen=True, eq=False)
class PrototypeModel:
    """Prototypes (P, d) with the positions of their classes and pseudo-classes.

    A model with ``matrix`` and ``shift`` (INP's) has a space of its own: z = matrix x + shift of the scaled people.
    Directions that the matrix removes have no effect. A learned metric ``omega`` (r, d) measures |Ω(z - w)|² there;
    ``handicaps`` (P,) are by how much farther, in squared distance, a prototype may be and still win. Everything that
    depends on distances is computed by this class, with the model's own distance.
    """

    prototypes: Floats
    labels: NDArray[np.int64]
    pseudo: NDArray[np.int64] | None = None
    matrix: Floats | None = None
    shift: Floats | None = None
    omega: Floats | None = None
    handicaps: Floats | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        classes: Sequence[Hashable],
        groups: Sequence[Hashable] = (),
        matrix: Floats | None = None,
        shift: Floats | None = None,
    ) -> PrototypeModel:
        """A fitted `PrototypeClassifier` that was given scaled people, or what ``matrix`` and ``shift`` leave of them.

        ``classes`` and ``groups`` are the labels in the order of the people's names. Pseudo-classes are left out where
        the estimator has other groups.
        """
        pseudo, known = getattr(model, "pseudo_classes_", None), getattr(model, "groups_", None)
        if pseudo is not None and (known is None or set(known.tolist()) != set(groups)):
            pseudo = None
        return cls(
            model.prototypes_,
            positions(model.cell_labels_, list(classes)),
            None if pseudo is None else positions(pseudo, list(groups)),
            matrix,
            shift,
            getattr(model, "omega_", None),
            getattr(model, "handicaps_", None),
        )

    def see(self, X: Floats) -> Floats:
        """Scaled people (..., d) in the model's own space."""
        if self.matrix is None:
            return X
        return X @ self.matrix.T + (0.0 if self.shift is None else self.shift)

    def image(self, X: Floats) -> Floats:
        """Images (..., r) of scaled people (..., d): their Euclidean distances are the model's."""
        seen = self.see(X)
        return seen if self.omega is None else seen @ self.omega.T

    @cached_property
    def images(self) -> Floats:
        """Images of prototypes (P, r)."""
        return self.prototypes if self.omega is None else self.prototypes @ self.omega.T

    @cached_property
    def mixture(self) -> Floats | None:
        """The matrix (r, d) from scaled people to images; None: the identity."""
        if self.omega is None or self.matrix is None:
            return self.matrix if self.omega is None else self.omega
        return self.omega @ self.matrix

    @cached_property
    def blind(self) -> int:
        """Number of directions of the people's space that the matrix removes."""
        if self.matrix is None:
            return 0
        return len(self.matrix) - int(np.linalg.matrix_rank(self.matrix, rtol=ROUNDING))

    def profiles(self, mean: Floats) -> Floats:
        """Prototypes (P, d) as points of the people's space, where they can be read and drawn.

        A matrix M that removes directions maps many points x to the same z. Of all that it maps to a prototype w, the
        profile is the one nearest to the average person m::

            x = m + M⁺ (w - (M m + b))

        so that along the removed directions it is the average person.
        """
        if self.matrix is None:
            return self.prototypes
        back = np.linalg.pinv(self.matrix, rtol=ROUNDING)  # M⁺ (d, d)
        return mean + (self.prototypes - self.see(mean)) @ back.T

    def distances(self, X: Floats) -> Floats:
        """Squared distances (n, P) of scaled people (n, d)."""
        if len(X) <= 64:  # the kernels' preparations would take longer
            away = self.image(X)[:, None, :] - self.images
            return np.einsum("npd,npd->np", away, away)
        rows = as_rows(self.see(X)) if self.omega is None else dense_rows(self.image(X))
        return squared_distances(rows, self.images)

    def costs(self, X: Floats) -> Floats:
        """What is smallest for the prototype that decides, (n, P): squared distances less handicaps."""
        D = self.distances(X)
        return D if self.handicaps is None else D - self.handicaps

    def decide(self, X: Floats) -> NDArray[np.int64]:
        """The class of the prototype that decides (n,)."""
        return self.labels[self.costs(X).argmin(axis=1)]


@dataclass(frozen=True, eq=False)
class Explained(PeopleInCells):
    """Prototypes with everybody in their cells, handicaps considered."""

    model: PrototypeModel
    distance: Floats = field(repr=False)  # (n,) squared distance to that prototype

    @cached_property
    def profiles(self) -> Floats:
        """Prototypes (P, d) among the people; removed directions are those of the average person."""
        return self.model.profiles(self.people.mean)

    @cached_property
    def aside(self) -> Floats:
        """Distance (P,) of prototypes from the subspace that the matrix maps people to.

        Training starts in it, but rounding errors grow with every push away. This distance adds the same to everybody's
        squared distance and cannot be expressed in columns.
        """
        return np.linalg.norm(self.model.images - self.model.image(self.profiles), axis=1)

    @cached_property
    def closest(self) -> NDArray[np.int64]:
        """The prototype that everybody is closest to (n,), whatever its handicap."""
        return self.nearest if self.model.handicaps is None else self.model.distances(self.people.X).argmin(axis=1)

    @cached_property
    def margins(self) -> Floats:
        """By how much (n,) a prototype of another class would have to be closer, in squared distance, to decide."""
        costs = self.model.costs(self.people.X)
        best = np.stack([costs[:, self.model.labels == c].min(axis=1) for c in np.unique(self.model.labels)])
        first, second = np.partition(best, 1, axis=0)[:2]
        return second - first

    def rival(self, p: int) -> int:
        """The nearest prototype of another class."""
        V = self.model.images
        away = ((V - V[p]) ** 2).sum(axis=1)
        away[self.model.labels == self.model.labels[p]] = np.inf
        return int(away.argmin())

    def closest_people(self, p: int, n: int = 3) -> NDArray[np.int64]:
        """The people of the cell of p who are nearest to it, held out or not; fewer if there are not so many."""
        members = np.flatnonzero(self.nearest == p)
        return members[np.argsort(self.distance[members], kind="stable")[:n]]


def explain(people: Population, model: PrototypeModel) -> Explained:
    """Find everybody's cell, and the one they would be in without its prototype."""
    if len(model.prototypes) < 2:
        raise ValueError("a model needs two prototypes or more")
    costs = model.costs(people.X)
    everybody = np.arange(len(costs))
    nearest = costs.argmin(axis=1)
    distance = costs[everybody, nearest] + (0.0 if model.handicaps is None else model.handicaps[nearest])
    costs[everybody, nearest] = np.inf
    runner_up = costs.argmin(axis=1)
    moves = moves_of(people, model.labels, nearest, runner_up)
    counted = moves.sum(axis=3), model.labels, people.favourable
    return Explained(*counted, people, nearest, runner_up, model, distance, moves=moves)


def filled_in(explained: Explained) -> str:
    """How profiles were completed along removed directions; empty for a model without removed directions."""
    blind, d, omega = explained.model.blind, explained.people.X.shape[1], explained.model.omega
    if not blind:
        return "" if omega is None or len(omega) >= d else (
            f"The model looks at {len(omega)} directions, each a mixture of columns. Many people look to it like one "
            "prototype; a prototype is shown as the one of them who is closest to the average of its cell."
        )  # fmt: skip
    text = (
        f"INP took out {blind} of {d} directions (a direction is a mixture of columns) because they tell the groups "
        "apart. The model cannot see them, and its prototypes say nothing about them. To show a prototype in original "
        "units, what it leaves open is filled in with the average person; so whatever differs from the average is what "
        "the model does see."
    )
    if np.ptp(explained.profiles, axis=0).max() > 1e-6:
        return text
    return (
        f"{text} Here nothing is left in which the people it learned from differ: all prototypes stand at one place, "
        "and look like the average person."
    )


# ---- two models ----


class Pair(NamedTuple):
    """Two prototypes of one class that belong together, and how far apart their profiles are."""

    before: int
    after: int
    distance: float


def match(before: Explained, after: Explained) -> list[Pair]:
    """Pair the prototypes of two models within each class so that the sum of squared ways of profiles is smallest.

    The pairs that lie furthest apart come first. Where one model has more prototypes of a class, some stay single.
    """
    from scipy.optimize import linear_sum_assignment

    pairs = []
    for label in np.unique(before.model.labels):
        ours, theirs = (np.flatnonzero(one.model.labels == label) for one in (before, after))
        away = before.profiles[ours][:, None, :] - after.profiles[theirs]
        squares = (away**2).sum(axis=2)
        for i, j in zip(*linear_sum_assignment(squares), strict=True):
            pairs.append(Pair(int(ours[i]), int(theirs[j]), math.sqrt(squares[i, j])))
    return sorted(pairs, key=lambda pair: -pair.distance)


def gained_and_lost(before: PeopleInCells, after: PeopleInCells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By group, measured people with the favourable decision of only the second model, and of only the first."""
    people = after.people
    had, has = (one.decisions == people.favourable for one in (before, after))
    gained, lost = (
        np.bincount(people.s[people.measured & changed], minlength=len(people.groups))
        for changed in (has & ~had, had & ~has)
    )
    return gained, lost


def changed_people(before: PeopleInCells, after: PeopleInCells) -> NDArray[np.int64]:
    """The measured people whose decision differs between two models."""
    return np.flatnonzero((before.decisions != after.decisions) & before.people.measured)
