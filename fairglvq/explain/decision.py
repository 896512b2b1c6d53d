"""One decision: the two rival prototypes, each column's share, what would change it, and the flip test.

A person is a point x (d,) of the scaled space of a `fairglvq.explain.people.Population`. Everything here is exact: the
decision along one column is a comparison of lines, so the smallest change is solved for and not searched. A number
and its bins are one column, and columns that determine each other (`links`) change together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairglvq.datasets.base import Block, TraitBlocks, columns_of
from fairglvq.explain import PrototypeModel
from fairglvq.explain.leaves import TreeModel
from fairglvq.explain.links import Value
from fairglvq.explain.people import Floats, Population
from fairglvq.explain.traits import traits
from fairglvq.fairness.cells import count

if TYPE_CHECKING:
    import pandas as pd


# ---- one person ----


class Verdict(NamedTuple):
    """One person's decision, and how clear it is.

    ``plus`` is the nearest prototype of class ``asked``, ``minus`` the nearest of any other, with squared distances d+
    and d-. mu = (d+ - d-) / (d+ + d-) lies between -1 and 1: below 0 ``asked`` is decided, and near 0 the decision is
    close. With handicaps, "nearest" means after them, and mu is (d+ - d- - ahead) / (d+ + d-), where ``ahead`` is the
    handicap of ``plus`` less that of ``minus``.
    """

    label: int
    nearest: int
    plus: int
    minus: int
    d_plus: float
    d_minus: float
    ahead: float = 0.0

    @property
    def lead(self) -> float:
        """d+ - d- - ahead: below 0 the class of ``plus`` is decided."""
        return self.d_plus - self.d_minus - self.ahead

    @property
    def mu(self) -> float:
        """(d+ - d- - ahead) / (d+ + d-), 0 where both distances are 0."""
        both = self.d_plus + self.d_minus
        return self.lead / both if both else 0.0


def judge(model: PrototypeModel, x: Floats, label: int | None = None) -> Verdict:
    """Decide for one scaled person x (d,); ``label`` is the class of ``plus``; None: the one that is decided."""
    D = model.distances(x[None])[0]
    handicaps = np.zeros(len(D)) if model.handicaps is None else model.handicaps
    costs = D - handicaps
    nearest = int(costs.argmin())
    decided = int(model.labels[nearest])
    own = model.labels == (decided if label is None else label)
    plus, minus = int(np.where(own, costs, np.inf).argmin()), int(np.where(own, np.inf, costs).argmin())
    ahead = float(handicaps[plus] - handicaps[minus])
    return Verdict(decided, nearest, plus, minus, float(D[plus]), float(D[minus]), ahead)


def shares(people: Population, model: PrototypeModel, x: Floats, plus: int, minus: int) -> Floats:
    """Each original column's part (T,) of d+ - d-: the sum of (x - w+)² - (x - w-)² over its columns of X.

    Below 0 the column supports the class of w+, above 0 the other. The parts add up to d+ - d-.
    """
    if model.mixture is None:
        W = model.prototypes
        parts = (x - W[plus]) ** 2 - (x - W[minus]) ** 2
    else:
        parts = _mixed_parts(people, model, model.mixture, x, plus, minus)
    return np.array([parts[columns_of(trait)].sum() for trait in people.traits])


def _mixed_parts(
    people: Population, model: PrototypeModel, mixture: Floats, x: Floats, plus: int, minus: int
) -> Floats:
    """Each feature's part (d,) of d+ - d- for a model that mixes features, z = M x + b, before it measures.

    The difference is linear in x, and 0 at any point o at the same distance from both prototypes::

        d+ - d- = -2 (x - o) · u,   u = M^T (v+ - v-)

    With o the one of these points nearest to half way between both profiles, this is (x - w+)² - (x - w-)² again
    where nothing is mixed. For a learned metric, v = Ωw and u = Ω^T Ω (w+ - w-).
    """
    V, profiles = model.images, model.profiles(people.mean)
    between = V[plus] - V[minus]
    u = between @ mixture
    o = (profiles[plus] + profiles[minus]) / 2
    length = u @ u
    if length > 0:
        o = o - u * ((model.image(o) - (V[plus] + V[minus]) / 2) @ between / length)
    return -2.0 * (x - o) * u


def values_of(people: Population, x: Floats) -> dict[str, float | str]:
    """A scaled person (d,) as one readable value per original column."""
    return {
        block.column: people.readable(block, trait.value) if block.kind == "number" else block.categories[trait.top]
        for (block, *_), trait in zip(people.traits, traits(people, x), strict=True)
    }


def person(people: Population, values: Mapping[str, float | str]) -> Floats:
    """A scaled person (d,) from one readable value per original column."""
    x = np.zeros(len(people.low))
    for trait in people.traits:
        column = trait[0].column
        if column not in values:
            raise ValueError(f"a value for {column!r} is missing")
        _put(trait, x, values[column])
    return people.scaled(x)


def _put(trait: TraitBlocks, x: Floats, value: float | str) -> None:
    """Write a readable value into its columns of x, in original units; a number into its bins, too."""
    block, *bins = trait
    if block.kind == "number":
        if not math.isfinite(float(value)):
            raise ValueError(f"{block.column!r} must be a number, got {value!r}")
        x[block.start] = float(value)
        for repeated in bins:
            _put_category(repeated, x, repeated.bin_of(float(value)))
        return
    if value not in block.categories:
        raise ValueError(f"{value!r} is not a value of {block.column!r}; there are {', '.join(block.categories)}")
    position = block.categories.index(str(value))
    if block.kind == "binary":
        x[block.start] = position
    else:
        _put_category(block, x, position)


def _put_category(block: Block, x: Floats, position: int) -> None:
    x[block.columns] = 0.0
    x[block.start + position] = 1.0


# ---- what would have to change ----


class Change(NamedTuple):
    """The smallest change of one original column that changes the decision, with the columns that follow it.

    ``step`` is its length among the scaled people, where the whole range of a number counts 1. ``border`` is where a
    number's decision tips, in original units: ``after`` is the first whole or readable number beyond it. ``also`` are
    columns determined by this one that change with it: name, value before, value after.
    """

    column: str
    before: float | str
    after: float | str
    label: int
    step: float
    border: float = math.nan
    also: tuple[tuple[str, float | str, float | str], ...] = ()


def changes(
    people: Population, model: PrototypeModel | TreeModel, x: Floats, immutable: Collection[str] = ()
) -> list[Change]:
    """For every column that may change, its smallest change that flips the decision on x (d,), smallest step first.

    Columns that cannot flip the decision, within the range of the data, are not among them. A column that another one
    determines changes with that one only, and neither changes if one of them may not.
    """
    search = _Search(people, model, x, int(model.decide(x[None])[0]), values_of(people, x))
    following = {column for followers in people.links.values() for column in followers}
    found = []
    for trait in people.traits:
        column = trait[0].column
        followers = people.links.get(column, {})
        if column in following or not {column, *followers}.isdisjoint(immutable):
            continue
        change = search.along(trait) if trait[0].kind == "number" and not followers else search.among(trait, followers)
        if change:
            found.append(change)
    return sorted(found, key=lambda change: change.step)


class _Search(NamedTuple):
    """The person to change: scaled x (d,), the class decided, and readable values."""

    people: Population
    model: PrototypeModel | TreeModel
    x: Floats
    decided: int
    values: dict[str, float | str]

    def among(self, trait: TraitBlocks, followers: Mapping[str, Mapping[Value, Value]]) -> Change | None:
        """The smallest change to another value of a column: a category's, or one that others in the data have."""
        people, block = self.people, trait[0]
        before = self.values[block.column]
        known: Iterable[Value] = next(iter(followers.values())) if followers else block.categories
        others = [value for value in known if value != before]
        if not others:
            return None
        trials = np.repeat(people.original(self.x)[None], len(others), axis=0)
        for trial, value in zip(trials, others, strict=True):
            _put(trait, trial, value)
            for column, pairs in followers.items():
                _put(people.trait(column), trial, pairs[value])
        Z = people.scaled(trials)
        labels = self.model.decide(Z)
        steps = np.linalg.norm(Z[:, block.columns] - self.x[block.columns], axis=1)
        flips = [i for i in np.argsort(steps, kind="stable") if labels[i] != self.decided]
        if not flips:
            return None
        # All categories are one step away: take the one that flips most clearly. For a tree all are equally clear, and
        # the first is taken.
        step = steps[flips[0]]
        equal = [i for i in flips if steps[i] <= step * (1 + 1e-9)]
        model = self.model
        clear = [0.0 if isinstance(model, TreeModel) else abs(judge(model, Z[i]).mu) for i in equal]
        i = equal[int(np.argmax(clear))]
        also = [(column, self.values[column], pairs[others[i]]) for column, pairs in followers.items()]
        moved = tuple(one for one in also if one[1] != one[2])
        return Change(block.column, before, others[i], int(labels[i]), float(steps[i]), also=moved)

    def along(self, trait: TraitBlocks) -> Change | None:
        """The smallest change of a number."""
        found = [change for sign in (1, -1) if (change := self._first_flip(trait, sign))]
        return min(found, key=lambda change: change.step, default=None)

    def _first_flip(self, trait: TraitBlocks, sign: int) -> Change | None:
        """The first value in one direction that is decided otherwise, if the data's range holds one."""
        people, block = self.people, trait[0]
        j, before, whole = block.start, float(self.values[block.column]), people.whole[block.column]
        wide = float(people.highest[j] - people.lowest[j])
        for stretch in self._stretches(trait, before, sign):
            for near, far in self._other_decisions(stretch, j, sign):
                at_once = [near] if stretch.closed and near == stretch.start else []
                for value in (*at_once, *_candidates(near, far, sign, whole, wide)):
                    raw = people.original(self.x)
                    _put(trait, raw, value)
                    trial = people.scaled(raw)
                    label = int(self.model.decide(trial[None])[0])
                    if label != self.decided:
                        return Change(block.column, before, value, label, abs(float(trial[j] - self.x[j])), near)
        return None

    def _stretches(self, trait: TraitBlocks, before: float, sign: int) -> Iterable[_Stretch]:
        """The way from a number to the end of its range, cut where it enters another bin."""
        people, block = self.people, trait[0]
        edge = float((people.highest if sign > 0 else people.lowest)[block.start])
        starts = [start for bins in trait[1:] for start in bins.starts]
        cuts = [start for start in starts if (before < start <= edge if sign > 0 else edge < start <= before)]
        ends = [before, *(cuts if sign > 0 else cuts[::-1]), edge]
        own = trait[1].bin_of(before) if trait[1:] else 0
        for number, (start, end) in enumerate(pairwise(ends)):
            raw = people.original(self.x)
            raw[block.start] = start
            for bins in trait[1:]:
                _put_category(bins, raw, own + sign * number)
            # Upwards, the value at a cut is the first of the new bin; downwards it still belongs to the old one.
            yield _Stretch(people.scaled(raw) if number else self.x, start, end, number > 0 and sign > 0)

    def _other_decisions(self, stretch: _Stretch, j: int, sign: int) -> Iterable[tuple[float, float]]:
        """Where on a stretch another class is decided, from value to value in original units."""
        span = self.people.span[j]
        reach = sign * (stretch.end - stretch.start) / span
        if reach <= 0 and not stretch.closed:
            return
        if isinstance(self.model, TreeModel):
            stops, winners = _tips_of_tree(self.model, stretch.x, j, sign, reach)
        else:
            stops, winners = _tips_of_prototypes(self.model, stretch.x, j, sign, reach, self.decided)
        for i in np.flatnonzero(winners != self.decided):
            last = i + 2 >= len(stops)
            yield (
                float(stretch.start + sign * stops[i] * span),
                stretch.end if last else float(stretch.start + sign * stops[i + 1] * span),
            )


