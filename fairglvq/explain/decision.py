"""One decision: the two rivals, each column's share, what would change it, and the flip test.

A person is a point x (d,) of the scaled space of a `fairglvq.people.Population`. Everything here is exact: the
decision along one column is a comparison of lines, so the smallest change is solved for and not searched.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairglvq.datasets.base import Block
from fairglvq.explain import PrototypeModel
from fairglvq.explain.people import Floats, Population
from fairglvq.explain.traits import traits

if TYPE_CHECKING:
    import pandas as pd


# ---- one person ----


class Verdict(NamedTuple):
    """One person's decision, and how clear it is.

    ``plus`` is the nearest prototype of the class asked about, ``minus`` the nearest of any other, with squared
    distances d+ and d-. mu = (d+ - d-) / (d+ + d-) lies between -1 and 1: below 0 the class asked about wins, and the
    nearer to 0 the closer the call.
    """

    label: int
    nearest: int
    asked: int
    plus: int
    minus: int
    d_plus: float
    d_minus: float

    @property
    def mu(self) -> float:
        """(d+ - d-) / (d+ + d-), 0 where both are 0."""
        both = self.d_plus + self.d_minus
        return (self.d_plus - self.d_minus) / both if both else 0.0


def judge(model: PrototypeModel, x: Floats, label: int | None = None) -> Verdict:
    """Decide for one scaled person x (d,); ``label`` is the class asked about: the truth, or else what is decided."""
    D = model.distances(x[None])[0]
    nearest = int(D.argmin())
    decided = int(model.labels[nearest])
    asked = decided if label is None else int(label)
    own = model.labels == asked
    plus, minus = int(np.where(own, D, np.inf).argmin()), int(np.where(own, np.inf, D).argmin())
    return Verdict(decided, nearest, asked, plus, minus, float(D[plus]), float(D[minus]))


def shares(people: Population, model: PrototypeModel, x: Floats, plus: int, minus: int) -> Floats:
    """Each original column's part (B,) of d+ - d-: the sum of (x - w+)² - (x - w-)² over its block.

    Below 0 the column speaks for the class of w+, above 0 against it. The parts add up to d+ - d-.
    """
    W = model.prototypes
    if model.matrix is None:
        parts = (x - W[plus]) ** 2 - (x - W[minus]) ** 2
    else:
        parts = _mixed_parts(people, model, x, plus, minus)
    return np.array([parts[block.columns].sum() for block in people.blocks])


def _mixed_parts(people: Population, model: PrototypeModel, x: Floats, plus: int, minus: int) -> Floats:
    """Each feature's part (d,) of d+ - d- for a model that mixes features, z = M x + b, before it measures.

    The difference is linear in x, and 0 at any point o of the border between the two prototypes::

        d+ - d- = -2 (x - o) · u,   u = M^T (w+ - w-)

    With o the point of the border nearest to half way between both profiles, this is (x - w+)² - (x - w-)² again
    where nothing is mixed.
    """
    W, profiles = model.prototypes, model.profiles(people.mean)
    between = W[plus] - W[minus]
    u = between @ model.matrix
    o = (profiles[plus] + profiles[minus]) / 2
    length = u @ u
    if length > 0:
        o = o - u * ((model.see(o) - (W[plus] + W[minus]) / 2) @ between / length)
    return -2.0 * (x - o) * u


def values_of(people: Population, x: Floats) -> dict[str, float | str]:
    """A scaled person (d,) as one readable value per original column."""
    values: dict[str, float | str] = {}
    for block, trait in zip(people.blocks, traits(people, x), strict=True):
        if block.kind == "number":
            whole = people.whole[block.column] and abs(trait.value - round(trait.value)) < 1e-6
            # Scaling and back must not make 0.30000000000000004 of 0.3.
            values[block.column] = float(round(trait.value)) if whole else float(f"{trait.value:.12g}")
        else:
            values[block.column] = block.categories[trait.top]
    return values


def person(people: Population, values: Mapping[str, float | str]) -> Floats:
    """A scaled person (d,) from one readable value per original column."""
    x = np.zeros(len(people.low))
    for block in people.blocks:
        if block.column not in values:
            raise ValueError(f"a value for {block.column!r} is missing")
        _put(block, x, values[block.column])
    return people.scaled(x)


def _put(block: Block, x: Floats, value: float | str) -> None:
    """Write a readable value into its columns of x, in original units."""
    if block.kind == "number":
        if not math.isfinite(float(value)):
            raise ValueError(f"{block.column!r} must be a number, got {value!r}")
        x[block.start] = float(value)
        return
    if value not in block.categories:
        raise ValueError(f"{value!r} is not a value of {block.column!r}; there are {', '.join(block.categories)}")
    position = block.categories.index(str(value))
    if block.kind == "binary":
        x[block.start] = position
    else:
        x[block.columns] = 0.0
        x[block.start + position] = 1.0


# ---- what would have to change ----


class Change(NamedTuple):
    """The smallest change of one original column alone that changes the decision.

    ``step`` is its length in the model's space, where the whole range of a number counts 1. ``border`` is where a
    number's decision tips, in original units: ``after`` is the first whole or readable number beyond it.
    """

    column: str
    before: float | str
    after: float | str
    label: int
    step: float
    border: float = math.nan


def changes(people: Population, model: PrototypeModel, x: Floats, immutable: Collection[str] = ()) -> list[Change]:
    """For every column that may change, its smallest change that flips the decision on x (d,), smallest step first.

    Columns that cannot flip the decision on their own, within the range of the data, are not among them.
    """
    decided = int(model.decide(x[None])[0])
    values = values_of(people, x)
    found = []
    for block in people.blocks:
        if block.column in immutable:
            continue
        before = values[block.column]
        if block.kind == "number":
            change = _number_change(people, model, x, block, float(before), decided)
        else:
            change = _category_change(people, model, x, block, str(before), decided)
        if change:
            found.append(change)
    return sorted(found, key=lambda change: change.step)


def _category_change(
    people: Population, model: PrototypeModel, x: Floats, block: Block, before: str, decided: int
) -> Change | None:
    others = [category for category in block.categories if category != before]
    if not others:
        return None
    trials = np.repeat(people.original(x)[None], len(others), axis=0)
    for trial, category in zip(trials, others, strict=True):
        _put(block, trial, category)
    Z = people.scaled(trials)
    labels = model.decide(Z)
    steps = np.sqrt(((Z - x) ** 2).sum(axis=1))
    flips = [i for i in np.argsort(steps, kind="stable") if labels[i] != decided]
    if not flips:
        return None
    # All categories are one step away: of those that flip, the one that decides most clearly says most.
    step = steps[flips[0]]
    equal = [i for i in flips if steps[i] <= step * (1 + 1e-9)]
    clear = [abs(judge(model, Z[i]).mu) for i in equal]
    i = equal[int(np.argmax(clear))]
    return Change(block.column, before, others[i], int(labels[i]), float(steps[i]))


def _number_change(
    people: Population, model: PrototypeModel, x: Floats, block: Block, before: float, decided: int
) -> Change | None:
    """Along one column all distances are parabolas with the same leading coefficient, so their differences are lines.

    With u the direction of the column in the model's space and t the way gone::

        d_p(t) = d_p + 2 t u·(z - w_p) + t² |u|²

    and the decision can only tip where the line of a prototype of the class decided crosses the line of another.
    """
    j = block.start
    u = np.eye(len(x))[j] if model.matrix is None else model.matrix[:, j]
    lines = 2.0 * (model.see(x) - model.prototypes) @ u  # (P,) slopes
    heights = model.distances(x[None])[0]  # (P,)
    found = [
        change
        for sign in (1, -1)
        if (change := _first_flip(people, model, x, block, before, decided, sign, heights, sign * lines))
    ]
    return min(found, key=lambda change: change.step, default=None)


def _first_flip(
    people: Population,
    model: PrototypeModel,
    x: Floats,
    block: Block,
    before: float,
    decided: int,
    sign: int,
    heights: Floats,
    lines: Floats,
) -> Change | None:
    """The first value in one direction that is decided otherwise, if the data's range holds one."""
    j = block.start
    low, span = people.low[j], people.span[j]
    edge = float(people.highest[j] if sign > 0 else people.lowest[j])
    reach = sign * (edge - before) / span
    if reach <= 0:
        return None
    own = model.labels == decided
    # Where the line of one of ours (rows) gets above the line of another class (columns).
    rise = lines[own][:, None] - lines[~own]
    ahead = heights[~own] - heights[own][:, None]
    crossings = np.divide(ahead, rise, out=np.full(rise.shape, np.inf), where=rise > 0)
    falls = np.divide(ahead, rise, out=np.full(rise.shape, np.inf), where=rise < 0)  # ours gets below again
    stops = np.concatenate([crossings.ravel(), falls.ravel()])
    stops = np.unique(np.concatenate([[0.0], stops[(stops > 0) & (stops < reach)], [reach]]))
    middles = (stops[:-1] + stops[1:]) / 2
    winners = model.labels[(heights + middles[:, None] * lines).argmin(axis=1)]
    for i in np.flatnonzero(winners != decided):
        near, far = before + sign * stops[i] * span, before + sign * stops[i + 1] * span
        if i + 2 == len(stops):
            far = edge
        for value in _candidates(near, far, sign, people.whole[block.column], people.highest[j] - people.lowest[j]):
            trial = x.copy()
            trial[j] = (value - low) / span
            label = int(model.decide(trial[None])[0])
            if label != decided:
                return Change(block.column, before, value, label, abs(trial[j] - x[j]), float(near))
    return None


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

    A column of categories counts too if it tells sex by the way ("male single"). It is a guess to be corrected.
    """
    protected = protected_block(people)
    found = []
    for block in people.blocks:
        names = _tokens(block.column)
        told = set().union(*map(_tokens, block.categories)) if block.kind == "category" else set()
        is_group = block is protected or _names_the_group(block, people.group_column)
        if is_group or names & _UNCHANGEABLE or {"male", "female"} <= told:
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
    """Features called like the group; they need not tell it exactly."""
    return [block for block in people.blocks if _names_the_group(block, people.group_column)]


def protected_block(people: Population) -> Block | None:
    """The feature that tells the group: no value of it is shared by two groups.

    It is named after the group, or it has one category per group and is the group under another name.
    """
    for block in named_after_group(people):
        if _typical(people, block) is not None:
            return block
    present = len(np.unique(people.s))
    for block in people.blocks:
        if block.kind != "number" and len(block.categories) == present and _typical(people, block) is not None:
            return block
    return None


def flips(people: Population, x: Floats, group: int) -> list[Flip]:
    """Put the protected value of every other group in place of one's own; empty where no feature holds it.

    A category becomes the commonest one of the other group, a number its median.
    """
    block = protected_block(people)
    if block is None:
        return []
    typical = _typical(people, block)
    before = values_of(people, x)[block.column]
    found = []
    for other, value in (typical or {}).items():
        if other != group:
            raw = people.original(x).copy()
            _put(block, raw, value)
            found.append(Flip(other, block.column, before, value, people.scaled(raw)))
    return found


def flip_counts(people: Population, model: PrototypeModel) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The flip test for everybody: per group, how many measured people get another decision, and of how many.

    With more than two groups a person counts if the value of any other group changes the decision. None where no
    feature holds the group.
    """
    block = protected_block(people)
    if block is None:
        return None
    own = people.measured
    X, s = people.original(people.X[own]), people.s[own]
    before = model.decide(people.X[own])
    changed = np.zeros(len(s), bool)
    for group, value in (_typical(people, block) or {}).items():
        others, like = X.copy(), X[0].copy()
        _put(block, like, value)
        others[:, block.columns] = like[block.columns]
        changed |= (model.decide(people.scaled(others)) != before) & (s != group)
    n = np.bincount(s, minlength=len(people.groups))
    return tuple(np.bincount(s[changed], minlength=len(n)).tolist()), tuple(n.tolist())


