"""Sweeps as keys, and how little it takes to read one from a link."""

import pytest
from interpreter import modules_after

from fairglvq import datasets
from fairglvq.experiments import sweep
from fairglvq.experiments.sweep import ModelKey


def test_a_sweep_lists_whole_curves_fold_by_fold():
    plan = sweep.of("xor", {"glvq": (), "fairglvq": (0, 1)}, folds=2, seeds=(3, 4))
    models = list(plan.models())
    assert len(plan) == len(models) == len(set(models)) == 12
    assert models[:3] == [
        ModelKey("glvq", None, 0, 3),
        ModelKey("fairglvq", 0.0, 0, 3),
        ModelKey("fairglvq", 1.0, 0, 3),
    ]
    assert [(model.seed, model.fold) for model in models[::3]] == [(3, 0), (3, 1), (4, 0), (4, 1)]
    keys = plan.keys(datasets.load("xor", size=40))
    assert list(keys) == models
    assert hash(plan) == hash(sweep.of("xor", {"glvq": (), "fairglvq": [0, 1]}, folds=2, seeds=[3, 4]))


def test_a_sweep_that_cannot_be_is_named():
    with pytest.raises(ValueError, match="strengths of 'fairglvq' must be one or more numbers"):
        sweep.of("xor", {"fairglvq": ()})
    with pytest.raises(ValueError, match="method must be one of"):
        sweep.of("xor", {"magic": (1,)})


def test_reading_a_link_loads_nothing_that_trains():
    """Sweeps, methods and the paper's strengths are read without pandas, scikit-learn or Numba."""
    loaded = modules_after("""
        from fairglvq.tradeoff import choice
        from pages.shared import links
        from pages.shared.tradeoff import links as curve_links

        links.from_query({"data": "adult", "C": "2"})
        curve_links.from_query({"data": "compas", "methods": "inp.fairglvq", "s_fairglvq": "0_1", "folds": "3"})
    """)
    assert loaded.isdisjoint({"numba", "sklearn", "pandas", "scipy", "distributed"})