def _tips_of_prototypes(
    model: PrototypeModel, x: Floats, j: int, sign: int, reach: float, decided: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Where the decision may tip on the way along column j, from 0 to ``reach``, and the class after each place.

    Along one column all distances are parabolas with the same leading coefficient, so their differences are lines.
    With u the direction of the column among the images and t the length of the change::

        d_p(t) = d_p + 2 t u·(z - v_p) + t² |u|²

    and the decision can only tip where the line of a prototype of the class decided crosses the line of another.
    """
    u = np.eye(len(x))[j] if model.mixture is None else model.mixture[:, j]
    lines = sign * 2.0 * (model.image(x) - model.images) @ u  # (P,) slopes
    heights = model.costs(x[None])[0]  # (P,)
    own = model.labels == decided
    # Where the line of one of ours (rows) gets above the line of another class (columns).
    rise = lines[own][:, None] - lines[~own]
    ahead = heights[~own] - heights[own][:, None]
    stops = np.divide(ahead, rise, out=np.full(rise.shape, np.inf), where=rise != 0).ravel()
    stops, middles = _between(stops, reach)
    return stops, model.labels[(heights + middles[:, None] * lines).argmin(axis=1)]


def _tips_of_tree(model: TreeModel, x: Floats, j: int, sign: int, reach: float) -> tuple[Floats, NDArray[np.int64]]:
    """The same for a tree: it can only tip where it splits the column."""
    stops, middles = _between(sign * (model.borders(j) - x[j]), reach)
    way = np.repeat(x[None], len(middles), axis=0)
    way[:, j] += sign * middles
    return stops, model.decide(way)


def _between(stops: Floats, reach: float) -> tuple[Floats, Floats]:
    """All stops from 0 to ``reach``, and a place between each two; the only place if there is no way to go."""
    stops = np.unique(np.concatenate([[0.0], stops[(stops > 0) & (stops < reach)], [reach]]))
    return stops, (stops[:-1] + stops[1:]) / 2 if reach > 0 else stops


class _Stretch(NamedTuple):
    """Values of a number within one bin: from ``start``, where the person is x (d,), to ``end``."""

    x: Floats
    start: float
    end: float
    closed: bool  # whether the start itself is a value to change to


def _candidates(near: float, far: float, sign: int, whole: bool, wide: float) -> Iterable[float]:
    """Values beyond ``near`` and up to ``far``, easiest to read first: whole numbers, or as few decimals as will do."""
    if whole:
        first = math.floor(near) + 1 if sign > 0 else math.ceil(near) - 1
        # A border on a whole number is a draw, and rounding may put it on either side.
        trials: Iterable[float] = (float(first - sign), float(first), float(first + sign))
        return [value for value in trials if 0 < sign * (value - near) <= sign * (far - near) + 1e-9]
    decimals = max(0, 3 - math.floor(math.log10(max(wide, 1e-12))))
    found = []
    for digits in range(decimals, decimals + 9):
        unit = 10.0**-digits
        value = round((math.floor(near / unit) + 1 if sign > 0 else math.ceil(near / unit) - 1) * unit, digits)
        if 0 < sign * (value - near) <= sign * (far - near):
            found.append(value)
    return [*found, (near + far) / 2]


# fmt: off
_UNCHANGEABLE = frozenset({
    "sex", "gender", "female", "male", "race", "ethnicity", "ethnic", "age", "born", "birth", "birthplace", "birthday",
    "dob", "native", "nationality", "citizenship", "origin", "ancestry", "religion", "disability", "disabled",
    "foreign", "foreigner", "skin", "caste",
})
# fmt: on


def immutable_columns(people: Population) -> tuple[str, ...]:
    """Columns that nobody can change, guessed from their names: the protected one, sex, race, age, place of birth...

    Also a column of categories that imply sex ("male single"). Users can correct the guess.
    """
    protected = protected_block(people)
    found = []
    for block, *_ in people.traits:
        names = _tokens(block.column)
        tokens = set().union(*map(_tokens, block.categories)) if block.kind == "category" else set()
        is_group = block is protected or _names_the_group(block, people.group_column)
        if is_group or names & _UNCHANGEABLE or {"male", "female"} <= tokens:
            found.append(block.column)
    return tuple(found)


def _tokens(name: str) -> set[str]:
    """The words of a name, in lower case: "NativeCountry", "native-country" and "native country" alike."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return set(re.findall(r"[^\W_]+", apart.lower()))


def _names_the_group(block: Block, group_column: str) -> bool:
    """Whether a column is called like the group's, or by a part of it: "age" for "age group"."""
    names = _tokens(block.column)
    return block.column == group_column or (bool(names) and names <= _tokens(group_column))


# ---- the flip test ----


class Flip(NamedTuple):
    """The same person with the protected value of another group, and nothing else changed."""

    group: int
    column: str
    before: float | str
    after: float | str
    x: Floats


def named_after_group(people: Population) -> list[Block]:
    """Features called like the group; they need not determine it."""
    return [block for block, *_ in people.traits if _names_the_group(block, people.group_column)]


def protected_block(people: Population) -> Block | None:
    """The feature that determines the group: no value of it is shared by two groups.

    It is named after the group, or it has one category per group and is the group under another name.
    """
    found = _protected(people)
    return None if found is None else found[0]


def _protected(people: Population) -> tuple[Block, dict[int, float | str]] | None:
    """The feature that determines the group, and a typical value of it for every group."""
    present = len(np.unique(people.s))
    others = (b for b, *_ in people.traits if b.kind != "number" and len(b.categories) == present)
    for block in (*named_after_group(people), *others):
        typical = _typical(people, block)
        if typical is not None:
            return block, typical
    return None


def flips(people: Population, x: Floats, group: int) -> list[Flip]:
    """Put the protected value of every other group in place of one's own; empty where no feature holds it.

    A category becomes the commonest one of the other group, a number its median.
    """
    protected = _protected(people)
    if protected is None:
        return []
    block, typical = protected
    before = values_of(people, x)[block.column]
    found = []
    for other, value in typical.items():
        if other != group:
            raw = people.original(x)
            _put(people.trait(block.column), raw, value)
            found.append(Flip(other, block.column, before, value, people.scaled(raw)))
    return found


def flip_counts(
    people: Population, model: PrototypeModel | TreeModel
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The flip test for everybody: per group, how many measured people get another decision, and of how many.

    With more than two groups a person counts if the value of any other group changes the decision. None where no
    feature holds the group.
    """
    protected = _protected(people)
    if protected is None:
        return None
    block, typical = protected
    own = people.measured
    X, s = people.original(people.X[own]), people.s[own]
    trait = people.trait(block.column)
    columns = columns_of(trait)
    before = model.decide(people.X[own])
    changed = np.zeros(len(s), bool)
    for group, value in typical.items():
        others, like = X.copy(), X[0].copy()
        _put(trait, like, value)
        others[:, columns] = like[columns]
        changed |= (model.decide(people.scaled(others)) != before) & (s != group)
    n = np.bincount(s, minlength=len(people.groups))
    return tuple(np.bincount(s[changed], minlength=len(n)).tolist()), tuple(n.tolist())


def _typical(people: Population, block: Block) -> dict[int, float | str] | None:
    """A value of the block for every group; None if groups share a value."""
    present = np.unique(people.s)
    if len(present) < 2:
        return None
    if block.kind == "number":
        values = people.values(block)
        ranges = sorted((values[people.s == g].min(), values[people.s == g].max()) for g in present)
        if any(low <= high for (_, high), (low, _) in pairwise(ranges)):
            return None
        medians = {int(g): float(np.median(values[people.s == g])) for g in present}
        return {g: float(round(m)) if people.whole[block.column] else m for g, m in medians.items()}
    counts = count((len(people.groups), len(block.categories)), people.s, people.categories(block))
    if np.any((counts > 0).sum(axis=0) > 1):
        return None
    return {int(g): block.categories[int(counts[g].argmax())] for g in present}


# ---- finding people ----

_SIGNS = {"<": np.less, "<=": np.less_equal, "=": np.equal, ">=": np.greater_equal, ">": np.greater}
_COMPARISON = re.compile(r"\s*(.+?)\s*(<=|>=|=|<|>)\s*(-?[\d.]+)\s*")


def find(frame: pd.DataFrame, query: str) -> NDArray[np.int64]:
    """Rows of a readable table that fit a search, by position.

    Words apart by commas must all be found: "doctorate, female". "age > 60" compares a column of numbers.
    """
    fits = np.ones(len(frame), bool)
    for term in filter(None, map(str.strip, query.split(","))):
        compared = _compared(frame, term)
        fits &= _mentioned(frame, term) if compared is None else compared
    return np.flatnonzero(fits)


def _compared(frame: pd.DataFrame, term: str) -> NDArray[np.bool_] | None:
    """Rows where a comparison is true; None for a term that does not compare a column of numbers with a number."""
    found = _COMPARISON.fullmatch(term)
    names = {str(column).lower(): column for column in frame.columns if frame[column].dtype.kind in "biuf"}
    if not found or found[1].lower() not in names:
        return None
    try:
        number = float(found[3])
    except ValueError:
        return None
    return _SIGNS[found[2]](frame[names[found[1].lower()]].to_numpy(float), number)


def _mentioned(frame: pd.DataFrame, term: str) -> NDArray[np.bool_]:
    """Rows where some column starts a word with the term, or holds the number."""
    import pandas as pd

    pattern = re.compile(rf"(?<![^\W_]){re.escape(term)}", re.IGNORECASE)
    fits = np.zeros(len(frame), bool)
    for column in frame.columns:
        values = frame[column]
        if values.dtype.kind in "biuf":
            try:
                fits |= values.to_numpy(float) == float(term)
            except ValueError:
                continue
        else:
            codes, different = pd.factorize(values)
            hits = np.array([bool(pattern.search(str(value))) for value in different], bool)
            fits |= np.append(hits, False)[codes]  # -1 stands for a missing value
    return fits
