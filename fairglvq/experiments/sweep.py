"""A sweep: methods, each at several strengths, compared on one data set over the same folds and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from fairglvq.datasets import Dataset, load
from fairglvq.experiments import methods
from fairglvq.experiments.store import RowKey

BINS, FINE_BINS = 8, 32
"""About how many bins numbers are cut into where they also enter as bins."""


class ModelKey(NamedTuple):
    """One model of a sweep, identified without its data; ``strength`` is None where a method has no knob."""

    method: str
    strength: float | None
    fold: int
    seed: int

    def row(self, dataset: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """A tidy row: what was trained, and its result; without a knob the strength is NaN."""
        strength = np.nan if self.strength is None else self.strength
        return {"dataset": dataset} | self._asdict() | {"strength": strength} | dict(result)


@dataclass(frozen=True)
class Sweep:
    """What is compared; hashable. ``params`` are the estimators', sorted pairs; ``bins`` those of `datasets.load`."""

    dataset: str
    strengths: tuple[tuple[str, tuple[float, ...]], ...]
    folds: int = 5
    seeds: tuple[int, ...] = (0,)
    params: tuple[tuple[str, Any], ...] = ()
    bins: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", tuple(sorted(dict(self.params).items())))
        for method, values in self.strengths:
            checked_strengths(method, values)

    def models(self) -> Iterator[ModelKey]:
        """All models, fold by fold, so that whole curves appear early and then become more exact."""
        for seed in self.seeds:
            for fold in range(self.folds):
                for method, values in self.strengths:
                    for strength in values if methods.get(method).knob else (None,):
                        yield ModelKey(method, strength, fold, seed)

    def load(self) -> Dataset:
        """The data set that it is made for, as it is by default but for the bins."""
        return load(self.dataset, **({"bins": self.bins} if self.bins else {}))

    def keys(self, data: Dataset) -> dict[ModelKey, RowKey]:
        """The row that each model gives; a sweep that cannot be trained on these data is an error."""
        _check_folds(data, self.folds)
        chosen = {method: methods.parameters_for(method, dict(self.params)) for method, _ in self.strengths}
        return {
            model: RowKey(
                data.fingerprint, model.method, model.strength, chosen[model.method], int(self.folds), model.fold,
                model.seed,
            )
            for model in self.models()
        }  # fmt: skip

    def __len__(self) -> int:
        return sum(1 for _ in self.models())


def of(
    dataset: str,
    strengths: Mapping[str, Sequence[float]],
    *,
    folds: int = 5,
    seeds: Sequence[int] = (0,),
    bins: int = 0,
    **params: Any,
) -> Sweep:
    """A sweep from plain values."""
    chosen = tuple((method, tuple(map(float, values))) for method, values in strengths.items())
    return Sweep(dataset, chosen, folds, tuple(map(int, seeds)), tuple(params.items()), bins)


def checked_strengths(method: str, strengths: Any) -> tuple[float, ...]:
    """Different strengths as numbers; none for a method without a knob."""
    about = methods.get(method)
    if about.knob is None:
        return ()
    try:
        values = [float(value) for value in np.atleast_1d(strengths)]
    except (TypeError, ValueError):
        values = []
    if not values or not all(np.isfinite(value) and value >= 0 for value in values):
        raise ValueError(f"strengths of {method!r} must be one or more numbers of at least 0; got {strengths!r}")
    if about.whole and any(value != int(value) for value in values):
        raise ValueError(f"strengths of {method!r} are numbers of projections, so whole; got {strengths!r}")
    if max(values) > about.strongest:
        raise ValueError(f"strengths of {method!r} must be from 0 to {about.strongest:g}; got {strengths!r}")
    return tuple(dict.fromkeys(values))


def checked_seeds(seed: Any) -> tuple[int, ...]:
    """Different seeds, at least one; scikit-learn's folds take them up to 2³² - 1."""
    seeds = list(seed) if isinstance(seed, Iterable) else [seed]
    if not seeds or not all(isinstance(one, Integral) and 0 <= int(one) < 2**32 for one in seeds):
        raise ValueError(f"seed must be one or more whole numbers from 0 to {2**32 - 1}; got {seeds!r}")
    return tuple(dict.fromkeys(map(int, seeds)))


def _check_folds(data: Dataset, folds: Any) -> None:
    smallest = int(np.unique(data.y, return_counts=True)[1].min())
    if not (isinstance(folds, Integral) and 2 <= int(folds) <= smallest):
        raise ValueError(
            f"folds must be a whole number from 2 to {smallest}, the size of the smallest class; got {folds!r}"
        )
