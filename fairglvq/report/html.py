"""A report as one HTML page that can be read without the app.

It holds no script and asks no other host for anything, follows the reader's light or dark theme, prints, and shows
every name from the data as text, whatever is in it. This module puts numbers into words; ``templates/report.html.j2``
lays them out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from fairglvq.explain import alike
from fairglvq.intervals import SMALL
from fairglvq.report import verdict
from fairglvq.report.content import Card, Facts, Report, Share, words
from fairglvq.report.templating import render
from fairglvq.tradeoff.scenario import side_by_side
from fairglvq.wording import (
    capital,
    counted,
    flagged,
    gap,
    in_hundredths,
    interval,
    percent,
    points,
    quoted,
    signed_points,
)

GAP_WORDS = {
    "statistical_parity": ("Statistical parity gap", "difference in the share that gets the favourable decision"),
    "equal_opportunity": ("Equal opportunity gap", "the same among people whose true label is favourable"),
}


def to_html(report: Report) -> str:
    """The report as one self-contained page."""
    people = {group.name: group.who for group in report.groups}
    return render(
        "report.html.j2",
        report=report,
        verdict=verdict,
        words=words(report),
        alike=_alike_people(report),
        beside=_beside(report),
        people=people,
        scenarios=side_by_side(report.scenarios) if report.scenarios else None,
        numbers=_numbers(report, people),
        groups=_groups(report),
        curve=_curve(report),
        parts=_parts(report),
        cards=[_card(card) for card in report.cards],
        data=_data(report.data),
    )


def _numbers(report: Report, people: Mapping[str, str]) -> list[list[str]]:
    accuracy = report.accuracy
    rows = [["Accuracy", "share of decisions that are right", percent(accuracy.value), _reach(accuracy), ""]]
    for one in report.gaps:
        who = f"{people.get(one.ahead)} ahead of {people.get(one.behind)}" if one.value else "no difference"
        who = who if one.ahead else "no two groups to compare"
        rows.append([*GAP_WORDS[one.measure], gap(one.value), interval(one.low, one.high), who])
    return rows


def _beside(report: Report) -> list[list[str]]:
    """The model and the one without a fairness term, a row per number."""
    before = report.baseline
    if before is None:
        return []
    rows = [["Decisions that are right", percent(report.accuracy.value), percent(before.accuracy.value)]]
    for now, then in zip(report.gaps, before.gaps, strict=True):
        rows.append([GAP_WORDS[now.measure][0], gap(now.value), gap(then.value)])
    return rows


def _groups(report: Report) -> list[list[str]]:
    rows = []
    for group in report.groups:
        row = [flagged(capital(group.who), group.n < SMALL), f"{group.n:,}"]
        for share in (group.favourable, group.opportunity, group.accuracy):
            row += [f"{percent(share.value)} of {share.n:,}", _reach(share)]
        rows.append(row)
    return rows


def _curve(report: Report) -> dict[str, Any] | None:
    """The trade-off curve as two pictures, of which the reader's theme shows one, and as a table."""
    if not report.curve:
        return None
    from fairglvq.figures.svg import to_svg  # Plotly: only a report with a curve needs it
    from fairglvq.figures.tradeoff import alt_text, tradeoff_figure
    from fairglvq.tradeoff.curve import label, summary

    table = summary(pd.DataFrame(list(report.curve)).assign(dataset="report").astype({"strength": float}))
    pictures = {}
    for theme, background in (("light", "#ffffff"), ("dark", "#16181d")):
        figure = tradeoff_figure(table, theme=theme)  # type: ignore[arg-type]
        _add_model(figure, report)
        svg = to_svg(figure, background=background, alt=alt_text(table))
        # Both pictures are on one page: each needs a clip of its own.
        svg = svg.replace('id="plot"', f'id="plot-{theme}"').replace("url(#plot)", f"url(#plot-{theme})")
        pictures[theme] = Markup(svg)
    rows = [
        [
            label(row.method, row.strength), str(row.n),
            f"{percent(row.accuracy_mean)} ± {points(row.accuracy_std)}",
            f"{points(row.statistical_parity_mean)} ± {points(row.statistical_parity_std)}",
            f"{points(row.equal_opportunity_mean)} ± {points(row.equal_opportunity_std)}",
        ]
        for row in table.itertuples()
    ]  # fmt: skip
    parity, accuracy = points(report.gaps[0].value), percent(report.accuracy.value)
    return {"pictures": pictures, "rows": rows, "parity": parity, "accuracy": accuracy, "alike": _alike(report)}


