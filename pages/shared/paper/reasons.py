"""Why published and own numbers differ: five reasons, each with its measurement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq.datasets import DATASETS
from fairglvq.experiments import bundle, checks, paper
from fairglvq.figures.paper import (
    Dots,
    Projections,
    angles_figure,
    dots_alt,
    dots_figure,
    months_figure,
    projections_figure,
)
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import gap, listed, number, percent, points
from pages.shared.paper.session import REASONS
from pages.shared.paper.table1 import SHOWN
from pages.shared.style import CHART, theme
from pages.shared.visit import visit
from pages.shared.widgets import one_of


def draw() -> None:
    """Choice of a reason, its words and its picture."""
    one_of("Reason", REASONS, "paper.reason", label_visibility="collapsed")
    {"step": step, "seeds": seeds, "rank": rank, "alpha": alpha, "labels": labels}[visit().paper.reason]()
    it = checks.load()
    st.caption(f"Measured by `{bundle.load().command}` and `{it['command']}`, version {it['version']}.")


# ---- the length of a step ----


def step() -> None:
    """The published step against Algorithm 1."""
    st.header("The published runs took longer steps than Algorithm 1", anchor=False)
    ratios = listed([f"{number(paper.step_ratio(name), 2)} on {DATASETS[name].title}" for name in paper.PARAMETERS])
    st.markdown(
        "**η** (the learning rate) says how far prototypes move per step. Algorithm 1 divides the summed pulls of a "
        "mini-batch by the number of updates, two per point. The published runs divided by prototypes times labels and "
        f"left out a factor 4. With the same η, their steps are longer by a factor of {ratios}. So the printed η "
        "belongs to the published step. Algorithm 1 with the printed η ends elsewhere; a larger η brings it closer."
    )
    names = {how: how for how in paper.STEPS} | {"Algorithm 1, larger η": "Algorithm 1,<br>η = 0.03"}
    found = {
        (name, how): bundle.rows(paper.table1_sweep(name, how)).query("method == 'fairglvq'")
        for name in ("local", "xor")
        for how in paper.STEPS
    }
    for column, measure in zip(st.columns(2), SHOWN, strict=True):
        dots = [
            Dots(
                f"{DATASETS[name].title}, {names[how]}",
                tuple(rows[measure]),
                published=_printed(name, "fairglvq", measure),
            )
            for (name, how), rows in found.items()
        ]
        with column:
            figure = dots_figure(dots, measure, theme=theme())
            st.plotly_chart(figure, key=f"steps_{measure}", alt=dots_alt(dots, measure), **CHART)
    means = {key: rows[list(SHOWN)].mean() for key, rows in found.items()}
    parts = [
        f"{how}: {percent(means['xor', how].accuracy)} accuracy, gap {gap(means['xor', how].statistical_parity)}"
        for how in paper.STEPS
    ]
    n = len(found["xor", "published step"])
    printed = (_printed("xor", "fairglvq", measure)[0] for measure in SHOWN)
    st.markdown(
        f"FairGLVQ on XOR, means over {n} test folds: {'; '.join(parts)}. In print: {percent(next(printed), 0)} and "
        f"{gap(next(printed))}."
    )


def _printed(dataset: str, method: str, measure: str) -> tuple[float, float]:
    """Table 1's mean and spread."""
    table = paper.published()
    row = table[(table.source == "Table 1") & (table.dataset == dataset) & (table.method == method)].iloc[0]
    return float(row[f"{measure}_mean"]), float(row[f"{measure}_std"])


# ---- chance in INP ----


