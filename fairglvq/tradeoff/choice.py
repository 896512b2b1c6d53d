"""What is chosen on the trade-off page: one frozen `Choice`, its sweep, and the way from a point to a model.

Names and ranges of the settings are those of the playground, `FIELDS`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from fairglvq.datasets import DATASETS
from fairglvq.experiments import methods, paper, sweep
from fairglvq.experiments.sweep import ModelKey, Sweep
from fairglvq.scenes.settings import (
    DEFAULTS,
    FIELDS,
    PARAMETERS,
    TABLE,
    Fold,
    HowTrained,
    Settings,
    nearest_allowed,
)

UNSAID = ("leaves",)
"""Fields that a sweep names only where they are not as usual: rows kept from before could not have them."""

FOLDS = (2, 3, 5, 10)
SEEDS = (1, 2, 3, 5, 10)
MOST_STRENGTHS = 40
OPENED_AS = {
    "glvq": ("glvq", "euclidean"),
    "inp": ("inp", "euclidean"),
    "fairglvq": ("fairglvq", "euclidean"),
    "gmlvq": ("glvq", "matrix"),
    "fairgmlvq": ("fairglvq", "matrix"),
    "paritylvq": ("paritylvq", "matrix"),
    "fairtree": ("fairtree", "euclidean"),
}
"""What the playground can show: by method, what it is called there, and its metric."""


@dataclass(frozen=True)
class Choice(HowTrained):
    """A sweep as it stands in the controls, and how it is drawn."""

    dataset: str = "adult"
    strengths: tuple[tuple[str, tuple[float, ...]], ...] = ()
    folds: int = 5
    seeds: int = 1
    x: str = "statistical_parity"
    y: str = "accuracy"

    def sweep(self) -> Sweep:
        """The work that it stands for."""
        params = self.parameters(
            name for name in PARAMETERS if name not in UNSAID or getattr(self, name) != getattr(Choice, name)
        )
        return sweep.of(
            self.dataset, dict(self.strengths), folds=self.folds, seeds=range(self.seeds), bins=self.bins, **params
        )

    def with_methods(self, names: list[str], n_features: int) -> Choice:
        """Other methods; those that stay keep their strengths."""
        known = dict(self.strengths)
        chosen = {name: known.get(name, methods.strengths_for(name, n_features)) for name in methods.METHODS}
        return replace(self, strengths=tuple((name, values) for name, values in chosen.items() if name in names))

    def with_strengths(self, method: str, values: tuple[float, ...]) -> Choice:
        """Other strengths of one method."""
        return replace(self, strengths=tuple((n, values if n == method else v) for n, v in self.strengths))


def has_bins(dataset: str) -> bool:
    """Whether its numbers can also enter as bins."""
    return dataset != TABLE and not DATASETS[dataset].synthetic


def usual(dataset: str) -> Choice:
    """What a data set starts with: the paper's experiment where there is one."""
    if dataset in paper.PARAMETERS:
        plan = paper.paper_sweep(dataset)
        params = dict(plan.params)
        own = {ours: params[theirs] for ours, theirs in PARAMETERS.items() if theirs in params}
        return Choice(dataset, plan.strengths, plan.folds, len(plan.seeds), **own)
    settings = DEFAULTS[dataset]
    own = {name: getattr(settings, name) for name in PARAMETERS}
    few = {"const": (), "glvq": (), "inp": (0.0, 1.0, 2.0, 5.0, 10.0, 20.0), "fairglvq": (0.0, 0.5, 1.0, 1.5, 2.0, 4.0)}
    if not settings.real:
        few["inp"] = (0.0, 1.0)
    return Choice(dataset, tuple(few.items()), **own)


def usual_for_table(settings: Settings) -> Choice:
    """What a visitor's own table starts with."""
    own = {name: getattr(settings, name) for name in PARAMETERS}
    return replace(usual(TABLE), **own, table=settings.table)


def read_strengths(method: str, text: str) -> tuple[float, ...]:
    """Strengths typed by a visitor; a ValueError says in plain words what is wrong."""
    text = re.sub(r"[^\w\s;,.+-]", "?", text)  # a page would take some signs in a message for a picture or a link
    parts = [part for part in re.split(r"[\s;,]+", text.strip()) if part]
    about = methods.get(method)
    title = about.title
    if not parts:
        raise ValueError(f"{title} needs at least one strength, for example 0, 1.")
    values = []
    for part in parts:
        try:
            value = float(part)
        except ValueError:
            raise ValueError(f"“{part[:24]}” is not a number. Strengths of {title} look like 0, 0.5, 1.") from None
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{part[:24]} cannot be a strength of {title}: it must be 0 or more.")
        if about.whole and value != int(value):
            raise ValueError(f"{part[:24]} cannot be a number of projections: it must be whole.")
        if value > about.strongest:
            raise ValueError(f"{part[:24]} cannot be a strength of {title}: it goes from 0 to {about.strongest:g}.")
        values.append(value)
    if len(values) > MOST_STRENGTHS:
        raise ValueError(f"{len(values)} strengths of {title} are too many: {MOST_STRENGTHS} at most.")
    return tuple(sorted(set(values)))


def write_strengths(values: tuple[float, ...]) -> str:
    """Strengths as a visitor would type them."""
    return ", ".join(digits(value) for value in values)


def digits(value: float) -> str:
    """A number with all of its digits, and no more."""
    return f"{value:.15g}"


def settings_of(choice: Choice, model: ModelKey) -> Settings | None:
    """The playground's settings that train exactly this model; None if the playground cannot show it."""
    if model.method not in OPENED_AS:
        return None
    base = DEFAULTS[choice.dataset]
    panel, metric = OPENED_AS[model.method]
    own: dict[str, Any] = {name: getattr(choice, name) for name in PARAMETERS}
    # Only this model and what it needs are trained; others can be added there.
    plain_beside = panel == "paritylvq" and not base.real  # there GLVQ, which it is compared with, is the plain one
    own |= {"metric": "euclidean" if plain_beside else metric, "bins": choice.bins}
    own["beside"] = ("fairglvq",) if panel == "glvq" else (panel,)
    strength = float(model.strength or 0)
    knobs = {"inp": ("projections", int(strength)), "paritylvq": ("max_gap", round(1 - strength, 10))}
    if panel != "glvq":
        knob, value = knobs.get(panel, ("C", strength))
        if nearest_allowed(FIELDS[knob], value) != value:
            return None
        own[knob] = value
    return replace(base, **own, table=choice.table, fold=Fold(choice.folds, model.fold, model.seed))
