"""Initial prototypes: Lloyd's algorithm against plain loops and scikit-learn's k-means, and each named start."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from fairglvq.lvq import initialisers
from fairglvq.lvq.initialisers import INITIALISERS, SHARED_NOISE, initial_prototypes, kmeans
from fairglvq.lvq.trainer import nearest_prototypes


def blobs(n=300, d=2, k=4, spread=0.1, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-3, 3, (k, d))
    return centres[rng.integers(k, size=n)] + rng.normal(0, spread, (n, d))


def one_hot(n=400, sizes=(12, 9, 7), seed=0):
    """Wide enough to be kept sparse, if ``sizes`` sum to 16 or more."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    return np.hstack([np.eye(size)[(kind * 3 + rng.integers(3, size=n)) % size] for size in sizes])


def inertia(X, W):
    return ((X[:, None, :] - W) ** 2).sum(axis=2).min(axis=1).sum()


class TestKMeans:
    @pytest.mark.parametrize("make", [blobs, one_hot])
    @pytest.mark.parametrize("k", [1, 3, 8])
    def test_centres_are_the_means_of_their_cells(self, make, k):
        """A fixed point of Lloyd's algorithm, by brute force."""
        X = make()
        W = kmeans(X, k, np.random.default_rng(0), tol=0.0)
        nearest = ((X[:, None, :] - W) ** 2).sum(axis=2).argmin(axis=1)
        assert len(np.unique(nearest)) == k
        assert_allclose(W, [X[nearest == j].mean(axis=0) for j in range(k)], rtol=0, atol=1e-12)

    @pytest.mark.parametrize("make", [blobs, one_hot])
    def test_as_good_as_scikit_learn(self, make):
        X = make()
        ours = [inertia(X, kmeans(X, 5, np.random.default_rng(seed))) for seed in range(20)]
        theirs = [KMeans(5, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(20)]
        assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.1)
        assert np.min(ours) == pytest.approx(np.min(theirs), rel=0.02)

    def test_sparse_rows_give_the_same_centres(self):
        X = one_hot(sizes=(6, 5, 4))
        dense = kmeans(X, 6, np.random.default_rng(1))
        assert_allclose(kmeans(csr_array(X), 6, np.random.default_rng(1)), dense, rtol=0, atol=1e-12)

    def test_more_centres_than_points(self):
        X = np.array([[0.0, 0.0], [1.0, 1.0]])
        W = kmeans(X, 5, np.random.default_rng(0))
        assert W.shape == (5, 2)
        assert_array_equal(np.unique(W, axis=0), X)

    def test_constant_points_far_from_the_origin(self):
        X = np.full((50, 3), 12345.678)
        assert_allclose(kmeans(X, 3, np.random.default_rng(0)), X[:3], rtol=1e-14)


class TestStarts:
    X, y = blobs(), np.random.default_rng(1).integers(3, size=300)

    def start(self, init, X=None, y=None, k=2, seed=0):
        X = self.X if X is None else X
        return initial_prototypes(init, X, self.y if y is None else y, k, 3, np.random.default_rng(seed))

    @pytest.mark.parametrize("init", INITIALISERS)
    def test_class_by_class_and_reproducible(self, init):
        W = self.start(init)
        assert W.shape == (6, 2)
        assert_array_equal(self.start(init), W)
        assert not np.array_equal(self.start(init, seed=1), W)

    @pytest.mark.parametrize("init", INITIALISERS)
    def test_sparse_equals_dense(self, init):
        X = one_hot(300, sizes=(6, 5, 4))
        assert_allclose(self.start(init, X=csr_array(X)), self.start(init, X=X), rtol=0, atol=1e-12)

    def test_class_kmeans_sees_its_own_class_only(self):
        X = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 100, axis=0)
        X[::2, 1] += 0.2
        W = self.start("class-kmeans", X=X, y=np.repeat([0, 1, 2], 100))
        heights = np.sort(W.reshape(3, 2, 2)[:, :, 1], axis=1)
        assert_allclose(heights, [[0, 0.2], [0, 0.2], [10, 10.2]], atol=1e-12)
        assert_allclose(W[:, 0], [0, 0, 10, 10, 0, 0], atol=1e-12)

    def test_shared_kmeans_puts_every_class_at_every_centre_with_the_papers_noise(self):
        X = blobs(k=2, spread=0.01) * [1.0, 1000.0]
        X[:2] = [[-4.0, -4000.0], [6.0, 6000.0]]  # the features span 10 and 10,000
        centres = np.array([self.start("shared-kmeans", X=X, seed=seed) for seed in range(200)]).reshape(200, 3, 2, 2)
        noise = (centres - centres.mean(axis=1, keepdims=True)) / np.array([10.0, 10_000.0])
        variance = noise.var(axis=(0, 1, 2)) * 3 / 2  # of three classes, the mean takes a third away
        assert_allclose(variance, SHARED_NOISE, rtol=0.15)
        assert SHARED_NOISE == 0.0005

    def test_random_points_are_points_of_the_class(self):
        W = self.start("random", k=4)
        for c, w in zip(np.repeat([0, 1, 2], 4), W, strict=True):
            assert (self.X[self.y == c] == w).all(axis=1).any()
        assert len(np.unique(W, axis=0)) == 12

    @pytest.mark.parametrize("init", INITIALISERS)
    def test_a_class_without_points_and_one_with_too_few(self, init):
        y = np.zeros(300, int)
        y[0] = 1
        W = self.start(init, y=y, k=4)
        assert W.shape == (12, 2)
        assert np.isfinite(W).all()
        assert np.abs(W).max() < np.abs(self.X).max() + 1

    def test_an_array_is_taken_as_it_is(self):
        given = np.arange(12).reshape(6, 2)
        assert_array_equal(self.start(given), given)
        assert_array_equal(self.start(given.tolist()), given)

    def test_bad_starts(self):
        with pytest.raises(ValueError, match=r"'shared-kmeans', 'class-kmeans', 'random'; got 'kmeans'"):
            self.start("kmeans")
        with pytest.raises(ValueError, match=r"shape \(5, 2\), expected \(6, 2\): 2 prototypes for each of 3 classes"):
            self.start(np.zeros((5, 2)))
        with pytest.raises(ValueError, match="init holds NaN"):
            self.start(np.full((6, 2), np.nan))


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(initialisers, "KMEANS_ROWS", 200)
    monkeypatch.setattr(initialisers, "KMEANS_SAMPLE", 100)
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 500, axis=0) + rng.normal(0, 0.1, (1000, 2))
    measured = []
    monkeypatch.setattr(
        initialisers, "nearest_prototypes", lambda rows, W: measured.append(rows.n) or nearest_prototypes(rows, W)
    )
    centres = initialisers.kmeans(X, 2, rng)
    assert set(measured) == {100}
    np.testing.assert_allclose(np.sort(centres[:, 0]), [0, 5], atol=0.1)
