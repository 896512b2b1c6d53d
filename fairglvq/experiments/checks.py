"""Measurements that explain where the paper's numbers and this library's differ, one function each.

``python -m fairglvq paper checks`` writes all of them to ``data/paper_checks.json``, since some take minutes or need
COMPAS. The file holds counts and scores, nothing about anybody in particular.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fairglvq import datasets
from fairglvq.datasets.files import bundled, data_folder
from fairglvq.experiments import methods, paper
from fairglvq.experiments.engine import Engine
from fairglvq.experiments.fold import split
from fairglvq.experiments.sweep import of
from fairglvq.version import __version__

FILE = "paper_checks.json"
COMMAND = "python -m fairglvq paper checks --wheel FILE"
FOLDS = 5
LATE = "2014-04-01"
"""Of people screened after this day, COMPAS holds only those who were arrested again."""

ALPHA_CASES = (
    *((name, k) for name in ("local", "xor") for k in (1, 2, 3, 4, 5)),
    ("compas", 1), ("compas", 20), ("adult", 1), ("adult", 20),
)  # fmt: skip
"""Data sets and prototypes per class for which uses of alpha are counted."""


def ranks(dataset: str) -> list[int]:
    """Dimensions that the training part of each fold has: so many projections leave nothing."""
    data = datasets.load(dataset)
    return [int(np.linalg.matrix_rank(_training(data, fold).X)) for fold in range(FOLDS)]


def alpha_uses(dataset: str, n_prototypes: int) -> dict[str, Any]:
    """How often alpha stood in for a missing rival while FairGLVQ was trained on the first fold, of how many times.

    With the paper's parameters, but so many prototypes per class; C is Table 1's, and 1 on real data.
    """
    fold = _training(datasets.load(dataset), 0)
    params = paper.PARAMETERS[dataset] | {"n_prototypes": n_prototypes}
    method, C = methods.get("fairglvq"), table1_strength(dataset)
    model = method.fit(fold, method.prepare(fold, [C], params), C, params)
    chances = len(fold.X) * params["max_epochs"]
    return {
        "dataset": dataset, "n_prototypes": n_prototypes, "C": C, "uses": int(model.n_alpha_uses_), "chances": chances,
    }  # fmt: skip


def table1_strength(dataset: str) -> float:
    """Table 1's C of FairGLVQ; 1 where it has none."""
    found = [e.strength for e in paper.experiments("Table 1", dataset) if e.method == "fairglvq"]
    return float(found[0] or 0) if found else 1.0


def arrests_by_month(wheel: str | os.PathLike[str]) -> list[tuple[str, int, int]]:
    """Month of the screening, people used, and how many of them are labelled as arrested again."""
    from fairglvq.datasets import compas

    dates, y = compas.screening_dates(wheel), datasets.load("compas").y
    months = dates.dt.strftime("%Y-%m").to_numpy()
    return [(str(month), int((months == month).sum()), int(y[months == month].sum())) for month in np.unique(months)]


def scores_by_screening(wheel: str | os.PathLike[str]) -> dict[str, Any]:
    """COMPAS with everybody, and without those screened late: people, rate of arrests, and scores per test fold."""
    from fairglvq.datasets import compas

    data = datasets.load("compas")
    early = (compas.screening_dates(wheel) <= LATE).to_numpy()
    strengths = {"const": (), "glvq": (), "fairglvq": (1.0,)}
    plan = of("compas", strengths, folds=FOLDS, **paper.PARAMETERS["compas"])
    found: dict[str, Any] = {}
    for name, kept in (("everybody", np.ones_like(early)), ("screened early", early)):
        part = replace(data, X=data.X[kept], y=data.y[kept], s=data.s[kept], readable=None)
        with Engine(n_jobs=1) as engine:
            rows = engine.compute(plan, part)
        found[name] = {
            "people": int(kept.sum()), "arrested": int(part.y.sum()),
            "rows": [[row["method"], row["fold"], *(round(row[m], 6) for m in paper.MEASURES)] for row in rows],
        }  # fmt: skip
    return found


def make(wheel: str | os.PathLike[str]) -> dict[str, Any]:
    """All of them."""
    return {
        "command": COMMAND, "version": __version__, "date": datetime.now(UTC).date().isoformat(),
        "ranks": {name: ranks(name) for name in ("adult", "compas")},
        "alpha": [alpha_uses(*case) for case in ALPHA_CASES],
        "arrests_by_month": arrests_by_month(wheel),
        "scores_by_screening": scores_by_screening(wheel),
    }  # fmt: skip


def write(content: Mapping[str, Any], path: Path | None = None) -> Path:
    """One measurement per line."""
    path = path or data_folder() / FILE
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in content.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return path


@cache
def load() -> dict[str, Any]:
    """The measurements that came with the project."""
    found: dict[str, Any] = json.loads(bundled(FILE).read_text(encoding="utf-8"))
    return found


def _training(data: datasets.Dataset, fold: int) -> methods.TrainingFold:
    training, _, _ = split(data.X, data.y, data.s, 0, fold, FOLDS, data.favourable)
    return training
