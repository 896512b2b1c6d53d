"""Learned metrics and handicaps in numbers: how much columns count, how many people a handicap moves."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairglvq import wording
from fairglvq.datasets.base import columns_of
from fairglvq.explain.cells import Explained, PrototypeModel
from fairglvq.explain.people import Population


class Relevance(NamedTuple):
    """How much one original column counts in a learned metric, as a share of 1."""

    column: str
    share: float


def relevance_profile(people: Population, model: PrototypeModel) -> list[Relevance]:
    """How much every original column counts in a learned metric, the largest share first; none without a metric.

    The relevance of a feature j is the j-th entry on the diagonal of Ω^T Ω: what a difference of 1 in it adds to the
    squared distance. It is multiplied by the feature's variance, so that it is what two people drawn at random differ
    by; without that, a category counts the more the more rare values it has. Features of one column are added up.
    """
    if model.omega is None or model.mixture is None:
        return []
    weights = (model.mixture**2).sum(axis=0) * people.variance  # (d,)
    total = weights.sum() or 1.0
    found = [Relevance(trait[0].column, float(weights[columns_of(trait)].sum() / total)) for trait in people.traits]
    return sorted(found, key=lambda one: -one.share)


class Handicap(NamedTuple):
    """What a prototype's handicap does to it.

    ``ahead`` is its handicap less that of its nearest rival, in squared distance. ``farther`` says the same in
    distances where the rival is at the typical one: a share of it by which the prototype may be farther away and still
    win; below 0 it must be closer, NaN says that it cannot win there. ``brought`` are measured people in its cell who
    are closer to another prototype, ``taken`` those closest to it who are in another cell.
    """

    rival: int
    ahead: float
    farther: float
    brought: int
    taken: int


def handicap(explained: Explained, p: int) -> Handicap | None:
    """What the handicap of prototype p does; None for a model without handicaps."""
    model, people = explained.model, explained.people
    if model.handicaps is None:
        return None
    rival = explained.rival(p)
    ahead = float(model.handicaps[p] - model.handicaps[rival])
    typical = float(np.median(explained.distance[people.measured]))
    left = typical + ahead  # squared distance at which p draws with a rival at the typical distance
    farther = math.sqrt(left / typical) - 1 if left >= 0 < typical else math.nan
    in_cell, closest = explained.nearest == p, explained.closest == p
    brought = int(np.sum(in_cell & ~closest & people.measured))
    taken = int(np.sum(closest & ~in_cell & people.measured))
    return Handicap(rival, ahead, farther, brought, taken)


def handicap_words(found: Handicap) -> str:
    """A handicap in two sentences: against the rival, and in people."""
    rival = f"prototype {found.rival + 1}, its nearest rival"
    if found.ahead == 0:
        sentence = f"It has the same handicap as {rival}: of the two, the closer one decides."
    elif math.isnan(found.farther):
        sentence = f"It must be closer than {rival}, by more than the distance of most people to their prototype."
    elif found.ahead > 0:
        sentence = f"People are assigned to it even if it is {_by(found.farther)} farther away than {rival}."
    else:
        sentence = f"It must be {_by(-found.farther)} closer than {rival}, to be assigned a person."
    moved = [
        words
        for n, words in (
            (found.brought, f"bring it {_who(found.brought)} closer to another prototype"),
            (found.taken, f"take away {_who(found.taken)} closest to it"),
        )
        if n
    ]
    return f"{sentence} Handicaps {wording.listed(moved) or 'move nobody to it or away from it'}."


def _who(n: int) -> str:
    return f"{wording.people(n)} who {'is' if n == 1 else 'are'}"


def _by(share: float) -> str:
    """How much: "3.2%", "a little (under 0.1%)"."""
    percent = wording.percent(share)
    return f"a little ({percent})" if percent.startswith("under") else percent
