"""One step of the readable FairGLVQ: by hand, and against Algorithm 1 transcribed line by line."""

import numpy as np
import oracle
import pytest

from fairglvq.lvq import reference

OPTIONS = {"alpha": 2.0, "activation": "swish", "beta": 2.0}


def a_batch(seed=0, n=60, P=6, d=3):
    rng = np.random.default_rng(seed)
    X, W = rng.random((n, d)), rng.random((P, d))
    return X, rng.integers(0, 2, n), rng.integers(0, 2, n), W, np.repeat([0, 1], P // 2)


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("C", [0.0, 1.5])
def test_a_step_is_that_of_algorithm_1(published, C):
    X, y, s, W, labels = a_batch()
    pseudo = reference.count_votes(X, s, W, 2).argmax(1)
    found = reference.take_step(X, y, s, W, labels, pseudo, C=C, learning_rate=0.1, published=published, **OPTIONS)
    expected = oracle.train(
        X, y, s, W, labels, C=C, learning_rate=0.1, batch_size=len(X), max_epochs=1, rng=np.random.default_rng(0),
        step="published" if published else "algorithm", shuffle=False,
    )  # fmt: skip
    assert found.prototypes == pytest.approx(np.array(expected.prototypes), abs=1e-12)
    votes = reference.count_votes(X, s, found.prototypes, 2)
    assert votes.sum() == len(X)
    full = votes.sum(1) > 0
    assert votes.argmax(1)[full].tolist() == np.array(expected.pseudo_classes)[full].tolist()


def test_one_point_by_hand():
    """Prototypes at 0 and 3, a point of the first one's class at 1: d+ = 1, d- = 4, μ = -3/5."""
    found = reference.term(
        np.array([[1.0]]), np.array([0]), np.array([[0.0], [3.0]]), np.array([0, 1]), alpha=2.0, activation="identity",
        beta=1.0,
    )  # fmt: skip
    assert (found.plus[0], found.minus[0], found.d_plus[0], found.d_minus[0]) == (0, 1, 1.0, 4.0)
    assert found.mu[0] == pytest.approx(-0.6)
    assert found.to_plus[0] == pytest.approx(4 * 4 / 25)
    assert found.to_minus[0] == pytest.approx(-4 * 1 / 25)
    pulls = reference.summed_pulls(np.array([[1.0]]), np.array([[0.0], [3.0]]), found)
    assert pulls.ravel() == pytest.approx([16 / 25, 8 / 25])  # towards the point, and away from it


def test_a_missing_rival_is_simulated_and_not_moved():
    X, _, s, W, _ = a_batch()
    pseudo = np.zeros(len(W), int)
    found = reference.term(X, s, W, pseudo, **OPTIONS)
    of_group_1 = s == 1  # no prototype stands for it
    assert (found.plus[of_group_1] == -1).all()
    assert found.d_plus[of_group_1] == pytest.approx(2 * found.d_minus[of_group_1])
    assert found.d_minus[~of_group_1] == pytest.approx(found.d_plus[~of_group_1] / 2)
    assert found.mu == pytest.approx(np.full(len(X), 1 / 3))
    assert found.n_updates == len(X)
    assert (found.to_plus[of_group_1] == 0).all()
    assert (found.to_minus[~of_group_1] == 0).all()
