"""FairTreeRegressor against brute force over all splits, and as a scikit-learn estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairglvq import FairTree, FairTreeRegressor


@parametrize_with_checks([FairTreeRegressor(C=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 2, n)])
    y = 100 * X[:, 0] + 50 * X[:, 3] + 30 * rng.normal(size=n) + 1000
    s = X[:, 1] + X[:, 3] + 0.3 * rng.normal(size=n)
    return X, y, s


def loss(columns):
    """Sum of squared distances from the mean, over all columns."""
    return ((columns - columns.mean(axis=0)) ** 2).sum()


def gains_by_brute_force(X, y, s, C, max_leaves, smallest):
    """Of a greedy best-first tree, each split found by trying all; s as columns."""
    whole = [loss(column) for column in (y, s)]
    leaves, gains = [np.arange(len(y))], []
    while len(leaves) < max_leaves:
        found = []
        for number, rows in enumerate(leaves):
            for column in X[rows].T:
                for border in np.unique(column)[:-1]:
                    left, right = rows[column <= border], rows[column > border]
                    if min(len(left), len(right)) < smallest:
                        continue
                    gained = [
                        (loss(v[rows]) - loss(v[left]) - loss(v[right])) / w for v, w in zip((y, s), whole, strict=True)
                    ]
                    found.append((gained[0] - C * gained[1], -number, left.tolist(), right.tolist()))
        if not found or max(found)[0] <= 1e-12:
            break
        worth, number, left, right = max(found, key=lambda entry: entry[:2])
        leaves.pop(-number)
        leaves += [np.array(left), np.array(right)]
        gains.append(worth)
    return gains


@pytest.mark.parametrize("C", [0.5, -1.0])
def test_every_split_is_the_best_of_all(C):
    X, y, s = table(60)
    tree = FairTreeRegressor(5, C=C, min_samples_leaf=3).fit(X, y, sensitive_features=s)
    expected = gains_by_brute_force(X, y, s, C, 5, 3)
    assert len(expected) == 4
    assert_allclose([step.gain for step in tree.history_], expected, rtol=0, atol=1e-12)
    names = np.array(["a", "b", "c"])[np.digitize(s, [0, 1])]
    of_groups = FairTreeRegressor(5, C=C, min_samples_leaf=3).fit(X, y, sensitive_features=names)
    indicators = (names[:, None] == np.array(["a", "b", "c"])).astype(float)
    expected = gains_by_brute_force(X, y, indicators, C, 5, 3)
    assert_allclose([step.gain for step in of_groups.history_], expected, rtol=0, atol=1e-12)


def test_without_fairness_it_is_the_tree_of_scikit_learn():
    X, y, _ = table(120)
    ours = FairTreeRegressor(8, C=0, min_samples_leaf=3).fit(X, y)
    theirs = DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=3, random_state=0).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X))
    assert ours.groups_ is None
    assert ours.protected_means_ is None


def test_it_does_not_depend_on_units():
    X, y, s = table()
    one = FairTreeRegressor(6, C=0.7).fit(X, y, sensitive_features=s)
    other = FairTreeRegressor(6, C=0.7).fit(X, 1e6 * y - 5, sensitive_features=1e-3 * s + 7)
    assert_array_equal(one.apply(X), other.apply(X))
    assert_array_equal(one.apply(X), FairTreeRegressor(6, C=0.7).fit(csr_array(X), y, sensitive_features=s).apply(X))


def test_moments_of_the_leaves():
    X, y, s = table()
    groups = np.where(s > 0.5, "high", "low")
    tree = FairTreeRegressor(5, C=0.2).fit(X, y, sensitive_features=s)
    by_group = FairTreeRegressor(5, C=0.2).fit(X, y, sensitive_features=groups)
    assert tree.n_leaves_ == len(tree.leaf_values_) > 2
    for leaf in range(tree.n_leaves_):
        inside = tree.apply(X) == leaf
        assert tree.moments_.sizes[leaf] == inside.sum()
        assert tree.leaf_values_[leaf] == pytest.approx(y[inside].mean())
        assert tree.moments_.variances[leaf, 0] == pytest.approx(y[inside].var())
        assert tree.protected_means_[leaf] == pytest.approx(s[inside].mean())
    shares = [[np.mean(groups[by_group.apply(X) == leaf] == g) for g in ("high", "low")] for leaf in range(5)]
    assert_allclose(by_group.protected_means_, shares)


def test_a_yes_or_no_target_is_that_of_the_classifier():
    """Both losses are then half or all of a Gini impurity; weights make the two criteria one."""
    X, _, s = table(200)
    y, group = (X[:, 0] + X[:, 3] > 0.5).astype(int), (s > 0.5).astype(int)
    ratio = np.var(y) / np.var(group)
    number = FairTreeRegressor(6, C=0.6).fit(X, y, sensitive_features=group)
    label = FairTree(6, C=0.6 * ratio, criterion="gini").fit(X, y, sensitive_features=group)
    assert_array_equal(number.apply(X), label.apply(X))
    assert_array_equal(number.predict(X) > 0.5, label.predict(X) == 1)


def test_more_fairness_leaves_less_of_the_protected_value():
    X, y, s = table(400, seed=3)
    y = y + 80 * X[:, 1]  # the column that tells s most
    trees = [FairTreeRegressor(10, C=C).fit(X, y, sensitive_features=s) for C in (0, 2)]
    told = [abs(np.corrcoef(tree.predict(X), s)[0, 1]) for tree in trees]
    assert told[1] < told[0] - 0.2
    assert "value: [" in trees[0].export_text()


@pytest.mark.parametrize(
    ("parameters", "s", "words"),
    [
        ({}, None, "needs the protected value or group of every row"),
        ({"protected": "both"}, np.zeros(80), "protected must be one of 'auto', 'values', 'groups'"),
        ({}, np.full(80, np.nan), "sensitive_features contains NaN"),
    ],
)
def test_what_is_wrong_is_said(parameters, s, words):
    X, y, _ = table()
    with pytest.raises(ValueError, match=words):
        FairTreeRegressor(**parameters).fit(X, y, sensitive_features=s)


def test_protected_numbers_in_a_column_of_objects_and_infinite_ones():
    X, y, s = table()
    plain, objects = (FairTreeRegressor(5).fit(X, y, sensitive_features=s.astype(kind)) for kind in (float, object))
    assert objects.groups_ is None
    assert_array_equal(objects.predict(X), plain.predict(X))
    s[3] = np.inf
    with pytest.raises(ValueError, match="sensitive_features contains infinity"):
        FairTreeRegressor(5).fit(X, y, sensitive_features=s)
