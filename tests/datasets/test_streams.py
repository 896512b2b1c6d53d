"""Streams of points that drift."""

import tracemalloc

import numpy as np
import pytest

from fairglvq.datasets.streams import SHARE, SHIFT, stream


def gathered(**settings):
    return [np.concatenate(parts) for parts in zip(*stream(**settings), strict=True)]


def test_batches_hold_all_points_and_depend_on_the_seed():
    sizes = [len(batch.y) for batch in stream(points=2_500, batch_size=1_000)]
    assert sizes == [1_000, 1_000, 500]
    one, same, other = (gathered(points=600, batch_size=200, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[0], same[0])
    assert not np.array_equal(one[0], other[0])


def test_points_and_labels_are_those_of_the_set():
    X, y, s = gathered(name="xor", points=8_000, drift="none")
    upper, right = X[:, 1] > 0.5, X[:, 0] > 0.5
    assert np.mean(y == np.where(upper, X[:, 0] < 1.1, X[:, 0] > 1.1)) > 0.999  # 0.5 is 3.3 deviations from a centre
    assert np.mean(s == (upper != right)) > 0.99
    local = gathered(name="local", points=8_000, drift="none")[0]
    assert np.all(np.abs(np.median(local, axis=0) - 0.25) < 0.3)  # the box around the centres is [0, 1]²


def test_the_border_moves_half_way():
    X, _, _ = gathered(points=20_000, drift="border", at=0.25)
    still, moved = X[:5_000], X[5_000:]
    np.testing.assert_allclose(moved.mean(axis=0) - still.mean(axis=0), [SHIFT, SHIFT], atol=0.03)


def test_the_mix_of_groups_changes_and_each_group_stays_what_it_is():
    X, y, s = gathered(name="local", points=40_000, drift="groups")
    before, after = slice(0, 20_000), slice(20_000, 40_000)
    assert np.mean(s[before] == 0) == pytest.approx(0.75, abs=0.02)
    assert np.mean(s[after] == 0) == pytest.approx(SHARE, abs=0.02)
    for group in (0, 1):
        was, now = (np.column_stack([X, y])[part][s[part] == group].mean(axis=0) for part in (before, after))
        np.testing.assert_allclose(was, now, atol=0.04)


def test_no_batch_is_kept():
    tracemalloc.start()
    for _ in stream(points=1_000_000, batch_size=1_000, drift="groups"):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e6


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"name": "adult"}, "name must be one of 'local', 'xor'"),
        ({"drift": "sudden"}, "drift must be one of 'none', 'border', 'groups'"),
        ({"points": 0}, "at least 1"),
        ({"at": 2}, "from 0 to 1"),
    ],
)
def test_what_is_wrong_is_said_before_the_first_batch(settings, words):
    with pytest.raises(ValueError, match=words):
        stream(**settings)
