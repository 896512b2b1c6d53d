"""The compiled training: hand-worked numbers, derivatives, Algorithm 1 in plain loops, and exact bookkeeping."""

from functools import cache
from typing import NamedTuple

import numpy as np
import oracle
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from fairglvq import datasets
from fairglvq.lvq import kernels, reference
from fairglvq.lvq import trainer as trainer_module
from fairglvq.lvq.activations import ACTIVATIONS
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows, dense_rows, parity_gaps, squared_distances

LAYOUTS = {"dense": dense_rows, "sparse": lambda X: as_rows(csr_array(X))}


def direct_distances(X, W):
    return ((X[:, None, :] - W) ** 2).sum(axis=2)  # (n, P)


def direct_counts(nearest, y, s, shape):
    counts = np.zeros(shape, int)
    np.add.at(counts, (nearest, y, s), 1)
    return counts


class Case(NamedTuple):
    """A training small enough for plain loops."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    W: np.ndarray
    labels: np.ndarray
    n_groups: int
    options: dict  # of Recipe
    max_epochs: int

    def train(self, layout="dense", bounds=True, lazy_votes=False, **changed):
        trainer = Trainer(
            LAYOUTS[layout](self.X), self.y, self.s, self.W, self.labels, Recipe(**{**self.options, **changed}),
            np.random.default_rng(3), n_groups=self.n_groups, bounds=bounds, lazy_votes=lazy_votes,
        )  # fmt: skip
        return trainer


def clouds(n=150, d=2, n_classes=2, n_groups=2, per_class=3, max_epochs=20, seed=0, **options):
    """Gaussian clouds whose groups lean on their classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    s = np.where(rng.random(n) < 0.6, y % n_groups, rng.integers(n_groups, size=n))
    X = rng.normal(0, 0.3, (n, d))
    X[:, 0] += y
    X[:, 1] += 0.7 * s
    W = X[rng.choice(n, n_classes * per_class, replace=False)] + rng.normal(0, 0.1, (n_classes * per_class, d))
    labels = np.repeat(np.arange(n_classes), per_class)
    return Case(X, y, s, W, labels, n_groups, {"learning_rate": 0.05, "batch_size": 40, **options}, max_epochs)


