"""Learning from a stream: one step per batch, running votes, constant memory, and bad batches."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from fairglvq import GLVQ, FairGLVQ, datasets
from fairglvq.fairness import metrics
from fairglvq.lvq.glvq import VOTES_PER_PROTOTYPE


def clouds(n=200, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    s = np.where(rng.random(n) < 0.6, y, rng.integers(2, size=n))
    X = rng.normal(0, 0.3, (n, d))
    X[:, 0] += y
    X[:, 1] += 0.7 * s
    return X, y, s


def stream(model, X, y, s=None, size=50, layout=np.asarray, passes=1):
    """Feed consecutive slices."""
    names = {"classes": [0, 1]} if s is None else {"classes": [0, 1], "groups": [0, 1]}
    for _ in range(passes):
        for start in range(0, len(y), size):
            batch = slice(start, start + size)
            group = {} if s is None else {"sensitive_features": s[batch]}
            model.partial_fit(layout(X[batch]), y[batch], **group, **names)
    return model


def mixed_xor():
    """XOR in the order of a stream, not Gaussian by Gaussian."""
    data = datasets.load("xor")
    order = np.random.default_rng(0).permutation(len(data.y))
    return data.X[order], data.y[order], data.s[order]


def nearest(X, W):
    return ((X[:, None, :] - W) ** 2).sum(axis=2).argmin(axis=1)


class TestSteps:
    def test_without_fairness_a_stream_of_slices_is_fit_in_order(self):
        X, y, _ = clouds()
        parameters = {
            "init": X[:4] + 0.01,
            "learning_rate": 0.03,
            "batch_size": 50,
            "shuffle": False,
            "random_state": 0,
        }
        streamed = stream(GLVQ(2, **parameters), X, y, passes=3)
        fitted = GLVQ(2, **parameters, max_epochs=3).fit(X, y)
        assert np.abs(fitted.prototypes_ - parameters["init"]).max() > 0.01
        assert_array_equal(streamed.prototypes_, fitted.prototypes_)
        watched = stream(FairGLVQ(2, C=0, **parameters), X, y, clouds()[2], passes=3)
        assert_array_equal(watched.prototypes_, fitted.prototypes_)

    @pytest.mark.parametrize("step", ["algorithm", "published"])
    def test_the_first_batch_is_one_step_of_fit(self, step):
        X, y, s = clouds()
        parameters = {"init": X[:4] + 0.01, "learning_rate": 0.03, "C": 0.7, "step": step, "random_state": 0}
        streamed = stream(FairGLVQ(2, **parameters), X, y, s, size=200)
        fitted = FairGLVQ(2, **parameters, batch_size=200, max_epochs=1, shuffle=False)
        fitted.fit(X, y, sensitive_features=s)
        assert_array_equal(streamed.prototypes_, fitted.prototypes_)
        assert_array_equal(streamed.pseudo_classes_, fitted.pseudo_classes_)

    def test_it_goes_on_where_fit_ended(self):
        X, y, s = clouds()
        parameters = {"C": 0.5, "learning_rate": 0.03, "batch_size": 200, "shuffle": False, "random_state": 0}
        model = FairGLVQ(2, max_epochs=3, init=X[:4], **parameters)
        whole = FairGLVQ(2, max_epochs=4, init=X[:4], **parameters)
        model.fit(X, y, sensitive_features=s)
        before = model.prototypes_.copy()
        assert_array_equal(model.votes_.sum(axis=1), model_votes(X, s, before))
        model.partial_fit(X, y, sensitive_features=s)
        whole.fit(X, y, sensitive_features=s)
        assert not np.array_equal(model.prototypes_, before)
        assert_allclose(model.prototypes_, whole.prototypes_, rtol=0, atol=1e-12)  # the same votes, twice
        assert [entry.epoch for entry in model.history_] == [0, 3]  # streams are not recorded

    def test_fit_starts_anew(self):
        X, y, s = clouds()
        model = FairGLVQ(2, max_epochs=3, random_state=0)
        fresh = FairGLVQ(2, max_epochs=3, random_state=0).fit(X, y, sensitive_features=s)
        stream(model, X + 5, y, s).fit(X, y, sensitive_features=s)
        assert_array_equal(model.prototypes_, fresh.prototypes_)
        assert_array_equal(model.votes_, fresh.votes_)

    def test_sparse_equals_dense(self):
        X, y, s = clouds(d=5)
        dense = stream(FairGLVQ(2, C=0.5, random_state=0), X, y, s, passes=5)
        sparse = stream(FairGLVQ(2, C=0.5, random_state=0), X, y, s, passes=5, layout=csr_array)
        assert_allclose(sparse.prototypes_, dense.prototypes_, rtol=0, atol=1e-9)
        assert_array_equal(sparse.votes_, dense.votes_)

    def test_text_labels(self):
        X, y, s = clouds()
        names, groups = np.array(["no", "yes"]), np.array(["f", "m"])
        numbers, texts = (FairGLVQ(2, C=0.5, random_state=0) for _ in "ab")
        stream(numbers, X, y, s)
        for start in range(0, 200, 50):
            batch = slice(start, start + 50)
            texts.partial_fit(
                X[batch], names[y[batch]], sensitive_features=groups[s[batch]], classes=["yes", "no"], groups=["m", "f"]
            )
        assert_array_equal(texts.prototypes_, numbers.prototypes_)
        assert_array_equal(texts.classes_, names)
        assert_array_equal(texts.pseudo_classes_, groups[numbers.pseudo_classes_])

    def test_names_without_an_order(self):
        X, y, s = clouds()
        names = np.array([7, "x"], dtype=object)
        numbers, mixed = (FairGLVQ(2, C=0.5, random_state=0) for _ in "ab")
        stream(numbers, X, y, s)
        for start in range(0, 200, 50):
            batch = slice(start, start + 50)
            again = [7, "x"] if start == 0 else ["x", 7]
            mixed.partial_fit(X[batch], names[y[batch]], sensitive_features=s[batch], classes=again, groups={0, 1})
        assert_array_equal(mixed.prototypes_, numbers.prototypes_)
        assert mixed.classes_.tolist() == [7, "x"]

    def test_alpha_uses_add_up(self):
        X, y, s = clouds()
        s = (np.arange(200) % 4 == 0).astype(int)  # nowhere a majority
        model = stream(FairGLVQ(1, C=0.5, random_state=0), X, y, s, passes=2)
        assert model.n_alpha_uses_ == 400


def model_votes(X, s, W):
    votes = np.zeros((len(W), 2), int)
    np.add.at(votes, (nearest(X, W), s), 1)
    return votes


class TestVotes:
    def test_votes_are_running_counts(self):
        """Each batch is counted where its points are after its own step, and stays counted there."""
        X, y, s = clouds()
        model, votes = FairGLVQ(2, C=0.8, learning_rate=0.2, random_state=0), np.zeros((4, 2), int)
        for start in range(0, 200, 40):
            batch = slice(start, start + 40)
            model.partial_fit(X[batch], y[batch], sensitive_features=s[batch], classes=[0, 1], groups=[0, 1])
            votes += model_votes(X[batch], s[batch], model.prototypes_)
            assert_array_equal(model.votes_.sum(axis=1), votes)
            inhabited = votes.sum(axis=1) > 0
            assert_array_equal(model.pseudo_classes_[inhabited], votes.argmax(axis=1)[inhabited])
        assert votes.sum() == 200
        # Counting everybody anew gives something else: these are running counts, not the last word.
        assert not np.array_equal(votes, model_votes(X, s, model.prototypes_))

    def test_old_votes_fade(self):
        X, y, s = clouds(1000)
        model = stream(FairGLVQ(2, C=0.1, random_state=0), X, y, s, size=100, passes=3)
        limit = 4 * VOTES_PER_PROTOTYPE
        assert limit / 2 - 100 < model.votes_.sum() <= limit + 100

    def test_a_stream_mitigates(self):
        """XOR, as fit on it: fair and right for seven in eight; without fairness nearly all right, and a gap of 1/4."""
        X, y, s = mixed_xor()
        reached = {}
        for C in (0.0, 4.0):
            results = []
            for seed in range(3):
                model = FairGLVQ(4, C=C, learning_rate=0.1, init="class-kmeans", random_state=seed)
                stream(model, X, y, s, size=250, passes=60)
                gap = metrics.statistical_parity_difference(model.predict(X), sensitive_features=s, favourable=1)
                results.append((model.score(X, y), gap))
            reached[C] = np.median(results, axis=0)
        assert_allclose(reached[0.0], [0.995, 0.25], rtol=0, atol=0.02)
        assert_allclose(reached[4.0], [0.87, 0.0], rtol=0, atol=0.03)

    def test_glvq_on_a_stream(self):
        X, y, _ = mixed_xor()
        model = stream(GLVQ(4, random_state=0), X, y, size=100, passes=10)
        assert model.score(X, y) == pytest.approx(0.99, abs=0.01)


class TestMemory:
    def test_nothing_grows(self):
        X, y, s = clouds()
        model = stream(FairGLVQ(2, C=0.5, random_state=0), X, y, s)
        size = len(pickle.dumps(model))
        names = set(vars(model))
        stream(model, X, y, s, passes=50)
        assert set(vars(model)) == names
        assert len(pickle.dumps(model)) < size + 100  # numbers may have more digits
        assert model.history_ == []
        assert model.n_epochs_ == 4 * 51

    def test_pickled_in_the_middle_it_goes_on_the_same(self):
        X, y, s = clouds()
        far = np.full((2, 2), 50.0)  # empty cells draw at random: the random stream is part of the state
        model = FairGLVQ(2, C=0.5, init=np.vstack([X[:1], far, X[1:2]]), random_state=0)
        stream(model, X, y, s)
        loaded = pickle.loads(pickle.dumps(model))
        for one in (model, loaded):
            stream(one, X, y, s, size=20, passes=2)
        assert_array_equal(loaded.prototypes_, model.prototypes_)
        assert_array_equal(loaded.pseudo_classes_, model.pseudo_classes_)
        assert_array_equal(loaded.votes_, model.votes_)

    def test_input_is_not_kept(self):
        X, y, s = clouds()
        model = stream(FairGLVQ(2, C=0.5, random_state=0), X, y, s)
        assert not any(np.shares_memory(X, value) for value in vars(model).values() if isinstance(value, np.ndarray))


class TestBatches:
    def test_batches_of_one_class_and_one_group(self):
        X, y, s = clouds()
        order = np.argsort(2 * y + s, kind="stable")
        model = stream(FairGLVQ(2, C=0.3, random_state=0), X[order], y[order], s[order], size=25, passes=20)
        assert np.isfinite(model.prototypes_).all()
        assert_array_equal(model.classes_, [0, 1])
        assert_array_equal(model.groups_, [0, 1])

    def test_a_class_that_comes_later(self):
        X, y, s = clouds()
        model = FairGLVQ(2, C=0.1, init="class-kmeans", learning_rate=0.1, random_state=0)
        names = {"classes": [0, 1], "groups": [0, 1]}
        model.partial_fit(X[y == 0], y[y == 0], sensitive_features=s[y == 0], **names)
        stream(model, X, y, s, passes=30)
        assert model.score(X, y) > 0.85

    def test_one_point_at_a_time(self):
        X, y, s = clouds(60)
        model = stream(FairGLVQ(2, C=0.3, learning_rate=0.01, random_state=0), X, y, s, size=1, passes=2)
        assert np.isfinite(model.prototypes_).all()
        assert model.votes_.sum() == 120

    def test_groups_may_be_missing_when_fairness_is_off(self):
        X, y, s = clouds()
        model = FairGLVQ(2, C=0, random_state=0)
        model.partial_fit(X, y, sensitive_features=s, classes=[0, 1], groups=[0, 1])
        pseudo = model.pseudo_classes_.copy()
        model.partial_fit(X, y)
        assert_array_equal(model.pseudo_classes_, pseudo)
        assert model.votes_.sum() == 200

    def test_a_batch_that_throws_prototypes_off_is_skipped(self):
        X, y, s = clouds()
        model = stream(FairGLVQ(2, C=0.5, random_state=0), X, y, s)
        before = model.prototypes_.copy()
        model.set_params(C=1e12)
        with pytest.warns(ConvergenceWarning, match=r"in this batch, which was skipped.*Lower C") as caught:
            model.partial_fit(X, y, sensitive_features=s)
        assert caught[0].filename == __file__
        assert_array_equal(model.prototypes_, before)
        model.set_params(C=0.5).partial_fit(X, y, sensitive_features=s)
        assert not np.array_equal(model.prototypes_, before)

    def test_a_changed_number_of_prototypes_is_ignored(self):
        X, y, s = clouds()
        model, usual = (stream(FairGLVQ(2, C=0.5, random_state=0), X, y, s) for _ in "ab")
        model.set_params(n_prototypes=50)
        for one in (model, usual):
            stream(one, X, y, s)
        assert_array_equal(model.prototypes_, usual.prototypes_)


class TestErrors:
    def test_the_first_call_needs_names(self):
        X, y, s = clouds()
        with pytest.raises(ValueError, match="classes is needed at the first call"):
            GLVQ().partial_fit(X, y)
        with pytest.raises(ValueError, match="groups is needed at the first call"):
            FairGLVQ().partial_fit(X, y, sensitive_features=s, classes=[0, 1])
        with pytest.raises(ValueError, match="Two classes or more"):
            GLVQ().partial_fit(X, y, classes=[0])
        with pytest.raises(ValueError, match="two groups or more"):
            FairGLVQ().partial_fit(X, y, sensitive_features=0 * s, classes=[0, 1], groups=[0])

    def test_fairness_needs_groups_every_time(self):
        X, y, s = clouds()
        with pytest.raises(ValueError, match="needs the protected group"):
            FairGLVQ().partial_fit(X, y, classes=[0, 1], groups=[0, 1])
        model = stream(FairGLVQ(2), X, y, s)
        with pytest.raises(ValueError, match="needs the protected group"):
            model.partial_fit(X, y)

    def test_a_bad_batch_leaves_the_model_as_it_was(self):
        X, y, s = clouds()
        model = stream(FairGLVQ(2, random_state=0), X, y, s)
        state = pickle.dumps(model)
        bad = [
            (X, y + 1, s, {}, r"unknown class \[2\]; known are \[0, 1\]"),
            (X, y, s + 1, {}, r"unknown group \[2\]; known are \[0, 1\]"),
            (X, np.where(y, "a", "b"), s, {}, "unknown class"),
            (X, y, s, {"classes": [0, 1, 2]}, "differ from those of the first call"),
            (X, y, s, {"groups": [0, 1, 2]}, "differ from those of the first call"),
            (X[:, :1], y, s, {}, "1 features, but FairGLVQ is expecting 2"),
            (X, y, s[:-1], {}, "inconsistent numbers of samples"),
            (np.where(X > 1, np.nan, X), y, s, {}, "contains NaN"),
            (np.where(X > 1, -np.inf, X), y, s, {}, "contains infinity"),
            (np.where(X > 1, -1e31, X), y, s, {}, "too large to measure distances"),
            (X[:, 0], y, s, {}, "Expected 2D array"),
            (X[:-1], y, s, {}, "inconsistent numbers of samples"),
            (X, y, np.where(s, np.nan, 0.0), {}, "sensitive_features contains NaN"),
            (X[:0], y[:0], s[:0], {}, "minimum of 1 is required"),
        ]
        for X_bad, y_bad, s_bad, names, message in bad:
            with pytest.raises(ValueError, match=message):
                model.partial_fit(X_bad, y_bad, sensitive_features=s_bad, **names)
            assert pickle.dumps(model) == state

    def test_an_array_after_a_table_with_names_is_warned_about(self):
        X, y, s = clouds()
        model = stream(FairGLVQ(2), X, y, s, layout=lambda rows: pd.DataFrame(rows, columns=["a", "b"]))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.partial_fit(X, y, sensitive_features=s)

    def test_the_same_names_again_in_any_order(self):
        X, y, s = clouds()
        model = stream(FairGLVQ(2), X, y, s)
        model.partial_fit(X, y, sensitive_features=s, classes=[1, 0], groups=[1, 0])
        assert (model.classes_.tolist(), model.groups_.tolist()) == ([0, 1], [0, 1])


def test_a_stream_after_a_learned_metric_begins_anew():
    X, y, s = clouds()
    model = FairGLVQ(1, metric="matrix", random_state=0).fit(X, y, sensitive_features=s).set_params(metric="euclidean")
    with pytest.raises(ValueError, match="classes is needed at the first call"):
        model.partial_fit(X, y, sensitive_features=s)
    stream(model, X, y, s)
    assert_array_equal(model.prototypes_, stream(FairGLVQ(1, random_state=0), X, y, s).prototypes_)
    assert model.omega_ is None
    assert model.relevances_ is None
