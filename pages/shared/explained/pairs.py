"""GLVQ beside FairGLVQ: which prototypes belong together, what moved, and what it did to the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import explain
from fairglvq.figures import prototypes as figures
from fairglvq.traits import differences

from . import words
from .cards import CHART, FIRST
from .model import View, theme, title
from .words import md

BEFORE, AFTER = "glvq", "fairglvq"


def draw(view: View) -> None:
    """The whole section."""
    pairs = explain.match(view.models[BEFORE], view.models[AFTER])
    st.markdown(
        f"{title(BEFORE)} only wants to be right; {title(AFTER)} also pushes against what tells groups apart. Each "
        "prototype of one is paired with one of the same class of the other, so that all ways together are shortest."
    )
    left, right = st.columns([5, 4], gap="large")
    with left:
        _picture(view, pairs)
    with right:
        _scores(view)
        _payers(view)
    st.markdown("##### What moved, furthest first")
    shown = pairs if st.session_state.get("p_all_pairs") else pairs[:FIRST]
    for pair in shown:
        with st.container(border=True):
            st.markdown(_told(view, pair))
    if len(pairs) > FIRST:
        st.toggle(f"Show all {len(pairs)} pairs", key="p_all_pairs", persist_state="session")


def _picture(view: View, pairs: list[explain.Pair]) -> None:
    before, after = [pair.before for pair in pairs], [pair.after for pair in pairs]
    old, new = view.marks(BEFORE), view.marks(AFTER)
    marks = new._replace(labels=new.labels[after], pseudo=new.pseudo[after], shares=new.shares[after])
    flipped = int(np.sum(old.pseudo[before] != new.pseudo[after]))
    titles = title(BEFORE), title(AFTER)
    figure = figures.pairs_figure(
        view.places(view.models[BEFORE].prototypes)[before],
        view.places(view.models[AFTER].prototypes)[after],
        marks,
        old.pseudo[before],
        titles=titles,
        axes=view.axes,
        theme=theme(),
    )
    alt = figures.pairs_alt([pair.distance for pair in pairs], flipped, titles)
    st.plotly_chart(figure, key="p_pairs", alt=alt, **CHART)
    st.caption(alt)


def _scores(view: View) -> None:
    rows = {}
    for method in (BEFORE, AFTER):
        score = view.explained(method).score
        rows[title(method)] = [
            words.rate(score.accuracy),
            words.points(score.statistical_parity),
            words.points(score.equal_opportunity),
        ]
    names = ["accuracy", "statistical parity gap, points", "equal opportunity gap, points"]
    st.table(pd.DataFrame(rows, index=names), border="horizontal")
    st.caption(f"Measured on {view.measured_words}.")


def _payers(view: View) -> None:
    """Who gained and who lost the favourable decision, group by group."""
    for line in payers(view):
        st.markdown(line)


def payers(view: View) -> list[str]:
    """A sentence per group: who gained and who lost the favourable decision."""
    people, before, after = view.people, view.explained(BEFORE), view.explained(AFTER)
    had, has = before.decisions == people.favourable, after.decisions == people.favourable
    told = []
    for g, who in enumerate(view.who):
        own = people.measured & (people.s == g)
        n = int(own.sum())
        if n:
            gained, lost = int(np.sum(own & has & ~had)), int(np.sum(own & had & ~has))
            few = ", few" if n < explain.SMALL else ""
            told.append(
                f"Of 100 {md(who)}, {words.per_hundred(gained / n)} gained and {words.per_hundred(lost / n)} lost the "
                f"favourable decision (n = {n:,}{few})."
            )
    return told


def _told(view: View, pair: explain.Pair) -> str:
    people, before, after = view.people, view.explained(BEFORE), view.explained(AFTER)
    found = differences(people, after.model.prototypes[pair.after], before.model.prototypes[pair.before])
    label = words.quoted(people.classes[after.model.labels[pair.after]])
    old, new = (md(people.groups[view.marks(m).pseudo[p]]) for m, p in ((BEFORE, pair.before), (AFTER, pair.after)))
    group = f"still mostly {new}" if old == new else f"from mostly {old} to mostly {new}"
    sizes = f"{before.sizes[pair.before]:,} → {after.sizes[pair.after]:,} people"
    moved = "; ".join(md(d.words("before")) for d in found[:4] if d.gap >= 0.05)
    return (
        f"**{title(BEFORE)} {pair.before + 1} → {title(AFTER)} {pair.after + 1}**, decides {label}, {group}, {sizes}; "
        f"moved by {pair.distance:.2f} (the range of one feature is 1). Most in: {moved or 'nothing'}."
    )