def seeds() -> None:
    """INP's rows depend on the seed."""
    st.header("INP's numbers in Table 1 depend on the seed", anchor=False)
    angles = checks.load()["inp_angles"]
    rows = {name: bundle.rows(paper.table1_sweep(name)).query("method == 'inp'") for name in ("local", "xor")}
    by_seed = {name: own.groupby("seed")["statistical_parity"].mean() for name, own in rows.items()}
    local, xor = by_seed["local"], by_seed["xor"]
    st.markdown(
        "INP removes one direction of the plane, the one in which a linear model tells the groups apart, and trains "
        "GLVQ on the line that is left. How large a gap comes out depends on the **seed**, the number that all random "
        f"choices follow from: its five-fold mean is {points(local.min())} to {points(local.max())} points on Local, "
        f"on XOR {points(xor.min())} to {points(xor.max())}, over {len(local)} seeds. In print both are "
        f"{gap(_printed('local', 'inp', 'statistical_parity')[0])}."
    )
    left, right = st.columns(2)
    with left:
        dots = [
            Dots(
                f"seed {seed}",
                tuple(own["statistical_parity"]),
                "inp",
                _printed("local", "inp", "statistical_parity") if seed == 0 else None,
            )
            for seed, own in rows["local"].groupby("seed")
        ]
        figure = dots_figure(dots, "statistical_parity", theme=theme(), height=420)
        st.plotly_chart(figure, key="inp_seeds", alt=dots_alt(dots, "statistical_parity"), **CHART)
        st.caption("INP on Local: every row a seed, every dot a test fold.")
    named = {DATASETS[name].title: found for name, found in angles.items()}
    gaps = {
        DATASETS[name].title: tuple(own.sort_values(["seed", "fold"])["statistical_parity"])
        for name, own in rows.items()
    }
    with right:
        figure = angles_figure(named, gaps, theme=theme())
        spans = "; ".join(f"{name} {min(found):.0f}° to {max(found):.0f}°" for name, found in named.items())
        st.plotly_chart(figure, key="inp_angles", alt=f"INP's gap against the direction it keeps: {spans}.", **CHART)
        st.caption("Every mark a test fold: which direction was kept (0° along x, 90° along the height), and the gap.")
    accuracy = rows["local"]["accuracy"].mean()
    st.markdown(
        f"The two sets differ in *why*. On **XOR** the direction itself is chance: it came out anywhere between "
        f"{min(angles['xor']):.0f}° and {max(angles['xor']):.0f}°, since no straight line tells these groups apart. On "
        f"**Local** it is always the same one ({min(angles['local']):.1f}° to {max(angles['local']):.1f}°), but on it "
        f"the classes cannot be told apart: GLVQ is right in {percent(accuracy)} of cases, no better than guessing, "
        "and which of the two answers a piece of the line gets depends on folds and start."
    )


# ---- projections beyond the rank ----


def rank() -> None:
    """INP at more projections than there are dimensions."""
    st.header("INP cannot remove more directions than there are", anchor=False)
    it = checks.load()
    st.markdown(
        "Every projection removes one direction. The **rank** of a training fold is how many there are: fewer than "
        "columns, since columns made from one question (one per answer) repeat each other. After as many projections "
        "nothing is left but rounding errors of about 10⁻¹⁶. They depend on the person, and scaled to 0 … 1 like any "
        "column they can be read: that, not fairness, is measured there. This library sets them to 0, so INP then "
        "gives one answer to all."
    )
    for column, name in zip(st.columns(2), ("adult", "compas"), strict=True):
        with column:
            _rank_of(name, it["ranks"][name], np.array(it["rounding_noise"][name]))


def _rank_of(name: str, ranks: list[int], noise: np.ndarray) -> None:
    rows = bundle.rows(paper.paper_sweep(name))
    found = paper.compare("Figure 2", rows).query("method == 'inp'")
    constant = float(rows[rows.method == "const"]["accuracy"].mean())
    projections = Projections(found.strength.tolist(), found.accuracy_mean.tolist(), found.own_accuracy_mean.tolist())
    figure = projections_figure(projections, ranks, constant, float(noise[:, 0].mean()), theme=theme())
    st.markdown(f"**{DATASETS[name].title}**, rank {min(ranks)} to {max(ranks)} in the five folds")
    last = found.iloc[-1]
    words = (
        f"After {last.strength:g} projections: published {percent(last.accuracy_mean)}, this library "
        f"{percent(last.own_accuracy_mean)}, one answer for all {percent(constant)}. GLVQ on rounding errors alone: "
        f"{percent(float(noise[:, 0].mean()))} with a gap of {gap(float(noise[:, 1].mean()))}."
    )
    st.plotly_chart(figure, key=f"rank_{name}", alt=words, **CHART)
    st.markdown(words)


# ---- alpha ----


