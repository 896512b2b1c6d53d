"""Whether like people are decided alike: every measured person beside the people most like them.

Who is alike is a choice. Here every original column counts alike: a number by its part of the range, another category
1, and a number's bins not at all. The column that determines the group does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairglvq import wording
from fairglvq.explain.decision import named_after_group, protected_block
from fairglvq.explain.people import Floats, PeopleInCells, Population
from fairglvq.fairness import individual
from fairglvq.fairness.individual import CellFairness, Neighbours
from fairglvq.intervals import SMALL

NEAREST = 5
MOST = 10_000  # people compared; of more, so many are drawn
DUPLICATES = 1e-6  # distance up to which people are equal in everything that counts


class Near(NamedTuple):
    """The people compared, as places in the population (m,), and their nearest others, as places among these."""

    compared: NDArray[np.int64]
    others: Neighbours

    @property
    def usual(self) -> float:
        """How far apart neighbours usually are: the median."""
        return float(np.median(self.others.distances))


class Alike(NamedTuple):
    """Individual fairness of a model.

    A violation is a pair of neighbours who are closer than usual, and only one of whom gets the favourable decision:
    |f(x) - f(x')| <= L |x - x'| fails with f = 1 for favourable, 0 otherwise, and L = 1 / usual distance.
    """

    near: Near
    agreement: Floats  # (m,) share of a person's neighbours who get the same decision
    unlike: NDArray[np.int64]  # people decided unlike most of their neighbours, those with the least agreement first
    violations: float  # share of all pairs
    cells: CellFairness  # (P,) each

    @property
    def consistency(self) -> float:
        """Mean agreement with neighbours."""
        return float(self.agreement.mean())

    @property
    def n(self) -> int:
        """How many people were compared."""
        return len(self.near.compared)

    def neighbours(self, person: int) -> NDArray[np.int64]:
        """The people most like one of those compared, nearest first; none for anybody else."""
        at = np.flatnonzero(self.near.compared == person)
        return self.near.compared[self.near.others.people[at].ravel()]


def left_out(people: Population) -> list[str]:
    """Columns that do not count because they determine the group."""
    protected = protected_block(people)
    names = [block.column for block in named_after_group(people)]
    return names if protected is None or protected.column in names else [*names, protected.column]


def comparable(people: Population, some: NDArray[np.int64]) -> Floats:
    """Some people (m, ...) such that the Euclidean distance is that of this module; scaled columns with weights."""
    ignored = left_out(people)
    kept = [blocks[0] for blocks in people.traits if blocks[0].column not in ignored]
    columns = [people.X[some, b.columns] * (np.sqrt(0.5) if b.kind == "category" else 1.0) for b in kept]
    return np.hstack(columns) if columns else np.zeros((len(some), 1))


def nearest_people(people: Population) -> Near | None:
    """The measured people most like each measured person; None if there is only one."""
    measured = np.flatnonzero(people.measured)
    compared = np.sort(np.random.default_rng(0).permutation(measured)[:MOST])
    if len(compared) < 2:
        return None
    found = individual.neighbours(comparable(people, compared), min(NEAREST, len(compared) - 1))
    # Rounded, so that people who differ in equally many categories are equally far.
    return Near(compared, found._replace(distances=np.round(found.distances, 6)))


def compare(explained: PeopleInCells, near: Near | None = None) -> Alike | None:
    """Compare everybody with those most like them; ``near`` if they are known already."""
    near = nearest_people(explained.people) if near is None else near
    if near is None:
        return None
    compared, others = near
    decided = explained.decisions[compared]
    wanted = (decided == explained.favourable).astype(np.float64)
    constant = 1 / max(near.usual, DUPLICATES)
    return Alike(
        near,
        individual.agreement(others, decided),
        compared[individual.unlike(others, decided)],
        float(individual.violations(others, wanted, constant).share.mean()),
        individual.by_cell(
            others, explained.nearest[compared], decided, wanted, constant=constant,
            n_cells=len(explained.answers),
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """Individual fairness in a few numbers."""

    compared: int  # people
    measured: int  # of whom these were drawn, if there are more
    neighbours: int  # of each
    left_out: tuple[str, ...]  # columns that do not count
    consistency: float  # share of pairs of neighbours who get the same decision
    usual: float  # median distance of neighbours; one category that differs, or the whole range of a number, is 1
    violations: float  # share of pairs closer than that of whom only one gets the favourable decision
    unlike: tuple[tuple[str, int, int], ...]  # by group: people decided unlike most neighbours, of how many


def summary(found: Alike, people: Population) -> Summary:
    """The numbers of a comparison."""
    groups, alone = people.s[found.near.compared], people.s[found.unlike]
    n, k = (np.bincount(s, minlength=len(people.groups)).tolist() for s in (groups, alone))
    return Summary(
        found.n,
        int(people.measured.sum()),
        found.near.others.people.shape[1],
        tuple(left_out(people)),
        found.consistency,
        found.near.usual,
        found.violations,
        tuple(zip(people.groups, k, n, strict=True)),
    )


def how_compared(of: Summary) -> str:
    """Who is alike, in words."""
    names = wording.listed([wording.quoted(name) for name in of.left_out])
    drawn = f", drawn from {of.measured:,}," if of.compared < of.measured else ""
    without = f" {names} {'does' if len(of.left_out) == 1 else 'do'} not count." if of.left_out else ""
    return (
        f"Each of {of.compared:,} people{drawn} is compared with the {of.neighbours} most like them. Every column "
        f"counts alike: a number by its part of the range, another category as much as the whole range.{without} "
        f"Half of these pairs are closer than {wording.number(of.usual, 2)}, where 1 is one category: closer than "
        "usual."
    )


def words(of: Summary, who: Sequence[str]) -> list[str]:
    """What was found, in people; ``who`` are the people of each group."""
    alone, n = (sum(counts) for counts in zip(*((k, n) for _, k, n in of.unlike), strict=True))
    parts = [
        f"{wording.of_hundred(k / whole)} of 100 {name} ({wording.n_equals(whole, whole < SMALL)})"
        for name, (_, k, whole) in zip(who, of.unlike, strict=True)
        if whole
    ]
    return [
        f"Of 100 pairs of people most alike, {wording.of_hundred(of.consistency)} get the same decision (consistency "
        f"{wording.percent(of.consistency)}).",
        f"{alone:,} of {n:,} people are decided unlike most of those most like them: {wording.listed(parts)}.",
        f"In {wording.percent(of.violations)} of the pairs, two people who are closer than usual fare differently: "
        "only one gets the favourable decision.",
    ]
