"""Cells of partition models: one table of counts for prototypes and leaves, and the objective of eq. (4)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fairglvq import FairGLVQ, FairTree, FairTreeRegressor
from fairglvq.fairness import metrics
from fairglvq.fairness.cells import Cells, cells_of, majority, moments


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    y = np.array(["no", "yes"])[(X[:, 0] + 0.3 * rng.random(n) > 0.6).astype(int)]
    s = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + 0.3 * X[:, 0], [0.4, 0.8])]
    return X, y, s


@pytest.mark.parametrize(
    "model",
    [FairGLVQ(3, C=0.5, max_epochs=5, random_state=0), FairTree(7, C=0.5), FairTree(7, decide="fair")],
    ids=["prototypes", "leaves", "decided leaves"],
)
def test_scores_of_cells_are_those_of_the_decisions(model):
    X, y, s = people()
    cells = cells_of(model.fit(X, y, sensitive_features=s), X, y, sensitive_features=s, favourable="yes")
    assert cells.counts.sum() == 300
    decided = model.predict(X)
    assert_array_equal(model.classes_[cells.answers][model.apply(X)], decided)
    assert cells.score.accuracy == pytest.approx(np.mean(decided == y), abs=1e-12)
    call = {"sensitive_features": s, "favourable": "yes"}
    gaps = (
        metrics.statistical_parity_difference(decided, **call),
        metrics.equal_opportunity_difference(y, decided, **call),
    )
    assert_allclose(cells.score[1:3], gaps, rtol=0, atol=1e-12)
    for measure, gap in zip(("statistical_parity", "equal_opportunity"), gaps, strict=True):
        assert cells.contributions(measure).values.sum() == pytest.approx(gap, abs=1e-12)
    assert sorted(cells.order("contribution")) == list(range(len(cells.sizes)))


@pytest.mark.parametrize(
    "make", [lambda: FairGLVQ(3, C=0.5, max_epochs=5, random_state=0), lambda: FairTree(7, C=-0.2)]
)
def test_a_cell_taken_away_gives_its_people_to_the_next(make):
    X, y, s = people()
    model = make().fit(X, y, sensitive_features=s)
    cells = cells_of(model, X, y, sensitive_features=s, favourable="yes")
    where, following = model.apply(X), model.runner_up(X)
    assert np.all(where != following)
    for p in range(len(cells.sizes)):
        decided = model.cell_labels_[np.where(where == p, following, where)]
        gap = metrics.statistical_parity_difference(
            decided, sensitive_features=s, favourable="yes", classes=["no", "yes"]
        )
        removed = cells.without(p)
        assert removed.before == cells.score
        assert removed.after[:2] == (pytest.approx(np.mean(decided == y)), pytest.approx(gap))
        changed = decided != model.predict(X)
        assert removed.changed == changed.sum()
        gained = [np.sum(changed & (decided == "yes") & (s == group)) for group in "abc"]
        lost = [np.sum(changed & (decided == "no") & (s == group)) for group in "abc"]
        assert (list(removed.gained), list(removed.lost)) == (gained, lost)
    with pytest.raises(ValueError, match="not known which cell would be next"):
        Cells(cells.counts, cells.answers, cells.favourable).without(0)


def test_the_runner_up_of_a_prototype_is_the_second_nearest():
    X, y, s = people(60)
    model = FairGLVQ(3, C=0.5, max_epochs=5, random_state=0).fit(X, y, sensitive_features=s)
    D = ((X[:, None] - model.prototypes_) ** 2).sum(axis=2)
    assert_array_equal(np.column_stack([model.apply(X), model.runner_up(X)]), np.argsort(D, axis=1)[:, :2])


def test_the_runner_up_of_a_leaf_is_beside_it():
    """x up to 1, then up to 2, then above: without the last leaf its people belong to the middle one."""
    X = np.array([[0.0], [1.5], [3.0]]).repeat(5, axis=0)
    tree = FairTree(3, C=0).fit(X, ["a"] * 5 + ["b"] * 5 + ["c"] * 5)
    assert tree.n_leaves_ == 3
    first = tree.tree_.threshold[0] > 1  # which border came first
    assert_array_equal(tree.runner_up(X[[0, 5, 10]]), [1, 0, 1] if first else [1, 2, 1])
    alone = FairTree(1, C=0).fit(X, [0, 1, 1] * 5)
    assert_array_equal(alone.runner_up(X), alone.apply(X))


def test_by_hand():
    """Two cells, each of 4 people, of two classes and two groups."""
    cells = Cells(np.array([[[3, 0], [1, 0]], [[0, 1], [1, 2]]]), np.array([0, 1]), favourable=1)
    assert_array_equal(cells.sizes, [4, 4])
    assert cells.score == (6 / 8, pytest.approx(1 - 1 / 5), pytest.approx(1 - 1 / 2), 8)
    assert_allclose(cells.impurity, [1 - 10 / 16, 1 - 10 / 16])
    assert cells.loss("target", "gini") == pytest.approx(6 / 16)
    assert cells.loss("protected", "gini") == pytest.approx((0 + 6 / 16) / 2)
    quarter = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert cells.loss("target") == pytest.approx(quarter)
    assert cells.objective(2.0) == pytest.approx(quarter - 2.0 * quarter / 2)
    group, everybody = cells.cell(1)[0], cells.cell(1)[-1]
    assert (group.n, group.share_of_cell, group.share_of_group, group.accuracy) == (1, 1 / 4, 1 / 5, 1)
    assert (everybody.n, everybody.accuracy, everybody.favourable) == (4, 3 / 4, 3 / 4)
    assert_array_equal(majority(cells.counts), [0, 1])


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("C", [0.4, -1.0])
def test_splits_gain_what_the_objective_falls_by(C, criterion):
    X, y, s = people()
    tree = FairTree(8, C=C, criterion=criterion).fit(X, y, sensitive_features=s)
    whole = cells_of(FairTree(1, C=0).fit(X, y), X, y, sensitive_features=s)
    parts = cells_of(tree, X, y, sensitive_features=s)
    gained = sum(step.gain for step in tree.history_)
    assert gained > 0.01
    assert whole.objective(C, criterion) - parts.objective(C, criterion) == pytest.approx(gained, abs=1e-12)


def test_splits_of_numbers_gain_what_the_objective_falls_by():
    X, _, s = people()
    target = X[:, 0] ** 2 + X[:, 1]
    for protected in (X[:, 1] + X[:, 2], s):
        tree = FairTreeRegressor(8, C=0.4).fit(X, target, sensitive_features=protected)
        gained = sum(step.gain for step in tree.history_)
        assert (1 - 0.4) - tree.moments_.objective(0.4) == pytest.approx(gained, abs=1e-12)
        assert 1 - tree.moments_.loss("target") == pytest.approx(tree.score(X, target), abs=1e-12)


def test_moments_by_hand():
    found = moments([0, 0, 2], np.array([[1.0, 5.0], [3.0, 5.0], [6.0, 2.0]]), 3)
    assert_array_equal(found.sizes, [2, 0, 1])
    assert_array_equal(found.answers, [2, 0, 6])
    assert_array_equal(found.variances, [[1, 0], [0, 0], [0, 0]])
    assert found.loss("target") == pytest.approx(2 / np.sum((np.array([1, 3, 6]) - 10 / 3) ** 2))
    assert found.loss("protected") == 0