def alpha() -> None:
    """Alpha's uses."""
    st.header("Alpha mattered only where a group had no prototype", anchor=False)
    found = checks.load()["alpha"]
    st.markdown(
        "**alpha** stands in for a distance that does not exist: when every prototype has the same *pseudo-class* (the "
        "majority group of its cell), a point of the other group has no closest prototype of its own. As long as both "
        "pseudo-classes occur, alpha is not used at all. Counted while FairGLVQ was trained on the first fold:"
    )
    table = pd.DataFrame({
        "data set": [DATASETS[one["dataset"]].title for one in found],
        "prototypes per class": [one["n_prototypes"] for one in found],
        "C": [one["C"] for one in found],
        "alpha was used": [f"{one['uses']:,} of {one['chances']:,}" for one in found],
        "share": [percent(one["uses"] / one["chances"]) for one in found],
        "as in the paper": ["yes" if _as_printed(one) else "" for one in found],
    })  # fmt: skip
    st.dataframe(table, hide_index=True, height=36 * (len(table) + 1))
    own = [one for one in found if _as_printed(one)]
    never = [DATASETS[one["dataset"]].title for one in own if not one["uses"]]
    used = [
        f"{DATASETS[one['dataset']].title} ({percent(one['uses'] / one['chances'])} of the time)"
        for one in own
        if one["uses"]
    ]
    st.markdown(
        f"With the paper's number of prototypes alpha did nothing on {listed(never)}; it was used on {listed(used)}. "
        "In *Algorithm 1*, choose Local with 1 prototype per class and 10 epochs to see it at work."
        if used
        else f"With the paper's number of prototypes alpha did nothing on {listed(never)}."
    )


def _as_printed(one: dict[str, Any]) -> bool:
    return bool(one["n_prototypes"] == paper.PARAMETERS[one["dataset"]]["n_prototypes"])


# ---- COMPAS ----


def labels() -> None:
    """The label artefact of COMPAS."""
    st.header("In COMPAS, everybody screened late counts as arrested again", anchor=False)
    it = checks.load()
    months = it["arrests_by_month"]
    whole, early = it["scores_by_screening"]["everybody"], it["scores_by_screening"]["screened early"]
    n_late, again = whole["people"] - early["people"], whole["arrested"] - early["arrested"]
    st.markdown(
        "ProPublica's file follows people for two years after a screening. Of those screened after 1 April 2014 only "
        "people who were arrested again are in it (Barenstein, 2019): "
        f"**{again:,} of {n_late:,}** among the {whole['people']:,} used. The paper keeps them, so do we; the label "
        "is an artefact there."
    )
    figure = months_figure([tuple(month) for month in months], checks.LATE[:7], theme=theme())
    late = sum(n for month, n, _ in months if month >= checks.LATE[:7])
    rate = [whole["arrested"] / whole["people"], early["arrested"] / early["people"]]
    words = (
        f"Share labelled as arrested again by month: {percent(rate[1])} of those screened early, nearly all of the "
        f"{late:,} from April 2014 on."
    )
    st.plotly_chart(figure, key="compas_months", alt=words, **CHART)
    table = {
        name: pd.DataFrame(found["rows"], columns=["method", "fold", *paper.MEASURES])
        .groupby("method")[list(paper.MEASURES)]
        .mean()
        for name, found in (("with", whole), ("without", early))
    }
    titles = {"const": "one answer for all", "glvq": "GLVQ", "fairglvq": "FairGLVQ, C = 1"}
    columns = {
        f"{MEASURES[measure].heading}, {name}": (100 * found.loc[list(titles), measure]).round(1).tolist()
        for measure in SHOWN
        for name, found in table.items()
    }
    shown = pd.DataFrame({"": list(titles.values()), **columns})
    st.markdown("The same five-fold experiment **with** these people and **without** them:")
    st.dataframe(shown, hide_index=True)
    gains = {name: found.loc["fairglvq", "accuracy"] - found.loc["const", "accuracy"] for name, found in table.items()}
    st.markdown(
        f"Without them {percent(rate[1])} instead of {percent(rate[0])} are arrested again, so one answer for all is "
        f"right in {percent(table['without'].loc['const', 'accuracy'])} of cases instead of "
        f"{percent(table['with'].loc['const', 'accuracy'])}. What FairGLVQ adds shrinks from {gap(gains['with'])} "
        f"to {gap(gains['without'])}."
    )
