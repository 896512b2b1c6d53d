"""A report as one HTML page that can be read without the app.

It holds no script and asks no other host for anything, follows the reader's light or dark theme, prints, and shows
every name from the data as text, whatever is in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import pandas as pd

from fairglvq.explain.traits import number_words
from fairglvq.intervals import SMALL
from fairglvq.report import Report, Share, words

INTERVALS = (
    "Intervals are 95% intervals (Wilson for a share, Newcombe for a difference). They say how far the numbers may be "
    "off because only so many people were measured; training the model anew with another seed is not in them."
)


def to_html(report: Report) -> str:
    """The report as one self-contained page."""
    sections = [
        ("In one paragraph", f"<p>{escape(words(report))}</p>"),
        ("How good, and how fair", _numbers(report)),
        ("Group by group", _groups_table(report)),
        ("Fairness against accuracy", _curve(report)),
        ("Where the gaps come from", _contributions(report)),
        ("The prototypes", _prototypes(report)),
        ("The data", _data(report)),
        ("How the model was trained", _pairs(report.settings)),
        ("Mind", _list(report.caveats)),
        ("Receipt", _receipt(report)),
    ]
    body = "\n".join(f"<section><h2>{escape(name)}</h2>\n{text}</section>" for name, text in sections if text)
    made = f" Made on {escape(report.made)}." if report.made else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(report.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1><bdi>{escape(report.title)}</bdi></h1>
<p class="quiet">Measured on {escape(report.measured)}.{made} FairGLVQ {escape(report.library_version)}.</p></header>
<main>
{body}
</main>
</body>
</html>
"""


GAP_WORDS = {
    "statistical_parity": ("Statistical parity gap", "difference in the share that gets the favourable decision"),
    "equal_opportunity": (
        "Equal opportunity gap",
        "the same among people whose true outcome is favourable",
    ),
}


def _numbers(report: Report) -> str:
    accuracy = report.accuracy
    rows = [["Accuracy", "share of decisions that are right", _percent(accuracy.value), _reach(accuracy), ""]]
    for gap in report.gaps:
        name, meaning = GAP_WORDS[gap.measure]
        interval = f"{_points(gap.low)} to {_points(gap.high)}"
        who = f"{gap.ahead} ahead of {gap.behind}" if gap.value else "no difference"
        who = who if gap.ahead else "no two groups to compare"
        rows.append([name, meaning, f"{_points(gap.value)} points", interval, who])
    head = ["", "What it is", "Value", "95% interval", "Who"]
    more = (
        " With three groups or more, a gap is between the two that are farthest apart."
        if len(report.groups) > 2
        else ""
    )
    return _table(head, rows, numbers=(2, 3)) + f'<p class="quiet">{escape(INTERVALS + more)}</p>'


def _groups_table(report: Report) -> str:
    head = [
        "Group",
        "People",
        "Get the favourable decision",
        "95%",
        "Get it if it is the truth",
        "95%",
        "Right",
        "95%",
    ]
    rows = []
    for group in report.groups:
        name = f"{group.name} (few)" if group.n < SMALL else group.name
        row = [name, f"{group.n:,}"]
        for share in (group.favourable, group.opportunity, group.accuracy):
            row += [f"{_percent(share.value)} of {share.n:,}", _reach(share)]
        rows.append(row)
    return _table(head, rows, numbers=range(1, 8))


