"""The content of a report on a model: numbers with intervals, prototypes, data, settings, script; also as JSON.

::

    explained = explain.explain(population(data, held_out), model)
    made = content.make(explained, data, method="FairGLVQ", settings={"C": "1.5"}, script=script)
    Path("report.html").write_text(to_html(made))
    Path("report.json").write_text(content.to_json(made))

A `Report` is plain data; `fairglvq.report.html` makes a page of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairglvq import explain
from fairglvq.datasets.base import Dataset, trait_blocks
from fairglvq.experiments.evaluation import MEASURES
from fairglvq.experiments.sweep import ModelKey
from fairglvq.explain import alike
from fairglvq.explain.leaves import ExplainedTree
from fairglvq.explain.people import PeopleInCells
from fairglvq.explain.traits import SEEN, differences, traits
from fairglvq.intervals import newcombe, wilson
from fairglvq.tradeoff.scenario import Scenario
from fairglvq.version import __version__
from fairglvq.wording import of_hundred, quoted

FORMAT = "fairglvq-report"
FORMAT_VERSION = 4  # 1 called the script "receipt"; 2 had no baseline; 3 neither leaves nor individual fairness
SHOWN_DIFFERENCES = 8
CURVE_COLUMNS = (*ModelKey._fields, *MEASURES)


@dataclass(frozen=True)
class Share:
    """k out of n people, with a 95 % interval; NaN of nobody."""

    k: int
    n: int
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, k: int, n: int) -> Share:
        """The share with its interval."""
        low, high = wilson(k, n) if n else (math.nan, math.nan)
        return cls(int(k), int(n), k / n if n else math.nan, low, high)


@dataclass(frozen=True)
class Gap:
    """How far the group that fares best is ahead of the one that fares worst, with a 95 % interval."""

    measure: str
    value: float
    low: float
    high: float
    ahead: str
    behind: str


@dataclass(frozen=True)
class Group:
    """What happens to one group: decided favourably, decided favourably if that is the true label, decided rightly."""

    name: str
    n: int
    favourable: Share
    opportunity: Share
    accuracy: Share
    who: str  # its people: "women"


@dataclass(frozen=True)
class Baseline:
    """The model without a fairness term, on the same people.

    ``gained`` and ``lost`` count by group whom the model of the report decides about favourably and this one does not,
    and the other way round.
    """

    method: str
    accuracy: Share
    gaps: tuple[Gap, ...]
    gained: tuple[int, ...]
    lost: tuple[int, ...]


@dataclass(frozen=True)
class Card:
    """One cell: what it decides, who is in it, what it is like, and its parts in the gaps.

    A prototype has a ``profile`` with an entry per original column, a number or the share of every category, and
    ``apart``, how it differs from the average. A leaf has a ``rule``: the conditions that lead to it. Individual
    fairness of its people: ``unlike`` of them are decided unlike most of those most like them, ``consistency`` is
    their share of like people with the same decision, ``violations`` their share of like people who fare differently.
    """

    number: int
    decides: str
    pseudo_class: str | None
    people: int
    share: float
    groups: tuple[tuple[str, int], ...]
    truths: tuple[tuple[str, int], ...]
    apart: tuple[str, ...]
    profile: Mapping[str, float | Mapping[str, float]]
    statistical_parity: float
    equal_opportunity: float
    rule: str = ""
    unlike: int = 0
    consistency: float = math.nan
    violations: float = math.nan


@dataclass(frozen=True)
class Facts:
    """The data that the model is about."""

    title: str
    rows: int
    features: int
    columns: int
    label_column: str
    group_column: str
    favourable: str
    classes: tuple[tuple[str, int], ...]
    groups: tuple[tuple[str, int], ...]
    source: str
    licence: str
    fingerprint: str


@dataclass(frozen=True)
class Report:
    """Everything that a report says.

    ``cells`` says what the cards are of, "prototype" or "leaf". ``filled_in`` says what cards take from the average
    person after INP. ``alike`` is individual fairness, None with fewer than two people; people who are decided unlike
    others are counted, not listed, because reports are passed on. ``curve`` holds tidy rows of a sweep, or nothing;
    ``curve_differs`` lists how its models were trained otherwise than this one (None: not known).
    """

    title: str
    method: str
    measured: str
    n_measured: int
    accuracy: Share
    gaps: tuple[Gap, ...]
    groups: tuple[Group, ...]
    cards: tuple[Card, ...]
    data: Facts
    settings: Mapping[str, str]
    cells: str = "prototype"
    alike: alike.Summary | None = None
    baseline: Baseline | None = None
    filled_in: str = ""
    caveats: tuple[str, ...] = ()
    curve: tuple[Mapping[str, Any], ...] = ()
    curve_differs: tuple[str, ...] | None = None
    scenarios: tuple[Scenario, ...] = ()
    script: str = ""
    made: str = ""
    library_version: str = __version__


# Making


def make(
    explained: PeopleInCells,
    data: Dataset,
    *,
    method: str,
    settings: Mapping[str, object] | None = None,
    measured: str = "",
    who: Sequence[str] = (),
    baseline: tuple[str, PeopleInCells] | None = None,
    curve: pd.DataFrame | None = None,
    curve_differs: Iterable[str] | None = None,
    scenarios: Iterable[Scenario] = (),
    script: str = "",
    made: str = "",
    caveats: Iterable[str] = (),
) -> Report:
    """The report of an explained model.

    ``measured`` is on which people the numbers were measured ("200 held-out people"), ``who`` the people of each group
    ("women"), ``settings`` are words by words, ``baseline`` is name and cells of a model without a fairness term
    for the same people, ``scenarios`` what was weighed, ``curve`` tidy rows of `evaluation.evaluate`, ``script``
    a Python script that prints the numbers anew (see `fairglvq.report.scripts`), ``made`` the day.
    """
    people = explained.people
    table = explained.confusion  # (G, K, K) group, truth, decision
    n = int(table.sum())
    compared = alike.compare(explained)
    return Report(
        title=f"{method} on {data.title}",
        method=method,
        measured=measured or f"{n:,} people",
        n_measured=n,
        accuracy=_accuracy(table),
        gaps=_gaps(explained),
        groups=tuple(
            _group(table[g], people.favourable, name, who[g] if who else f"people in the group {quoted(name)}")
            for g, name in enumerate(people.groups)
        ),
        baseline=_baseline(explained, *baseline) if baseline else None,
        cards=_cards(explained, compared),
        cells="prototype" if isinstance(explained, explain.Explained) else "leaf",
        alike=None if compared is None else alike.summary(compared, people),
        filled_in=explain.filled_in(explained) if isinstance(explained, explain.Explained) else "",
        data=_facts(data),
        settings={str(name): str(value) for name, value in (settings or {}).items()},
        caveats=(*data.caveats, *caveats),
        curve=() if curve is None else tuple(_plain(curve.reindex(columns=CURVE_COLUMNS).to_dict("records"))),
        curve_differs=None if curve_differs is None else tuple(curve_differs),
        scenarios=tuple(scenarios),
        script=script,
        made=made,
    )


def _gaps(explained: PeopleInCells) -> tuple[Gap, ...]:
    return _gap(explained, "statistical_parity"), _gap(explained, "equal_opportunity")


def _baseline(explained: PeopleInCells, method: str, before: PeopleInCells) -> Baseline:
    """The other model on the same people, and who fares otherwise with it."""
    gained, lost = (tuple(counts.tolist()) for counts in explain.gained_and_lost(before, explained))
    return Baseline(method, _accuracy(before.confusion), _gaps(before), gained, lost)


def _accuracy(table: np.ndarray) -> Share:
    """Decisions that are right among people (..., K, K) by truth and decision."""
    return Share.of(int(np.trace(table, axis1=-2, axis2=-1).sum()), int(table.sum()))


def _gap(explained: PeopleInCells, measure: explain.Measure) -> Gap:
    parts = explained.contributions(measure)
    names = explained.people.groups
    if math.isnan(parts.gap):
        return Gap(measure, math.nan, math.nan, math.nan, "", "")
    rate, n = explained.rates(measure)
    k = np.round(np.nan_to_num(rate) * n).astype(int)
    a, b = parts.ahead, parts.behind
    low, high = newcombe(int(k[a]), int(n[a]), int(k[b]), int(n[b]))
    return Gap(measure, parts.gap, low, high, names[a], names[b])


def _group(table: np.ndarray, favourable: int, name: str, who: str) -> Group:
    """Numbers of one group from its people (K, K) by truth and decision."""
    n = int(table.sum())
    return Group(
        name,
        n,
        Share.of(int(table[:, favourable].sum()), n),
        Share.of(int(table[favourable, favourable]), int(table[favourable].sum())),
        _accuracy(table),
        who,
    )


def _cards(explained: PeopleInCells, compared: alike.Alike | None) -> tuple[Card, ...]:
    people = explained.people
    parity = explained.contributions("statistical_parity").values
    opportunity = explained.contributions("equal_opportunity").values
    cards = []
    for p in explained.order("size"):
        counts = explained.counts[p]  # (K, G)
        size = int(counts.sum())
        cards.append(
            Card(
                number=p + 1,
                decides=people.classes[explained.answers[p]],
                people=size,
                share=size / explained.score.n,
                groups=tuple(zip(people.groups, counts.sum(axis=0).tolist(), strict=True)),
                truths=tuple(zip(people.classes, counts.sum(axis=1).tolist(), strict=True)),
                statistical_parity=float(parity[p]),
                equal_opportunity=float(opportunity[p]),
                **_described(explained, p),
                **_individual(compared, p),
            )
        )
    return tuple(cards)


def _described(explained: PeopleInCells, p: int) -> dict[str, Any]:
    """What a prototype or a leaf is like."""
    people = explained.people
    if isinstance(explained, ExplainedTree):
        group = people.groups[explained.model.pseudo[p]]
        return {"pseudo_class": group, "apart": (), "profile": {}, "rule": explained.rules[p]}
    assert isinstance(explained, explain.Explained)
    profile, pseudo = explained.profiles[p], explained.model.pseudo
    apart = [d for d in differences(people, profile, people.mean)[:SHOWN_DIFFERENCES] if d.gap >= SEEN]
    return {
        "pseudo_class": None if pseudo is None else people.groups[pseudo[p]],
        "apart": tuple(difference.words("average") for difference in apart),
        "profile": {
            trait.column: dict(zip(trait.categories, trait.shares, strict=True)) if trait.shares else trait.value
            for trait in traits(people, profile)
        },
    }


def _individual(compared: alike.Alike | None, p: int) -> dict[str, Any]:
    if compared is None:
        return {}
    cells = compared.cells
    return {
        "unlike": int(cells.unlike[p]),
        "consistency": float(cells.consistency[p]),
        "violations": float(cells.violations[p]),
    }


def _facts(data: Dataset) -> Facts:
    def counted(values: np.ndarray, names: Mapping[Any, str]) -> tuple[tuple[str, int], ...]:
        return tuple((str(name), int(np.count_nonzero(values == value))) for value, name in names.items())

    return Facts(
        title=data.title,
        rows=len(data.y),
        features=data.X.shape[1],
        columns=len(trait_blocks(data.blocks)),
        label_column=data.label_column,
        group_column=data.group_column,
        favourable=str(data.class_names[data.favourable]),
        classes=counted(data.y, data.class_names),
        groups=counted(data.s, data.group_names),
        source=data.source,
        licence=data.licence,
        fingerprint=data.fingerprint,
    )


# JSON


def to_json(report: Report) -> str:
    """The report as JSON; numbers that do not exist are null."""
    content = {"format": FORMAT, "format_version": FORMAT_VERSION, **_plain(asdict(report))}
    return json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Words

HOW = {
    "prototype": "prototypes: everybody gets the decision of the prototype most like them.",
    "leaf": "leaves of a tree: a few questions lead everybody to one of them, and all in a leaf get the same decision.",
}


def words(report: Report) -> str:
    """How the model decides, its accuracy and its gap, in people."""
    sentences = [
        f"{report.method} decides with {len(report.cards)} {HOW[report.cells]} "
        f"Of 100 decisions, {of_hundred(report.accuracy.value)} are right."
    ]
    parity, opportunity = report.gaps
    sentences.append("There are no two groups to compare." if math.isnan(parity.value) else f"{rates(report)}.")
    if not math.isnan(opportunity.value):
        few, many = _behind_and_ahead(report, opportunity)
        sentences.append(
            f"Among those whose true label is {quoted(report.data.favourable)}, {of_hundred(few.opportunity.value)} "
            f"of 100 {few.who} get it and {of_hundred(many.opportunity.value)} of 100 {many.who}."
        )
    return " ".join(sentences)


def rates(report: Report) -> str:
    """The shares with the favourable decision that the statistical parity gap is between, in people; no full stop."""
    few, many = _behind_and_ahead(report, report.gaps[0])
    return (
        f"Of 100 {few.who}, {of_hundred(few.favourable.value)} get {quoted(report.data.favourable)}; of 100 "
        f"{many.who}, {of_hundred(many.favourable.value)}"
    )


def _behind_and_ahead(report: Report, gap: Gap) -> tuple[Group, Group]:
    groups = {group.name: group for group in report.groups}
    return groups[gap.behind], groups[gap.ahead]
