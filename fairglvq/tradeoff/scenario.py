"""Which gap can be accepted: the best model within a gap, and how many people of each group it decides for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairglvq.tradeoff.curve import label, point_in, rows_of
from fairglvq.wording import at_most, gap, percent, signed


class Outcome(NamedTuple):
    """How many people of a group get the favourable decision, and how many more than with the most accurate model."""

    who: str
    people: int
    favourable: int
    change: int


@dataclass(frozen=True)
class Scenario:
    """The most accurate model whose mean gap is within what is allowed."""

    name: str
    allowed: float
    model: str
    gap: float
    accuracy: float
    outcomes: tuple[Outcome, ...]


def widest(table: pd.DataFrame, x: str) -> float:
    """The gap of the most accurate model, as it is shown; to allow more changes nothing."""
    return at_most(float(_best(table.dropna(subset=[f"{x}_mean"]))[f"{x}_mean"]))


def scenario(
    rows: pd.DataFrame, table: pd.DataFrame, allowed: float, x: str, who: Sequence[str], name: str = ""
) -> Scenario | None:
    """The scenario of an allowed gap, from the rows of a sweep and their summary; None if no model keeps to it.

    Everybody is in one test fold per seed, so that all folds together decide about everybody once.
    """
    possible = table[table[f"{x}_mean"] <= allowed + 1e-12]
    if possible.empty:
        return None
    best, reference = _best(possible), _best(table)
    (counts, now), (_, before) = (_favourable(rows, point) for point in (best, reference))
    outcomes = tuple(Outcome(*values) for values in zip(who, counts, now, now - before, strict=True))
    means = float(best[f"{x}_mean"]), float(best["accuracy_mean"])
    return Scenario(name, allowed, label(*point_in(best)), *means, outcomes)


def side_by_side(kept: Sequence[Scenario]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table with a column per scenario."""
    names = ["largest gap allowed", "model", "gap", "decisions that are right", *(one.who for one in kept[0].outcomes)]
    columns = [
        [gap(one.allowed), one.model, gap(one.gap), percent(one.accuracy), *map(_counts, one.outcomes)] for one in kept
    ]
    return ["scenario", *(one.name for one in kept)], [list(row) for row in zip(names, *columns, strict=True)]


def _counts(outcome: Outcome) -> str:
    return f"{outcome.favourable:,} of {outcome.people:,} ({signed(outcome.change, 0)})"


def _best(table: pd.DataFrame) -> pd.Series:
    return table.loc[table["accuracy_mean"].idxmax()]


def _favourable(rows: pd.DataFrame, point: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """People of each group, and those with the favourable decision; means over seeds."""
    own = rows_of(rows, *point_in(point))
    counts = np.sum([np.array(one) for one in own["counts"]], axis=0) / own["seed"].nunique()  # (G, truth, decision)
    return np.round(counts.sum(axis=(1, 2))).astype(int), np.round(counts[:, :, 1].sum(axis=1)).astype(int)
