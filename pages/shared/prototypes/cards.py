"""Prototype cards: the gap taken apart, the map, one card in full and all others in short."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairglvq import explain, wording
from fairglvq.explain import Explained, Order, metric
from fairglvq.explain.leaves import ExplainedTree
from fairglvq.explain.traits import SEEN, Difference, differences, traits
from fairglvq.explain.view import View
from fairglvq.fairness.cells import Cells
from fairglvq.figures import prototypes as figures
from fairglvq.grammar import CLASS_COLOURS
from pages.shared.prototypes import sentences
from pages.shared.prototypes.people import number_of, show_person
from pages.shared.prototypes.sentences import md
from pages.shared.prototypes.view import marks_of
from pages.shared.style import CHART, theme
from pages.shared.visit import visit
from pages.shared.widgets import bound, button, one_of

FIRST = 6
ASIDE = 0.05  # distance of a prototype from the people's subspace that is mentioned
SORTS: dict[Order, str] = {
    "contribution": "Part in the parity gap",
    "size": "Number of people",
    "impurity": "Mixed true labels",
}
MIXTURE = "How likely two people of a cell differ in their true label: 0 is a cell of one class only."


def draw(view: View, method: str) -> None:
    """The whole section."""
    explained = view.explained(method)
    left, right = st.columns(2, gap="large")
    with left:
        _waterfall(view, method, explained)
    with right:
        _map(view, method)
    _metric(view, method)
    opened = _opened(view, method)
    with st.container(border=True, key="open_card"):
        _full(view, method, explained, opened)
    _all_cards(view, method, explained)


def open_card(p: int) -> None:
    """Show this prototype's card in full."""
    here = visit().prototypes
    if here.opened:
        here.opened = here.opened[0], p


def _opened(view: View, method: str) -> int:
    """The card chosen; for another model the one that adds most to the gap."""
    here, model = visit().prototypes, (view.settings, method)
    if here.opened is None or here.opened[0] != model:
        here.opened = model, int(view.explained(method).order("contribution")[0])
    return here.opened[1]


def _clickable(figure: go.Figure, key: str, alt: str) -> None:
    """A chart whose marks open cards."""
    st.plotly_chart(figure, key=key, on_select=partial(_clicked, key), selection_mode="points", alt=alt, **CHART)


def _clicked(key: str) -> None:
    """A click on a mark opens its card; a click beside the marks keeps the one that is open."""
    for point in st.session_state[key]["selection"]["points"]:
        p = int(point["customdata"][0]) if "customdata" in point else -1
        if p >= 0:
            open_card(p)


# ---- pictures ----


def _waterfall(view: View, method: str, explained: Explained) -> None:
    st.markdown("## Where the gap comes from")
    one_of("Gap", sentences.MEASURES, "prototypes.measure", label_visibility="collapsed")
    measure = visit().prototypes.measure
    parts = explained.contributions(measure)
    if parts.gap != parts.gap:
        st.markdown("There are no two groups to compare, so there is no gap to take apart.")
        return
    if not figures.waterfall_steps(parts.values, len(parts.values)):
        st.markdown("No prototype adds to the gap: both groups have the same rate.")
        return
    marks = marks_of(view, method)
    alt = figures.waterfall_alt(parts, view.people.groups)
    name = sentences.MEASURES[measure].lower()
    figure = view.figure(
        ("waterfall", method, measure, theme()),
        lambda: figures.waterfall_figure(parts, marks, measure=name, theme=theme()),
    )
    _clickable(figure, "p_waterfall", alt)
    st.caption(sentences.waterfall_caption(view, parts))
    with st.expander("The same as a table"):
        st.dataframe(parts_table(view, explained, parts, "prototype"), hide_index=True, alt=alt)


def parts_table(view: View, explained: Cells, parts: explain.Contributions, noun: str) -> pd.DataFrame:
    """A row per prototype or leaf that adds something, and the sum."""
    steps = figures.waterfall_steps(parts.values, len(parts.values))
    own = explained.answers == view.people.favourable
    n = explained.members(parts.measure)  # (P, G)
    table: dict[str, list] = {noun: [*(str(p + 1) for p, _ in steps), "all"]}
    for g in (parts.ahead, parts.behind):
        table[f"n {view.people.groups[g]}"] = [*(n[p, g] for p, _ in steps), n[own, g].sum()]
    table["points of the gap"] = [round(100 * value, 2) for value in (*(value for _, value in steps), parts.gap)]
    return pd.DataFrame(table)


def _map(view: View, method: str) -> None:
    st.markdown("## All prototypes")
    marks = marks_of(view, method)
    axes, sample = view.own_axes(method), view.sample(method)
    places = view.places(view.explained(method).profiles, method)
    learned = view.trainings[method].learned is not None  # and may put prototypes anywhere
    shown = _near(places, sample[0]) if learned else places
    figure = view.figure(
        ("map", method, theme()),
        lambda: figures.map_figure(shown, marks, axes=view.axes(method), people=sample, theme=theme()),
    )
    _clickable(figure, "p_map", figures.map_alt(marks))
    caption = "A larger mark decides for more people. Click one to open its card."
    if axes:
        caption += " " + sentences.own_plane(axes)
    elif view.plane is not None:
        caption += (
            " The map shows only the two directions in which people differ most; the model looks at more of them."
        )
    st.caption(caption + sentences.far_away(int((shown != places).any(axis=1).sum())))


