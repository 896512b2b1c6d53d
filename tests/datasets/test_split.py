"""Splits and scaling: hand-worked values, and scikit-learn as the reference to the last bit."""

import numpy as np
import pytest
from interpreter import modules_after
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from fairglvq import datasets
from fairglvq.datasets.split import Scaling, fold_seed, hold_out_fold, hold_out_share


def test_scaling_by_hand():
    scaling = Scaling.fit([[1.0, 10.0, 7.0], [5.0, 10.5, 7.0]])
    assert scaling.low.tolist() == [1.0, 10.0, 7.0]
    assert scaling.span.tolist() == [4.0, 0.5, 1.0]  # a constant feature keeps its unit
    np.testing.assert_array_equal(scaling.apply([[3.0, 10.25, 7.0], [9.0, 10.0, 8.0]]), [[0.5, 0.5, 0], [2, 0, 1]])
    np.testing.assert_array_equal(scaling.inverse([0.5, 0.5, 0.0]), [3.0, 10.25, 7.0])


def samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12)) * 10.0 ** rng.integers(-14, 14, 12) + 10.0 ** rng.integers(-3, 6, 12)
    X[:, 3], X[:, 4] = 0.1, -0.0
    X[:, 5] = np.where(np.arange(200) % 2, 0.0, 1e-13)  # small, but not constant
    X[:, 6] = np.where(np.arange(200) % 2, 0.0, 2e-15)  # constant up to rounding
    return X


@pytest.mark.parametrize("name", ["samples", "german", "xor"])
def test_scaling_is_min_max_scaler_to_the_last_bit(name):
    X = samples() if name == "samples" else datasets.load(name).X
    scaler, scaling = MinMaxScaler().fit(X[::2]), Scaling.fit(X[::2])
    assert scaling.apply(X).tobytes() == scaler.transform(X).tobytes()
    assert scaling.scale.tobytes() == scaler.scale_.tobytes()
    assert scaling.offset.tobytes() == scaler.min_.tobytes()


def test_scaling_from_its_arrays_is_the_same_again():
    X = samples()
    scaling = Scaling.fit(X)
    again = Scaling.from_arrays(scaling.scale.tolist(), scaling.offset.tolist())
    assert again.apply(X).tobytes() == scaling.apply(X).tobytes()
    np.testing.assert_allclose(again.inverse(again.apply(X)), X, rtol=1e-9, atol=1e-9)


def test_the_smallest_value_comes_back_exactly():
    X = np.array([[17.0, 0.1], [90.0, 0.4]])
    scaling = Scaling.fit(X)
    assert scaling.inverse(scaling.apply(X))[0].tolist() == [17.0, 0.1]


def test_identity():
    X = samples()
    np.testing.assert_array_equal(Scaling.identity(12).apply(X), X)
    np.testing.assert_array_equal(Scaling.identity(12).inverse(X), X)


@pytest.mark.parametrize(
    ("scale", "offset", "words"),
    [
        ([1.0, 2.0], [0.0], "one shape"),
        ([[1.0]], [[0.0]], "one shape"),
        ([0.0], [0.0], "must not be 0"),
        ([1e-320], [0.0], "so small"),
        ([np.nan], [0.0], "finite"),
        ([1.0], [np.inf], "finite"),
    ],
)
def test_arrays_that_are_no_scaling(scale, offset, words):
    with pytest.raises(ValueError, match=words):
        Scaling.from_arrays(scale, offset)


def test_a_share_of_every_stratum_is_held_out():
    strata = np.repeat([0, 1, 2], [10, 5, 1])
    held_out = hold_out_share(strata, 0.2, seed=3)
    assert [int(held_out[strata == stratum].sum()) for stratum in (0, 1, 2)] == [2, 1, 0]
    np.testing.assert_array_equal(held_out, hold_out_share(strata, 0.2, seed=3))
    assert any((hold_out_share(strata, 0.2, seed) != held_out).any() for seed in range(5))
    assert not hold_out_share(strata, 0.0, seed=3).any()


def test_a_fold_is_that_of_stratified_k_fold():
    y = np.random.default_rng(0).choice(["no", "yes"], 83, p=[0.7, 0.3])
    for fold, (_, test) in enumerate(StratifiedKFold(4, shuffle=True, random_state=5).split(y[:, None], y)):
        np.testing.assert_array_equal(np.flatnonzero(hold_out_fold(y, 4, fold, seed=5)), test)


@pytest.mark.parametrize("fold", [-1, 4])
def test_a_fold_that_does_not_exist(fold):
    with pytest.raises(ValueError, match="fold must be from 0 to 3"):
        hold_out_fold([0, 1] * 8, 4, fold, seed=0)


def test_every_fold_has_a_seed_of_its_own():
    seeds = {fold_seed(seed, fold) for seed in range(10) for fold in range(10)}
    assert len(seeds) == 100
    assert fold_seed(5, 2) == int(np.random.SeedSequence([5, 2]).generate_state(1)[0])


def test_scaling_does_not_load_scikit_learn():
    loaded = modules_after("""
        from fairglvq.datasets.split import Scaling, hold_out_share
        Scaling.fit([[0.0], [1.0]]).apply([[0.5]])
        hold_out_share([0, 0, 1], 0.5, 0)
    """)
    assert loaded.isdisjoint({"sklearn", "pandas", "scipy", "numba"})
