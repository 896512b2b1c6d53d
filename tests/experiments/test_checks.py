"""Measurements behind the paper's page: what came with the project is what the library measures today."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairglvq import datasets
from fairglvq.experiments import checks, paper


def test_bundled_measurements_are_those_of_today():
    kept = checks.load()
    assert checks.alpha_uses("local", 1) == kept["alpha"][0]
    assert checks.alpha_uses("xor", 4) in kept["alpha"]


def test_angles_are_those_of_the_line_that_is_left(monkeypatch):
    """Local's groups differ along x, so INP keeps the height; seed 0's five folds are the first five of the file."""
    monkeypatch.setattr(paper, "TABLE1_SEEDS", (0,))
    assert checks.inp_angles("local") == pytest.approx(checks.load()["inp_angles"]["local"][:5], abs=0.02)
    assert len(checks.load()["inp_angles"]["xor"]) == 50


def test_counts_of_compas_add_up():
    kept = checks.load()
    months, scores = kept["arrests_by_month"], kept["scores_by_screening"]
    whole, early = scores["everybody"], scores["screened early"]
    assert sum(n for _, n, _ in months) == whole["people"] == 6167
    assert sum(again for _, _, again in months) == whole["arrested"]
    assert whole["people"] - early["people"] == whole["arrested"] - early["arrested"] == 868
    assert all(n == again for month, n, again in months if month > checks.LATE[:7])
    constant = [row[2] for row in early["rows"] if row[0] == "const"]
    assert np.mean(constant) == pytest.approx(1 - early["arrested"] / early["people"], abs=1e-3)


def test_rounding_errors_alone_can_be_read(monkeypatch):
    """Of Adult no direction is left, and after a few epochs GLVQ is right more often than one answer for all."""
    adult = datasets.load("adult")
    few = replace(adult, X=adult.X[:4000], y=adult.y[:4000], s=adult.s[:4000], readable=None)
    monkeypatch.setattr(datasets, "load", lambda name: few)
    monkeypatch.setattr(checks, "FOLDS", 2)
    monkeypatch.setitem(paper.PARAMETERS, "adult", paper.PARAMETERS["adult"] | {"max_epochs": 20, "n_prototypes": 2})
    found = np.array(checks.rounding_noise("adult"))
    assert found.shape == (2, 2)
    assert (found[:, 0] > 0.77).all()  # 75.2% earn less


def test_ranks_are_below_the_number_of_columns():
    kept = checks.load()["ranks"]
    assert all(max(kept[name]) < columns for name, columns in (("adult", 98), ("compas", 401)))
    assert max(kept["adult"]) < 95  # so Figure 2's last point has nothing left


def test_writing_keeps_everything(tmp_path):
    path = checks.write(checks.load(), tmp_path / "checks.json")
    assert json.loads(path.read_text()) == checks.load()
    assert len(path.read_text().splitlines()) == len(checks.load()) + 2


def test_strengths_are_table_1_s():
    assert [checks.table1_strength(name) for name in ("local", "xor", "adult")] == [1.5, 1.25, 1.0]
