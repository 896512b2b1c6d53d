"""Numbers in bins, beside the numbers themselves."""

import numpy as np
import pytest

from fairglvq import datasets
from fairglvq.datasets.encoding import bin_starts


def shares(values, bins):
    return np.bincount(np.searchsorted(bin_starts(values, bins), values, side="right")) / len(values)


def test_distinct_values_are_cut_into_equal_shares():
    np.testing.assert_allclose(shares(np.arange(1000.0), 8), 1 / 8, atol=0.002)


def test_common_values_get_a_bin_of_their_own():
    gains = np.concatenate([np.zeros(92), [100, 200, 300, 400, 500, 600, 700, 800]])
    starts = bin_starts(gains, 5)
    assert starts[0] == 100
    assert len(starts) == 4
    middle = np.concatenate([np.arange(10.0), np.full(80, 20.0), np.arange(30.0, 40.0)])
    assert {20.0, 30.0} <= set(bin_starts(middle, 4).tolist())


def test_a_constant_has_no_bins():
    assert bin_starts(np.ones(5), 8).size == 0


def test_german_in_bins():
    plain, binned = datasets.load("german"), datasets.load("german", bins=8)
    d = plain.X.shape[1]
    np.testing.assert_array_equal(binned.X[:, :d], plain.X)
    assert binned.blocks[: len(plain.blocks)] == plain.blocks
    numbers = {block.column: block for block in plain.blocks if block.kind == "number"}
    added = binned.blocks[len(plain.blocks) :]
    assert {block.bins_of for block in added} == set(numbers)
    for block in added:
        np.testing.assert_array_equal(binned.X[:, block.columns].sum(axis=1), 1)
        values, codes = plain.X[:, numbers[block.bins_of].start], binned.X[:, block.columns].argmax(axis=1)
        assert (np.diff(codes[np.argsort(values, kind="stable")]) >= 0).all()
    assert f"made from {len(plain.blocks)}" in binned.describe()


@pytest.mark.parametrize("bins", [1, -2, 2.5])
def test_a_wrong_number_of_bins_is_named(bins):
    with pytest.raises(ValueError, match="bins must be 0 or a whole number of at least 2"):
        datasets.load("german", bins=bins)