def _curve(report: Report) -> str:
    """The trade-off curve as two pictures, of which the reader's theme shows one, and as a table."""
    if not report.curve:
        return ""
    from fairglvq.figures.svg import to_svg  # Plotly: only a report with a curve needs it
    from fairglvq.figures.tradeoff import alt_text, tradeoff_figure
    from fairglvq.tradeoff.curve import label, summary

    rows = pd.DataFrame(list(report.curve)).assign(dataset="report")
    rows["strength"] = rows["strength"].astype(float)
    table = summary(rows)
    pictures = []
    for theme, background in (("light", "#ffffff"), ("dark", "#16181d")):
        figure = tradeoff_figure(table, theme=theme)  # type: ignore[arg-type]
        _add_model(figure, report)
        svg = to_svg(figure, background=background, alt=alt_text(table))
        # Both pictures are on one page: each needs a clip of its own.
        svg = svg.replace('id="plot"', f'id="plot-{theme}"').replace("url(#plot)", f"url(#plot-{theme})")
        pictures.append(f'<div class="picture {theme}">{svg}</div>')
    parity, accuracy = report.gaps[0].value, report.accuracy.value
    here = f"The model of this report: accuracy {_percent(accuracy)}, statistical parity gap {_points(parity)} points."
    lines = [
        [
            label(row.method, row.strength), str(row.n),
            f"{_percent(row.accuracy_mean)} ± {_points(row.accuracy_std)}",
            f"{_points(row.statistical_parity_mean)} ± {_points(row.statistical_parity_std)}",
            f"{_points(row.equal_opportunity_mean)} ± {_points(row.equal_opportunity_std)}",
        ]
        for row in table.itertuples()
    ]  # fmt: skip
    head = ["Method", "Test folds", "Accuracy", "Statistical parity gap (points)", "Equal opportunity gap (points)"]
    explained = "Up is more accurate, left is fairer. Bars and ± are the standard deviation over test folds."
    return f"{''.join(pictures)}<p>{escape(here)}</p><p class='quiet'>{escape(explained)}</p>" + _table(
        head, lines, numbers=range(1, 5)
    )


def _add_model(figure: Any, report: Report) -> None:
    """The model of the report among the others."""
    x, y = report.gaps[0].value, report.accuracy.value
    if math.isnan(x):
        return
    figure.add_scatter(
        x=[x], y=[y], mode="markers", name="the model of this report",
        marker={"symbol": "circle", "size": 14, "color": figure.layout.font.color},
    )  # fmt: skip
    for axis, value in (("xaxis", x), ("yaxis", y)):
        low, high = figure.layout[axis].range
        margin = 0.04 * (high - low)
        figure.layout[axis].range = [min(low, value - margin), max(high, value + margin)]


def _contributions(report: Report) -> str:
    parity, opportunity = report.gaps
    if math.isnan(parity.value):
        return ""
    cards = sorted(report.cards, key=lambda card: -abs(card.statistical_parity))
    rows = [
        [
            f"{card.number}",
            card.decides,
            f"{card.people:,}",
            _signed(card.statistical_parity),
            _signed(card.equal_opportunity),
        ]
        for card in cards
    ]
    total = ["All", "", f"{report.n_measured:,}", _points(parity.value), _points(opportunity.value)]
    head = ["Prototype", "Decides", "People in its cell", "Part of the parity gap", "Part of the opportunity gap"]
    told = (
        f"In points of 100. A prototype that decides “{report.data.favourable}” adds the share of “{parity.ahead}” in "
        f"its cell less the share of “{parity.behind}” (parity); the others add nothing. The parts add up to the gap."
    )
    return f"<p>{escape(told)}</p>" + _table(head, [*rows, total], numbers=(2, 3, 4), last_is_total=True)


def _prototypes(report: Report) -> str:
    cards = []
    for card in report.cards:
        majority = f"; most of its people in training are “{card.pseudo_class}”" if card.pseudo_class else ""
        about = (
            f"{card.people:,} people, {_percent(card.share)} of those measured{majority}." if card.people
            else f"Nobody who was measured is in its cell{majority}."
        )  # fmt: skip
        mix, truth = _counted(card.groups), _counted(card.truths)
        items = "".join(f"<li><bdi>{escape(words)}</bdi></li>" for words in card.apart)
        apart = (
            f"What sets it apart from the average:</p><ul>{items}</ul>" if items else "It looks like the average.</p>"
        )
        cards.append(
            f"<article><h3>Prototype {card.number} decides “<bdi>{escape(card.decides)}</bdi>”</h3>"
            f"<p>{escape(about)}</p><p>Groups: {escape(mix)}.<br>True outcomes: {escape(truth)}.</p>"
            f"<p>{apart}</article>"
        )
    more = "Largest cells first. The JSON of this report holds every column of every prototype."
    filled_in = f"<p>{escape(report.filled_in)}</p>" if report.filled_in else ""
    return f'{filled_in}<p class="quiet">{more}</p><div class="cards">{"".join(cards)}</div>'


