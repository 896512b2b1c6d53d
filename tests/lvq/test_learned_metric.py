"""Learned metrics of GLVQ and FairGLVQ: exact gradients, decisions against plain NumPy, what they are good for."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairglvq import GLVQ, FairGLVQ, datasets
from fairglvq.lvq import learned_metric
from fairglvq.lvq.activations import ACTIVATIONS
from fairglvq.lvq.directions import directions
from fairglvq.lvq.projected import Projected
from fairglvq.lvq.trainer import Recipe


@parametrize_with_checks([GLVQ(2, metric="matrix", rank=2), FairGLVQ(2, C=0, metric="diagonal")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def case(d=4, r=2, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X, y, s = rng.normal(size=(n, d)), rng.integers(3, size=n), rng.integers(2, size=n)
    labels = np.repeat([0, 1, 2], 2)
    terms = learned_metric.Terms(y, labels, s, rng.integers(2, size=6))
    return X, Projected(rng.normal(size=(r, d)), rng.normal(size=(6, r)), np.zeros(6)), terms


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("C", [0.0, 1.5])
def test_gradient_is_the_derivative(activation, C):
    X, model, terms = case()
    recipe = Recipe(C=C, activation=activation, beta=2.0)

    def value(p):
        omega, V = np.split(p, [model.omega.size])
        moved = model._replace(omega=omega.reshape(model.omega.shape), V=V.reshape(model.V.shape))
        return learned_metric.cost(X, moved, terms, recipe)[0]

    slopes = learned_metric.cost(X, model, terms, recipe)[1]
    exact = np.concatenate([slopes.omega.ravel(), slopes.V.ravel()])
    p = np.concatenate([model.omega.ravel(), model.V.ravel()])
    np.testing.assert_allclose(exact, approx_fprime(p, value, 1e-7), atol=2e-6)
    assert np.abs(exact).max() > 1e-3


def test_cost_is_that_of_plain_numpy():
    X, model, terms = case()
    D = (((X @ model.omega.T)[:, None, :] - model.V) ** 2).sum(axis=2)

    def mean_cost(sides, labels):
        same = sides[:, None] == labels
        near, far = np.where(same, D, np.inf).min(axis=1), np.where(same, np.inf, D).min(axis=1)
        return ACTIVATIONS["swish"].value((near - far) / (near + far), 2.0).mean()

    expected = mean_cost(terms.y, terms.labels) - 0.7 * mean_cost(terms.s, terms.pseudo)
    found = learned_metric.cost(X, model, terms, Recipe(C=0.7))[0]
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_group_without_prototypes_does_not_pull():
    X, model, terms = case()
    alone = terms._replace(pseudo=np.zeros(6, np.int64))
    free = learned_metric.cost(X, model, alone, Recipe(C=0.0))
    fair = learned_metric.cost(X, model, alone, Recipe(C=1.0, alpha=3.0))
    constant = ACTIVATIONS["swish"].value((3 - 1) / (3 + 1), 2.0)
    assert fair[0] == pytest.approx(free[0] - constant)
    np.testing.assert_allclose(fair[1].omega, free[1].omega)


def test_history_names_the_groups():
    data = datasets.load("xor", size=40)
    model = FairGLVQ(2, metric="diagonal", max_epochs=5, random_state=0)
    model.fit(data.X, data.y, sensitive_features=np.array(["u", "v"])[data.s])
    np.testing.assert_array_equal(model.history_[-1].pseudo_classes, model.pseudo_classes_)


@pytest.mark.parametrize(("metric", "rank"), [("matrix", None), ("matrix", 2), ("matrix", 3), ("diagonal", None)])
def test_decisions_and_distances_are_those_of_omega(metric, rank):
    X, y = load_wine(return_X_y=True)
    model = GLVQ(2, metric=metric, rank=rank, random_state=0).fit(X, y)
    D = (((X[:, None, :] - model.prototypes_) @ model.omega_.T) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), model.prototype_labels_[D.argmin(axis=1)])
    np.testing.assert_allclose(model.transform(X), np.sqrt(D), rtol=1e-6, atol=1e-6)
    assert model.omega_.shape == ((rank or 13), 13)
    assert model.relevances_.sum() == pytest.approx(1)
    assert model.history_[-1].class_cost < model.history_[0].class_cost
    assert model.history_[-1].accuracy == pytest.approx(model.score(X, y))


@pytest.mark.parametrize(("load", "least"), [(load_wine, 0.92), (load_breast_cancer, 0.92)])
@pytest.mark.parametrize("metric", ["matrix", "diagonal"])
def test_raw_columns_of_any_scale_are_no_problem(load, least, metric):
    X, y = load(return_X_y=True)
    model = GLVQ(2, metric=metric, rank=2 if metric == "matrix" else None, random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > least
    factors = 10.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[1])
    plain, scaled = model.fit(X, y).predict(X), model.fit(X * factors, y).predict(X * factors)
    assert (plain == scaled).mean() > 0.98


def test_relevances_find_the_columns_that_tell():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 6))
    y = (X[:, 2] > 0) * 1
    model = GLVQ(1, metric="diagonal", random_state=0).fit(X, y)
    assert model.relevances_.argmax() == 2
    assert model.relevances_[2] > 0.5


def test_the_fair_term_makes_cells_tell_the_group_less():
    data = datasets.load("xor")
    told = []
    for C in (0.0, 0.5):
        model = FairGLVQ(4, C=C, metric="matrix", random_state=0).fit(data.X, data.y, sensitive_features=data.s)
        told.append(model.history_[-1])
        assert set(model.pseudo_classes_) <= {0, 1}
    assert told[1].fair_cost > told[0].fair_cost
    assert told[1].statistical_parity < told[0].statistical_parity


def test_streams_need_the_euclidean_metric():
    data = datasets.load("xor", size=40)
    assert not hasattr(FairGLVQ(metric="matrix"), "partial_fit")
    with pytest.raises(AttributeError) as problem:
        GLVQ(metric="matrix").partial_fit(data.X, data.y, classes=[0, 1])
    assert "needs metric='euclidean'" in str(problem.value.__cause__)


@pytest.mark.parametrize("metric", ["matrix", "diagonal"])
@pytest.mark.parametrize("shift", [0, 1000])
def test_a_given_start_and_no_steps_is_the_start(metric, shift):
    data = datasets.load("xor", size=40)
    W = data.X[[0, 1, 30, 31]] + shift
    model = GLVQ(2, metric=metric, init=W, max_epochs=0, random_state=0).fit(data.X + shift, data.y)
    np.testing.assert_allclose(model.prototypes_, W)
    with pytest.raises(ValueError, match=r"init has shape \(4, 3\), expected \(4, 2\)"):
        GLVQ(2, metric=metric, init=np.ones((4, 3))).fit(data.X, data.y)


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_columns_far_from_zero_are_learned_as_well_as_others(layout):
    data = datasets.load("xor", size=200)
    near = data.X - data.X.min(axis=0)
    options = {"C": 0, "metric": "matrix", "rank": 1, "random_state": 0}
    expected = FairGLVQ(2, **options).fit(near, data.y)
    X = near + np.array([1e4, 1e3])
    far = FairGLVQ(2, **options).fit(layout(X), data.y)
    assert (far.predict(X) == expected.predict(near)).mean() > 0.99
    last = far.history_[-1].model
    assert (last.cells(last.project(X)) == far.apply(X)).mean() > 0.99


def test_fitting_again_without_a_metric_forgets_it():
    data = datasets.load("xor", size=40)
    model = GLVQ(2, metric="matrix", random_state=0).fit(data.X, data.y)
    model.set_params(metric="euclidean").fit(data.X, data.y)
    assert model.omega_ is None
    assert model.relevances_ is None


def ranges(n, d=5, seed=0):
    """The label is that of a slope in column 0, and its opposite in two ranges of column 3."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    turned = (np.abs(X[:, 3]) > 0.3) & (np.abs(X[:, 3]) < 0.6)
    return X, ((X[:, 0] + 0.1 * rng.normal(size=n) > 0) ^ turned) * 1


