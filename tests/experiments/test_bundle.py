"""The results that come with the project."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairglvq import datasets
from fairglvq.experiments import bundle, evaluation, paper, sweep
from fairglvq.experiments.engine import Engine
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import ModelKey
from fairglvq.fairness import limit
from fairglvq.tradeoff.choice import usual


@pytest.mark.parametrize("plan", bundle.plans(), ids=lambda plan: f"{plan.dataset}-{plan.bins}")
def test_every_sweep_is_bundled_in_full(plan):
    known = bundle.load().known(plan)
    assert set(known) == set(plan.models())
    for row in known.values():
        assert 0 <= row["statistical_parity"] <= 1
        counts = np.array(row["counts"])
        right = counts[:, 0, 0].sum() + counts[:, 1, 1].sum()
        assert right / counts.sum() == pytest.approx(row["accuracy"], abs=1e-6)


def test_what_data_sets_start_with_is_bundled():
    """Local, XOR, COMPAS, Adult and German: nobody waits for the first curve, nor for another method on its folds."""
    for name in ("local", "xor", "compas", "adult", "german"):
        plan = usual(name).sweep()
        assert set(bundle.load().known(plan)) == set(plan.models())
    assert {plan.dataset for plan in bundle.plans() if not plan.bins} == {"local", "xor", "compas", "adult", "german"}


def test_other_parameters_are_not_taken_for_the_bundled_ones():
    plan = paper.paper_sweep("xor")
    other = sweep.Sweep(plan.dataset, plan.strengths, plan.folds, plan.seeds, (*plan.params, ("beta", 3.0)))
    assert {model.method for model in bundle.load().known(other)} == {"const"}  # it has no parameters
    folds = sweep.Sweep(plan.dataset, plan.strengths, 4, plan.seeds, plan.params)
    assert bundle.load().known(folds) == {}


def test_bundled_rows_are_what_the_library_computes_today():
    plan = paper.paper_sweep("xor")
    known = bundle.load().known(plan)
    rows = evaluation.evaluate(datasets.load("xor"), "fairglvq", [1.25], plan.folds, 2, **dict(plan.params))
    for row in rows.itertuples():
        bundled = known[ModelKey("fairglvq", 1.25, row.fold, 2)]
        assert bundled["accuracy"] == pytest.approx(row.accuracy, abs=1e-6)
        assert bundled["statistical_parity"] == pytest.approx(row.statistical_parity, abs=1e-6)


def test_bundled_limits_are_estimates_of_the_right_data():
    lines = bundle.load().limits
    assert set(lines) == {(name, told) for name in bundle.ESTIMATED for told in (False, True)}
    fresh = limit.estimate(datasets.load("german"))
    kept = lines["german", False]
    assert kept.estimated
    gaps = np.linspace(0, 0.4, 9)
    assert kept.at(gaps) == pytest.approx(fresh.at(gaps), abs=0.003)


@pytest.mark.long
def test_making_a_bundle_writes_what_loading_reads(tmp_path, monkeypatch):
    small = sweep.of("xor", {"const": (), "glvq": ()}, folds=2, n_prototypes=1, max_epochs=1)
    binned = sweep.of("german", {"const": ()}, folds=2, bins=4)
    monkeypatch.setattr(bundle, "plans", lambda: [small, binned])
    monkeypatch.setattr(bundle, "ESTIMATED", ("german",))
    monkeypatch.setattr(bundle, "data_folder", lambda: tmp_path)
    told = []
    with Engine(n_jobs=1) as engine:
        content = bundle.make(engine, Store(tmp_path / "rows.sqlite"), lambda *now: told.append(now))
    assert told[-1] == (6, 6)
    text = bundle.write(content).read_text()
    assert json.loads(text) == json.loads(json.dumps(content))
    assert all(len(row) > 4 for row in content["sweeps"][0]["rows"])
    bundle.load.cache_clear()
    try:
        for plan in (small, binned):
            assert set(bundle.load().known(plan)) == set(plan.models())
        assert bundle.load().known(replace(binned, bins=0)) == {}
        more = sweep.of("xor", {"glvq": ()}, folds=2, seeds=[1], n_prototypes=1, max_epochs=1)
        monkeypatch.setattr(bundle, "plans", lambda: [small, binned, more])
        with Engine(n_jobs=1) as engine:
            longer = bundle.complete(engine)
        assert longer["sweeps"][:2] == json.loads(text)["sweeps"]
        assert [row[:4] for row in longer["sweeps"][2]["rows"]] == [["glvq", None, 0, 1], ["glvq", None, 1, 1]]
        bundle.write(longer)
        bundle.load.cache_clear()
        assert bundle.full_sweep("xor") == small
        for plan in (small, more):
            assert len(bundle.rows(plan)) == len(plan)
    finally:
        bundle.load.cache_clear()
