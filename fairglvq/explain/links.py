"""Redundant columns: where one determines another in the data, the two change together.

Adult's education-num is a number for every education, COMPAS's age_cat a word for every age. Neither can change alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PEOPLE_PER_VALUE = 5
"""Columns with fewer people per different value may seem to determine others by chance."""

SAMPLES = (500, 5000)  # people compared first: enough for most pairs to show that neither determines the other

Value = float | str

Links = dict[str, dict[str, dict[Value, Value]]]
"""By the column that leads, then by the column that follows: which value goes with which."""


class Column(NamedTuple):
    """Everybody's value in one original column: ``values[codes[i]]``, each value there at least once."""

    name: str
    number: bool
    values: Sequence[Value]
    codes: NDArray[np.int64]  # (n,)


def find_links(columns: Sequence[Column]) -> Links:
    """Which columns follow which; of two that determine each other the first number leads, or else the first."""
    few = [one for one in columns if 2 <= len(one.values) <= len(one.codes) / PEOPLE_PER_VALUE]
    ranked = sorted(few, key=lambda column: not column.number)
    if not ranked:
        return {}
    codes = np.array([column.codes for column in ranked], np.int32)  # (columns, n)
    determined = [_determined_by(column, codes) for column in ranked]
    found: Links = {}
    for place, leader in enumerate(ranked):
        for other in sorted(determined[place]):
            if other > place or (other < place and place not in determined[other]):
                found.setdefault(leader.name, {})[ranked[other].name] = _pairs(leader, ranked[other])
    return found


def _determined_by(leader: Column, codes: NDArray[np.int32]) -> set[int]:
    """Rows of ``codes`` (columns, n) in which all people with the same value of the leader have the same code."""
    like = _first_people(leader)[leader.codes]  # (n,) for everybody, the first person with the same value
    left = np.arange(len(codes))
    for stop in (*SAMPLES, codes.shape[1]):
        rows = codes[left, :stop]
        left = left[(rows == rows[:, like[:stop]]).all(axis=1)]
    return set(left.tolist())


def _first_people(column: Column) -> NDArray[np.int64]:
    """The first person with each value of a column."""
    return np.unique(column.codes, return_index=True)[1]


def _pairs(leader: Column, follower: Column) -> dict[Value, Value]:
    return {
        value: follower.values[follower.codes[i]] for value, i in zip(leader.values, _first_people(leader), strict=True)
    }
