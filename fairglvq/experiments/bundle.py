"""Results that come with the project: the paper's sweeps in full, and the limit lines, computed by its own command.

``python -m fairglvq bundle`` makes ``data/results.json``. It holds scores and counts of people per test fold, nothing
about anybody in particular.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fairglvq import datasets
from fairglvq.datasets.files import data_folder
from fairglvq.experiments import methods, paper
from fairglvq.experiments.engine import Engine, Progress
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import ModelKey, Sweep
from fairglvq.fairness import limit
from fairglvq.fairness.limit import Limit
from fairglvq.version import __version__

FILE = "results.json"
COMMAND = "python -m fairglvq bundle"
MEASURES = ("accuracy", "statistical_parity", "equal_opportunity", "equalized_odds", "seconds")
ESTIMATED = ("adult", "compas", "german")
LIMIT_POINTS = 120


@dataclass(frozen=True)
class Bundle:
    """What the file holds: where it is from, rows by data set, and limit lines."""

    command: str
    version: str
    date: str
    rows: Mapping[str, Mapping[tuple, dict[str, Any]]]
    groups: Mapping[str, list[str]]  # in the order of the counts
    limits: Mapping[tuple[str, bool], Limit]

    def known(self, sweep: Sweep) -> dict[ModelKey, dict[str, Any]]:
        """Rows of this sweep that were computed with the same parameters."""
        own = self.rows.get(sweep.dataset, {})
        found = {}
        for model in sweep.models():
            row = own.get(_address(model, sweep))
            if row is not None:
                found[model] = row
        return found


def _address(model: ModelKey, sweep: Sweep) -> tuple:
    params = methods.own_parameters(model.method, dict(sweep.params))
    return (*model, sweep.folds, tuple(sorted(params.items())))


def make(engine: Engine, store: Store | None = None, progress: Progress | None = None) -> dict[str, Any]:
    """Compute everything, or take from the store what is known."""
    plans = [(paper.paper_sweep(name), datasets.load(name)) for name in paper.PARAMETERS]
    content: dict[str, Any] = {
        "command": COMMAND, "version": __version__, "date": datetime.now(UTC).date().isoformat(), "sweeps": {},
    }  # fmt: skip
    computed = engine.compute_all(plans, store=store, progress=progress)
    for (sweep, data), found in zip(plans, computed, strict=True):
        rows = [_written(row) for row in found]
        columns = ["method", "strength", "fold", "seed", *MEASURES, "counts"]
        content["sweeps"][sweep.dataset] = {
            "folds": sweep.folds, "params": dict(sweep.params), "columns": columns,
            "groups": [str(data.group_names[group]) for group in sorted(set(data.s.tolist()))],
            "rows": sorted(rows, key=lambda row: (row[0], -1.0 if row[1] is None else row[1], row[3], row[2])),
        }  # fmt: skip
    content["limits"] = [
        _thinned(name, limit.estimate(datasets.load(name), with_group=with_group))
        for name in ESTIMATED
        for with_group in (False, True)
    ]
    return content


def _written(row: Mapping[str, Any]) -> list[Any]:
    strength = None if np.isnan(row["strength"]) else row["strength"]
    scores = [None if np.isnan(row[name]) else round(float(row[name]), 6) for name in MEASURES]
    return [row["method"], strength, row["fold"], row["seed"], *scores, row["counts"]]


def _thinned(name: str, line: Limit) -> dict[str, Any]:
    """A line with fewer corners, none of them off by more than the width of a pen."""
    sp = np.unique(np.concatenate([np.linspace(0, 1, LIMIT_POINTS // 4), np.linspace(0, 0.4, LIMIT_POINTS)]))
    return {
        "dataset": name, "with_group": line.with_group, "sp": sp.round(6).tolist(),
        "accuracy": line.at(sp).round(6).tolist(),
    }  # fmt: skip


def write(content: Mapping[str, Any], path: Path | None = None) -> Path:
    """One row per line, so that two versions can be compared."""
    path = path or data_folder() / FILE
    text = json.dumps(content, indent=1)
    for sweep in content["sweeps"].values():
        for row in sweep["rows"]:
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
    rows: dict[str, dict[tuple, dict[str, Any]]] = {}
    for name, sweep in content["sweeps"].items():
        params = sweep["params"]
        rows[name] = {}
        for values in sweep["rows"]:
            row = dict(zip(sweep["columns"], values, strict=True))
            model = ModelKey(row["method"], row["strength"], row["fold"], row["seed"])
            own = methods.own_parameters(model.method, params)
            address = (*model, sweep["folds"], tuple(sorted(own.items())))
            rows[name][address] = {key: np.nan if row[key] is None else row[key] for key in (*MEASURES, "counts")}
    limits = {
        (line["dataset"], line["with_group"]): Limit(
            np.array(line["sp"]), np.array(line["accuracy"]), estimated=True, with_group=line["with_group"]
        )
        for line in content["limits"]
    }
    groups = {name: sweep["groups"] for name, sweep in content["sweeps"].items()}
    return Bundle(content["command"], content["version"], content["date"], rows, groups, limits)