def _data(report: Report) -> str:
    data = report.data
    return _pairs(
        {
            "Data": data.title,
            "Size": f"{data.rows:,} people, {data.features:,} features made from {data.columns:,} columns",
            "Outcome": f"{data.label_column}: {_counted(data.classes)}",
            "Favourable outcome": data.favourable,
            "Groups": f"{data.group_column}: {_counted(data.groups)}",
            "Source": data.source,
            "Licence": data.licence,
            "Fingerprint (sha256)": data.fingerprint,
        }
    )


def _receipt(report: Report) -> str:
    if not report.receipt:
        return ""
    return f"<p>This program trains the model anew and prints its numbers.</p><pre>{escape(report.receipt)}</pre>"


def _table(head: list[str], rows: list[list[str]], numbers: Iterable[int] = (), last_is_total: bool = False) -> str:
    right = set(numbers)

    def cells(values: list[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=number' if i in right else ''}><bdi>{escape(value)}</bdi></{tag}>"
            for i, value in enumerate(values)
        )

    body = [
        f"<tr{' class=total' if last_is_total and i == len(rows) - 1 else ''}>{cells(row, 'td')}</tr>"
        for i, row in enumerate(rows)
    ]
    top = f"<thead><tr>{cells(head, 'th')}</tr></thead>"
    return f'<div class="wide"><table>{top}<tbody>{"".join(body)}</tbody></table></div>'


def _pairs(pairs: Mapping[str, str]) -> str:
    entries = "".join(f"<dt>{escape(k)}</dt><dd><bdi>{escape(v)}</bdi></dd>" for k, v in pairs.items())
    return f"<dl>{entries}</dl>" if entries else ""


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _counted(names: Iterable[tuple[str, int]]) -> str:
    """How many of each name; a name may be a number itself, so it stands in quotation marks."""
    return ", ".join(f"{n:,} “{name}”" for name, n in names)


def _percent(share: float) -> str:
    return "unknown" if math.isnan(share) else f"{100 * share:.1f}%"


def _reach(share: Share) -> str:
    return "" if math.isnan(share.value) else f"{100 * share.low:.1f} to {100 * share.high:.1f}%"


def _points(share: float) -> str:
    return "unknown" if math.isnan(share) else number_words(100 * share, 1)


def _signed(share: float) -> str:
    text = _points(share)
    return f"+{text}" if share > 0 and text != "0.0" else text


STYLE = """
:root { --ink: #23262f; --quiet: #5b5f6b; --page: #ffffff; --line: #dfe1e8; --card: #f6f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ee; --quiet: #a3a8b5; --page: #16181d; --line: #343842; --card: #1f222a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.2rem 4rem; max-width: 62rem; color: var(--ink); background: var(--page);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.3rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; }
h3 { font-size: 1rem; margin: 0 0 0.3rem; }
p { margin: 0.4rem 0; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; overflow-wrap: normal; }
th, td { text-align: left; padding: 0.35rem 0.7rem 0.35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
tr.total td { font-weight: 600; border-top: 2px solid var(--ink); }
.cards { display: grid; gap: 0.8rem; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); }
article { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.8rem 1rem;
  font-size: 0.9rem; break-inside: avoid; }
ul { margin: 0.3rem 0; padding-left: 1.2rem; }
dl { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: 0.3rem 1rem; margin: 0.5rem 0;
  font-size: 0.9rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.8rem 1rem;
  font: 0.8rem/1.45 ui-monospace, Consolas, monospace; white-space: pre-wrap; }
.picture svg { max-width: 100%; height: auto; display: block; }
.picture.dark { display: none; }
@media (prefers-color-scheme: dark) { .picture.dark { display: block; } .picture.light { display: none; } }
@media (max-width: 30rem) {
  .wide table { min-width: 36rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.5rem; }
}
@media print {
  :root { --ink: #000; --quiet: #444; --page: #fff; --line: #bbb; --card: #fff; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  .picture.dark { display: none; } .picture.light { display: block; }
  h2 { break-after: avoid; } tr { break-inside: avoid; } .wide { overflow: visible; }
  .wide table { min-width: 0; }
}
"""
