"""The picture of a sweep, its results in words, and one of its points in detail."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairglvq import wording
from fairglvq.experiments import bundle, methods, paper
from fairglvq.explain.view import who_of
from fairglvq.fairness import limit
from fairglvq.fairness.limit import Limit
from fairglvq.figures.svg import to_svg
from fairglvq.figures.tradeoff import alt_text, strength_figure, tradeoff_figure
from fairglvq.scenes.settings import TABLE
from fairglvq.tradeoff import comparison, curve
from fairglvq.tradeoff.choice import Choice
from fairglvq.tradeoff.measures import MEASURES
from pages.shared.safe_text import write
from pages.shared.server import known_limit, training_service
from pages.shared.style import show_svg, theme
from pages.shared.tradeoff import results, session
from pages.shared.tradeoff.results import Found
from pages.shared.visit import visit
from pages.shared.widgets import bound, control

CHART = "curve_chart"
CONFIG = {
    "displaylogo": False,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["toImage", "select2d", "lasso2d", "autoScale2d"],
}
"""Buttons of the charts: zoom, move and back; pictures are exported below."""


HOW_COMPARED = (
    "Differences on the same test folds, with a t-test that allows for folds that share training data (Nadeau & "
    "Bengio, 2003). Each method's best strength was picked on these very folds, which favours methods with many "
    "strengths a little."
)


class View(NamedTuple):
    """How the curve is drawn."""

    front: bool
    limits: list[Limit]
    published: pd.DataFrame | None
    no_limit: str  # why there is no limit line


# ---- picture ----


def view_controls(choice: Choice) -> View:
    """Axes and what is drawn beside the curves."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for axis, label in (("y", "Vertical axis"), ("x", "Horizontal axis")):
            control(
                "selectbox", label, getattr(choice, axis), partial(session.change_field, axis), name=f"curve_{axis}",
                options=list(MEASURES), format_func=lambda name: MEASURES[name].title, width=230,
            )  # fmt: skip
        front = "Joins the marks that no other beats in both directions: the Pareto front."
        bound("toggle", "Best points", "curve.front", help=front)
        best = "The best accuracy that any classifier with the same features could reach at a gap."
        bound("toggle", "Limit", "curve.limit", help=best)
        known, here = paper.published(), visit().curve
        published = choice.dataset in set(known["dataset"])
        if published:
            bound("toggle", "Published", "curve.published", help="The paper's own points, hollow.")
    lines, why = limits_of(choice) if here.limit else ([], "")
    return View(here.front, lines, known if published and here.published else None, why)


def limits_of(choice: Choice) -> tuple[list[Limit], str]:
    """The limit lines that bound the chosen methods; if there is none, the reason."""
    uses_group = any(methods.get(name).uses_group_to_decide for name, _ in choice.strengths)
    wanted = (False, True) if uses_group else (False,)
    if choice.dataset in bundle.ESTIMATED:
        return [bundle.load().limits[choice.dataset, with_group] for with_group in wanted], ""
    if choice.dataset == TABLE:
        return _estimated(choice, wanted)
    try:
        return [known_limit(choice.dataset, with_group) for with_group in wanted], ""
    except ValueError:
        return [], "The limit line is defined for two classes and two groups; these data have more."


def _estimated(choice: Choice, wanted: tuple[bool, ...]) -> tuple[list[Limit], str]:
    """Limits of a visitor's own table, estimated in the background and kept in the visit."""
    futures = visit().curve.limits
    key = (choice.table, wanted)
    if key not in futures:
        data = results.data_of(choice)
        make = training_service().films.submit
        futures[key] = make(lambda: [limit.estimate(data, with_group=with_group) for with_group in wanted])
    future = futures[key]
    if not future.done():
        return [], "The limit line is being estimated in the background: it is there when you come back to this page."
    if future.exception():
        return [], f"There is no limit line: {future.exception()}."
    return future.result(), ""


