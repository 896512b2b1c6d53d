"""Individual fairness: points on a line whose neighbours can be counted by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from fairglvq.fairness import individual, metrics

LINE = np.array([[0.0], [1.0], [2.1], [3.3], [10.0], [11.0], [12.1]])
DECIDED = np.array(["no", "no", "yes", "no", "yes", "yes", "yes"])


@pytest.fixture
def near():
    return individual.neighbours(LINE, 2)


def test_neighbours_by_hand(near):
    assert_array_equal(np.sort(near.people), [[1, 2], [0, 2], [1, 3], [1, 2], [5, 6], [4, 6], [4, 5]])
    assert_allclose(near.distances[3], [1.2, 2.3])
    assert_array_equal(np.sort(individual.neighbours(csr_array(LINE), 2).people), np.sort(near.people))


def test_agreement_is_consistency_person_by_person(near):
    found = individual.agreement(near, DECIDED)
    assert_array_equal(found, [0.5, 0.5, 0, 0.5, 1, 1, 1])
    assert metrics.consistency(LINE, DECIDED, n_neighbors=2) == pytest.approx(found.mean())
    assert_array_equal(individual.unlike(near, DECIDED), [2])


def test_the_loneliest_come_first():
    near = individual.neighbours(LINE, 3)
    decided = np.array([1, 0, 1, 0, 1, 0, 0])
    agrees = individual.agreement(near, decided)
    found = individual.unlike(near, decided)
    assert set(found) == set(np.flatnonzero(agrees < 0.5))
    assert np.all(np.diff(agrees[found]) >= 0)


def test_violations_by_hand(near):
    scores = [0.0, 0.5, 0.6, 3.0, 0, 0, 0]
    found = individual.violations(near, scores, constant=0.4)
    # Slopes of 0: 0.5 / 1, 0.6 / 2.1; of 1: 0.5 / 1, 0.1 / 1.1; of 2: 0.1 / 1.1, 2.4 / 1.2; of 3: 2.4 / 1.2, 2.5 / 2.3
    assert_array_equal(found.share, [0.5, 0.5, 0.5, 1, 0, 0, 0])
    assert_allclose(found.steepest, [0.5, 0.5, 2.0, 2.0, 0, 0, 0])


def test_twins_treated_differently_are_infinitely_steep():
    near = individual.neighbours(np.array([[1.0], [1.0], [5.0]]), 1)
    found = individual.violations(near, [0, 1, 1], constant=1e9)
    assert_array_equal(found.steepest[:2], [np.inf, np.inf])
    assert_array_equal(found.share[:2], [1, 1])
    alike = individual.violations(near, [1, 1, 1], constant=0)
    assert_array_equal(alike.share, [0, 0, 0])
    assert_array_equal(alike.steepest, [0, 0, 0])


def test_cells(near):
    cells = np.array([0, 0, 2, 0, 2, 2, 2])
    found = individual.by_cell(near, cells, DECIDED, DECIDED == "yes", constant=0.5, n_cells=3)
    assert_array_equal(found.n, [3, 0, 4])
    assert_allclose(found.consistency, [0.5, np.nan, 0.75])
    assert_array_equal(found.unlike, [0, 0, 1])
    share = individual.violations(near, DECIDED == "yes", 0.5).share
    assert_allclose(found.violations, [share[cells == 0].mean(), np.nan, share[cells == 2].mean()])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda near: individual.neighbours(LINE, 7), "n_neighbors must be between 1 and 6"),
        (lambda near: individual.agreement(near, DECIDED[:-1]), "lengths are X 7, y_pred 6"),
        (lambda near: individual.violations(near, np.zeros(7), -1), "constant must be at least 0"),
    ],
)
def test_what_is_wrong_is_said(near, call, words):
    with pytest.raises(ValueError, match=words):
        call(near)
