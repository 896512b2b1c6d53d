"""Results that come with the project: curves of every method, the paper's in full, and limit lines, by its own command.

``python -m fairglvq bundle`` makes ``data/results.json``. It holds scores and counts of people per test fold, nothing
about anybody in particular.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairglvq import datasets
from fairglvq.datasets.files import data_folder
from fairglvq.experiments import methods, paper, sweep
from fairglvq.experiments.engine import Engine, Progress
from fairglvq.experiments.store import MEASURES, Store
from fairglvq.experiments.sweep import BINS, FINE_BINS, ModelKey, Sweep
from fairglvq.fairness import limit
from fairglvq.fairness.limit import Limit
from fairglvq.version import __version__

if TYPE_CHECKING:
    import pandas as pd

FILE = "results.json"
COMMAND = "python -m fairglvq bundle"
ESTIMATED = ("adult", "compas", "german")
LIMIT_POINTS = 120
LEFT_OUT = {
    "local": ("threshold_optimizer", "boosted_threshold_optimizer"),  # which raise an error: a group has one label only
}
"""Methods that are not in the bundle of a data set."""


@dataclass(frozen=True)
class Bundle:
    """What the file holds: where it is from, rows, and limit lines."""

    command: str
    version: str
    date: str
    rows: Mapping[tuple[str, int], Mapping[tuple, dict[str, Any]]]  # by data set and bins
    groups: Mapping[str, list[str]]  # in the order of the counts
    limits: Mapping[tuple[str, bool], Limit]

    def known(self, plan: Sweep) -> dict[ModelKey, dict[str, Any]]:
        """Rows of this sweep that were computed with the same parameters."""
        own, params = self.rows.get((plan.dataset, plan.bins), {}), dict(plan.params)
        addresses = {model: _address(model, plan.folds, params) for model in plan.models()}
        return {model: own[address] for model, address in addresses.items() if address in own}


def rows(plan: Sweep) -> pd.DataFrame:
    """Bundled rows of a sweep, in its order."""
    import pandas as pd

    known = load().known(plan)
    return pd.DataFrame([model.row(plan.dataset, known[model]) for model in plan.models() if model in known])


def full_sweep(dataset: str) -> Sweep:
    """All methods of the bundle on a data set as the paper encodes it."""
    return next(plan for plan in plans() if plan.dataset == dataset and not plan.bins)


def _address(model: ModelKey, folds: int, params: Mapping[str, Any]) -> tuple:
    return (*model, folds, tuple(sorted(methods.own_parameters(model.method, params).items())))


GERMAN: dict[str, Any] = {
    "alpha": 2.0, "batch_size": 100, "beta": 2.0, "learning_rate": 0.05, "max_epochs": 100, "n_prototypes": 4,
    "shuffle": False, "step": "published",
}  # fmt: skip
"""The paper has no German Credit: these are the settings with which the pages begin."""

QUICK = ("gmlvq", "paritylvq", "logistic_regression", "exponentiated_gradient", "threshold_optimizer", "oxonfair")
"""Methods whose curves come with numbers in bins too."""


def plans() -> list[Sweep]:
    """All sweeps of the bundle."""
    plain = [_full(paper.paper_sweep(name)) for name in paper.PARAMETERS]
    german = _full(sweep.of("german", {"inp": (0, 1, 2, 5, 10, 20), "fairglvq": (0, 0.5, 1, 1.5, 2, 4)}, **GERMAN))
    repeated = [_table1(name, step) for name in ("local", "xor") for step in paper.STEPS]
    coarse = [_in_bins(plan, BINS) for plan in (*plain, german) if plan.dataset in ESTIMATED]
    fine = [_in_bins(plan, FINE_BINS) for plan in plain if plan.dataset == "adult"]  # only there do finer bins help
    return [*plain, german, *repeated, *coarse, *fine]


def _table1(dataset: str, step: str) -> Sweep:
    """Table 1 with the seeds that its whole curves do not have, and with other steps."""
    done = () if paper.STEPS[step] else paper.paper_sweep(dataset).seeds
    return paper.table1_sweep(dataset, step, [seed for seed in paper.TABLE1_SEEDS if seed not in done])


def _full(plan: Sweep) -> Sweep:
    """A sweep with every other method at its own strengths, on the same folds."""
    known, left_out = dict(plan.strengths), LEFT_OUT.get(plan.dataset, ())
    chosen = [name for name in methods.METHODS if name not in left_out]
    every = {name: known.get(name, methods.METHODS[name].strengths) for name in chosen}
    return sweep.of(plan.dataset, every, folds=plan.folds, seeds=plan.seeds, **dict(plan.params))


def _in_bins(plan: Sweep, bins: int) -> Sweep:
    return replace(plan, strengths=tuple((name, own) for name, own in plan.strengths if name in QUICK), bins=bins)


def make(engine: Engine, store: Store | None = None, progress: Progress | None = None) -> dict[str, Any]:
    """Compute everything that is not in the store."""
    content: dict[str, Any] = {
        "command": COMMAND, "version": __version__, "date": datetime.now(UTC).date().isoformat(),
        "sweeps": _computed(plans(), engine, store, progress),
    }  # fmt: skip
    content["limits"] = [
        _thinned(name, limit.estimate(datasets.load(name), with_group=with_group))
        for name in ESTIMATED
        for with_group in (False, True)
    ]
    return content


def complete(engine: Engine, store: Store | None = None, progress: Progress | None = None) -> dict[str, Any]:
    """The file as it is, and the sweeps that it lacks."""
    content = json.loads((data_folder() / FILE).read_text(encoding="utf-8"))
    missing = [plan for plan in plans() if len(load().known(plan)) < len(plan)]
    content["sweeps"] += _computed(missing, engine, store, progress)
    return content


def _computed(
    chosen: list[Sweep], engine: Engine, store: Store | None, progress: Progress | None
) -> list[dict[str, Any]]:
    """Sweeps as the file holds them."""
    work = [(plan, plan.load()) for plan in chosen]
    columns = [*ModelKey._fields, *MEASURES, "counts"]
    return [
        {
            "dataset": plan.dataset, "bins": plan.bins, "folds": plan.folds, "params": dict(plan.params),
            "columns": columns,
            "groups": [str(data.group_names[group]) for group in sorted(set(data.s.tolist()))],
            "rows": sorted(map(_written, rows), key=_in_file_order),
        }
        for (plan, data), rows in zip(work, engine.compute_all(work, store=store, progress=progress), strict=True)
    ]  # fmt: skip


def _in_file_order(row: list[Any]) -> tuple:
    method, strength, fold, seed, *_ = row
    return method, -1.0 if strength is None else strength, seed, fold


def _written(row: Mapping[str, Any]) -> list[Any]:
    strength = None if np.isnan(row["strength"]) else row["strength"]
    scores = [None if np.isnan(row[name]) else round(float(row[name]), 6) for name in MEASURES]
    return [row["method"], strength, row["fold"], row["seed"], *scores, row["counts"]]


def _thinned(name: str, line: Limit) -> dict[str, Any]:
    """A line with fewer corners: too little changes to be seen in a picture."""
    sp = np.unique(np.concatenate([np.linspace(0, 1, LIMIT_POINTS // 4), np.linspace(0, 0.4, LIMIT_POINTS)]))
    return {
        "dataset": name, "with_group": line.with_group, "sp": sp.round(6).tolist(),
        "accuracy": line.at(sp).round(6).tolist(),
    }  # fmt: skip


def write(content: Mapping[str, Any], path: Path | None = None) -> Path:
    """One row per line, so that two versions can be compared."""
    path = path or data_folder() / FILE
    text = json.dumps(content, indent=1)
    for plan in content["sweeps"]:
        for row in plan["rows"]:
            text = text.replace(json.dumps(row, indent=1).replace("\n", "\n    "), json.dumps(row), 1)
    for line in content["limits"]:
        for name in ("sp", "accuracy"):
            text = text.replace(json.dumps(line[name], indent=1).replace("\n", "\n   "), json.dumps(line[name]), 1)
    path.write_text(text + "\n", encoding="utf-8")
    return path


@cache
def load() -> Bundle:
    """The results that came with the project."""
    content = json.loads((data_folder() / FILE).read_text(encoding="utf-8"))
    rows: dict[tuple[str, int], dict[tuple, dict[str, Any]]] = {}
    for plan in content["sweeps"]:
        known = rows.setdefault((plan["dataset"], plan["bins"]), {})
        for values in plan["rows"]:
            row = dict(zip(plan["columns"], values, strict=True))
            model = ModelKey(*(row[name] for name in ModelKey._fields))
            address = _address(model, plan["folds"], plan["params"])
            result = {key: value for key, value in row.items() if key not in ModelKey._fields}
            known[address] = {key: np.nan if value is None else value for key, value in result.items()}
    limits = {
        (line["dataset"], line["with_group"]): Limit(
            np.array(line["sp"]), np.array(line["accuracy"]), estimated=True, with_group=line["with_group"]
        )
        for line in content["limits"]
    }
    groups = {plan["dataset"]: plan["groups"] for plan in content["sweeps"]}
    return Bundle(content["command"], content["version"], content["date"], rows, groups, limits)