class Picture(NamedTuple):
    """The curve, and where its interactive chart goes."""

    figure: go.Figure
    place: DeltaGenerator
    alt: str


def picture(choice: Choice, table: pd.DataFrame, view: View) -> Picture:
    """The curve as a static picture; `draw_chart` puts the interactive chart in its place."""
    if not table[[f"{choice.x}_mean", f"{choice.y}_mean"]].notna().all(axis=1).any():
        st.info(
            f"No model has {wording.with_article(MEASURES[choice.x].title)} here: some group has nobody to compare."
        )
    figure = tradeoff_figure(
        table, choice.x, choice.y, theme=theme(), front=view.front, limits=view.limits, published=view.published
    )
    words = alt_text(table, choice.x, choice.y)
    # Only what is open is drawn: a second chart would delay the first by as much again.
    tabs = ["Accuracy against fairness", "Against strength"]
    plane, against = st.tabs(tabs, key="curve_tabs", on_change="rerun")
    with plane, st.container(key="t_box"):
        # Plotly takes a browser two seconds to load, and hides this static picture when it has drawn its own.
        show_svg(to_svg(figure, background="none"), "still")
        place = st.container()
    with plane:
        if view.no_limit:
            st.caption(view.no_limit)
        if view.published is not None and choice.dataset in ("compas", "adult"):
            st.caption("At the most projections INP has removed everything: everybody then gets the same answer.")
    if against.open:
        with against:
            _against_strength(table, choice)
    return Picture(figure, place, words)


def draw_chart(drawn: Picture) -> None:
    """The chart, whose marks can be clicked. For the end of a run: a browser busy with Plotly paints nothing."""
    with drawn.place:
        st.plotly_chart(
            drawn.figure, theme=None, key=CHART, on_select=_clicked, selection_mode="points", alt=drawn.alt,
            config=CONFIG,
        )  # fmt: skip


def _clicked() -> None:
    """Keep the point that was clicked; a click elsewhere keeps it as well."""
    for point in st.session_state[CHART]["selection"]["points"]:
        data = point.get("customdata") or []
        identifier = data[0] if isinstance(data, list) else data.get("0")
        if identifier:
            visit().curve.point = identifier


