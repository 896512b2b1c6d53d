"""``learning_rate="auto"``: where the step size comes from, when it is lowered, and what it makes of any data."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from fairglvq import GLVQ, FairGLVQ, datasets
from fairglvq.lvq import auto_rate
from fairglvq.lvq.auto_rate import RATE, STREAM_RATE, typical_distance
from fairglvq.lvq.schedules import LEVELS, LOWERING, PARTS, Plateau, Timetable
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows


def scaled(load):
    X, y = load(return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


class TestFirstRate:
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    W, labels = np.array([[0.0], [3.0]]), np.array([0, 1])

    def test_typical_distance_by_hand(self):
        """(d+ + d-) / 2 is (0 + 9) / 2, (1 + 4) / 2 and (1 + 16) / 2."""
        assert typical_distance(self.X, self.y, self.W, self.labels) == 4.5

    def test_a_sample_of_many_points(self, monkeypatch):
        monkeypatch.setattr(auto_rate, "SAMPLE", 2)
        X, y = np.repeat(self.X, 2, axis=0), np.repeat(self.y, 2)  # every third of six: 0 and 1
        assert typical_distance(X, y, self.W, self.labels) == (4.5 + 2.5) / 2

    @pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
    def test_the_first_step_is_algorithm_1_with_that_rate(self, scale):
        X, y = scaled(load_iris)
        X, W = X * scale, X[::10] * scale
        labels, batch = np.repeat([0, 1, 2], 5), 38  # a quarter of 150 points, rounded up
        auto = GLVQ(5, init=W, max_epochs=1, shuffle=False).fit(X, y)
        rate = RATE * 15 * typical_distance(X, y, W, labels)
        fixed = Trainer(
            as_rows(X), y, None, W, labels, Recipe(0.0, 2.0, rate, batch, shuffle=False), np.random.default_rng()
        )
        fixed.run(1)
        assert np.abs(fixed.prototypes.W - W).max() > 0.01 * scale
        assert_allclose(auto.prototypes_, fixed.prototypes.W, rtol=1e-12)

    def test_a_number_is_the_rate_of_every_step_and_every_epoch_is_made(self):
        X, y = scaled(load_iris)
        model = GLVQ(2, init=X[::25], learning_rate=0.4, max_epochs=300, batch_size=150, random_state=0).fit(X, y)
        rng = np.random.default_rng(0)
        plain = Trainer(as_rows(X), y, None, X[::25], np.repeat([0, 1, 2], 2), Recipe(0.0, 2.0, 0.4, 150), rng)
        plain.run(300)
        assert_array_equal(model.prototypes_, plain.prototypes.W)
        assert model.n_epochs_ == 300

    def test_with_the_published_step_it_is_a_number(self):
        X, y = scaled(load_iris)
        auto, number = (
            GLVQ(2, step="published", learning_rate=r, max_epochs=5, random_state=0) for r in ("auto", 0.03)
        )
        assert_array_equal(auto.fit(X, y).prototypes_, number.fit(X, y).prototypes_)

    def test_points_on_prototypes_of_two_classes(self):
        X = np.zeros((8, 2))
        model = GLVQ(1, init=np.zeros((2, 2))).fit(X, [0, 1] * 4)
        assert_array_equal(model.prototypes_, np.zeros((2, 2)))


class TestPlateau:
    def test_levels(self):
        plateau = Plateau(tol=0.01, patience=2)
        seen = []
        for cost in (0.5, 0.4, 0.395, 0.391, 0.3, 0.3, 0.3, 0.28, 0.28, 0.28):
            plateau.see(cost)
            seen.append((plateau.lowered, plateau.over))
        assert [lowered for lowered, _ in seen] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
        assert plateau.factor == LOWERING**-3
        assert [over for _, over in seen] == [False] * 9 + [True]
        assert LEVELS == 3

    def test_small_gains_add_up(self):
        plateau = Plateau(tol=0.01, patience=3)
        for step in range(50):
            plateau.see(1.0 - 0.006 * step)
        assert plateau.lowered == 0

    @pytest.mark.parametrize(
        ("costs", "told"),
        [
            ([], None),
            ([0.3], None),
            ([0.3, 0.2], "still fell fast in the last of 2 epochs. Raise max_epochs"),
            ([0.3, 0.2999], None),
            ([0.1, 0.1, 0.1, 0.3, 0.3, 0.3], "rose from 0.1000 to 0.3000"),
            ([0.3, 0.3, 0.3, 0.2, 0.2], None),  # it stayed once: the rate was lowered
        ],
    )
    def test_problems(self, costs, told):
        plateau = Plateau(tol=1e-5, patience=2)
        for cost in costs:
            plateau.see(cost)
        assert (plateau.problem is None) if told is None else told in plateau.problem

    def test_timetable(self):
        table, factors = Timetable(20), []
        for _ in range(20):
            factors.append(table.factor)
            table.see(np.nan)
        assert PARTS == (0.8, 0.9)
        assert factors == [1.0] * 16 + [1 / LOWERING] * 2 + [1 / LOWERING**2] * 2


class TestTraining:
    def test_the_watched_cost_is_that_of_the_points_before_their_steps(self):
        X, y = scaled(load_wine)
        plateau, W = Plateau(0.0, 5), X[[0, 60, 140]]
        watched = Trainer(as_rows(X), y, None, W, np.arange(3), Recipe(0.0, 2.0, 0.1, 1000), np.random.default_rng(0))
        watched.run(2, 1, plateau)
        start = Trainer(as_rows(X), y, None, W, np.arange(3), Recipe(), np.random.default_rng(0))
        start.run(0, 1)
        assert_allclose(plateau.costs, [start.history[0].class_cost, watched.history[0].class_cost], rtol=1e-12)

    @pytest.mark.parametrize("model", [GLVQ(random_state=0), FairGLVQ(C=0, random_state=0)])
    @pytest.mark.parametrize(("load", "accuracy"), [(load_wine, 0.97), (load_iris, 0.96)])
    def test_small_data_with_defaults(self, model, load, accuracy):
        scores = cross_val_score(make_pipeline(MinMaxScaler(), model), *load(return_X_y=True))
        assert scores.mean() == pytest.approx(accuracy, abs=0.02)

    @pytest.mark.parametrize("scale", [0.001, 0.03, 1000.0])
    @pytest.mark.parametrize(
        "model",
        [
            GLVQ(random_state=0),
            FairGLVQ(C=0, random_state=0),
            *(GLVQ(2, metric=m, random_state=0) for m in ("diagonal", "matrix")),
        ],
    )
    def test_the_scale_of_the_data_does_not_matter(self, model, scale):
        X, y = scaled(load_wine)
        usual = model.fit(X, y).predict(X)
        assert_array_equal(model.fit(X * scale, y).predict(X * scale), usual)
        assert np.abs(model.prototypes_).max() > 0.3 * scale

    def test_scale_with_a_fair_term(self):
        data = datasets.load("xor", size=400)
        usual, other = (
            FairGLVQ(4, C=1, random_state=0, max_epochs=50).fit(X, data.y, sensitive_features=data.s).predict(X)
            for X in (data.X, data.X * 1000)
        )
        assert_array_equal(usual, other)

    def test_epochs_and_history_end_with_the_plateau(self):
        X, y = scaled(load_wine)
        model = GLVQ(random_state=0, record_every=10).fit(X, y)
        assert 15 <= model.n_epochs_ < 250
        assert [entry.epoch for entry in model.history_] == [*range(0, model.n_epochs_, 10), model.n_epochs_]
        unwatched = GLVQ(random_state=0, record_every=None).fit(X, y)
        assert_array_equal(unwatched.prototypes_, model.prototypes_)
        patient = GLVQ(random_state=0, n_iter_no_change=20).fit(X, y)
        assert patient.n_epochs_ > model.n_epochs_

    def test_too_few_epochs_are_told(self):
        X, y = scaled(load_wine)
        with pytest.warns(ConvergenceWarning, match="still fell fast in the last of 6 epochs") as caught:
            FairGLVQ(C=0, max_epochs=6, random_state=0).fit(X, y)
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            FairGLVQ(C=0, max_epochs=6, learning_rate=0.1, random_state=0).fit(X, y)  # eta is somebody's own

    @pytest.mark.parametrize(
        ("name", "C", "lowest", "largest_gap"), [("xor", 2.0, 0.8, 0.12), ("local", 1.0, 0.8, 0.4)]
    )
    def test_a_fair_term(self, name, C, lowest, largest_gap):
        """About what numbers around 0.03 reach here; prototypes do not fly off, which would be a warning."""
        data = datasets.load(name)
        X = MinMaxScaler().fit_transform(data.X)
        last = [
            FairGLVQ(4, C=C, random_state=seed, record_every=250).fit(X, data.y, sensitive_features=data.s).history_[-1]
            for seed in range(3)
        ]
        assert np.median([entry.accuracy for entry in last]) > lowest
        assert np.median([entry.statistical_parity for entry in last]) < largest_gap


class TestStreams:
    def test_the_rate_of_each_batch(self):
        X, y = scaled(load_iris)
        order = np.random.default_rng(0).permutation(150)
        X, y, labels = X[order], y[order], np.repeat([0, 1, 2], 2)
        auto, distances = GLVQ(2, init=X[:6]), []
        W = X[:6]
        for start in range(0, 150, 50):
            batch = slice(start, start + 50)
            auto.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
            distances.append(typical_distance(X[batch], y[batch], W, labels))
            number = GLVQ(2, init=W, learning_rate=STREAM_RATE * 6 * np.mean(distances))
            number.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
            assert_allclose(auto.prototypes_, number.prototypes_, rtol=1e-12)
            W = auto.prototypes_

    def test_distances_are_learned_from_the_first_points(self, monkeypatch):
        monkeypatch.setattr(auto_rate, "SAMPLE", 100)
        X, y = scaled(load_iris)
        model = GLVQ(2, init=X[::25])
        for _ in range(2):
            model.partial_fit(X, y, classes=[0, 1, 2])
            assert model.typical_distance_[1] == 150
        assert model.fit(X, y).typical_distance_[1] == 150

    @pytest.mark.parametrize("scale", [0.01, 100.0])
    def test_few_points_at_a_time_at_any_scale(self, scale):
        data = datasets.load("xor", size=50)
        order = np.random.default_rng(1).permutation(len(data.y))
        X, y = data.X[order] * scale, data.y[order]
        model = GLVQ(4, init=np.vstack([X[y == c][:4] for c in (0, 1)]))
        for start in np.tile(np.arange(0, len(y), 2), 2):
            model.partial_fit(X[start : start + 2], y[start : start + 2], classes=[0, 1])
        assert model.score(X, y) > 0.9
