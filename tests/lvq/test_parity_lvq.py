"""ParityLVQ: exact gradients, decisions against plain NumPy, gaps kept on people not seen, any labels and groups."""

import re

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairglvq import ParityLVQ, datasets
from fairglvq.datasets.split import hold_out_fold
from fairglvq.fairness import metrics
from fairglvq.lvq import parity
from fairglvq.lvq.directions import directions
from fairglvq.lvq.projected import Projected


class OfTwoGroups(ParityLVQ):
    """For scikit-learn's checks, which know no groups: they alternate, and no gap is asked for.

    Diagonal: the directions that a matrix begins with are checked with those of GLVQ, and take most of the time.
    """

    def __init__(self, n_prototypes=2, *, max_gap=1.0, random_state=0):
        super().__init__(n_prototypes, metric="diagonal", max_gap=max_gap, max_epochs=10, random_state=random_state)

    def fit(self, X, y):
        """Train with alternating groups."""
        n = X.shape[0] if hasattr(X, "tocsr") else len(np.asarray(X))
        return super().fit(X, y, sensitive_features=np.arange(n) % 2)

    def _find_favourable(self, favourable):
        return self.classes_.tolist()[-1]


@parametrize_with_checks([OfTwoGroups()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def random_case(rng, n=60, d=4, r=2, k=2, classes=3, groups=3):
    X = rng.normal(size=(n, d))
    y, s = rng.integers(classes, size=n), rng.integers(groups, size=n)
    labels = np.repeat(np.arange(classes), k)
    model = Projected(rng.normal(size=(r, d)), rng.normal(size=(len(labels), r)), rng.normal(size=len(labels)))
    return X, y, s, labels, model


@pytest.mark.parametrize("measure", parity.COUNTED)
@pytest.mark.parametrize("prices", [None, (0.3, 0.02)])
def test_gradient_is_the_derivative(measure, prices):
    rng = np.random.default_rng(0)
    X, y, s, labels, model = random_case(rng)
    people = parity.People(X, y, parity.rates_of(measure, y == 1, s))
    layout = parity.Layout(labels, 3, 1, train_omega=True)
    if prices:
        prices = parity.Prices(np.full(len(people.rates), prices[0]), prices[1])
    sizes = [model.omega.size, model.V.size]

    def value(p):
        omega, V, b = np.split(p, np.cumsum(sizes))
        moved = Projected(omega.reshape(model.omega.shape), V.reshape(model.V.shape), b)
        return parity.cost(people, moved, layout, 0.7, prices)[0]

    p = np.concatenate([part.ravel() for part in model])
    exact = np.concatenate([part.ravel() for part in parity.cost(people, model, layout, 0.7, prices)[1]])
    np.testing.assert_allclose(exact, approx_fprime(p, value, 1e-7), atol=2e-6)
    assert np.abs(exact).max() > 1e-3


def test_gradient_of_a_diagonal_metric():
    rng = np.random.default_rng(1)
    X, y, s, labels, model = random_case(rng, d=3, r=3)
    people = parity.People(X, y, parity.rates_of("statistical_parity", y == 1, s))
    layout = parity.Layout(labels, 3, 1, train_omega=True)
    omega = np.array([0.5, 1.0, 2.0])
    exact = parity.cost(people, model._replace(omega=omega), layout, 1.0, None)[1].omega

    def value(diagonal):
        return parity.cost(people, model._replace(omega=diagonal), layout, 1.0, None)[0]

    np.testing.assert_allclose(exact, approx_fprime(omega, value, 1e-7), atol=2e-6)


def held_out(name, **params):
    data = datasets.load(name, **params)
    test = hold_out_fold(data.y, 5, 0, 0)
    return data.X[~test], data.y[~test], data.s[~test], data.X[test], data.y[test], data.s[test]


@pytest.mark.parametrize(("name", "accuracy"), [("xor", 0.86), ("local", 0.80)])
def test_unseen_people_keep_to_the_gap_at_little_cost(name, accuracy):
    X, y, s, X_new, y_new, s_new = held_out(name)
    model = ParityLVQ(max_gap=0.05, random_state=0).fit(X, y, sensitive_features=s)
    trained = metrics.statistical_parity_difference(model.predict(X), sensitive_features=s, favourable=1)
    gap = metrics.statistical_parity_difference(model.predict(X_new), sensitive_features=s_new, favourable=1)
    error = 2 * np.sqrt(0.25 * sum(1 / (s_new == g).sum() for g in (0, 1)))
    assert trained <= 0.05
    assert gap <= 0.05 + error
    assert (model.predict(X_new) == y_new).mean() >= accuracy
    assert model.multipliers_[0] > 0


@pytest.mark.parametrize(
    ("measure", "difference"),
    [
        ("equal_opportunity", metrics.equal_opportunity_difference),
        ("equalized_odds", metrics.equalized_odds_difference),
    ],
)
def test_other_measures_are_kept_too(measure, difference):
    X, y, s, *_ = held_out("xor")
    of_parity, of_measure = (
        ParityLVQ(max_gap=0.05, measure=one, random_state=0).fit(X, y, sensitive_features=s)
        for one in ("statistical_parity", measure)
    )
    gaps = [difference(y, m.predict(X), sensitive_features=s, favourable=1) for m in (of_parity, of_measure)]
    assert gaps[1] <= 0.05 < gaps[0]


def test_decisions_are_the_smallest_power_distance():
    X, y, s, *_ = held_out("german")
    model = ParityLVQ(3, random_state=0).fit(X, y, sensitive_features=s, favourable=1)
    D = (((X[:, None, :] - model.prototypes_) @ model.omega_.T) ** 2).sum(axis=2) - model.handicaps_
    np.testing.assert_array_equal(model.predict(X), model.prototype_labels_[D.argmin(axis=1)])
    by_class = np.stack([D[:, model.prototype_labels_ == c].min(axis=1) for c in model.classes_], axis=1)
    np.testing.assert_allclose(model.decision_function(X), by_class[:, 0] - by_class[:, 1], atol=1e-8)
    np.testing.assert_allclose(model.project(X), X @ model.omega_.T)
    assert model.omega_.shape == (2, X.shape[1])
    assert model.relevances_.sum() == pytest.approx(1)
    assert (model.handicaps_ != 0).any()


def test_a_prototype_is_close_to_the_people_of_its_cell():
    X, y, s, *_ = held_out("german")
    model = ParityLVQ(1, random_state=0).fit(X, y, sensitive_features=s)
    for j, label in enumerate(model.prototype_labels_):
        off = model.prototypes_[j] - X[model.predict(X) == label].mean(axis=0)
        within = np.linalg.pinv(model.omega_) @ (model.omega_ @ off)
        np.testing.assert_allclose(off, within, atol=1e-8)  # it leaves the mean only where that changes its image


def test_scale_of_the_data_does_not_matter():
    X, y, s, X_new, *_ = held_out("german")
    factors = 10.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[1])
    plain = ParityLVQ(2, random_state=0).fit(X, y, sensitive_features=s).predict(X_new)
    scaled = ParityLVQ(2, random_state=0).fit(X * factors, y, sensitive_features=s).predict(X_new * factors)
    assert (plain == scaled).mean() > 0.99


def test_sparse_rows_give_the_dense_model():
    X, y, s, X_new, *_ = held_out("german")
    dense, sparse = (
        ParityLVQ(2, random_state=0).fit(rows, y, sensitive_features=s).predict(X_new) for rows in (X, csr_array(X))
    )
    assert (dense == sparse).mean() > 0.95  # logistic regression ends within its tolerance, from shifted columns


def test_three_classes_three_groups_and_words():
    data = datasets.load("three_classes")
    y, s = np.array(["no", "maybe", "yes"])[data.y], np.array(["a", "b"])[data.s]
    model = ParityLVQ(3, max_gap=0.05, random_state=0).fit(data.X, y, sensitive_features=s, favourable="yes")
    gap = metrics.statistical_parity_difference(model.predict(data.X), sensitive_features=s, favourable="yes")
    assert gap <= 0.05
    assert model.decision_function(data.X).shape == (len(y), 3)
    groups = datasets.load("three_groups")
    model = ParityLVQ(3, max_gap=0.05, random_state=0).fit(groups.X, groups.y, sensitive_features=groups.s)
    decided = model.predict(groups.X)
    assert metrics.statistical_parity_difference(decided, sensitive_features=groups.s, favourable=1) <= 0.05


@pytest.mark.parametrize("metric", ["euclidean", "diagonal"])
def test_other_metrics(metric):
    X, y, s, *_ = held_out("xor")
    model = ParityLVQ(metric=metric, random_state=0).fit(X, y, sensitive_features=s)
    assert metrics.statistical_parity_difference(model.predict(X), sensitive_features=s, favourable=1) <= 0.05
    assert np.count_nonzero(model.omega_ - np.diag(np.diag(model.omega_))) == 0


@pytest.mark.parametrize(
    ("params", "fit", "words"),
    [
        ({"max_gap": 2}, {}, "max_gap must be a number from 0 to 1; got 2"),
        ({"measure": "parity"}, {}, "measure must be one of 'statistical_parity'"),
        ({"learning_rate": 0.1}, {}, "learning_rate must be 'auto'"),
        ({"rank": 0}, {}, "rank must be None or a whole number of at least 1"),
        ({"batch_size": 0}, {}, "batch_size must be None or a whole number"),
        ({}, {"favourable": 7}, "favourable must be one of the classes [0, 1]; got 7"),
        ({}, {"sensitive_features": None}, "needs the protected group of every point"),
    ],
)
def test_mistakes_are_named(params, fit, words):
    data = datasets.load("xor", size=40)
    with pytest.raises(ValueError, match=re.escape(words)):
        ParityLVQ(**params).fit(data.X, data.y, **{"sensitive_features": data.s} | fit)


def test_a_gap_that_cannot_be_kept_is_said():
    X, y, s, *_ = held_out("local")
    with pytest.warns(ConvergenceWarning, match="No model kept to max_gap=0.1 on the training set"):
        ParityLVQ(max_gap=0.1, max_epochs=0, random_state=0).fit(X, y, sensitive_features=s)


def test_a_sample_can_stand_for_all_points():
    X, y, s, *_ = held_out("xor")
    model = ParityLVQ(batch_size=800, random_state=0).fit(X, y, sensitive_features=s)
    assert (model.predict(X) == y).mean() > 0.8


def test_directions_tell_label_and_group_and_the_rest_is_filled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y, s = (X[:, 0] + 0.3 * rng.normal(size=2000) > 0) * 1, (X[:, 3] + 0.3 * rng.normal(size=2000) > 0) * 1
    omega, images = directions(X, [y, s], 3, rng)
    np.testing.assert_allclose(images, X @ omega.T)  # 400 points per column: no need to cross-fit
    assert np.abs(omega[:2]).argmax(axis=1).tolist() == [0, 3]
    np.testing.assert_allclose((X @ omega.T).std(axis=0), 1)
    assert np.linalg.matrix_rank(omega) == 3
    assert np.linalg.matrix_rank(directions(X, [y, y], 2, rng)[0]) == 2  # the same target twice is one direction


def test_a_rare_label_that_is_missing_leaves_columns_to_be_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 5))
    y = np.where((X[:, 3] > 0.4) & (X[:, 3] < 0.6), 2, 0)  # a sample may hold nobody with label 1
    omega = directions(X, [y, (X[:, 1] > 0.5) * 1], 3, rng, bends=True)[0]
    assert np.flatnonzero(omega[2]).tolist() == [3]


