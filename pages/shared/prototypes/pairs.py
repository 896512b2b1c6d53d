"""GLVQ beside the model in view: which prototypes belong together, what moved, and what it did to the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import explain, wording
from fairglvq.explain.traits import differences
from fairglvq.explain.view import View
from fairglvq.figures import prototypes as figures
from fairglvq.intervals import SMALL
from fairglvq.scenes.scene import TITLES
from pages.shared.prototypes import sentences
from pages.shared.prototypes.cards import FIRST
from pages.shared.prototypes.sentences import md
from pages.shared.prototypes.view import marks_of
from pages.shared.style import CHART, theme
from pages.shared.visit import visit
from pages.shared.widgets import bound

BEFORE = "glvq"
ALONE = "No other method with prototypes is trained: choose one beside GLVQ."
AIMS = {
    "paritylvq": "keeps the gap between groups within what is allowed",
    "fairglvq": "also pushes against what tells groups apart",
    "inp": "first removes directions that tell groups apart",
}


def after_glvq(view: View, method: str) -> str:
    """What GLVQ is compared with: the method in view, or the last one beside it if that is GLVQ itself."""
    return view.beside[-1] if method == BEFORE and view.beside else method


def draw(view: View, method: str) -> None:
    """The whole section."""
    after = after_glvq(view, method)
    if after == BEFORE:
        st.markdown(ALONE)
        return
    pairs = explain.match(view.explained(BEFORE), view.explained(after))
    st.markdown(f"## {TITLES[BEFORE]} beside {TITLES[after]}")
    st.markdown(
        f"{TITLES[BEFORE]} only maximises accuracy; {TITLES[after]} {AIMS[after]}. Each prototype of one is paired "
        "with one of the same class of the other, so that the total distance is smallest."
    )
    left, right = st.columns([5, 4], gap="large")
    with left:
        _picture(view, after, pairs)
    with right:
        _scores(view, after)
        for line in payers(view, after):
            st.markdown(line)
    st.markdown("## What moved, furthest first")
    shown = pairs if visit().prototypes.all_pairs else pairs[:FIRST]
    for pair in shown:
        with st.container(border=True):
            st.markdown(_pair_words(view, after, pair))
    if len(pairs) > FIRST:
        bound("toggle", f"Show all {len(pairs)} pairs", "prototypes.all_pairs")


def _picture(view: View, after: str, pairs: list[explain.Pair]) -> None:
    was, now = [pair.before for pair in pairs], [pair.after for pair in pairs]
    old, new = marks_of(view, BEFORE), marks_of(view, after)
    marks = new.only(now)
    flipped = int(np.sum(old.pseudo[was] != marks.pseudo))
    titles = TITLES[BEFORE], TITLES[after]
    figure = figures.pairs_figure(
        view.places(view.explained(BEFORE).profiles, after)[was],
        view.places(view.explained(after).profiles, after)[now],
        marks,
        old.pseudo[was],
        titles=titles,
        axes=view.axes(after),
        names=list(zip(was, now, strict=True)),
        theme=theme(),
    )
    alt = figures.pairs_alt([pair.distance for pair in pairs], flipped, titles)
    st.plotly_chart(figure, key="p_pairs", alt=alt, **CHART)
    st.caption(alt)


def _scores(view: View, after: str) -> None:
    rows = {}
    for method in (BEFORE, after):
        score = view.explained(method).score
        rows[TITLES[method]] = [
            wording.percent(score.accuracy),
            wording.points(score.statistical_parity),
            wording.points(score.equal_opportunity),
        ]
    names = ["accuracy", "statistical parity gap, points", "equal opportunity gap, points"]
    st.table(pd.DataFrame(rows, index=names), border="horizontal")
    st.caption(f"Measured on {view.measured_words}.")


def payers(view: View, after: str) -> list[str]:
    """A sentence per group: who gained and who lost the favourable decision."""
    people = view.people
    sizes = np.bincount(people.s[people.measured], minlength=len(people.groups)).tolist()
    moved = explain.gained_and_lost(view.cells(BEFORE), view.cells(after))
    return [
        f"Of 100 {md(who)}, {wording.of_hundred(gained / n)} gained and "
        f"{wording.of_hundred(lost / n)} lost the favourable decision ({wording.n_equals(n, n < SMALL)})."
        for who, n, gained, lost in zip(view.who, sizes, *moved, strict=True)
        if n
    ]


def _pair_words(view: View, after: str, pair: explain.Pair) -> str:
    people, was, now = view.people, view.explained(BEFORE), view.explained(after)
    found = differences(people, now.profiles[pair.after], was.profiles[pair.before])
    label = sentences.quoted(people.classes[now.model.labels[pair.after]])
    old, new = (md(people.groups[marks_of(view, m).pseudo[p]]) for m, p in ((BEFORE, pair.before), (after, pair.after)))
    group = f"still mostly {new}" if old == new else f"from mostly {old} to mostly {new}"
    sizes = f"{was.sizes[pair.before]:,} → {now.sizes[pair.after]:,} people"
    moved = "; ".join(md(d.words("before")) for d in found[:4] if d.gap >= 0.05)
    return (
        f"**{TITLES[BEFORE]} {pair.before + 1} → {TITLES[after]} {pair.after + 1}**, decides {label}, {group}, {sizes}"
        f"; moved by {pair.distance:.2f} (the range of one feature is 1). Most in: {moved or 'nothing'}."
    )
