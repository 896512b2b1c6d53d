"""FairTree against brute force over all splits, as a scikit-learn estimator, and in words."""

import itertools
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from models import small
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import random_array
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, export_text
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairglvq import FairTree, datasets
from fairglvq.datasets.split import Scaling
from fairglvq.fairness.metrics import statistical_parity_difference
from fairglvq.trees.binning import cuts_between


@parametrize_with_checks([FairTree(C=0), FairTree(4, C=0, criterion="gini", min_samples_leaf=1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---- the oracle: every split of every leaf, straight from the definition ----


def impurity(labels, criterion):
    """Of one column of labels, per row."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return 1 - (shares**2).sum() if criterion == "gini" else -(shares * np.log(shares)).sum()


def gain(labels, left, criterion):
    """Fall of impurity, summed over the rows of a leaf."""
    parts = sum(len(part) * impurity(part, criterion) for part in (labels[left], labels[~left]))
    return len(labels) * impurity(labels, criterion) - parts


def splits_of(X, rows, y, s, C, criterion, smallest):
    """(objective, rows that go left) of every split of a leaf."""
    for column in X[rows].T:
        for border in np.unique(column)[:-1]:
            left = column <= border
            if min(left.sum(), (~left).sum()) >= smallest:
                yield gain(y[rows], left, criterion) - C * gain(s[rows], left, criterion), rows[left]


def brute_force(X, y, s, max_leaves, C, criterion="entropy", smallest=1):
    """Gains of the splits in order, and the leaf of each row under some number."""
    leaves, gains = [np.arange(len(y))], []
    while len(leaves) < max_leaves:
        found = [
            (worth, -number, left)
            for number, rows in enumerate(leaves)
            for worth, left in splits_of(X, rows, y, s, C, criterion, smallest)
        ]
        if not found or max(entry[0] for entry in found) <= 1e-9:
            break
        worth, number, left = max(found, key=lambda entry: entry[:2])
        rows = leaves.pop(-number)
        leaves += [left, np.setdiff1d(rows, left)]
        gains.append(worth / len(y))
    where = np.empty(len(y), int)
    for number, rows in enumerate(leaves):
        where[rows] = number
    return gains, where


def table(n, n_classes=2, n_groups=2, seed=0):
    """Two numbers and two categories; classes and groups lean on different ones of them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.normal(size=n), rng.integers(0, 2, n), rng.integers(0, 4, n) / 3])
    y = np.digitize(X[:, 0] + X[:, 2] + 0.5 * rng.normal(size=n), np.linspace(-0.5, 1.5, n_classes)[:-1])
    s = np.digitize(X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n), np.linspace(-0.5, 1.5, n_groups)[:-1])
    return X, y, s


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("C", [0, 0.7, 3.0, -1.0])
def test_every_split_is_the_best_of_all(criterion, C):
    X, y, s = table(70, 3, 3)
    tree = FairTree(7, C=C, criterion=criterion, min_samples_leaf=4).fit(X, y, sensitive_features=s)
    gains, where = brute_force(X, y, s, 7, C, criterion, 4)
    assert len(gains) > 0
    assert_allclose([step.gain for step in tree.history_], gains, rtol=0, atol=1e-12)
    assert len(set(zip(tree.apply(X).tolist(), where.tolist(), strict=True))) == len(gains) + 1 == tree.n_leaves_


def test_it_stops_where_no_split_gains_anything():
    X, y, s = table(60)
    assert FairTree(20, C=50.0).fit(X, y, sensitive_features=s).n_leaves_ < 5
    alone = FairTree(20, C=2.0).fit(X, y, sensitive_features=y)  # group and class are one: every split loses
    assert alone.n_leaves_ == 1
    assert_array_equal(alone.predict(X), np.full(60, np.bincount(y).argmax()))


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_without_fairness_it_is_the_tree_of_scikit_learn(criterion):
    X, y, _ = table(150, 3)  # each value in a bin of its own
    ours = FairTree(9, C=0, criterion=criterion, min_samples_leaf=3).fit(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=9, min_samples_leaf=3, random_state=0).fit(X, y)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_counts_answers_and_pseudo_classes_are_those_of_the_leaves():
    X, y, s = table(200, 3, 2)
    classes, groups = np.array(["a", "b", "c"]), np.array(["f", "m"])
    tree = FairTree(6, C=0.5).fit(X, classes[y], sensitive_features=groups[s])
    leaves = tree.apply(X)
    for leaf in range(tree.n_leaves_):
        inside = leaves == leaf
        counts = [[np.sum(inside & (y == k) & (s == g)) for g in range(2)] for k in range(3)]
        assert_array_equal(tree.counts_[leaf], counts)
        assert tree.leaf_labels_[leaf] == classes[np.bincount(y[inside], minlength=3).argmax()]
        assert tree.pseudo_classes_[leaf] == groups[np.bincount(s[inside], minlength=2).argmax()]
    assert_array_equal(tree.predict(X), tree.leaf_labels_[leaves])
    assert_allclose(tree.predict_proba(X), (tree.counts_.sum(axis=2) / tree.counts_.sum(axis=(1, 2))[:, None])[leaves])
    again = pickle.loads(pickle.dumps(tree))
    assert_array_equal(again.predict(X), tree.predict(X))


