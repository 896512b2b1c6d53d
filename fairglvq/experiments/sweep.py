"""A sweep: methods, each at several strengths, compared on one data set over the same folds and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fairglvq.datasets import Dataset
from fairglvq.experiments import evaluation, methods, paper
from fairglvq.experiments.evaluation import Task


class Model(NamedTuple):
    """One model of a sweep, known without its data; ``strength`` is None where a method has no knob."""

    method: str
    strength: float | None
    fold: int
    seed: int


@dataclass(frozen=True)
class Sweep:
    """What is compared. Hashable, so that it can be a key; ``params`` are the estimators', as sorted pairs."""

    dataset: str
    strengths: tuple[tuple[str, tuple[float, ...]], ...]
    folds: int = 5
    seeds: tuple[int, ...] = (0,)
    params: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", tuple(sorted(dict(self.params).items())))
        for method, values in self.strengths:
            if methods.get(method).knob and not values:
                raise ValueError(f"{methods.get(method).title} needs at least one strength")

    def models(self) -> Iterator[Model]:
        """All models, fold by fold, so that whole curves appear early and then grow sharper."""
        for seed in self.seeds:
            for fold in range(self.folds):
                for method, values in self.strengths:
                    for strength in values if methods.get(method).knob else (None,):
                        yield Model(method, strength, fold, seed)

    def tasks(self, data: Dataset) -> dict[Model, Task]:
        """The work that each model is; what cannot be trained on these data is an error here."""
        found = {}
        for method, values in self.strengths:
            for task in evaluation.tasks(data, method, values, self.folds, self.seeds, dict(self.params)):
                found[Model(task.method, task.strength, task.fold, task.seed)] = task
        return {model: found[model] for model in self.models()}

    def __len__(self) -> int:
        return sum(1 for _ in self.models())


def of(
    dataset: str,
    strengths: Mapping[str, Sequence[float]],
    *,
    folds: int = 5,
    seeds: Sequence[int] = (0,),
    **params: Any,
) -> Sweep:
    """A sweep from plain values."""
    chosen = tuple((method, tuple(map(float, values))) for method, values in strengths.items())
    return Sweep(dataset, chosen, folds, tuple(map(int, seeds)), tuple(params.items()))


DENSE_C = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5)
"""Thirteen strengths of FairGLVQ, from plain GLVQ to too much; trained on the plane in a moment."""


def paper_sweep(dataset: str) -> Sweep:
    """The paper's experiment on this data set, with all its strengths; on the plane, whole curves through them."""
    if dataset in ("local", "xor"):
        strengths: dict[str, Sequence[float]] = {"const": (), "glvq": (), "inp": (0, 1), "fairglvq": DENSE_C}
        seeds: Sequence[int] = (0, 1, 2)
    else:
        strengths, seeds = {"const": (), "glvq": ()}, (0,)
        for experiment in paper.experiments("Figure 2", dataset):
            if experiment.strength is not None:
                strengths[experiment.method] = (*strengths.get(experiment.method, ()), experiment.strength)
    order = [name for name in methods.METHODS if name in strengths]
    return of(dataset, {name: strengths[name] for name in order}, seeds=seeds, **paper.PARAMETERS[dataset])
