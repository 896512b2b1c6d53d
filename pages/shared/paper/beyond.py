"""Methods beyond the paper's: accuracy at a bounded gap, on the same folds."""

from __future__ import annotations

import streamlit as st

from fairglvq.experiments import bundle, methods
from fairglvq.figures.paper import Dots, dots_alt, dots_figure
from fairglvq.tradeoff import beyond
from fairglvq.tradeoff.beyond import BASE, FURTHER, PAPER, Reached
from fairglvq.tradeoff.curve import strength_words
from fairglvq.wording import gap, interval, listed, percent, signed_points
from pages.shared.paper.session import COMPARED, GAPS
from pages.shared.paper.table1 import STYLE, framed
from pages.shared.style import CHART, theme
from pages.shared.visit import visit
from pages.shared.widgets import one_of

USELESS = 0.01
"""A method that is right no more often than this above one answer for all has learned next to nothing."""

IDEAS = {
    "fairgmlvq": "learned metric",
    "paritylvq": "handicaps",
    "fairtree": "tree",
    "fairtree_decided": "tree, leaves decided",
    "fairglvq_decided": "cells decided",
}
INTRO = (
    "The paper's fair term pushes prototypes away from telling the group. It promises no gap: C has to be searched "
    "for, and on some data no C comes below a given gap. Four ideas go on from there, all in this library:\n"
    "- **Learned metric** (FairGMLVQ): the same term, but the plane in which distances are measured is learned too.\n"
    "- **Handicaps** (ParityLVQ): each prototype's distance is shifted so that the training gap keeps to a bound.\n"
    "- **Tree** (FairTree): the same idea with the leaves of a decision tree in place of cells.\n"
    "- **Deciding cells**: take cells or leaves as they are and choose their answers: the most accurate ones whose "
    "training gap keeps to the bound."
)
HOW = (
    "Of each method, the most accurate strength whose mean gap over test folds keeps to the bound, chosen on these "
    "very folds, which favours methods with many strengths a little. In brackets the difference to FairGLVQ in "
    "points, on the same folds: ● the folds tell the two apart (95%, all methods of a column at once; t-test of Nadeau "
    "& Bengio, 2003), ○ they do not. None: no strength keeps to the bound."
)


@st.cache_data(show_spinner=False)
def _reached(name: str, bound: float) -> tuple[dict[str, Reached], float]:
    rows = bundle.rows(bundle.full_sweep(name))
    return beyond.reached(rows, bound), beyond.one_answer(rows)


def draw() -> None:
    """The bound, a table over all data sets, one of them in dots, and the results in words."""
    st.markdown(INTRO)
    one_of("Largest gap allowed", {points: f"{points} points" for points in GAPS}, "paper.gap")
    bound = visit().paper.gap / 100
    both = {name: _reached(name, bound) for name in COMPARED}
    found, constants = {name: own for name, (own, _) in both.items()}, {name: one for name, (_, one) in both.items()}
    st.html(STYLE + _table(found, constants))
    st.caption(HOW)
    st.markdown("\n".join(f"- {words}" for words in verdicts(found, constants, bound)))
    one_of("Fold by fold", COMPARED, "paper.compared")
    own = found[visit().paper.compared]
    dots = [
        Dots(f"{methods.get(name).title}<br>{strength_words(name, one.strength)}", one.folds, name)
        for name, one in own.items()
    ]
    if dots:
        figure = dots_figure(dots, "accuracy", theme=theme())
        st.plotly_chart(figure, key="beyond", alt=dots_alt(dots, "accuracy"), **CHART)
    missing = [methods.get(name).title for name in (*PAPER, *FURTHER) if name not in own]
    if missing:
        st.caption(f"No strength of {listed(missing)} keeps to {gap(bound)} here.")


def _table(found: dict[str, dict[str, Reached]], constants: dict[str, float]) -> str:
    head = "".join(f"<th>{title}</th>" for title in COMPARED.values())
    alike = "".join(f"<td>{percent(constants[dataset])}</td>" for dataset in COMPARED)
    body = [f"<tr><th>one answer for all</th>{alike}</tr>"]
    for name in (*PAPER, *FURTHER):
        cells = "".join(f"<td>{_cell(found[dataset].get(name))}</td>" for dataset in COMPARED)
        words = f"<br><span class='off'>{IDEAS[name]}</span>" if name in IDEAS else ""
        kind = "first" if name == FURTHER[0] else ""
        body.append(f"<tr class='{kind}'><th>{methods.get(name).title}{words}</th>{cells}</tr>")
    return framed(f"<th>accuracy</th>{head}", body)


def _cell(one: Reached | None) -> str:
    if one is None:
        return "<span class='off'>none</span>"
    accuracy = f"<b>{percent(one.accuracy)}</b>"
    if one.lead is None:
        return accuracy
    mark = "●" if one.lead.distinguishable else "○"
    return f"{accuracy}<br><span class='off'>{mark} ({signed_points(one.lead.difference)})</span>"


def verdicts(found: dict[str, dict[str, Reached]], constants: dict[str, float], bound: float) -> list[str]:
    """A sentence on the results of each idea, gains and failures."""
    without = [COMPARED[name] for name, own in found.items() if BASE not in own]
    sentences = []
    if without:
        sentences.append(
            f"The paper's FairGLVQ has no strength with a gap of at most {gap(bound)} on {listed(without)}."
        )
    for name, idea in IDEAS.items():
        kept = [dataset for dataset, own in found.items() if name in own]
        parts = [f"keeps to the bound on {len(kept)} of {len(found)} data sets"]
        leads = [(dataset, found[dataset][name].lead) for dataset in kept]
        for words, chosen in (
            ("more accurate than FairGLVQ on", lambda lead: lead.distinguishable and lead.difference > 0),
            ("less accurate on", lambda lead: lead.distinguishable and lead.difference <= 0),
            ("no clear difference on", lambda lead: not lead.distinguishable),
        ):
            own = [
                f"{COMPARED[dataset]} ({signed_points(lead.difference)}, 95% interval {interval(lead.low, lead.high)})"
                for dataset, lead in leads
                if lead is not None and chosen(lead)
            ]
            if own:
                parts.append(f"{words} {listed(own)}")
        useless = [COMPARED[one] for one in kept if found[one][name].accuracy < constants[one] + USELESS]
        if useless:
            parts.append(f"no better than one answer for all on {listed(useless)}")
        sentences.append(f"**{methods.get(name).title}** ({idea}) {'; '.join(parts)}.")
    return sentences
