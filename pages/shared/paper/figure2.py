"""Figure 2 as published beside what this library computes: the same axes, published points hollow."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from fairglvq.datasets import DATASETS
from fairglvq.experiments import bundle, paper
from fairglvq.figures.paper import figure2
from fairglvq.figures.tradeoff import alt_text
from fairglvq.tradeoff import curve
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import listed, number
from pages.shared import download
from pages.shared.paper import runner
from pages.shared.paper.session import FIGURES
from pages.shared.paper.table1 import far_off
from pages.shared.style import CHART, theme
from pages.shared.visit import visit
from pages.shared.widgets import one_of, store

GAPS = ("statistical_parity", "equal_opportunity")


def draw() -> None:
    """Choice of the data set, two panels, words, and a point to run."""
    runner.collect()
    one_of("Data set", FIGURES, "paper.figure", label_visibility="collapsed")
    name = visit().paper.figure
    rows = bundle.rows(paper.paper_sweep(name))
    rows = rows[rows["method"] != "glvq"]  # Figure 2 has none
    found = paper.compare("Figure 2", rows)
    st.markdown(
        "**Up is more accurate, left is fairer.** Hollow marks are the paper's, full ones ours, small dots single test "
        "folds; bars are one standard deviation over five folds. Along a curve the strength grows: C of FairGLVQ, the "
        "number of projections of INP. The *equal opportunity gap* counts only people whose true label is favourable."
    )
    runner.panel(paper.experiments("Figure 2", name), rows)
    printed = paper.published()
    printed = printed[printed["source"] == "Figure 2"]
    table = curve.summary(rows)
    for column, measure in zip(st.columns(2), GAPS, strict=True):
        with column:
            figure = figure2(table, rows, printed, measure, here=_here(), theme=theme())
            st.plotly_chart(figure, key=f"figure2_{name}_{measure}", alt=alt_text(table, measure), **CHART)
    st.markdown(_verdict(name, found))
    with st.expander("The numbers", key="figure2_numbers"):
        st.dataframe(_numbers(found), hide_index=True)
        st.caption("Far: difference of the means in standard deviations, both spreads combined.")


def offer_download() -> None:
    """For the end of the page: COMPAS, if running it here needs it."""
    if download.needed(visit().paper.figure):
        download.offer(back=partial(store, "paper.figure", "adult"))


def _here() -> pd.DataFrame:
    """What was computed in this visit on the same data set."""
    name = visit().paper.figure
    return pd.DataFrame([row for cell, own in visit().paper.rows.items() if cell.dataset == name for row in own])


def _verdict(name: str, found: pd.DataFrame) -> str:
    far, agree = far_off(found, paper.MEASURES)
    words = [agree]
    points = list(dict.fromkeys(curve.label(row.method, row.strength) for row, _ in far))
    if points:
        words.append(f"Those that do not are all of {listed(points)}.")
    fair = found[found["method"] == "fairglvq"]
    largest = max(float(fair[f"{m}_off"].max()) for m in paper.MEASURES)
    words.append(f"All of FairGLVQ on {DATASETS[name].title} are within {number(largest, 1)} standard deviations.")
    if any(row.method == "inp" for row, _ in far):
        words.append("Where INP differs, its projections leave (nearly) nothing: see *Why they differ*.")
    return " ".join(words)


def _numbers(found: pd.DataFrame) -> pd.DataFrame:
    """Published and own means, in percent and points."""
    table: dict[str, Any] = {"method": [curve.label(r.method, r.strength) for r in found.itertuples()]}
    for measure in paper.MEASURES:
        title = MEASURES[measure].heading
        table[f"{title} published"] = (100 * found[f"{measure}_mean"]).round(1)
        table[f"{title} here"] = (100 * found[f"own_{measure}_mean"]).round(1)
        table[f"{MEASURES[measure].title} far"] = found[f"{measure}_off"].round(1)
    return pd.DataFrame(table)
