"""The paper's cells as sweeps: seeds, steps, and how much longer a published step is."""

import pytest

from fairglvq.experiments import bundle, paper
from fairglvq.experiments.paper import Experiment


def test_a_published_step_is_longer_by_the_printed_numbers():
    """M / (2 x prototypes x labels), by hand: 250 / (2 x 8 x 2) on XOR with 4 prototypes per class."""
    found = {name: paper.step_ratio(name) for name in paper.PARAMETERS}
    assert found == pytest.approx({"local": 6.25, "xor": 7.8125, "compas": 1.25, "adult": 6.25})


def test_table_1_is_bundled_with_all_seeds_and_steps():
    for name, C in (("local", 1.5), ("xor", 1.25)):
        rows = bundle.rows(paper.table1_sweep(name))
        assert len(rows) == 4 * 10 * 5
        assert set(rows[rows.method == "fairglvq"].strength) == {C}
        for step in list(paper.STEPS)[1:]:
            plan = paper.table1_sweep(name, step)
            assert dict(plan.params)["step"] == "algorithm"
            assert len(bundle.rows(plan)) == 50


def test_a_cell_is_five_folds_per_seed():
    plan = paper.cell_sweep(Experiment("adult", "inp", 35.0), 3)
    assert len(plan) == 15
    assert plan.strengths == (("inp", (35.0,)),)
    assert dict(plan.params)["batch_size"] == 1000


def test_the_bundle_knows_all_methods_of_a_data_set():
    rows = bundle.rows(bundle.full_sweep("german"))
    assert {"fairglvq", "paritylvq", "fairtree_decided", "const"} <= set(rows.method)