def one_hot(n=150, sizes=(9, 8, 7, 6), n_classes=2, n_groups=2, per_class=3, max_epochs=20, seed=0, **options):
    """One-hot blocks that lean on class and group, and a column of numbers: most entries are 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    s = np.where(rng.random(n) < 0.6, y % n_groups, rng.integers(n_groups, size=n))
    drawn = [(rng.poisson(1 + y) if b % 2 else rng.poisson(1 + s)) % size for b, size in enumerate(sizes)]
    X = np.hstack([rng.random((n, 1)), *(np.eye(size)[d] for size, d in zip(sizes, drawn, strict=True))])
    W = X[rng.integers(n, size=n_classes * per_class)] * 0.7 + rng.random((n_classes * per_class, X.shape[1])) * 0.2
    labels = np.repeat(np.arange(n_classes), per_class)
    return Case(X, y, s, W, labels, n_groups, {"learning_rate": 0.3, "batch_size": 40, **options}, max_epochs)


def with_rare_group(case):
    s = np.zeros_like(case.s)
    s[::4] = 1
    return case._replace(s=s)


def lonely():
    """A class has one prototype, and one group is rare: both prototypes carry the same pseudo-class."""
    return with_rare_group(clouds(per_class=1, C=0.7, alpha=3.0, seed=4))


def deserted(**options):
    """Two prototypes stand so far away that no point is theirs; only by their draws is the rare group represented."""
    case = with_rare_group(clouds(per_class=2, C=0.8, seed=5, **options))
    W = case.W.copy()
    W[[0, 3]] += 6
    return case._replace(W=W)


def coinciding():
    """At each of two places stands a prototype of every class: every distance is a tie."""
    case = clouds(n=120, n_classes=3, per_class=2, C=0.5, seed=6)
    return case._replace(W=np.tile(case.W[:2], (3, 1)))


def whole_xor():
    data = datasets.load("xor", size=100, seed=1)
    X, y, s = np.asarray(data.X), np.asarray(data.y), np.asarray(data.s)
    W = X[np.random.default_rng(2).choice(len(X), 8, replace=False)] + 0.01
    options = {"C": 1.25, "learning_rate": 0.03, "batch_size": 100}
    return Case(X, y, s, W, np.repeat([0, 1], 4), 2, options, 60)


CASES = {
    "plane": lambda: clouds(C=0.8),
    "plane in order, published step": lambda: clouds(C=0.5, shuffle=False, step="published", learning_rate=0.5),
    "no fairness": lambda: clouds(C=0.0),
    "sigmoid": lambda: clouds(C=0.6, activation="sigmoid", beta=3.0),
    "identity": lambda: clouds(C=0.6, activation="identity"),
    "batch larger than a tile": lambda: clouds(n=330, C=0.8, batch_size=270, max_epochs=10, learning_rate=0.2),
    "batch larger than the set": lambda: clouds(n=70, C=0.8, batch_size=1000, max_epochs=30),
    "one point at a time": lambda: clouds(n=50, C=0.5, batch_size=1, max_epochs=8, learning_rate=0.01),
    "seven columns, three classes": lambda: clouds(n=130, d=7, n_classes=3, C=0.5, batch_size=65),
    "eight columns, three classes and groups": lambda: clouds(
        n=133, d=8, n_classes=3, n_groups=3, per_class=2, C=0.4, learning_rate=0.1
    ),
    "twenty columns, three groups": lambda: clouds(n=100, d=20, n_groups=3, C=0.5, batch_size=33, learning_rate=0.3),
    "one-hot": lambda: one_hot(C=0.6),
    "one-hot, three classes and groups, published step": lambda: one_hot(
        n=129, n_classes=3, n_groups=3, per_class=2, C=0.4, step="published", shuffle=False, learning_rate=1.0
    ),
    "one prototype per class": lonely,
    "empty cells": deserted,
    "empty cells, published step": lambda: deserted(step="published", learning_rate=0.5),
    "coinciding prototypes": coinciding,
    "whole XOR": whole_xor,
}  # fmt: skip


@cache
def solved(name):
    """A case and what the plain loops make of it."""
    case = CASES[name]()
    outcome = oracle.train(
        case.X, case.y, case.s, case.W, case.labels, rng=np.random.default_rng(3), n_groups=case.n_groups,
        max_epochs=case.max_epochs, **case.options,
    )  # fmt: skip
    return case, outcome


class TestAlgorithm1:
    @pytest.mark.parametrize("bounds", [True, False], ids=["bounds", "no bounds"])
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("name", CASES)
    def test_the_kernels_equal_the_plain_loops(self, name, layout, bounds):
        case, outcome = solved(name)
        trainer = case.train(layout, bounds)
        for epoch in range(case.max_epochs):
            assert trainer.run(1)
            assert_array_equal(trainer.cells.nearest, outcome.assignments[epoch])
        assert_allclose(trainer.prototypes.W, outcome.prototypes, rtol=0, atol=1e-9)
        assert_array_equal(trainer.prototypes.pseudo, outcome.pseudo_classes)
        assert trainer.alpha_uses == outcome.alpha_uses
        assert trainer.flips == outcome.flips
        counts = direct_counts(outcome.assignments[-1], case.y, case.s, trainer.cells.counts.shape)
        assert_array_equal(trainer.cells.counts, counts)
        assert trainer.measured == trainer.steps * len(case.X) or bounds

    @pytest.mark.parametrize("name", CASES)
    def test_the_vectorised_version_equals_the_plain_loops(self, name):
        case, outcome = solved(name)
        W, pseudo = reference.train(
            case.X, case.y, case.s, case.W, case.labels, rng=np.random.default_rng(3), n_groups=case.n_groups,
            max_epochs=case.max_epochs, **case.options,
        )  # fmt: skip
        assert_allclose(W, outcome.prototypes, rtol=0, atol=1e-9)
        assert_array_equal(pseudo, outcome.pseudo_classes)

    @pytest.mark.parametrize("name", CASES)
    def test_the_cases_are_worth_comparing(self, name):
        """Prototypes move, but do not fly; points change cells; the edge cases that a case is made for do occur."""
        case, outcome = solved(name)
        moved = np.linalg.norm(np.array(outcome.prototypes) - case.W, axis=1)
        assert moved.max() > 0.1
        assert moved.max() < 20
        assert outcome.assignments[0] != outcome.assignments[-1]
        if name == "one prototype per class":
            assert outcome.alpha_uses > 0
        if name.startswith("empty cells"):
            assert outcome.empty_draws > 0
            # Without the draws the rare group has no prototype; the published step always takes the first group.
            always = len(case.X) * case.max_epochs
            assert outcome.alpha_uses == always if "published" in name else 0 < outcome.alpha_uses < always

    def test_all_at_once_is_the_same_as_epoch_by_epoch(self):
        case = clouds(C=0.8)
        whole, stepwise = case.train(), case.train()
        whole.run(6)
        for _ in range(3):
            stepwise.run(2, record_every=1)
        assert_array_equal(whole.prototypes.W, stepwise.prototypes.W)
        assert_array_equal(whole.prototypes.pseudo, stepwise.prototypes.pseudo)

    def test_watching_groups_changes_nothing_for_the_classes(self):
        case = deserted()
        watched = case.train(C=0.0)
        alone = Trainer(
            dense_rows(case.X), case.y, None, case.W, case.labels, Recipe(**{**case.options, "C": 0.0}),
            np.random.default_rng(3),
        )  # fmt: skip
        watched.run(5)
        alone.run(5)
        assert (watched.cells.counts.sum(axis=(1, 2)) == 0).any()
        assert_array_equal(watched.prototypes.W, alone.prototypes.W)


class TestByHand:
    """w0 = 0 (class 0) and w1 = 3 (class 1); x = 1 of class 0 and x = 2 of class 1, both of group 0; Φ(μ) = μ.

    Class term, x = 1: d+ = 1, d- = 4, μ = -3/5; -∂μ/∂w0 = 4 · 4/25 · (1 - 0) = 0.64 and
    -∂μ/∂w1 = -4 · 1/25 · (1 - 3) = 0.32. By symmetry x = 2 gives -0.64 on w1 and -0.32 on w0.
    Sums: 0.32 on w0, -0.32 on w1; four updates: ±0.08.
    Fair term: both pseudo-classes are group 0, so no other one exists, d- = d+/2 = 1/2 and μ = 1/3.
    x = 1 has w+ = w0: -∂μ/∂w0 = 4 · (1/2) / (3/2)² · (1 - 0) = 8/9; x = 2: -8/9 on w1. Two updates: ±4/9.
    """

    X, y, s, W = np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([0, 0]), np.array([[0.0], [3.0]])

    def trained(self, layout, **options):
        recipe = Recipe(C=0.5, alpha=2.0, learning_rate=0.9, batch_size=2, activation="identity", **options)
        trainer = Trainer(LAYOUTS[layout](self.X), self.y, self.s, self.W, [0, 1], recipe, np.random.default_rng(0))
        trainer.run(0, 1)
        trainer.run(1)
        return trainer

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_algorithm(self, layout):
        trainer = self.trained(layout)
        start = trainer.history[0]
        assert_allclose(start.class_pull.ravel(), [0.08, -0.08], rtol=1e-14)
        assert_allclose(start.fair_pull.ravel(), [4 / 9, -4 / 9], rtol=1e-14)
        assert start.class_cost == pytest.approx(-0.6, abs=1e-15)
        assert start.fair_cost == pytest.approx(1 / 3, abs=1e-15)
        assert (start.accuracy, start.statistical_parity, start.alpha_uses) == (1.0, 0.0, 0)
        # 0.9 (0.08 - 0.5 · 4/9) = -0.128
        assert_allclose(trainer.prototypes.W.ravel(), [-0.128, 3.128], rtol=1e-14)
        assert trainer.alpha_uses == 2

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_published(self, layout):
        # Without the 4: 0.32/4 over 2 prototypes x 2 classes = 0.02, and 2/9 over 2 prototypes x 1 group = 1/9.
        trainer = self.trained(layout, step="published")
        move = 0.9 * (0.02 - 0.5 / 9)
        assert_allclose(trainer.prototypes.W.ravel(), [move, 3 - move], rtol=1e-14)

    def test_two_clouds_of_votes(self):
        # Cell 0 holds groups 0, 0, 1 and cell 1 holds 1, 0, 1: majorities 0 and 1. Class 0 goes to two of the three
        # points of group 0 and to one of the three of group 1, a gap of 1/3; one point (x = 2.2, class 0) is wrong.
        X = np.array([[0.1], [0.2], [0.3], [2.2], [2.9], [3.0]])
        y, s = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 0, 1])
        trainer = Trainer(dense_rows(X), y, s, self.W, [0, 1], Recipe(), np.random.default_rng(0))
        trainer.run(0, 1)
        assert_array_equal(trainer.prototypes.pseudo, [0, 1])
        assert_array_equal(trainer.cells.counts, [[[2, 1], [0, 0]], [[0, 1], [1, 1]]])
        assert trainer.history[0].accuracy == pytest.approx(5 / 6)
        assert trainer.history[0].statistical_parity == pytest.approx(1 / 3)


def summed_cost(W, X, labels, prototype_labels, alpha, activation, beta, at):
    """Σ Φ(μ), with simulated distances taken at the prototypes ``at``: constants, as Algorithm 1 has them."""

    def rival_distances(V):
        D = direct_distances(X, V)
        same = labels[:, None] == prototype_labels
        return np.where(same, D, np.inf).min(axis=1), np.where(same, np.inf, D).min(axis=1)

    d_plus, d_minus = rival_distances(W)
    fixed_plus, fixed_minus = rival_distances(at)
    d_plus = np.where(np.isinf(d_plus), alpha * fixed_minus, d_plus)
    d_minus = np.where(np.isinf(d_minus), fixed_plus / alpha, d_minus)
    return ACTIVATIONS[activation].value((d_plus - d_minus) / (d_plus + d_minus), beta).sum()


class TestDerivatives:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    @pytest.mark.parametrize("name", ["plane", "one prototype per class", "eight columns, three classes and groups"])
    def test_pulls_are_the_negative_gradient(self, name, activation, layout):
        case = CASES[name]()
        case.options.update(activation=activation, alpha=3.0, beta=1.5)
        trainer = case.train(layout)
        trainer.run(0, 1)
        snapshot, n = trainer.history[0], len(case.X)
        pseudo = snapshot.pseudo_classes
        simulated = np.sum(~np.isin(case.s, pseudo)) + np.sum((pseudo == case.s[:, None]).all(axis=1))
        assert simulated > 0 or name == "plane"
        terms = [
            (case.y, case.labels, snapshot.class_pull, snapshot.class_cost, 2 * n),
            (case.s, pseudo, snapshot.fair_pull, snapshot.fair_cost, 2 * n - simulated),
        ]
        for labels, prototype_labels, pull, cost, updates in terms:

            def value(W, labels=labels, prototype_labels=prototype_labels):
                return summed_cost(W, case.X, labels, prototype_labels, 3.0, activation, 1.5, case.W)

            gradient, h = np.zeros_like(case.W), 1e-6
            for j, k in np.ndindex(*case.W.shape):
                up, down = case.W.copy(), case.W.copy()
                up[j, k] += h
                down[j, k] -= h
                gradient[j, k] = (value(up) - value(down)) / (2 * h)
            assert np.abs(gradient).max() > 0.1
            assert_allclose(pull, -gradient / updates, rtol=0, atol=1e-7)
            assert cost == pytest.approx(value(case.W) / n, abs=1e-12)


def assert_bookkeeping_exact(case, trainer):
    D = direct_distances(case.X, trainer.prototypes.W)
    near = np.sort(D, axis=1)
    # A point may stand with either of two prototypes whose distances rounding cannot tell apart.
    clear = near[:, 1] - near[:, 0] > 1e-12 * (near[:, 1] + (trainer.prototypes.W**2).sum(axis=1).max())
    nearest = trainer.cells.nearest
    assert clear.mean() > 0.95
    assert_array_equal(nearest[clear], D.argmin(axis=1)[clear])
    assert_array_equal(trainer.cells.counts, direct_counts(nearest, case.y, case.s, trainer.cells.counts.shape))


class TestBookkeeping:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("C", [0.0, 0.8, 30.0])
    def test_bounds_save_looks_and_change_nothing(self, layout, C):
        case = one_hot(n=501, per_class=5, C=C, learning_rate=0.05, batch_size=64)
        fast, sure = case.train(layout), case.train(layout, bounds=False)
        for _ in range(40):
            alive = fast.run(1)
            assert sure.run(1) == alive
            assert_bookkeeping_exact(case, fast)
            assert_array_equal(fast.cells.nearest, sure.cells.nearest)
        assert_array_equal(fast.prototypes.W, sure.prototypes.W)
        assert_array_equal(fast.prototypes.pseudo, sure.prototypes.pseudo)
        assert sure.measured == sure.steps * 501
        assert 0 < fast.measured < 0.9 * sure.measured

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_votes_that_wait_for_a_snapshot_change_nothing_it_shows(self, layout):
        case = one_hot(n=301, C=0.0, step="published")
        lazy, eager = case.train(layout, lazy_votes=True), case.train(layout)
        for trainer in (lazy, eager):
            trainer.run(10, 2)
        assert lazy.measured == 0 < eager.measured
        assert_bookkeeping_exact(case, lazy)
        for one, other in zip(lazy.history, eager.history, strict=True):
            assert_array_equal(one.prototypes, other.prototypes)
            assert_array_equal(one.pseudo_classes, other.pseudo_classes)
            assert_allclose(one.fair_pull, other.fair_pull, rtol=1e-12)
            assert (one.class_cost, one.fair_cost, one.accuracy, one.statistical_parity) == pytest.approx(
                (other.class_cost, other.fair_cost, other.accuracy, other.statistical_parity), rel=1e-12
            )
            assert one.flips <= other.flips
        assert sum(snapshot.flips for snapshot in lazy.history) > 0
        with pytest.raises(ValueError, match="C is 0"):
            case.train(layout, lazy_votes=True, C=1.0)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_running_counts_that_have_seen_every_point_are_exact(self, layout, monkeypatch):
        case = one_hot(n=301, C=0.8, batch_size=301)
        exact = case.train(layout)
        monkeypatch.setattr(trainer_module, "EXACT_VOTES", 300)
        running = case.train(layout)
        for _ in range(20):
            exact.run(1)
            running.run(1)
            assert_bookkeeping_exact(case, running)
        assert_array_equal(running.prototypes.W, exact.prototypes.W)
        assert exact.flips == running.flips > 0

    def test_running_counts_hold_each_point_where_its_last_step_left_it(self, monkeypatch):
        monkeypatch.setattr(trainer_module, "EXACT_VOTES", 100)
        case = one_hot(n=120, C=0.0, batch_size=40, shuffle=False, learning_rate=3.0)
        running, expected = case.train(), np.empty(120, int)
        running.run(2)
        for step in range(3):
            W, _ = reference.train(
                case.X, case.y, case.s, case.W, case.labels, C=0.0, learning_rate=3.0, batch_size=40, max_epochs=2,
                rng=np.random.default_rng(3), shuffle=False, max_steps=4 + step,
            )  # fmt: skip
            batch = slice(40 * step, 40 * (step + 1))
            expected[batch] = direct_distances(case.X[batch], W).argmin(axis=1)
        assert_array_equal(running.cells.nearest, expected)
        shape = running.cells.counts.shape
        assert_array_equal(running.cells.counts, direct_counts(expected, case.y, case.s, shape))
        now = direct_distances(case.X, W).argmin(axis=1)
        assert not np.array_equal(expected, now)
        running.count_votes()
        assert_array_equal(running.cells.counts, direct_counts(now, case.y, case.s, shape))

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_prototypes_that_fly_far(self, layout):
        case = one_hot(n=300, C=3e3, batch_size=50)
        fast, sure = case.train(layout), case.train(layout, bounds=False)
        fast.fence = sure.fence = 1e6  # the kernels are exact beyond what training allows
        radius = np.linalg.norm(case.X - case.W.mean(axis=0), axis=1).max()
        farthest = 0.0
        for _ in range(20):
            fast.run(1)
            sure.run(1)
            farthest = max(farthest, np.linalg.norm(fast.prototypes.W, axis=1).max())
            assert_bookkeeping_exact(case, fast)
        assert farthest > 20 * radius
        assert np.isfinite(fast.prototypes.W).all()
        assert_array_equal(fast.prototypes.W, sure.prototypes.W)

    def test_long_rows_train_exactly(self):
        """Far from the origin the expanded square of sparse rows loses digits; the limits allow for it."""
        case = one_hot(n=300, C=0.6, batch_size=64, learning_rate=0.05)
        shifted = case._replace(X=np.where(case.X != 0, case.X + 300, 0.0), W=case.W * 300, options={**case.options})
        shifted.options["learning_rate"] = 500.0
        fast, sure = shifted.train("sparse"), shifted.train("sparse", bounds=False)
        for _ in range(15):
            assert fast.run(1)
            sure.run(1)
            assert_bookkeeping_exact(shifted, fast)
        assert np.linalg.norm(fast.prototypes.W - shifted.W, axis=1).max() > 1
        assert_array_equal(fast.prototypes.W, sure.prototypes.W)

    @pytest.mark.parametrize("power", [66, -66, -70])
    def test_very_large_and_very_small_numbers(self, power):
        """Scaled by a power of 2 everything is the same, bit by bit."""
        case = one_hot(n=300, C=0.6, batch_size=64, learning_rate=0.05)
        scale = 2.0**power
        scaled = case._replace(X=case.X * scale, W=case.W * scale, options={**case.options})
        scaled.options["learning_rate"] = 0.05 * scale**2
        usual, extreme = case.train("sparse"), scaled.train("sparse")
        for _ in range(15):
            assert usual.run(1)
            assert extreme.run(1)
            assert_array_equal(extreme.cells.nearest, usual.cells.nearest)
        assert usual.measured > 0
        assert_array_equal(extreme.prototypes.W, usual.prototypes.W * scale)

    def test_csr_with_duplicates_explicit_zeros_and_empty_rows(self):
        case = one_hot(n=100, C=0.6)
        X = case.X.copy()
        X[[3, 50]] = 0.0
        plain_csr = csr_array(X)
        halves = np.repeat(plain_csr.data / 2, 2)
        odd = csr_array((halves, np.repeat(plain_csr.indices, 2), 2 * plain_csr.indptr), X.shape)
        odd.data[:2] = [plain_csr.data[0], 0.0]
        assert not odd.has_canonical_format
        trainers = [
            Trainer(rows, case.y, case.s, case.W, case.labels, Recipe(**case.options), np.random.default_rng(0))
            for rows in (dense_rows(X), as_rows(plain_csr), as_rows(odd))
        ]
        for trainer in trainers:
            trainer.run(8)
        assert_allclose(trainers[1].prototypes.W, trainers[0].prototypes.W, rtol=0, atol=1e-10)
        assert_allclose(trainers[2].prototypes.W, trainers[0].prototypes.W, rtol=0, atol=1e-10)

    def test_distances(self):
        case = one_hot(n=130)
        for layout in LAYOUTS.values():
            assert_allclose(
                squared_distances(layout(case.X), case.W), direct_distances(case.X, case.W), rtol=0, atol=1e-13
            )

    def test_the_farthest_point(self):
        case = one_hot(n=130)
        for layout in LAYOUTS.values():
            expected = direct_distances(case.X, case.W[:1]).max()
            assert kernels.farthest(layout(case.X), case.W[0]) == pytest.approx(expected, rel=1e-13)

    def test_the_arrays_of_a_tile_begin_where_cache_lines_do(self):
        tile = kernels.new_tile(5, 3)
        begins = [array.__array_interface__["data"][0] for array in tile]
        assert all(begin % 64 == 0 for begin in begins)
        ends = [begin + array.nbytes for begin, array in zip(begins, tile, strict=True)]
        assert all(end <= begin for end, begin in zip(ends, begins[1:], strict=False))

    def test_mostly_zero_arrays_are_kept_sparse(self):
        X = one_hot().X
        assert as_rows(X).sparse
        assert as_rows(X).data.size == np.count_nonzero(X)
        assert not as_rows(X[:, :15]).sparse  # too narrow to gain
        assert not as_rows(X + 1).sparse
        assert not as_rows(np.vstack([X, X + 1])).sparse  # zeros come first
        assert as_rows(np.vstack([X + 1, *[0 * X] * 4])).sparse


class TestGuards:
    def test_a_point_on_a_prototype(self):
        # d+ = 0: μ = -1, and both factors vanish. On both prototypes at once μ is 0/0, and nothing pulls either.
        X, y, s = np.zeros((1, 2)), np.array([0]), np.array([0])
        for W in ([[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]):
            trainer = Trainer(dense_rows(X), y, s, np.array(W), [0, 1], Recipe(C=1.0), np.random.default_rng(0))
            assert trainer.run(3)
            assert_array_equal(trainer.prototypes.W, W)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_coinciding_prototypes_part(self, layout):
        case = coinciding()
        trainer = case.train(layout)
        trainer.run(0, 1)
        nearest = direct_distances(case.X, case.W).argmin(axis=1)  # the first wins a tie
        assert_array_equal(trainer.cells.nearest, nearest)
        assert trainer.history[0].accuracy == np.mean(case.labels[nearest] == case.y)
        assert trainer.run(5)
        assert len(np.unique(trainer.prototypes.W, axis=0)) == 6

    def test_flying_off_stops_before_the_move(self):
        case = clouds(C=1e12)
        trainer = case.train()
        assert not trainer.run(3, record_every=1)
        assert trainer.flew_off
        assert trainer.epoch == 1
        assert_array_equal(trainer.prototypes.W, case.W)  # the first step was not made
        assert np.isfinite(trainer.history[-1].prototypes).all()
        assert not trainer.run(1)  # and none after it

    def test_a_step_that_overflows_is_not_made(self):
        case = clouds(C=1e308)
        trainer = case.train(learning_rate=1e10)
        assert not trainer.run(1)
        assert_array_equal(trainer.prototypes.W, case.W)


class TestChance:
    def test_draws_are_uniform_and_inside(self):
        random = np.array([1], np.uint64)
        drawn = np.bincount([kernels.draw(random, 5) for _ in range(5000)], minlength=5)
        assert len(drawn) == 5
        assert (np.abs(drawn - 1000) < 150).all()  # five standard deviations

    def test_shuffle_is_a_permutation_in_which_every_place_is_as_likely(self):
        random = np.array([2], np.uint64)
        places = np.zeros((6, 6))
        for _ in range(3000):
            order = np.arange(6)
            kernels.shuffle(order, random)
            assert sorted(order) == list(range(6))
            places[np.arange(6), order] += 1
        assert (np.abs(places - 500) < 110).all()


def test_parity_gaps_by_hand():
    # One frame, two prototypes of classes 0 and 1, three groups of which the last has no member.
    counts = np.array([[[[3, 1, 0], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]]])  # (F=1, P=2, K=2, G=3)
    assert_allclose(parity_gaps(counts, np.array([0, 1])), [abs(3 / 4 - 2 / 4)])