def _typical(people: Population, block: Block) -> dict[int, float | str] | None:
    """A value of the block for every group; None if the block does not tell the groups apart."""
    columns = people.X[:, block.columns] * people.span[block.columns] + people.low[block.columns]
    present = np.unique(people.s)
    if len(present) < 2:
        return None
    if block.kind == "number":
        ranges = sorted((columns[people.s == g].min(), columns[people.s == g].max()) for g in present)
        if any(low <= high for (_, high), (low, _) in pairwise(ranges)):
            return None
        medians = {int(g): float(np.median(columns[people.s == g])) for g in present}
        return {g: float(round(m)) if people.whole[block.column] else m for g, m in medians.items()}
    codes = np.round(columns[:, 0]).astype(int) if block.kind == "binary" else columns.argmax(axis=1)
    counts = np.zeros((len(people.groups), len(block.categories)), np.int64)
    np.add.at(counts, (people.s, codes), 1)
    if np.any((counts > 0).sum(axis=0) > 1):
        return None
    return {int(g): block.categories[int(counts[g].argmax())] for g in present}


# ---- finding people ----

_COMPARISON = re.compile(r"\s*(.+?)\s*(<=|>=|=|<|>)\s*(-?[\d.]+)\s*")


def find(frame: pd.DataFrame, query: str) -> NDArray[np.int64]:
    """Rows of a readable table that fit a search, by position.

    Words apart by commas must all be found: "doctorate, female". "age > 60" compares a column of numbers.
    """
    fits = np.ones(len(frame), bool)
    for term in filter(None, map(str.strip, query.split(","))):
        fits &= _compared(frame, term) if _comparison(frame, term) else _mentioned(frame, term)
    return np.flatnonzero(fits)


def _comparison(frame: pd.DataFrame, term: str) -> tuple[str, str, float] | None:
    found = _COMPARISON.fullmatch(term)
    if not found:
        return None
    names = {str(column).lower(): column for column in frame.columns if frame[column].dtype.kind in "biuf"}
    try:
        number = float(found[3])
    except ValueError:
        return None
    return (names[found[1].lower()], found[2], number) if found[1].lower() in names else None


def _compared(frame: pd.DataFrame, term: str) -> NDArray[np.bool_]:
    column, sign, number = _comparison(frame, term) or ("", "", 0.0)
    values = frame[column].to_numpy(float)
    compare = {"<": np.less, "<=": np.less_equal, "=": np.equal, ">=": np.greater_equal, ">": np.greater}[sign]
    return compare(values, number)


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
