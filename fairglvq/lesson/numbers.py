"""Every number in the lesson's texts and questions, measured on the models in view.

`NUMBERS` is the table of their names; texts have places with these names. A number that does not exist in what is shown
(no such model, nothing moved yet) is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from fairglvq.datasets.synthetic import DEFINITIONS
from fairglvq.lesson.steps import TARGET
from fairglvq.scenes.scene import Scene, final_scores
from fairglvq.scenes.scoring import (
    Score,
    changed_decisions,
    decide,
    final_decisions,
    score,
    score_of_counts,
    tallied,
)
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import Film
from fairglvq.wording import shown_difference

STRENGTHS = {"mild": 1.0, "fair": 1.5, "strong": 4.0}
"""Strengths C in the lesson's texts, whichever one is in view."""

FIXED = STRENGTHS | {"target": TARGET}
"""Numbers that are the same whatever is in view."""

LOOSE, STRICT = 0.2, 0.02
"""The two largest gaps allowed that it compares on Adult."""

Kind = Literal["share", "points", "count", "number"]


@dataclass(eq=False)
class Seen(Mapping[str, float]):
    """What is in view, as a mapping of all `NUMBERS`, each measured when it is first read."""

    settings: Settings
    scene: Scene
    films: Mapping[str, Film] = field(default_factory=dict)
    view: Mapping[str, Any] = field(default_factory=dict)
    reply: Mapping[str, Any] | None = None  # counts of prototypes moved by hand
    typed: float | None = None
    _known: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        if name not in self._known:
            self._known[name] = float(NUMBERS[name].measure(self))
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NUMBERS)

    def __len__(self) -> int:
        return len(NUMBERS)

    @cached_property
    def scores(self) -> dict[str, Score]:
        """Of the trained models, and of the one moved by hand."""
        found = final_scores(self.scene)
        return found if self.reply is None else found | {"hand": score_of_counts(self.scene.points, self.moved)}

    @cached_property
    def moved(self) -> np.ndarray:
        """Counts (G, K, K) of the model moved by hand."""
        G, K = len(self.scene.points.groups), len(self.scene.points.classes)
        return np.array(self.reply["counts"] if self.reply else [], int).reshape(G, K, K)

    @cached_property
    def rates(self) -> np.ndarray:
        """Share (G,) of each group's people to whom GLVQ gives the favourable decision."""
        points = self.scene.points
        counts = tallied(points, final_decisions(points, self.scene.trainings["glvq"])[None])[0].astype(int)
        return counts[:, :, points.favourable].sum(axis=1) / counts.sum(axis=(1, 2))

    @cached_property
    def changed(self) -> np.ndarray | None:
        """People (G, 2) whose favourable decision FairGLVQ gives and takes, compared with GLVQ."""
        points, trainings = self.scene.points, self.scene.trainings
        if "fairglvq" not in trainings:
            return None
        before, after = (final_decisions(points, trainings[method]) for method in ("glvq", "fairglvq"))
        return changed_decisions(points, before, after[None])[0].sum(axis=1)

    def filmed(self, method: str, strength: float) -> Score | None:
        """Score of a method trained with another strength than the one in view."""
        film, points = self.films.get(method), self.scene.points
        if film is None or strength not in film.values:
            return None
        at = film.values.index(strength)
        if film.decisions is not None:
            return score(points, film.decisions[at])
        return score(points, decide(points, self.scene.trainings[method], film.prototypes[at]))

    def forces(self, epoch: float) -> tuple[float, ...]:
        """Mean length of FairGLVQ's class pull, of its fairness push times C, and of their sum, in an epoch."""
        training = self.scene.trainings.get("fairglvq")
        if training is None or math.isnan(epoch):
            return math.nan, math.nan, math.nan
        frame = int(np.abs(training.epochs - epoch).argmin())
        pull, push = training.class_pull[frame], -self.settings.C * training.fair_pull[frame]
        lengths = np.linalg.norm(np.stack([pull, push, pull + push]), axis=2).mean(axis=1)
        return tuple(lengths.tolist())


class UnknownError(LookupError):
    """A number is not known (yet)."""


class Known(Mapping[str, float]):
    """Numbers of which none may be NaN: reading one that is not known raises `UnknownError`."""

    def __init__(self, numbers: Mapping[str, float]):
        self.numbers = numbers

    def __getitem__(self, name: str) -> float:
        value = self.numbers[name]
        if math.isnan(value):
            raise UnknownError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


class Number(NamedTuple):
    """How a number is written, and how it is measured."""

    kind: Kind
    measure: Callable[[Seen], float]


def _scored(method: str, measure: str, seen: Seen) -> float:
    found = seen.scores.get(method)
    return _or_nan(found and getattr(found, measure))


def _constant(value: float, seen: Seen) -> float:
    return value


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _with_strength(strength: float, measure: str, seen: Seen) -> float:
    found = seen.scores.get("fairglvq") if strength == seen.settings.C else seen.filmed("fairglvq", strength)
    return _or_nan(found and getattr(found, measure))


def _target(name: str, seen: Seen) -> float:
    """The smallest strength of the film that reaches the `TARGET`, or a score of that model."""
    film = seen.films.get("fairglvq")
    for strength in film.values if film else ():
        found = seen.filmed("fairglvq", strength)
        if found and found.statistical_parity is not None and found.statistical_parity <= TARGET:
            return strength if name == "C" else _or_nan(getattr(found, name))
    return math.nan


def _hand_changed(seen: Seen) -> float:
    return float(np.sum(seen.reply["changed"])) if seen.reply else math.nan


