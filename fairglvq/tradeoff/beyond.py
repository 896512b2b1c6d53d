"""What goes further than the paper's FairGLVQ: how accurate each method is at a bounded gap, on the same folds."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from fairglvq.tradeoff.comparison import Comparison, compare, within
from fairglvq.tradeoff.curve import rows_of, summary

PAPER = ("fairglvq", "inp")
FURTHER = ("fairgmlvq", "paritylvq", "fairtree", "fairtree_decided", "fairglvq_decided")
"""A learned metric, handicaps, trees, and cells that are decided under a bound."""

BASE = "fairglvq"


class Reached(NamedTuple):
    """The most accurate strength of a method whose mean gap keeps to a bound, and its lead over the paper's FairGLVQ.

    There is no lead where FairGLVQ does not keep to the bound, nor of FairGLVQ itself.
    """

    method: str
    strength: float | None
    gap: float
    accuracy: float
    folds: tuple[float, ...]  # accuracy on each test fold
    lead: Comparison | None


def one_answer(rows: pd.DataFrame) -> float:
    """Accuracy of one answer for all, whose gap is 0: what every method has to exceed."""
    return float(rows[rows["method"] == "const"]["accuracy"].mean())


def reached(rows: pd.DataFrame, bound: float) -> dict[str, Reached]:
    """By method, in the order of PAPER and FURTHER; methods without a strength within the bound are left out."""
    chosen = [*PAPER, *FURTHER]
    points = dict(within(summary(rows[rows["method"].isin(chosen)]), bound))
    together = sum(method != BASE for method in points)
    found = {}
    for method in chosen:
        if method in points:
            own = rows_of(rows, method, points[method]).sort_values(["seed", "fold"])
            lead = None
            if BASE in points and method != BASE:
                point, base = (method, points[method]), (BASE, points[BASE])
                lead = compare(rows, point, base, folds=int(rows["fold"].max()) + 1, together=together)
            found[method] = Reached(
                method, points[method], float(own["statistical_parity"].mean()), float(own["accuracy"].mean()),
                tuple(own["accuracy"]), lead,
            )  # fmt: skip
    return found
