"""Everything that is shown of one training in words and tables, computed when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairglvq import wording
from fairglvq.datasets import Dataset
from fairglvq.explain import alike, cells, decision
from fairglvq.explain.cells import Explained, PrototypeModel
from fairglvq.explain.leaves import ExplainedTree, TreeModel, explain_tree
from fairglvq.explain.people import Population
from fairglvq.scenes.leaves import Leaves
from fairglvq.scenes.planes import Plane
from fairglvq.scenes.points import Points
from fairglvq.scenes.scene import PEOPLE, Scene
from fairglvq.scenes.scoring import labels_of
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import Training
from fairglvq.trees.rules import questions, rules
from fairglvq.wording import AxisTrait, axis_name

SAMPLE = 400  # people drawn on a map
NOUNS = {"female": "women", "male": "men", "women": "women", "men": "men", "woman": "women", "man": "men"}
"""What the people of a group of a visitor's own table are called."""


def who_of(dataset: str, groups: Sequence[str]) -> list[str]:
    """The groups of a data set as people: "women", or "people of group 0"."""
    if dataset in PEOPLE:
        return PEOPLE[dataset]
    if all(name.lower() in NOUNS for name in groups):
        return [NOUNS[name.lower()] for name in groups]
    return [
        f"people of {name}" if name.startswith("group ") else f"people in {wording.quoted(name)}" for name in groups
    ]


@dataclass(eq=False)
class View:
    """One training explained."""

    settings: Settings
    data: Dataset
    points: Points
    people: Population
    models: dict[str, PrototypeModel]
    plane: Plane | None
    trainings: Mapping[str, Training]
    _figures: dict[tuple, Any] = field(default_factory=dict)

    @property
    def beside(self) -> list[str]:
        """The methods with prototypes beside GLVQ."""
        return [method for method in self.models if method != "glvq"]

    def explained(self, method: str) -> Explained:
        """A method's model with everybody in their cells."""
        return self.figure(("explained", method), lambda: cells.explain(self.people, self.models[method]))

    def tree(self, method: str) -> ExplainedTree:
        """A method's tree with everybody in its leaves."""
        leaves = self.trainings[method].leaves
        if leaves is None:
            raise ValueError(f"{method} has prototypes, no leaves")
        return self.figure(("tree", method), lambda: self._explained_tree(leaves))

    def _explained_tree(self, leaves: Leaves) -> ExplainedTree:
        P, own = len(leaves.last.leaves), (leaves.last, self.data, self.points.scaling)
        labels, pseudo = leaves.labels[-1][:P], leaves.pseudo[-1][:P]
        return explain_tree(self.people, TreeModel(leaves.last, labels, pseudo, rules(*own), questions(*own)))

    def cells(self, method: str) -> Explained | ExplainedTree:
        """A method's cells, of prototypes or of leaves."""
        return self.explained(method) if method in self.models else self.tree(method)

    def alike(self, method: str) -> alike.Alike | None:
        """Whether a method decides about like people alike; neighbours are found once for all methods."""
        near = self.figure(("near",), lambda: alike.nearest_people(self.people))
        return self.figure(("alike", method), lambda: near and alike.compare(self.cells(method), near))

    @property
    def compared(self) -> bool:
        """Whether `alike` has found neighbours already."""
        return ("near",) in self._figures

    def figure(self, key: tuple, make: Callable[[], Any]) -> Any:
        """A picture, or anything else that opening another card does not change; made once per key."""
        if key not in self._figures:
            self._figures[key] = make()
        return self._figures[key]

    def places(self, points: np.ndarray, method: str) -> np.ndarray:
        """Where scaled people or prototypes (n, d) stand on the map of a method: its own plane, or the common one."""
        training = self.trainings[method]
        if self.settings.real and training.learned is not None:
            return training.see(points)[:, :2]
        return points if self.plane is None else (points - self.plane.origin) @ self.plane.axes

    def axes(self, method: str) -> tuple[str, str]:
        """What the directions of a method's map are."""
        own = self.own_axes(method)
        if own:
            first, second = map(axis_name, own)
        else:
            first, second = self.points.axes if self.plane is None else self.plane.names
        return first, second

    def own_axes(self, method: str) -> list[list[AxisTrait]]:
        """The columns that make both directions of the plane in which a method decides; none without such a plane."""
        learned = self.trainings[method].learned
        return learned.axes if self.settings.real and learned is not None else []

    def sample(self, method: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places, classes and groups of some measured people, always the same ones."""
        measured = np.flatnonzero(self.people.measured)
        some = np.random.default_rng(0).permutation(measured)[:SAMPLE]
        return self.places(self.people.X[some], method), self.people.y[some], self.people.s[some]

    def known(self, i: int) -> dict[str, Any]:
        """A person's row of the data, in original words; painted points have only what was painted."""
        row = int(self.points.rows[i])
        if row < 0:
            return decision.values_of(self.people, self.people.X[i])
        return self.data.frame.iloc[row].to_dict()

    @property
    def who(self) -> list[str]:
        """The groups as people: "women", or "people in “B”"."""
        return who_of(self.settings.dataset, self.points.groups)

    @property
    def measured_words(self) -> str:
        """Whom the numbers are about."""
        n = int(self.people.measured.sum())
        noun = "people" if self.settings.real else "points"
        return f"{n:,} held-out {noun}" if self.points.held_out.any() else f"{n:,} {noun}, all of them used in training"


def make_view(settings: Settings, data: Dataset, scene: Scene) -> View:
    """The view of a finished training on these data."""
    points = scene.points
    people = Population(
        X=points.X,
        y=points.y,
        s=points.s,
        measured=points.measured,
        low=points.scaling.low,
        span=points.scaling.span,
        blocks=data.blocks,
        classes=tuple(points.classes),
        groups=tuple(points.groups),
        favourable=points.favourable,
        group_column=data.group_column,
    )
    models = {
        method: _model(points, training)
        for method, training in scene.trainings.items()
        if training.leaves is None  # what is explained here are prototypes
    }
    return View(settings, data, points, people, models, scene.plane, scene.trainings)


def _model(points: Points, training: Training) -> PrototypeModel:
    W = training.prototypes[-1]
    labels = labels_of(points, W)
    if training.learned is not None:
        own = training.learned
        return PrototypeModel(
            own.prototypes, labels, training.pseudo[-1], own.matrix, own.shift, own.omega, own.handicaps
        )
    return PrototypeModel(W, labels, training.pseudo[-1], training.matrix, training.shift)