def test_images_of_few_points_are_cross_fitted():
    """Pure noise: a regression tells the points it has seen, and nobody else."""
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(300, 60)), rng.integers(2, size=300), rng.integers(2, size=300)
    omega, images = directions(X, [y, s], 2, rng)
    seen, unseen = X @ omega.T, images
    assert seen[y == 1, 0].mean() - seen[y == 0, 0].mean() > 0.6
    assert unseen[y == 1, 0].mean() - unseen[y == 0, 0].mean() < 0.2


def test_a_single_group_has_no_gap_and_no_direction():
    X, y, *_ = held_out("german")
    with pytest.warns(UserWarning, match=r"a single group, \[0.0\], so there is no gap to bound"):
        model = ParityLVQ(1, random_state=0).fit(X, y, sensitive_features=np.zeros(len(y)))
    assert model.score(X, y) > 0.7
    assert model.multipliers_.size == 0


@pytest.mark.parametrize("metric", ["matrix", "diagonal", "euclidean"])
def test_columns_far_from_zero(metric):
    data = datasets.load("xor", size=100)
    X = data.X + 1e8
    model = ParityLVQ(2, metric=metric, random_state=0).fit(X, data.y, sensitive_features=data.s)
    assert model.score(X, data.y) > 0.85


def test_people_who_can_hardly_be_learned_from():
    data = datasets.load("xor", size=20)
    with pytest.warns(UserWarning, match="80 distinct values, and half of them have fewer than 10 members"):
        ParityLVQ(1, max_gap=1.0, random_state=0).fit(data.X, data.y, sensitive_features=np.arange(80))
    with pytest.warns(UserWarning, match=r"Fewer distinct points than n_prototypes=2 in a class"):
        ParityLVQ(2, max_gap=1.0).fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1], sensitive_features=[0, 1, 0, 1])
    with pytest.raises(ValueError, match="batch_size=1 leaves a class or group without any point: raise it"):
        ParityLVQ(1, batch_size=1).fit(data.X, data.y, sensitive_features=data.s)
