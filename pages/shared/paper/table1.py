"""Table 1 as published beside what this library computes: the same layout, every fold a dot, distances in spreads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from fairglvq.datasets import DATASETS
from fairglvq.experiments import bundle, methods, paper
from fairglvq.experiments.paper import Experiment
from fairglvq.figures.paper import Dots, dots_alt, dots_figure
from fairglvq.tradeoff.curve import rows_of
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import number, signed
from pages.shared.paper import runner
from pages.shared.style import CHART, theme

SHOWN = ("accuracy", "statistical_parity")
LARGE = 2.0
"""Distances of more spreads than this are marked."""

STYLE = """<style>
.paper-table { overflow-x: auto; }
.paper-table table { border-collapse: collapse; width: 100%; font-size: 0.9rem; line-height: 1.35; }
.paper-table th, .paper-table td { padding: 0.35rem 0.5rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid #8886; white-space: nowrap; }
.paper-table thead th { border-bottom: 2px solid currentColor; }
.paper-table tr.first td, .paper-table tr.first th { border-top: 2px solid #888a; }
.paper-table .off { opacity: 0.75; font-size: 0.8rem; }
.paper-table td.far { background: rgba(224, 113, 26, 0.2); }
.paper-table td.far .off { opacity: 1; font-weight: 600; }
@media (max-width: 640px) { .paper-table table { font-size: 0.78rem; }
  .paper-table th, .paper-table td { padding: 0.3rem 0.3rem; } }
</style>"""

HOW = (
    "Upper line: as printed. Lower line, bold: this library. **sd** is how far the two means are apart, in standard "
    "deviations: their difference divided by √(sd² printed + sd² of this library), where a printed 0.00 counts as "
    "0.005, what its rounding may hide. A cell is marked ▲ where that is more than 2."
)


def draw() -> None:
    """Table, words, dots, and a cell to run."""
    runner.collect()
    cells = paper.experiments("Table 1")
    rows = pd.concat([bundle.rows(paper.table1_sweep(name)) for name in ("local", "xor")], ignore_index=True)
    found = paper.compare("Table 1", rows)
    n_seeds, n_folds = rows["seed"].nunique(), rows["fold"].nunique()
    st.markdown(
        f"The paper's made-up data sets, where the right answer is known. Printed numbers are from one run of five "
        f"folds; here every cell is repeated with **{n_seeds} seeds**, {n_seeds * n_folds} test folds. **Accuracy**: "
        "how many of 100 people are decided as their true label says. **Gap** (statistical parity): by how many points "
        "the groups' shares of favourable decisions differ; 0 is fair."
    )
    st.html(STYLE + table_html(found))
    st.caption(HOW)
    st.markdown("\n".join(f"- {words}" for words in [*_verdict(found), _two_clusters(rows)]))
    runner.panel(cells, rows)
    for column, measure in zip(st.columns(2), SHOWN, strict=True):
        dots = [_dots(cell, rows, found, measure) for cell in cells]
        with column:
            st.plotly_chart(
                dots_figure(dots, measure, theme=theme()), key=f"table1_{measure}", alt=dots_alt(dots, measure), **CHART
            )
    it = bundle.load()
    st.caption(f"Bundled results: computed by `{it.command}`, version {it.version}.")


def table_html(found: pd.DataFrame) -> str:
    """The paper's layout: data sets and measures below each other, methods side by side."""
    names = list(dict.fromkeys(found["method"]))
    head = "".join(f"<th>{methods.get(name).title}</th>" for name in names)
    body = []
    for dataset, rows in found.groupby("dataset", sort=False):
        own = rows.set_index("method")
        for measure in SHOWN:
            first = measure == SHOWN[0]
            cells = "".join(
                _cell(own.loc[name], measure, Experiment(dataset, name, _none(own.loc[name, "strength"])))
                for name in names
            )
            unit = "accuracy, %" if measure == "accuracy" else "gap, points"
            title = f"{DATASETS[dataset].title}<br>" if first else ""
            heading = f"<th>{title}<span class='off'>{unit}</span></th>"
            body.append(f"<tr class='{'first' if first else ''}'>{heading}{cells}</tr>")
    return framed(f"<th>mean ± sd</th>{head}", body)


def framed(head: str, body: list[str]) -> str:
    """A table with this head and these rows, in the style of the page."""
    return f"<div class='paper-table'><table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"


def _none(strength: float) -> float | None:
    return None if math.isnan(strength) else float(strength)


def _cell(row: pd.Series, measure: str, cell: Experiment) -> str:
    printed = _spread(row[f"{measure}_mean"], row[f"{measure}_std"], 0)
    own = _spread(row[f"own_{measure}_mean"], row[f"own_{measure}_std"], 1)
    off = float(row[f"{measure}_off"])
    way = signed(math.copysign(off, row[f"own_{measure}_mean"] - row[f"{measure}_mean"]), 1)
    far = off > LARGE
    here = runner.scores(cell, measure)
    run = f"<br><span class='off'>✕ run here {number(100 * sum(here) / len(here), 1)}</span>" if here else ""
    return (
        f"<td class='{'far' if far else ''}'>{printed}<br><b>{own}</b><br>"
        f"<span class='off'>{'▲ ' if far else ''}{way} sd</span>{run}</td>"
    )


def _spread(mean: float, spread: float, decimals: int) -> str:
    return f"{number(100 * mean, decimals)} ± {number(100 * spread, decimals)}"


def _verdict(found: pd.DataFrame) -> list[str]:
    """How many numbers agree, and what is behind those that do not."""
    far, agree = far_off(found, SHOWN)
    words = [agree]
    for row, measure in far:
        name = f"{DATASETS[row.dataset].title}, {methods.get(row.method).title}"
        words.append(
            f"▲ {name}: {MEASURES[measure].title} {MEASURES[measure].words(row[f'own_{measure}_mean'])} against "
            f"{MEASURES[measure].words(row[f'{measure}_mean'])} in print."
        )
    if any(row.method == "const" for row, _ in far):
        words.append(
            "One answer for all is right as often as the most frequent label occurs, with no spread over folds: even "
            f"{_largest_constant_difference(found)} points that come from drawing other random points count as far."
        )
    widest = found.loc[found["own_statistical_parity_std"].idxmax()]
    words.append(
        f"The widest spread is the gap of {methods.get(widest.method).title} on {DATASETS[widest.dataset].title}: ± "
        f"{number(100 * widest.own_statistical_parity_std, 1)} points over folds and seeds. See *Why they differ*."
    )
    return words


def far_off(found: pd.DataFrame, measures: Sequence[str]) -> tuple[list[tuple[Any, str]], str]:
    """Rows and measures whose numbers are far from those in print, and how many are not, in words."""
    known = [(row, m) for _, row in found.iterrows() for m in measures if not math.isnan(row[f"{m}_off"])]
    far = [(row, m) for row, m in known if row[f"{m}_off"] > LARGE]
    return far, f"**{len(known) - len(far)} of {len(known)} numbers agree** within two standard deviations."


def _two_clusters(rows: pd.DataFrame) -> str:
    """Local's gaps of FairGLVQ, which depend on an answer that chance decides."""
    own = rows[(rows["dataset"] == "local") & (rows["method"] == "fairglvq")]["statistical_parity"]
    return (
        f"FairGLVQ's gap on Local falls into two clusters: under 10 points in {int((own < 0.1).sum())} and over 20 in "
        f"{int((own > 0.2).sum())} of {len(own)} folds. Where group and label are the same, fairness means one "
        "answer for everybody; which of the two it is, chance decides."
    )


def _largest_constant_difference(found: pd.DataFrame) -> str:
    own = found[found["method"] == "const"]
    return number(100 * float((own["own_accuracy_mean"] - own["accuracy_mean"]).abs().max()), 1)


def _dots(cell: Experiment, rows: pd.DataFrame, found: pd.DataFrame, measure: str) -> Dots:
    own = rows_of(rows[rows["dataset"] == cell.dataset], cell.method, cell.strength)
    row = found[(found["dataset"] == cell.dataset) & (found["method"] == cell.method)].iloc[0]
    words = f"{DATASETS[cell.dataset].title}<br>{methods.get(cell.method).title}"
    published = float(row[f"{measure}_mean"]), float(row[f"{measure}_std"])
    return Dots(words, tuple(own[measure]), cell.method, published, runner.scores(cell, measure))
