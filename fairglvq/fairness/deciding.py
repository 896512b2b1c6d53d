"""Deciding cells fairly: the most accurate answers of a partition's cells whose gap between groups is bounded.

A partition (prototypes, leaves, any other) gives everybody a cell, and everybody in a cell gets the same answer. Counts
of training people by cell, class and group are all that accuracy and the gap in favourable decisions depend on, so the
best answers are a small integer program: with x_p = 1 if cell p answers with the favourable class f ::

    maximise    sum_p x_p (n_pf - max_{k != f} n_pk)
    subject to  t <= sum_p x_p n_pg / n_g <= t + max_gap    for every group g

n_pk counts people of class k in cell p, n_pg those of group g. A cell that does not answer f answers with its most
frequent other class. One answer for all cells has no gap, so there is always a solution. SciPy's ``milp`` (HiGHS)
solves it exactly, for some hundred cells in well under a second.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.fairness.cells import Cells, Counts, PartitionModel, cells_of
from fairglvq.fairness.metrics import encode_groups
from fairglvq.labels import warn_about_groups

__all__ = ["DECIDE", "Decision", "decide_cells", "decide_model"]

DECIDE = ("majority", "fair")
"""How cells answer: each for itself, as training left it; or all together within a gap."""


class Decision(NamedTuple):
    """Answers of cells, and what they reach on the people counted.

    ``bound`` is an accuracy that no answers within the gap can exceed: ``accuracy`` itself where the search was
    finished (``optimal``), a higher one where its time was up.
    """

    answers: NDArray[np.intp]  # (P,) positions of classes
    accuracy: float
    gap: float
    bound: float
    optimal: bool


def decide_cells(
    counts: ArrayLike,
    *,
    max_gap: float,
    favourable: int,
    answers: ArrayLike | None = None,
    time_limit: float = 30.0,
) -> Decision:
    """The most accurate answers with a statistical parity gap of at most ``max_gap``.

    Parameters
    ----------
    counts : array (n_cells, n_classes, n_groups)
        How many people are in each cell; groups without people are not compared.
    max_gap : float
        Largest difference allowed between two groups in the share of favourable decisions.
    favourable : int
        The position of the favourable class.
    answers : array (n_cells,), optional
        Answers so far: cells without people keep theirs. None: they get the most frequent class.
    time_limit : float
        Seconds after which the best answers found so far are taken, with a warning that says how much better others
        might be.
    """
    table = _checked(counts, max_gap, favourable)
    by_class, by_group = table.sum(axis=2), table.sum(axis=1)  # (P, K), (P, G)
    others = np.where(np.arange(table.shape[1]) == favourable, -1, by_class)  # (P, K)
    gain = by_class[:, favourable] - others.max(axis=1)
    chosen, bound = _select(gain, by_group[:, by_group.sum(axis=0) > 0], max_gap, time_limit)
    found = np.where(chosen, favourable, others.argmax(axis=1))
    empty = by_class.sum(axis=1) == 0
    found[empty] = by_class.sum(axis=0).argmax() if answers is None else np.asarray(answers)[empty]
    reached = Cells(table, found, favourable).score
    if bound is None:
        return Decision(found, reached.accuracy, reached.statistical_parity, reached.accuracy, True)
    best = float((others.max(axis=1)[~empty].sum() + bound) / reached.n)
    warnings.warn(
        f"No proof within {time_limit:g} s that these answers are the best with a gap of at most {max_gap:g}: "
        f"their accuracy is {reached.accuracy:.4f}, that of the best at most {best:.4f}. "
        "Raise time_limit or take fewer cells.",
        UserWarning,
        stacklevel=2,
    )
    return Decision(found, reached.accuracy, reached.statistical_parity, best, False)


def decide_model(
    model: PartitionModel, X: Any, y: ArrayLike, *, sensitive_features: ArrayLike, favourable: Any, max_gap: float
) -> tuple[Cells, Decision]:
    """The cells of a fitted model with the most accurate answers for these people within the gap.

    ``favourable`` is the label that people want; None takes the last one of two classes.
    """
    warn_about_groups(*encode_groups(sensitive_features))
    found = cells_of(model, X, y, sensitive_features=sensitive_features, favourable=favourable)
    decision = decide_cells(found.counts, max_gap=max_gap, favourable=found.favourable, answers=found.answers)
    return Cells(found.counts, decision.answers, found.favourable), decision


def _select(gain, members, max_gap: float, time_limit: float):
    """Which cells (P,) to choose for the largest sum of gains; and None, or a bound on the sum if time was up."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # half a second that only this needs

    P, G = members.shape
    if G < 2 or not P:
        return gain > 0, None
    # Rows in people rather than shares, so that the solver's tolerance of 1e-6 is less than any person makes.
    n = members.sum()
    rates = np.column_stack([(members / members.sum(axis=0)).T, -np.ones(G)]) * n  # (G, P + 1), the last one is t
    slack = 1e-9 * n
    found = milp(
        np.append(-gain.astype(float), 0.0),
        integrality=np.append(np.ones(P), 0),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(rates, -slack, max_gap * n + slack),
        options={"time_limit": float(time_limit), "mip_rel_gap": 0.0},
    )
    constant = np.full(P, gain.sum() > 0)
    if found.status == 0:
        return found.x[:P] > 0.5, None
    if found.status != 1:
        raise RuntimeError(f"deciding cells failed: {found.message}")
    bound = gain[gain > 0].sum() if found.mip_dual_bound is None else np.floor(-found.mip_dual_bound + 1e-6)
    if found.x is None or -found.fun < gain[constant].sum():
        return constant, bound
    return found.x[:P] > 0.5, bound


def _checked(counts: ArrayLike, max_gap: float, favourable: int) -> Counts:
    table = np.asarray(counts)
    if table.ndim != 3 or table.shape[1] < 2:
        raise ValueError(f"counts must have the shape (cells, classes, groups) with two classes or more: {table.shape}")
    if table.size == 0 or table.min() < 0 or table.sum() == 0:
        raise ValueError("counts must be numbers of people, none below 0 and not all 0")
    if not 0 <= favourable < table.shape[1]:
        raise ValueError(f"favourable must be the position of one of {table.shape[1]} classes; got {favourable}")
    if not (isinstance(max_gap, Real) and max_gap >= 0):
        raise ValueError(f"max_gap must be a number of at least 0: no answers have a gap of at most {max_gap!r}")
    return table