def test_sparse_rows_give_the_same_tree():
    rng = np.random.default_rng(0)
    X = random_array((300, 20), density=0.2, rng=rng, format="csr")
    X.data -= 0.3  # zeros in the middle of the values
    dense = X.toarray()
    y, s = (dense[:, 0] + dense[:, 1] > 0).astype(int), (dense[:, 2] > 0).astype(int)
    one, other = (FairTree(8, C=0.5).fit(form, y, sensitive_features=s) for form in (X, dense))
    assert_array_equal(one.tree_.feature, other.tree_.feature)
    assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    assert_array_equal(one.apply(X), other.apply(dense))


def test_sparse_rows_are_not_filled_in():
    """A table that would take 1.6 GB as an array."""
    X = random_array((100_000, 2_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    y = np.arange(100_000) % 2
    tracemalloc.start()
    tree = FairTree(3, C=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tree.n_leaves_ == 3
    assert peak < 50e6


def test_cuts():
    assert_array_equal(cuts_between(np.array([3.0, 1.0, 1.0, 2.0]), 0), [1.5, 2.5])
    assert_array_equal(cuts_between(np.array([3.0, -1.0]), 5), [-0.5, 1.5])
    assert_array_equal(cuts_between(np.array([7.0, 7.0]), 0), [])
    one, following = 1.0, np.nextafter(1.0, 2.0)
    assert_array_equal(cuts_between(np.array([one, following]), 0), [one])  # no float lies between
    values = np.repeat(np.arange(1000.0), np.arange(1000) % 3 + 1)
    cuts = cuts_between(values, 0, 10)
    assert len(cuts) == 9
    sizes = np.bincount(np.searchsorted(cuts, values))
    assert np.abs(sizes - len(values) / 10).max() <= 3


def test_text_is_that_of_scikit_learn():
    X, y, _ = table(150)
    ours, theirs = FairTree(3, C=0).fit(X, y), DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=3).fit(X, y)
    names = ["a", "b", "c", "d"]
    assert ours.export_text(feature_names=names) == export_text(theirs, feature_names=names).strip()
    framed = FairTree(3, C=0).fit(pd.DataFrame(X, columns=names), y)
    assert framed.export_text() == ours.export_text(feature_names=names)
    with pytest.raises(ValueError, match="4 feature_names are needed, one per feature; got 2"):
        ours.export_text(feature_names=["a", "b"])


def test_boxes_hold_their_rows_and_no_others():
    X, y, s = table(200)
    tree = FairTree(9, C=0.2).fit(X, y, sensitive_features=s)
    boxes = tree.tree_.boxes(4)  # (9, 4, 2)
    inside = ((X[:, None] > boxes[..., 0]) & (X[:, None] <= boxes[..., 1])).all(axis=2)  # (200, 9)
    assert_array_equal(inside.sum(axis=1), 1)
    assert_array_equal(inside.argmax(axis=1), tree.apply(X))
    assert np.isinf(FairTree(1, C=0).fit(X, y).tree_.boxes(4)).all()


def test_rules_are_in_original_units():
    data = small()
    scaling = Scaling.fit(data.X)
    town, years = data.X[:, 5] == 1, data.X[:, 0]
    y = np.where(town, years > 40, np.where(years > 60, 1, years <= 25)).astype(int)
    tree = FairTree(5, C=0, min_samples_leaf=1).fit(scaling.apply(data.X), y)
    assert tree.n_leaves_ == 5
    told = [_holds(rule, data) for rule in tree.rules(data, scaling)]
    assert_array_equal(np.argmax(told, axis=0), tree.apply(scaling.apply(data.X)))
    assert_array_equal(np.sum(told, axis=0), 1)
    assert FairTree(1, C=0).fit(data.X, y).rules(data) == ["everybody"]


def _holds(rule, data):
    """Who fulfils a rule, read from its words."""
    years, towns = data.X[:, 0], np.array(["Aa", "Bb", "Cc"])[data.X[:, 3:].argmax(axis=1)]
    held = np.ones(len(years), bool)
    for part in rule.replace(" and ", ", ").split(", "):
        column, words = part.split(" ", 1)
        words = words.split(" ")
        if column == "town":
            named = np.isin(towns, [word for word in words if word not in ("not", "or")])
            held &= ~named if words[0] == "not" else named
            continue
        assert column == "years"
        borders = {word: float(after) for word, after in itertools.pairwise(words) if after.isdigit()}
        held &= (years > borders.get("over", -1)) & (years <= borders.get("to", borders.get("most", 200)))
    return held


def test_a_number_that_is_not_whole_keeps_its_decimals():
    data = small()
    tree = FairTree(2, C=0).fit(data.X, (data.X[:, 1] > 3.0).astype(int))
    borders = {float(rule.split(" ")[-1]) for rule in tree.rules(data)}
    assert len(borders) == 1
    assert_array_equal(tree.apply(data.X), data.X[:, 1] > borders.pop())


@pytest.mark.parametrize(("n_classes", "favourable"), [(2, None), (3, 0), (3, 2)])
def test_deciding_fairly_keeps_to_the_gap_and_to_the_leaves(n_classes, favourable):
    X, y, s = table(400, n_classes, 3, seed=1)
    plain, fair, closest = (
        FairTree(12, C=-0.5, **how).fit(X, y, sensitive_features=s, favourable=favourable)
        for how in ({}, {"decide": "fair"}, {"decide": "fair", "max_gap": 0.0})
    )
    assert_array_equal(plain.apply(X), fair.apply(X))
    wanted = 1 if favourable is None else favourable
    gaps = [statistical_parity_difference(t.predict(X), sensitive_features=s, favourable=wanted, classes=range(3))
            for t in (plain, fair, closest)]  # fmt: skip
    assert gaps[0] > 0.1
    assert gaps[1] <= 0.05 + 1e-12
    assert gaps[2] <= 1e-12
    assert plain.score(X, y) >= fair.score(X, y) >= closest.score(X, y)
    # The best of all answers on these leaves, of which the favourable one is either given or not.
    n, by_class = plain.counts_.sum(axis=1), plain.counts_.sum(axis=2)
    given = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    within = np.ptp(given @ n / n.sum(axis=0), axis=1) <= 0.05 + 1e-12
    right = np.where(given, by_class[:, wanted], np.delete(by_class, wanted, axis=1).max(axis=1)).sum(axis=1)
    assert fair.score(X, y) == pytest.approx(right[within].max() / len(y), abs=1e-12)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_leaves": 0}, "max_leaves must be a whole number of at least 1"),
        ({"C": float("nan")}, "C must be a finite number"),
        ({"criterion": "twoing"}, "criterion must be one of 'entropy', 'gini'"),
        ({"decide": "often"}, "decide must be one of 'majority', 'fair'"),
        ({"max_gap": 1.5}, "max_gap must be a number from 0 to 1"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, words):
    X, y, s = table(40)
    with pytest.raises(ValueError, match=words):
        FairTree(**parameters).fit(X, y, sensitive_features=s)


def test_groups_are_needed_where_they_count():
    X, y, s = table(40)
    with pytest.raises(ValueError, match="needs the protected group of every row"):
        FairTree().fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        FairTree().fit(X, y, sensitive_features=s[:-1])
    with pytest.raises(ValueError, match="favourable must be one of the classes"):
        FairTree(decide="fair").fit(X, y, sensitive_features=s, favourable="yes")
    plain = FairTree(C=0).fit(X, y)
    assert plain.groups_ is None
    assert plain.pseudo_classes_ is None
    assert clone(plain).get_params() == plain.get_params()


def test_an_early_tree_is_the_one_with_fewer_leaves():
    """Best first: the first splits of a large tree are all the splits of a small one."""
    rng = np.random.default_rng(3)
    X, s = rng.random((300, 3)), rng.integers(0, 2, 300)
    y = (X[:, 0] + 0.3 * s + 0.2 * rng.standard_normal(300) > 0.6).astype(int)
    whole = FairTree(9, C=0.5).fit(X, y, sensitive_features=s)
    for leaves in range(1, whole.n_leaves_ + 1):
        small, early = FairTree(leaves, C=0.5).fit(X, y, sensitive_features=s).tree_, whole.tree_.early(leaves - 1)
        for name in ("feature", "threshold", "left", "right"):
            np.testing.assert_array_equal(getattr(early, name), getattr(small, name))


def test_groups_that_cannot_be_compared_and_another_data_set():
    data = datasets.load("xor", size=20)
    with pytest.warns(UserWarning, match="a single group"):
        FairTree(4).fit(data.X, data.y, sensitive_features=np.zeros(80))
    with pytest.warns(UserWarning, match="80 distinct values, and half of them have fewer than 10 members"):
        FairTree(4).fit(data.X, data.y, sensitive_features=np.arange(80))
    with pytest.raises(ValueError, match="grown on 1 features, but xor has 2"):
        FairTree(4, C=0).fit(data.X[:, :1], data.y).rules(data)