def _alike(report: Report) -> str:
    """Whether the model may be compared with the curves that it is drawn among."""
    if report.curve_differs is None:
        return "How the models of the curves were trained is not known to this report."
    if not report.curve_differs:
        return "The curves are of models with the same settings, trained on other splits of the data."
    return (
        "The curves are of models that were trained otherwise, so the mark need not lie on the curve of its method: "
        f"{'; '.join(report.curve_differs)}."
    )


def _add_model(figure: Any, report: Report) -> None:
    """The model of the report among the others."""
    x, y = in_hundredths([report.gaps[0].value, report.accuracy.value])
    if math.isnan(x):
        return
    figure.add_scatter(
        x=[x], y=[y], mode="markers",
        name="the model of this report" + (" (trained otherwise)" if report.curve_differs else ""),
        marker={"symbol": "circle", "size": 14, "color": figure.layout.font.color},
    )  # fmt: skip
    for axis, value in (("xaxis", x), ("yaxis", y)):
        low, high = figure.layout[axis].range
        margin = 0.04 * (high - low)
        figure.layout[axis].range = [min(low, value - margin), max(high, value + margin)]


def _parts(report: Report) -> list[list[str]]:
    """What each cell adds to the gaps, and the sum; empty where there are no two groups to compare."""
    parity, opportunity = report.gaps
    if math.isnan(parity.value):
        return []
    rows = [
        [
            f"{card.number}",
            card.decides,
            f"{card.people:,}",
            signed_points(card.statistical_parity),
            signed_points(card.equal_opportunity),
        ]
        for card in sorted(report.cards, key=lambda card: -abs(card.statistical_parity))
    ]
    return [*rows, ["All", "", f"{report.n_measured:,}", points(parity.value), points(opportunity.value)]]


def _alike_people(report: Report) -> dict[str, Any] | None:
    """Individual fairness: how people were compared, what was found, and a row per cell."""
    if report.alike is None:
        return None
    rows = [
        [
            f"{card.number}",
            card.decides,
            f"{card.people:,}",
            f"{card.unlike:,}",
            percent(card.consistency),
            percent(card.violations),
        ]
        for card in sorted(report.cards, key=lambda card: (-card.unlike, -card.people))
        if card.people
    ]
    sentences = alike.words(report.alike, [group.who for group in report.groups])
    return {"how": alike.how_compared(report.alike), "words": " ".join(sentences), "rows": rows}


def _card(card: Card) -> dict[str, Any]:
    majority = f"; most of its people in training are {quoted(card.pseudo_class)}" if card.pseudo_class else ""
    about = (
        f"{card.people:,} people, {percent(card.share)} of those measured{majority}." if card.people
        else f"Nobody who was measured is in {'it' if card.rule else 'its cell'}{majority}."
    )  # fmt: skip
    return {
        "number": card.number,
        "decides": card.decides,
        "about": about,
        "groups": _counted(card.groups),
        "truths": _counted(card.truths),
        "apart": card.apart,
        "rule": card.rule,
    }


def _data(data: Facts) -> dict[str, str]:
    return {
        "Data": data.title,
        "Size": f"{data.rows:,} people, {data.features:,} features made from {data.columns:,} columns",
        "Outcome": f"{data.label_column}: {_counted(data.classes)}",
        "Favourable outcome": data.favourable,
        "Groups": f"{data.group_column}: {_counted(data.groups)}",
        "Source": data.source,
        "Licence": data.licence,
        "Fingerprint (sha256)": data.fingerprint,
    }


def _counted(names: Iterable[tuple[str, int]]) -> str:
    found = list(names)
    return counted([quoted(name) for name, _ in found], [n for _, n in found])


def _reach(share: Share) -> str:
    return "" if math.isnan(share.value) else f"{interval(share.low, share.high)}%"
