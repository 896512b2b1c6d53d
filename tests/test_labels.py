"""Positions of labels among known ones, by sorting where that is possible."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairglvq.labels import positions


@pytest.mark.parametrize(
    ("column", "known"),
    [
        ([3, 1, 3, 7], [1, 3, 7]),
        ([2.5, -1.0], [-1.0, 0.0, 2.5]),
        (["yes", "no"], ["maybe", "no", "yes"]),
        ([True, False], [False, True]),
        ([1.0, 0.0], [0, 1]),  # another type
        ([5, 2, 9], [9, 5, 2]),  # not sorted
        (np.array(["a", 1], dtype=object), np.array([1, "a"], dtype=object)),
    ],
)
def test_each_label_is_found_at_its_place(column, known):
    column, known = np.asarray(column), np.asarray(known)
    found = positions(column, known, "class")
    assert_array_equal(found, [known.tolist().index(label) for label in column.tolist()])
    assert found.dtype.kind == "i"


@pytest.mark.parametrize(("column", "unknown"), [([0, 2], "2"), ([9, 0, 1], "9"), ([-3, 1], "-3"), ([0.5, 1.0], "0.5")])
def test_an_unknown_label_is_named(column, unknown):
    with pytest.raises(ValueError, match=rf"unknown class \[{unknown}\]; known are \[0, 1\]"):
        positions(np.asarray(column), np.array([0, 1]), "class")
