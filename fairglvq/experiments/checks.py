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
from fairglvq.datasets.split import Scaling
from fairglvq.experiments import methods, paper
from fairglvq.experiments.engine import Engine
from fairglvq.experiments.fold import assess, split, training_fold
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
    return [int(np.linalg.matrix_rank(training_fold(data, fold, folds=FOLDS).X)) for fold in range(FOLDS)]


def inp_angles(dataset: str) -> list[float]:
    """The direction of the plane that INP keeps, in degrees from 0 to 180, for every seed and fold of Table 1."""
    from fairglvq.fairness.projection import NullSpaceProjection

    data, found = datasets.load(dataset), []
    for seed in paper.TABLE1_SEEDS:
        for number in range(FOLDS):
            fold = training_fold(data, number, seed, FOLDS)
            projection = NullSpaceProjection(1, random_state=fold.seed).fit(fold.X, sensitive_features=fold.s)
            x, height = projection.directions_[0]  # removed; what is kept stands across it
            found.append(round(float(np.degrees(np.arctan2(-x, height)) % 180), 2))
    return found


def rounding_noise(dataset: str) -> list[list[float]]:
    """GLVQ on what projections leave when nothing is left, on each test fold: accuracy and statistical parity gap.

    Every direction of the training part is removed. What remains are rounding errors of about 1e-16, which depend on
    the person; scaled to [0, 1] like any feature they become readable. `NullSpaceProjection` sets them to 0.
    """
    data, method = datasets.load(dataset), methods.get("glvq")
    params = methods.parameters_for("glvq", paper.PARAMETERS[dataset])
    found = []
    for number in range(FOLDS):
        fold, X_test, test = split(data.X, data.y, data.s, 0, number, FOLDS, data.favourable)
        _, sizes, rows = np.linalg.svd(np.linalg.qr(fold.X, mode="r"), full_matrices=False)
        removed = rows[: int((sizes > sizes[0] * max(fold.X.shape) * np.finfo(float).eps).sum())]
        nothing = np.eye(fold.X.shape[1]) - removed.T @ removed
        scaling = Scaling.fit(fold.X @ nothing)
        left = replace(fold, X=scaling.apply(fold.X @ nothing))
        model = method.fit(left, method.prepare(left, (), params), None, params)
        scores = assess(data.y[test], model.predict(scaling.apply(X_test @ nothing)), data.s[test], data.favourable)
        found.append([round(scores["accuracy"], 6), round(scores["statistical_parity"], 6)])
    return found


def alpha_uses(dataset: str, n_prototypes: int) -> dict[str, Any]:
    """How often alpha stood in for a missing rival while FairGLVQ was trained on the first fold, of how many times.

    With the paper's parameters, but so many prototypes per class; C is Table 1's, and 1 on real data.
    """
    fold = training_fold(datasets.load(dataset), folds=FOLDS)
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
        "inp_angles": {name: inp_angles(name) for name in ("local", "xor")},
        "ranks": {name: ranks(name) for name in ("adult", "compas")},
        "rounding_noise": {name: rounding_noise(name) for name in ("adult", "compas")},
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
