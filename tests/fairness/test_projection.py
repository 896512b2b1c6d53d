"""Iterative null-space projection: the plain loop as oracle, geometry, mitigation, and scikit-learn's own checks."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairglvq.fairness.projection import NullSpaceProjection


def plain_projections(X, s, n_projections, random_state):
    """Project, fit, add to the row spaces, project anew: the text's algorithm with nothing saved."""
    rng = np.random.RandomState(random_state)
    projections = [np.eye(X.shape[1])]
    rows = np.empty((0, X.shape[1]))
    for _ in range(n_projections):
        model = SGDClassifier(random_state=rng.randint(np.iinfo(np.int32).max)).fit(X @ projections[-1], s)
        rows = np.vstack([rows, model.coef_ / np.linalg.norm(model.coef_, axis=1, keepdims=True)])
        projections.append(np.eye(X.shape[1]) - np.linalg.pinv(rows) @ rows)
    return projections


def grouped_data(n=300, d=8, n_groups=2, seed=0):
    """Normal data whose first columns shift with the group."""
    rng = np.random.default_rng(seed)
    s = rng.integers(n_groups, size=n)
    X = rng.normal(size=(n, d))
    X[:, :n_groups] += 1.5 * np.eye(n_groups)[s]
    return X, s


def one_hot_data(n, sizes, seed=0):
    """One-hot blocks whose categories lean with the group, and one column of numbers."""
    rng = np.random.default_rng(seed)
    s = rng.integers(2, size=n)
    blocks = [rng.random((n, 1))]
    for size in sizes:
        shares = rng.dirichlet(np.ones(size), size=2)
        drawn = [rng.choice(size, size=n, p=share) for share in shares]
        blocks.append(np.eye(size)[np.where(s == 1, drawn[1], drawn[0])])
    return np.hstack(blocks), s


def assert_projection(inp):
    """P is an orthogonal projection that maps every removed direction to 0."""
    P, Q = inp.projection_, inp.directions_
    assert_array_equal(P, P.T)
    assert_allclose(P @ P, P, rtol=0, atol=1e-10)
    assert_allclose(Q @ Q.T, np.eye(len(Q)), rtol=0, atol=1e-10)
    assert_allclose(Q @ P, 0, rtol=0, atol=1e-10)
    assert np.trace(P) == pytest.approx(P.shape[0] - len(Q), abs=1e-8)