def _changed(group: int, lost: int, seen: Seen) -> float:
    return math.nan if seen.changed is None else float(seen.changed[group, lost])


def _epoch(seen: Seen) -> float:
    return float(seen.view.get("epoch", seen.scene.meta["epochs"][-1]))


def _force(number: int, seen: Seen) -> float:
    return seen.forces(_epoch(seen))[number]


def _last_force(number: int, seen: Seen) -> float:
    return seen.forces(seen.scene.meta["epochs"][-1])[number]


def _limit(seen: Seen, gap: float) -> float:
    return math.nan if seen.settings.dataset not in DEFINITIONS else float(limit_of(seen.settings.dataset).at(gap))


@cache
def limit_of(dataset: str) -> Any:
    """The limit line of a drawn set with two groups and two classes."""
    from fairglvq.fairness.limit import known

    return known(dataset)


def limit_points(dataset: str) -> list[tuple[float, float]]:
    """The limit line as the stage draws it: pairs of gap and accuracy."""
    gaps = np.linspace(0, 1, 201)
    return list(zip(gaps.tolist(), limit_of(dataset).at(gaps).tolist(), strict=True))


@cache
def on_adult() -> dict[tuple[float, str], float]:
    """ParityLVQ on Adult with both largest gaps, from the results that come with the project: means over the folds."""
    from fairglvq.experiments import bundle

    found: dict[tuple[float, str], float] = {}
    rows = bundle.load().rows["adult", 0]
    for allowed in (LOOSE, STRICT):
        own = [row for key, row in rows.items() if key[0] == "paritylvq" and math.isclose(key[1], 1 - allowed)]
        for measure in ("statistical_parity", "equal_opportunity"):
            found[allowed, measure] = float(np.mean([row[measure] for row in own]))
        found[allowed, "folds"] = len(own)
    return found


def _adult(allowed: float, measure: str, seen: Seen) -> float:
    return on_adult()[allowed, measure]


MEASURES: dict[str, tuple[Kind, str]] = {
    "accuracy": ("share", "accuracy"),
    "gap": ("points", "statistical_parity"),
    "opportunity": ("points", "equal_opportunity"),
}

NUMBERS: dict[str, Number] = {
    **{
        f"{method}_{name}": Number(kind, partial(_scored, method, measure))
        for method in ("glvq", "inp", "fairglvq", "paritylvq", "hand")
        for name, (kind, measure) in MEASURES.items()
    },
    **{
        f"{strength}_{name}": Number(kind, partial(_with_strength, C, measure))
        for strength, C in STRENGTHS.items()
        for name, (kind, measure) in MEASURES.items()
    },
    **{name: Number("number", partial(_constant, C)) for name, C in STRENGTHS.items()},
    "target_C": Number("number", partial(_target, "C")),
    "target_gap": Number("points", partial(_target, "statistical_parity")),
    "target_accuracy": Number("share", partial(_target, "accuracy")),
    "target_cost": Number("points", lambda seen: shown_difference(seen["glvq_accuracy"], seen["target_accuracy"])),
    "people": Number("count", lambda seen: float(seen.scene.points.measured.sum())),
    "everybody": Number("count", lambda seen: float(len(seen.scene.points.y))),
    "prototypes": Number("count", lambda seen: float(seen.scene.trainings["glvq"].prototypes.shape[1])),
    "rate_a": Number("share", lambda seen: seen.rates[0]),
    "rate_b": Number("share", lambda seen: seen.rates[1]),
    "hand_changed": Number("count", _hand_changed),
    "gained_0": Number("count", partial(_changed, 0, 0)),
    "lost_0": Number("count", partial(_changed, 0, 1)),
    "gained_1": Number("count", partial(_changed, 1, 0)),
    "lost_1": Number("count", partial(_changed, 1, 1)),
    "changed": Number("count", lambda seen: math.nan if seen.changed is None else float(seen.changed.sum())),
    "epoch": Number("count", _epoch),
    "pull": Number("number", partial(_force, 0)),
    "push": Number("number", partial(_force, 1)),
    "sum": Number("number", partial(_force, 2)),
    "last_pull": Number("number", partial(_last_force, 0)),
    "last_push": Number("number", partial(_last_force, 1)),
    "last_sum": Number("number", partial(_last_force, 2)),
    "fold": Number("share", lambda seen: float(seen.view.get("fold", 0.0))),
    "forces": Number("count", lambda seen: float(bool((seen.view.get("show") or {}).get("forces")))),
    "C": Number("number", lambda seen: seen.settings.C),
    "max_gap": Number("points", lambda seen: seen.settings.max_gap if "paritylvq" in seen.scores else math.nan),
    "typed": Number("points", lambda seen: _or_nan(seen.typed)),
    "target": Number("points", lambda seen: TARGET),
    "limit_target": Number("share", lambda seen: _limit(seen, TARGET)),
    "limit_paritylvq": Number("share", lambda seen: _limit(seen, seen["paritylvq_gap"])),
    "adult_loose": Number("points", lambda seen: LOOSE),
    "adult_strict": Number("points", lambda seen: STRICT),
    "adult_loose_gap": Number("points", partial(_adult, LOOSE, "statistical_parity")),
    "adult_loose_opportunity": Number("points", partial(_adult, LOOSE, "equal_opportunity")),
    "adult_strict_gap": Number("points", partial(_adult, STRICT, "statistical_parity")),
    "adult_strict_opportunity": Number("points", partial(_adult, STRICT, "equal_opportunity")),
    "adult_folds": Number("count", partial(_adult, STRICT, "folds")),
}  # fmt: skip
"""All numbers by name."""
