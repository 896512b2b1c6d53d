"""Scenarios: which gap can be accepted, what it costs each group, and several of them side by side."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from fairglvq import wording
from fairglvq.explain.view import who_of
from fairglvq.tradeoff import scenario
from fairglvq.tradeoff.choice import Choice
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.tradeoff.scenario import Scenario
from pages.shared import safe_text
from pages.shared.tradeoff.results import Found, gap_of
from pages.shared.visit import visit
from pages.shared.widgets import bound, button


def draw(choice: Choice, found: Found, table: pd.DataFrame) -> None:
    """The slider, what it means in people, and the scenarios kept."""
    gap = gap_of(choice)
    complete = table[table[f"{gap}_mean"].notna()]
    if complete.empty or "counts" not in found.rows or not found.groups:
        return
    st.header("Which gap can we accept?", anchor=False)
    here, top = visit().curve, 100 * scenario.widest(complete, gap)
    allowed = min(top if here.accepted is None else here.accepted, top)
    bound(
        "slider", f"Largest {MEASURES[gap].title} (points)", "curve.accepted", value=round(allowed, 1),
        min_value=0.0, max_value=max(round(top, 1), 0.1), step=0.1, format="%.1f",
        help="From the gap of the most accurate model down to no gap at all.",
    )  # fmt: skip
    chosen = scenario.scenario(found.rows, complete, allowed / 100, gap, who_of(choice.dataset, found.groups))
    if chosen is None:
        st.markdown(f"No model here keeps to {wording.gap(allowed / 100)}. Add strengths, or allow more.")
    else:
        safe_text.listed(words(chosen), "")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            bound("text_input", "Name of this scenario", "curve.scenario_name", max_chars=40, width=260)
            button("Save scenario", _keep, choice, chosen)
    _kept(choice)


def words(found: Scenario) -> list[str]:
    """A scenario in sentences."""
    sentences = [
        f"The best model within {wording.gap(found.allowed)} is {found.model}: its gap is {wording.gap(found.gap)}, "
        f"and {wording.percent(found.accuracy)} of its decisions are right."
    ]
    return [*sentences, *(f"{wording.capital(one.who)}: {_change(one.change)} ({one.favourable:,} of {one.people:,})."
                     for one in found.outcomes)]  # fmt: skip


def _change(change: int) -> str:
    if change == 0:
        return "as many get the favourable decision as with the most accurate model"
    more = "more" if change > 0 else "fewer"
    return f"{abs(change):,} {more} get the favourable decision than with the most accurate model"


def kept_for(dataset: str, table: str) -> list[Scenario]:
    """The scenarios kept for these data."""
    return [one for data, one in visit().curve.scenarios if data == (dataset, table)]


def _keep(choice: Choice, chosen: Scenario) -> None:
    here = visit().curve
    name = here.scenario_name.strip() or f"at most {wording.gap(chosen.allowed)}"
    others = [kept for kept in here.scenarios if (kept[0], kept[1].name) != ((choice.dataset, choice.table), name)]
    here.scenarios = [*others, ((choice.dataset, choice.table), replace(chosen, name=name))]
    here.scenario_name = ""


def _kept(choice: Choice) -> None:
    kept = kept_for(choice.dataset, choice.table)
    if not kept:
        return
    head, rows = scenario.side_by_side(kept)
    st.dataframe(pd.DataFrame(rows, columns=head), hide_index=True, alt="The scenarios kept, a column each.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Kept for this visit; the report of a model of these data shows them.")
        button("Delete scenarios", _forget, choice)


def _forget(choice: Choice) -> None:
    here = visit().curve
    here.scenarios = [kept for kept in here.scenarios if kept[0] != (choice.dataset, choice.table)]