@parametrize_with_checks([NullSpaceProjection(n_projections=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class TestProjection:
    def test_by_hand(self):
        # The groups differ along the second axis alone, so it goes and the first stays.
        X = np.array([[0.0, -1.0], [0.0, 1.0]] * 10)
        inp = NullSpaceProjection(random_state=0).fit(X, sensitive_features=["a", "b"] * 10)
        assert_allclose(np.abs(inp.directions_), [[0, 1]], atol=1e-12)
        assert_allclose(inp.projection_, [[1, 0], [0, 0]], atol=1e-12)
        assert_array_equal(inp.transform([[3.0, 7.0]]), [[3, 0]])

    @pytest.mark.parametrize("n_groups", [2, 3])
    def test_like_the_plain_loop(self, n_groups):
        X, s = grouped_data(n_groups=n_groups)
        n_projections = 6 // n_groups  # the last one leaves two columns
        inp = NullSpaceProjection(n_projections, random_state=3).fit(X, sensitive_features=s)
        for k, expected in enumerate(plain_projections(X, s, n_projections, random_state=3)):
            assert_allclose(inp.at(k).projection_, expected, atol=1e-8)
            assert_allclose(inp.at(k).transform(X), X @ expected, atol=1e-7)

    def test_one_projection_leaves_a_line_of_xor(self):
        rng = np.random.default_rng(0)
        corners = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 100, axis=0)
        X = corners + rng.normal(scale=0.15, size=(400, 2))
        inp = NullSpaceProjection(random_state=0).fit(X, sensitive_features=corners[:, 0] ^ corners[:, 1])
        assert_projection(inp)
        assert np.linalg.matrix_rank(inp.transform(X), tol=1e-10) == 1

    def test_three_groups_may_lose_three_directions_at_once(self):
        X, s = grouped_data(n_groups=3)
        inp = NullSpaceProjection(2, random_state=0).fit(X, sensitive_features=np.array(["p", "q", "r"])[s])
        assert_array_equal(inp.n_directions_, [0, 3, 6])
        assert_projection(inp)

    def test_many_projections_stay_orthogonal(self):
        X, s = grouped_data(n=220, d=201)
        inp = NullSpaceProjection(180, random_state=0).fit(0.03 * X, sensitive_features=s)  # small data fit quickly
        assert len(inp.directions_) == 180
        assert_projection(inp)

    def test_a_model_that_does_not_converge_is_silent(self):
        X, s = grouped_data(n=4, d=4)
        with pytest.warns(ConvergenceWarning):
            SGDClassifier(random_state=0).fit(100 * X, s)
        assert_projection(NullSpaceProjection(1, random_state=0).fit(100 * X, sensitive_features=s))


class TestMitigation:
    def test_a_fresh_linear_model_falls_to_the_majority(self):
        X, s = grouped_data(n=3000, d=10)
        X_new, s_new = grouped_data(n=3000, d=10, seed=1)
        before = LogisticRegression().fit(X, s).score(X_new, s_new)
        inp = NullSpaceProjection(6, random_state=0).fit(X, sensitive_features=s)
        after = LogisticRegression().fit(inp.transform(X), s).score(inp.transform(X_new), s_new)
        majority = max(np.mean(s_new), 1 - np.mean(s_new))
        assert before == pytest.approx(0.856, abs=0.03)  # Phi(1.5 / sqrt 2): the centres are 1.5 sqrt 2 apart
        assert after == pytest.approx(majority, abs=0.03)

    def test_what_does_not_tell_groups_apart_stays(self):
        X, s = grouped_data(n=3000, d=10)
        X[:, -1] *= 10
        inp = NullSpaceProjection(1, random_state=0).fit(MinMaxScaler().fit_transform(X), sensitive_features=s)
        assert np.linalg.norm(inp.projection_[-1]) > 0.95


class TestNothingLeft:
    def test_further_projections_equal_the_last(self):
        X, s = one_hot_data(200, sizes=[4, 5])  # 10 columns, rank 9: both blocks add up to one
        inp = NullSpaceProjection(15, random_state=0).fit(X, sensitive_features=s)
        assert_array_equal(inp.n_directions_, np.minimum(np.arange(16), 9))
        assert_projection(inp)
        assert_array_equal(inp.at(9).projection_, inp.projection_)

    def test_rounding_is_not_left_for_a_scaler_to_stretch(self):
        X, s = one_hot_data(200, sizes=[4, 5])
        inp = NullSpaceProjection(9, random_state=0).fit(X, sensitive_features=s)
        assert np.abs(X @ inp.projection_).max() > 0  # there is rounding
        assert_array_equal(MinMaxScaler().fit_transform(inp.transform(X)), 0)

    @pytest.mark.parametrize("n_groups", [2, 3])
    def test_wide_data(self, n_groups):
        X, s = grouped_data(n=12, d=40, n_groups=n_groups)
        inp = NullSpaceProjection(20, random_state=0).fit(X, sensitive_features=s)
        assert len(inp.directions_) == 12
        assert_projection(inp)
        assert_array_equal(inp.transform(X), 0)

    def test_zero_data(self):
        inp = NullSpaceProjection(2, random_state=0).fit(np.zeros((4, 3)), sensitive_features=[0, 1, 0, 1])
        assert_array_equal(inp.projection_, np.eye(3))
        assert_array_equal(inp.n_directions_, [0, 0, 0])


class TestNested:
    @pytest.mark.parametrize("n_groups", [2, 3])
    def test_the_first_k_are_a_run_of_k(self, n_groups):
        X, s = grouped_data(d=30, n_groups=n_groups)
        long = NullSpaceProjection(20, random_state=5).fit(X, sensitive_features=s)
        short = NullSpaceProjection(5, random_state=5).fit(X, sensitive_features=s)
        first = long.at(5)
        assert first.get_params() == short.get_params()
        for name in ("projection_", "directions_", "n_directions_"):
            assert_array_equal(getattr(first, name), getattr(short, name))
        assert_array_equal(first.at(2).projection_, long.at(2).projection_)
        assert_array_equal(long.at(20).projection_, long.projection_)

    def test_zero_is_the_identity(self):
        X, s = grouped_data()
        assert_array_equal(NullSpaceProjection(2).fit(X, sensitive_features=s).at(0).transform(X), X)

    @pytest.mark.parametrize("k", [-1, 4, 1.5, "1"])
    def test_outside(self, k):
        X, s = grouped_data()
        inp = NullSpaceProjection(3, random_state=0).fit(X, sensitive_features=s)
        with pytest.raises(ValueError, match=f"from 0 to n_projections=3, got {re.escape(repr(k))}"):
            inp.at(k)

    def test_keeps_names_and_output(self):
        X, s = grouped_data(d=3)
        frame = pd.DataFrame(X, columns=["x", "y", "z"], index=np.arange(300) + 7)
        inp = NullSpaceProjection(2, random_state=0).set_output(transform="pandas").fit(frame, sensitive_features=s)
        projected = inp.at(1).transform(frame)
        assert list(projected.columns) == list(inp.at(1).get_feature_names_out()) == ["x", "y", "z"]
        assert_array_equal(projected.index, frame.index)

    def test_seed(self):
        X, s = grouped_data()
        one, two, other = (
            NullSpaceProjection(2, random_state=seed).fit(X, sensitive_features=s).projection_ for seed in (0, 0, 1)
        )
        assert_array_equal(one, two)
        assert np.abs(one - other).max() > 1e-6


class TestInput:
    @pytest.mark.parametrize("make", [csr_array, csr_matrix, pd.DataFrame])
    def test_sparse_and_frames_like_arrays(self, make):
        X, s = one_hot_data(200, sizes=[4, 5])
        dense = NullSpaceProjection(3, random_state=0).fit(X, sensitive_features=s)
        other = NullSpaceProjection(3, random_state=0).fit(make(X), sensitive_features=pd.Series(s, index=s + 9))
        assert_array_equal(other.projection_, dense.projection_)
        projected = other.transform(make(X))
        assert type(projected) is np.ndarray
        assert_allclose(projected, dense.transform(X), atol=1e-12)

    def test_zero_projections_need_no_groups(self):
        X, _ = grouped_data()
        inp = NullSpaceProjection(0).fit(X)
        assert_array_equal(inp.transform(X), X)
        assert_array_equal(inp.transform(csr_array(X)), X)
        assert inp.directions_.shape == (0, 8)

    def test_groups_missing(self):
        X, s = grouped_data()
        with pytest.raises(ValueError, match=r"pass fit\(X, sensitive_features=\.\.\.\), or set n_projections=0"):
            NullSpaceProjection(1).fit(X, s)

    def test_one_group(self):
        X, _ = grouped_data()
        with pytest.raises(ValueError, match="one group only, 'a'"):
            NullSpaceProjection(1).fit(X, sensitive_features=["a"] * 300)

    def test_group_of_every_row(self):
        X, s = grouped_data()
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            NullSpaceProjection(1).fit(X, sensitive_features=s[:-1])
        with pytest.raises(ValueError, match="sensitive_features contains NaN or other missing values"):
            NullSpaceProjection(1).fit(X, sensitive_features=np.where(s == 1, 1, np.nan))

    @pytest.mark.parametrize(("value", "message"), [(np.nan, "contains NaN"), (np.inf, "contains infinity")])
    def test_not_finite(self, value, message):
        X, s = grouped_data()
        inp = NullSpaceProjection(1, random_state=0).fit(X, sensitive_features=s)
        X[3, 2] = value
        with pytest.raises(ValueError, match=message):
            NullSpaceProjection(1).fit(X, sensitive_features=s)
        with pytest.raises(ValueError, match=message):
            inp.transform(X)

    @pytest.mark.parametrize("n_projections", [-1, 1.5, "2"])
    def test_bad_parameter(self, n_projections):
        X, s = grouped_data()
        with pytest.raises(ValueError, match="'n_projections' parameter"):
            NullSpaceProjection(n_projections).fit(X, sensitive_features=s)


class TestScikitLearn:
    def test_pipeline_routes_the_groups(self):
        X, s = grouped_data()
        y = (X[:, -1] > 0).astype(int)
        inp = NullSpaceProjection(2, random_state=0)
        with sklearn.config_context(enable_metadata_routing=True):
            inp.set_fit_request(sensitive_features=True)
            pipeline = make_pipeline(MinMaxScaler(), inp, MinMaxScaler(), LogisticRegression())
            pipeline.fit(X, y, sensitive_features=s)
            scaled = MinMaxScaler().fit_transform(X)
            alone = NullSpaceProjection(2, random_state=0).fit(scaled, sensitive_features=s)
            assert_array_equal(pipeline[1].projection_, alone.projection_)

    def test_fit_transform(self):
        X, s = grouped_data()
        inp = NullSpaceProjection(2, random_state=0)
        projected = inp.fit_transform(X, sensitive_features=s)
        assert_array_equal(projected, inp.transform(X))

    def test_clone_and_pickle(self):
        X, s = grouped_data()
        inp = NullSpaceProjection(2, random_state=0).fit(X, sensitive_features=s)
        assert not hasattr(clone(inp), "projection_")
        assert_array_equal(pickle.loads(pickle.dumps(inp)).at(1).transform(X), inp.at(1).transform(X))