def test_beyond_the_plane_a_column_with_ranges_is_a_row():
    X, y = ranges(4000)
    X = np.round(X, 2)
    omega = directions(X, [y], 3, np.random.default_rng(0), bends=True)[0]
    assert np.flatnonzero(omega[2]).tolist() == [3]
    cuts = (X @ omega.T).std(axis=0)[2]  # four ends of ranges, each for both signs of the slope
    assert cuts == pytest.approx(round(cuts))
    assert 4 <= cuts <= 31
    sparse = directions(csr_array(X), [y], 3, np.random.default_rng(0), bends=True)[0]
    np.testing.assert_allclose(sparse[2], omega[2])


@pytest.mark.parametrize(("n", "rank", "bends"), [(4000, 2, True), (4000, 3, False), (240, 3, True)])
def test_a_plane_a_straight_border_or_few_points_take_directions_only(n, rank, bends):
    X, y = ranges(n)
    omega = directions(X, [y], rank, np.random.default_rng(0), bends=bends)[0]
    assert np.count_nonzero(omega, axis=1).tolist() == [5] * rank


def test_columns_come_after_the_directions_of_three_labels():
    X, y = ranges(4000)
    y = np.where(X[:, 1] > 0.5, 2, y)
    omega = directions(X, [y], 4, np.random.default_rng(0), bends=True)[0]
    assert np.count_nonzero(omega, axis=1).tolist() == [5, 5, 1, 1]  # the third label is what the others are not
    assert omega[2:, 3].any()


def test_a_label_without_ranges_leaves_directions():
    X = np.eye(2)[np.arange(400) % 2] @ np.array([[0, 1, 0, 1], [1, 0, 0, 1]])
    omega = directions(X, [np.arange(400) % 2], 3, np.random.default_rng(0), bends=True)[0]
    assert omega.shape == (3, 4)
    assert np.isfinite(omega).all()


def test_more_rank_and_prototypes_pay_where_the_label_hangs_on_ranges():
    X, y = ranges(6000)
    seen, unseen = slice(4000), slice(4000, None)
    plain, ranged = (
        GLVQ(k, metric="matrix", rank=rank, random_state=0).fit(X[seen], y[seen]).score(X[unseen], y[unseen])
        for k, rank in ((1, 2), (10, 3))
    )
    assert ranged > plain + 0.1


def test_steps_are_finer_only_beyond_a_plane_and_with_many_points():
    wide = np.zeros((3, 5))
    assert learned_metric.tolerance_of(wide, 40_000) == pytest.approx(1e-5)
    assert learned_metric.tolerance_of(wide, 1000) == pytest.approx(1e-4)
    assert learned_metric.tolerance_of(np.zeros((3, 801)), 40_000) == pytest.approx(1e-4)  # fewer than 50 per column
    assert learned_metric.tolerance_of(wide[:2], 40_000) == pytest.approx(1e-4)
    assert learned_metric.tolerance_of(wide[0], 40_000) == pytest.approx(1e-4)  # a diagonal Ω