def _near(places: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Places (P, 2) of prototypes, brought to the edge of the map where they lie far from all people."""
    low, high = people.min(axis=0), people.max(axis=0)
    return np.clip(places, low - (high - low) / 3, high + (high - low) / 3)


def _metric(view: View, method: str) -> None:
    """How much each column counts, where the model has learned it."""
    found = metric.relevance_profile(view.people, view.models[method])
    if not found:
        return
    st.markdown("## What the model looks at")
    figure = view.figure(("relevance", method, theme()), lambda: figures.relevance_figure(found, theme=theme()))
    st.plotly_chart(figure, key="p_relevance", alt=figures.relevance_alt(found), **CHART)
    st.caption(
        "The model has learned how much a difference in each column counts. A bar is the column's part in the squared "
        "distance between two people drawn at random, each column taken by itself."
    )


# ---- one card in full ----


def _full(view: View, method: str, explained: Explained, p: int) -> None:
    people, profiles = view.people, explained.profiles
    rival = explained.rival(p)
    average = differences(people, profiles[p], people.mean)
    st.html(sentences.heading(view, method, p, theme()))
    st.markdown(sentences.size(view, explained, p))
    _closest(view, explained, p)
    left, right = st.columns([5, 6], gap="large")
    with left:
        st.markdown("**What it is like**")
        st.plotly_chart(
            figures.profile_figure(
                average,
                colour=CLASS_COLOURS[explained.model.labels[p]],
                rival=traits(people, profiles[rival]),
                rival_colour=CLASS_COLOURS[explained.model.labels[rival]],
                theme=theme(),
            ),
            key="p_profile",
            alt=figures.profile_alt(p, average),
            **CHART,
        )
        st.caption(
            "The bar of a number runs from the lowest to the highest value in the data; a category has shares of 100%. "
            "A star marks a number outside the range of the data."
        )
    with right:
        _people(view, explained, p)
        _apart(view, explained, p, rival, average)
        st.markdown(f"**Its part in the gap.** {sentences.contribution(view, explained, p)}")
        st.markdown(f"**If it were removed.** {sentences.removal(view, explained.without(p))}")
    _no_such_person(average)
    _every_column(view, explained, p, rival)
    _details(explained, p)


def _no_such_person(average: list[Difference]) -> None:
    """Values of a prototype that nobody in the data has, apart from those that people have."""
    beyond = [d for d in average if d.own.outside]
    if not beyond:
        return
    with st.expander(f"No such person: {wording.count(len(beyond), 'value')} beyond everybody in the data"):
        st.markdown("; ".join(md(d.words("average")) for d in beyond) + ".")
        st.caption(sentences.BEYOND)


def _details(explained: Explained, p: int) -> None:
    """Details for readers who know the method."""
    with st.expander("Details for experts"):
        st.markdown(f"**Mixture** {explained.impurity[p]:.2f}. {MIXTURE}")
        if explained.aside[p] >= ASIDE:
            st.caption(sentences.aside(explained.aside[p]))
        handicap = metric.handicap(explained, p)
        if handicap is not None:
            st.markdown(f"**Its handicap.** {metric.handicap_words(handicap)}")


def _every_column(view: View, explained: Explained, p: int, rival: int) -> None:
    """The whole profile beside the average person's and the rival's."""
    people, profiles = view.people, explained.profiles
    columns = {
        f"prototype {p + 1}": traits(people, profiles[p]),
        "average person": traits(people, people.mean),
        f"nearest rival, prototype {rival + 1}": traits(people, profiles[rival]),
    }
    table = {"column": people.columns}
    table |= {name: [sentences.trait(one) for one in found] for name, found in columns.items()}
    with st.expander("Every column of it"):
        st.dataframe(pd.DataFrame(table), hide_index=True, alt=f"All columns of prototype {p + 1}, a row each.")


def _apart(view: View, explained: Explained, p: int, rival: int, average: list[Difference]) -> None:
    """What sets a prototype apart from the average and from its rival, largest differences first."""
    profiles = explained.profiles
    against = differences(view.people, profiles[p], profiles[rival])
    label = sentences.quoted(view.people.classes[explained.model.labels[rival]])
    st.markdown(f"**Apart from the average person:** {_listed(average, 'average')}")
    st.markdown(f"**Apart from its nearest rival**, prototype {rival + 1} for {label}: {_listed(against, 'rival')}")


def _listed(found: list[Difference], other: str, most: int = 4) -> str:
    """The largest differences, without small ones and values that nobody in the data has."""
    if found[0].gap < SEEN:
        return "nothing, they look the same."
    found = [d for d in found if not d.own.outside]
    if not found:
        return "only in values that no person has."
    kept = [d for d in found[:most] if d.gap >= 0.05] or found[:1]
    return "; ".join(md(d.words(other)) for d in kept) + "."


def _people(view: View, explained: Explained, p: int) -> None:
    rows = explained.cell(p)
    if not rows[-1].n:
        return
    wanted = view.people.classes[view.people.favourable]
    names = [*view.people.groups, "all"]
    table = pd.DataFrame(
        {
            "group": [md(names[row.group]) for row in rows],
            "people": [wording.flagged(f"{row.n:,}", row.n > 0 and row.small) for row in rows],
            "share of the cell": [wording.percent(row.share_of_cell) for row in rows],
            "decided rightly": [wording.percent(row.accuracy) for row in rows],
            f"truly {md(wanted)}": [wording.percent(row.favourable) for row in rows],
        }
    )
    st.markdown(
        "**Who is in its cell.** True labels: "
        + sentences.mix(view.people.classes, explained.classes_in(p).tolist())
        + "."
    )
    st.table(table, hide_index=True, border="horizontal")
    label = explained.model.labels[p]
    everyone = "Everybody" if label == view.people.favourable else "Nobody"
    st.caption(f"{everyone} here gets {sentences.quoted(wanted)}. {sentences.few(rows, view)}")


def _closest(view: View, explained: Explained, p: int) -> None:
    """The real people most like a prototype, beside it."""
    closest = explained.closest_people(p).tolist()
    if not closest:
        st.caption("Nobody at all is in its cell.")
        return
    noun = wording.count(len(closest), *(("person", "people") if view.settings.real else ("point",)))
    st.markdown(f"**The {noun.removeprefix('1 ')} most like it** in the data")
    known = [
        {"who": number_of(view, i)} | {key: wording.value(value) for key, value in view.known(i).items()}
        for i in closest
    ]
    st.dataframe(pd.DataFrame(known), hide_index=True, alt=f"The people most like prototype {p + 1}, a row each.")
    with st.container(horizontal=True):
        for i in closest:
            button(f"Explain {number_of(view, i)}", show_person, view.settings.dataset, i, key=f"explain_{i}")


# ---- all cards in short ----


def _all_cards(view: View, method: str, explained: Explained) -> None:
    order = sorted_cards(explained)
    deciding, idle = ([p for p in order if bool(explained.sizes[p]) is some] for some in (True, False))
    draw_short = partial(_short, view, method, explained, explained.contributions())
    first_cards(deciding, draw_short)
    if idle:
        label = wording.count(len(idle), "prototype decides", "prototypes decide")
        fold = st.expander(f"{label} for nobody who was measured", key="idle_cards", on_change="rerun")
        if fold.open:
            with fold:
                _grid(idle, draw_short)


def sorted_cards(cells: Explained | ExplainedTree) -> list[int]:
    """The cells in the order that the visitor chooses."""
    one_of("Cards sorted by", SORTS, "prototypes.order", help=MIXTURE)
    return cells.order(visit().prototypes.order)


def first_cards(order: list[int], draw_card: Callable[[int], None]) -> None:
    """The first few cards, or all of them if the visitor wants it."""
    _grid(order if visit().prototypes.all_cards else order[:FIRST], draw_card)
    if len(order) > FIRST:
        bound("toggle", f"Show all {len(order)} cards", "prototypes.all_cards")


def _grid(shown: list[int], draw_card: Callable[[int], None]) -> None:
    """Cards with a frame, three in a row."""
    for start in range(0, len(shown), 3):
        for column, p in zip(st.columns(3), shown[start : start + 3], strict=False):
            with column, st.container(border=True, key=f"card_{p}"):
                draw_card(p)


def _short(view: View, method: str, explained: Explained, parts: explain.Contributions, p: int) -> None:
    st.html(sentences.heading(view, method, p, theme(), level=4))
    cell_in_short(view, explained, p)
    average = differences(view.people, explained.profiles[p], view.people.mean)
    st.markdown(f"Apart from the average person: {_listed(average, 'average', most=3)}")
    after = explained.without(p).after
    st.markdown(
        f"Parity gap: **{wording.signed_points(parts.values[p])} points**. Without it: accuracy "
        f"{wording.percent(after.accuracy)}, parity gap {wording.points(after.statistical_parity)}, "
        f"opportunity gap {wording.points(after.equal_opportunity)}."
    )
    button("Open card", open_card, p, key=f"open_{p}")


def cell_in_short(view: View, explained: Cells, p: int) -> None:
    """For whom a cell decides, and how often rightly."""
    *groups, everybody = explained.cell(p)
    if everybody.n:
        right = wording.percent(everybody.accuracy)
        by_group = sentences.mix(view.people.groups, [row.n for row in groups])
        st.markdown(
            f"**{wording.percent(everybody.share_of_group)}** of all "
            f"({wording.n_equals(everybody.n, everybody.small)}): {by_group}. {right} "
            "of its decisions are right."
        )
    else:
        st.markdown("It decides for nobody here.")
