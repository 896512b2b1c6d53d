"""Answers of cells under a bounded gap: against every possible choice, and what is said when time is up."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairglvq.fairness.cells import Cells, majority
from fairglvq.fairness.deciding import decide_cells


def tables(n_cells, n_classes, n_groups, seed):
    rng = np.random.default_rng(seed)
    scale = rng.gamma(0.7, 20, (n_cells, n_classes, n_groups))
    return rng.poisson(scale)


def best_of_all(counts, max_gap, favourable):
    """Accuracy of the best of all answers within the gap, cell by cell and class by class."""
    P, K, G = counts.shape
    n = counts.sum(axis=(0, 1))
    best = -1
    for answers in itertools.product(range(K), repeat=P):
        rates = [sum(counts[p, :, g].sum() for p in range(P) if answers[p] == favourable) / n[g] for g in range(G)]
        if max(rates) - min(rates) <= max_gap + 1e-12:
            best = max(best, sum(counts[p, answers[p]].sum() for p in range(P)))
    return best / counts.sum()


@pytest.mark.parametrize("max_gap", [0.0, 0.01, 0.05, 0.2, 1.0])
@pytest.mark.parametrize(("n_groups", "seed"), [(2, 0), (3, 1)])
def test_two_classes_and_twelve_cells(max_gap, n_groups, seed):
    """All 4,096 choices at once, as bits."""
    counts = tables(12, 2, n_groups, seed)
    chosen = (np.arange(2**12)[:, None] >> np.arange(12)) & 1  # (4096, P) whether a cell is favourable
    rates = chosen @ counts.sum(axis=1) / counts.sum(axis=(0, 1))  # (4096, G)
    right = (np.where(chosen, counts.sum(axis=2)[:, 1], counts.sum(axis=2)[:, 0])).sum(axis=1)
    within = np.ptp(rates, axis=1) <= max_gap + 1e-12
    found = decide_cells(counts, max_gap=max_gap, favourable=1)
    assert found.accuracy == pytest.approx(right[within].max() / counts.sum(), abs=1e-12)
    assert found.gap <= max_gap + 1e-12
    assert found.optimal
    assert found.bound == found.accuracy


@pytest.mark.parametrize("favourable", [0, 1, 2])
def test_three_classes(favourable):
    counts = tables(7, 3, 2, 5)
    for max_gap in (0.0, 0.03, 0.1):
        found = decide_cells(counts, max_gap=max_gap, favourable=favourable)
        assert found.accuracy == pytest.approx(best_of_all(counts, max_gap, favourable), abs=1e-12)
        assert found.gap == Cells(counts, found.answers, favourable).score.statistical_parity <= max_gap + 1e-12


def test_by_hand():
    """Two cells of 10 men and 10 women, one favourable by majority: parity costs the smaller majority."""
    counts = np.zeros((2, 2, 2), int)
    counts[0] = [[2, 1], [8, 0]]  # 8 of 10 men favourable, 1 woman beside them
    counts[1] = [[0, 6], [0, 3]]  # 3 of 9 women favourable
    assert_array_equal(majority(counts), [1, 0])
    free = decide_cells(counts, max_gap=1, favourable=1)
    assert_array_equal(free.answers, [1, 0])
    assert (free.accuracy, free.gap) == (14 / 20, pytest.approx(0.9))
    fair = decide_cells(counts, max_gap=0.5, favourable=1)
    assert_array_equal(fair.answers, [1, 1])  # 11 right; all unfavourable: 9
    assert (fair.accuracy, fair.gap) == (11 / 20, 0)


def test_some_hundred_cells_and_a_bound_that_holds():
    counts = tables(300, 2, 2, 3)
    found = decide_cells(counts, max_gap=0.02, favourable=1)
    assert found.optimal
    assert found.gap <= 0.02 + 1e-12
    # Lottery instead of answers (x_p from 0 to 1) can only be better: by at most a cell, with two groups.
    free = decide_cells(counts, max_gap=1, favourable=1)
    assert 0.5 < found.accuracy <= free.accuracy
    with pytest.warns(UserWarning, match="No proof within 0 s .* that of the best at most"):
        rushed = decide_cells(counts, max_gap=0.02, favourable=1, time_limit=0)
    assert not rushed.optimal
    assert rushed.gap <= 0.02 + 1e-12
    assert rushed.accuracy <= found.accuracy <= rushed.bound


def test_cells_without_people_keep_their_answers():
    counts = tables(5, 2, 2, 1)
    counts[[1, 3]] = 0
    found = decide_cells(counts, max_gap=0.1, favourable=1, answers=[0, 1, 0, 0, 0])
    assert found.answers[[1, 3]].tolist() == [1, 0]
    most = counts.sum(axis=(0, 2)).argmax()
    assert decide_cells(counts, max_gap=0.1, favourable=1).answers[[1, 3]].tolist() == [most, most]


def test_one_group_has_no_gap():
    counts = tables(5, 2, 1, 1)
    found = decide_cells(counts, max_gap=0.0, favourable=1)
    assert_array_equal(found.answers, majority(counts))
    assert np.isnan(found.gap)
    beside_nobody = np.concatenate([counts, np.zeros_like(counts)], axis=2)
    assert_array_equal(decide_cells(beside_nobody, max_gap=0.0, favourable=1).answers, majority(counts))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_gap": -0.1}, "no answers have a gap of at most -0.1"),
        ({"favourable": 2}, "one of 2 classes; got 2"),
        ({"counts": np.zeros((2, 2, 2))}, "not all 0"),
        ({"counts": np.ones((2, 2))}, r"\(cells, classes, groups\)"),
    ],
)
def test_what_cannot_be_decided_is_said(arguments, words):
    call = {"counts": tables(4, 2, 2, 0), "max_gap": 0.1, "favourable": 1} | arguments
    with pytest.raises(ValueError, match=words):
        decide_cells(**call)