def _against_strength(table: pd.DataFrame, choice: Choice) -> None:
    with_knob = [m for m in dict.fromkeys(table["method"]) if table.loc[table.method == m, "strength"].nunique() > 1]
    if not with_knob:
        st.info("No method here has more than one strength.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        here = visit().curve
        usual: str = "fairglvq" if "fairglvq" in with_knob else with_knob[0]
        method = here.strength_of if here.strength_of and here.strength_of in with_knob else usual
        bound(
            "selectbox", "Method", "curve.strength_of", value=method, options=with_knob,
            format_func=lambda name: methods.get(name).title, width=260,
        )  # fmt: skip
        bound("toggle", "Logarithmic", "curve.logarithmic", help="Spreads the small strengths.")
    gap = results.gap_of(choice)
    figure = strength_figure(table, method, ("accuracy", gap), log=here.logarithmic, theme=theme())
    alt = f"{methods.get(method).title} against its strength"
    st.plotly_chart(figure, theme=None, key="strength_chart", config=CONFIG, alt=alt)


# ---- words ----


def conclusions(choice: Choice, found: Found, table: pd.DataFrame, view: View) -> None:
    """The results in words: which methods are distinguishable, the knee, the distance to the limit."""
    gap = results.gap_of(choice)
    with st.container(key="conclusions"):
        if choice.folds * choice.seeds > 1 and table["method"].nunique() > 1:
            _compare_methods(found.rows, table, choice, gap)
        for method in dict.fromkeys(table["method"]):
            knee = curve.knee(table, str(method), gap)
            if knee:
                st.markdown(knee.words())
        if view.limits and gap == "statistical_parity":
            _distances(table, view)


def _compare_methods(rows: pd.DataFrame, table: pd.DataFrame, choice: Choice, gap: str) -> None:
    with_knob = table[table["method"] != "const"]
    if with_knob["method"].nunique() < 2 or with_knob[f"{gap}_mean"].isna().all():
        return
    budget = comparison.shared_budget(with_knob, gap)
    against = "fairglvq" if "fairglvq" in set(table["method"]) and with_knob["method"].nunique() > 3 else None
    found = comparison.compare_within(rows, budget, gap, against=against, folds=choice.folds)
    if not found:
        limit = f"{wording.with_article(MEASURES[gap].title)} of {wording.gap(budget)}"
        st.markdown(f"Only one method keeps to {limit} or less, so there is nothing to compare at that gap.")
        return
    sentences = comparison.comparison_words(found, budget, gap)
    st.markdown(sentences[0] if len(sentences) == 1 else "\n".join(f"- {one}" for one in sentences), help=HOW_COMPARED)


def _distances(table: pd.DataFrame, view: View) -> None:
    lines = {line.with_group: line for line in view.limits}
    plain, using_group = lines[False], lines.get(True)
    found = curve.distances(table, plain, using_group).dropna()
    found = found[found.index != "const"]
    parts = "; ".join(f"{methods.get(str(name)).title} {wording.points(value)}" for name, value in found.items())
    how = "estimated by gradient boosting on held-out people" if plain.estimated else "known from the densities"
    which = " Methods that use the group are compared with the line that uses it too." if using_group else ""
    st.markdown(
        f"**Points of accuracy below the limit line**, on average over the curve: {parts}. The line is {how}.{which}"
    )


# ---- one point ----


def point_picker(table: pd.DataFrame) -> tuple[str, float | None] | None:
    """The point in view: clicked in the picture or chosen by name."""
    points = {
        curve.point_id(row.method, row.strength): curve.label(row.method, row.strength) for row in table.itertuples()
    }
    here = visit().curve
    chosen = here.point if here.point in points else None
    bound(
        "selectbox", "Look at one point", "curve.point", value=chosen, options=list(points),
        format_func=points.__getitem__, placeholder="Click a mark, or choose it here", width=420,
    )  # fmt: skip
    return curve.point_of(chosen) if chosen else None


def point_details(found: Found, method: str, strength: float | None) -> pd.DataFrame:
    """The folds of a point and its groups; returns its rows."""
    rows = curve.rows_of(found.rows, method, strength).sort_values(["seed", "fold"], ignore_index=True)
    st.header(curve.label(method, strength), anchor=False)
    st.caption(methods.get(method).explanation)
    shown = [name for name in MEASURES if name in rows]
    left, right = st.columns(2)
    with left:
        st.markdown("**Fold by fold**")
        frame = rows[["seed", "fold", *shown, "seconds"]].assign(fold=rows["fold"] + 1)
        frame = frame.assign(**{name: wording.in_hundredths(rows[name]) for name in shown})
        names = {name: MEASURES[name].heading.replace(" gap", "") for name in shown} | {"seconds": "training, s"}
        st.dataframe(frame.rename(columns=names).round(2), hide_index=True, height=220)
    with right:
        st.markdown("**By group**, over all folds together")
        shares = curve.rates_by_group(rows, found.groups)
        percent = st.column_config.NumberColumn(format="percent")
        st.dataframe(shares, hide_index=True, column_config=dict.fromkeys(shares.columns[2:], percent))
        _in_people(rows, found.groups, shares["favourable"])
    return rows


def _in_people(rows: pd.DataFrame, groups: list[str], rates: pd.Series) -> None:
    """The gap in one sentence."""
    low, high = int(rates.idxmin()), int(rates.idxmax())
    who = who_of(str(rows["dataset"].iloc[0]), groups or [f"group {i}" for i in range(len(rates))])
    if low == high:
        write("All groups get the favourable decision equally often.")
        return
    fewer = wording.of_hundred(rates[high] - rates[low])
    write(f"Of 100 {who[low]}, {fewer} fewer get the favourable decision than of 100 {who[high]}.")
