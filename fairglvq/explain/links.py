"""Columns that tell the same twice: where one determines another in the data, the two change together.

Adult's education-num is a number for every education, COMPAS's age_cat a word for every age. Nobody can change one of
them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PEOPLE_PER_VALUE = 5
"""Columns with fewer people per different value may seem to determine others by chance."""

GLANCE = 500  # people looked at first: they show for most pairs that neither determines the other

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
    found: Links = {}
    for place, leader in enumerate(ranked):
        for other, follower in enumerate(ranked):
            if other == place or not _determines(leader, follower):
                continue
            if other > place or not _determines(follower, leader):
                found.setdefault(leader.name, {})[follower.name] = _pairs(leader, follower)
    return found


def _determines(leader: Column, follower: Column) -> bool:
    """Whether all people with the same value in one column have the same value in the other."""
    K = len(follower.values)
    if len(leader.values) < K:
        return False
    for some in (slice(GLANCE), slice(None)):
        pairs = np.unique(leader.codes[some] * K + follower.codes[some])
        if len(np.unique(pairs // K)) < len(pairs):
            return False
    return True


def _pairs(leader: Column, follower: Column) -> dict[Value, Value]:
    somebody = np.unique(leader.codes, return_index=True)[1]  # with each value of the leader
    return {leader.values[leader.codes[i]]: follower.values[follower.codes[i]] for i in somebody}
