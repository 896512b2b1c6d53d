"""One person: the decision under three methods, why, what would change it, and whose decisions methods change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import explain, wording
from fairglvq.datasets import Block
from fairglvq.explain import alike, decision
from fairglvq.explain.view import View
from fairglvq.figures import prototypes as figures
from fairglvq.intervals import SMALL
from fairglvq.scenes.scene import TITLES
from fairglvq.scenes.settings import TABLE
from pages.shared.prototypes import sentences
from pages.shared.prototypes.pairs import ALONE, BEFORE, after_glvq, payers
from pages.shared.prototypes.people import first_of, number_of, people_table
from pages.shared.prototypes.sentences import md
from pages.shared.style import CHART, theme
from pages.shared.training import current_view
from pages.shared.visit import visit
from pages.shared.widgets import bound, button, control, one_of

WAYS = {
    "changed": "Somebody whose decision changed",
    "random": "Anybody",
    "row": "By number",
    "search": "Search",
    "typed": "Type values",
}
LEARNED = (
    " A learned metric may put prototypes far away from everybody, and then μ is always near 0; a decision is called "
    "clear if most others are less so. Handicaps are taken off the distances first."
)
FOUND = 50  # people offered by a search
LISTED = 300  # people in the list of those who pay


def draw(view: View, method: str) -> None:
    """The whole section."""
    one_of("Who?", WAYS, "prototypes.way", label_visibility="collapsed")
    way = visit().prototypes.way
    after = after_glvq(view, method)
    i = _current(view, after)
    if way == "typed":
        x, truth, group = _typed(view, i), None, None
        st.markdown("## A made-up person")
    else:
        found = _picked(view, after, way, i)
        if found is None:
            return
        i = found
        x, truth, group = view.people.X[i], int(view.people.y[i]), int(view.people.s[i])
        st.markdown(f"## {_who(view, i)}")
    left, right = st.columns([4, 5], gap="large")
    with left:
        _decisions(view, x, truth)
        _flip_test(view, method, x, group)
        if way != "typed":
            with st.expander("Everything the data say about this person", expanded=True):
                st.dataframe(_known(view.known(i)), hide_index=True, alt="All columns of this person.")
    with right:
        if method in view.models:
            _why(view, method, x, truth)
        else:
            _why_leaf(view, method, x)
        if way != "typed":
            _most_alike(view, method, i)
    _changes(view, method, x)
    if after != BEFORE:
        _payers(view, after)


# ---- picking ----


def _current(view: View, after: str) -> int:
    """The person in view; somebody whose decision changed where nobody was picked yet."""
    kept = visit().prototypes.person
    if kept and kept[0] == view.settings.dataset and kept[1] < len(view.people.y):
        return kept[1]
    changed = _changed(view, after)
    return int(changed[0]) if len(changed) else int(np.flatnonzero(view.people.measured)[0])


def _changed(view: View, after: str) -> np.ndarray:
    return explain.changed_people(view.cells(BEFORE), view.cells(after))


def _take(dataset: str, i: int) -> None:
    visit().prototypes.person = dataset, i


def _another(dataset: str, among: np.ndarray, i: int) -> None:
    others = among[among != i]
    if len(others):
        _take(dataset, int(np.random.default_rng().choice(others)))


def _picked(view: View, after: str, way: str, i: int) -> int | None:
    """Widgets to choose a person; None if there is nobody to show."""
    if way == "changed":
        changed = _changed(view, after)
        if not len(changed):
            alike = f"{TITLES[BEFORE]} and {TITLES[after]} decide alike for all {view.measured_words}."
            st.markdown(ALONE if after == BEFORE else alike)
            return None
        if i not in changed:
            i = int(changed[0])
            _take(view.settings.dataset, i)
        button(f"Somebody else of these {len(changed):,}", _another, view.settings.dataset, changed, i)
    elif way == "random":
        everybody = np.flatnonzero(view.people.measured)
        button("Somebody else", _another, view.settings.dataset, everybody, i)
    elif way == "row":
        i = _by_number(view, i)
    else:
        return _search(view, i)
    return i


def _by_number(view: View, i: int) -> int:
    rows = view.points.rows
    at = int(rows[i])
    if at < 0:  # a painted point has no row in the data set
        return i
    last, here = int(rows.max()) + 1, visit().prototypes
    control(
        "number_input", f"Number, from 1 to {last:,}", at + 1, _take_row, name="person_row", min_value=1,
        max_value=last, step=1,
    )  # fmt: skip
    if here.unknown_row is not None:
        st.caption(f"There is no person {here.unknown_row} in this picture; it may have been erased.")
        here.unknown_row = None
    return i


def _take_row(wanted: int) -> None:
    view = current_view()
    found = np.flatnonzero(view.points.rows == wanted - 1) if view else np.array([])
    if view and len(found):
        _take(view.settings.dataset, int(found[0]))
    else:
        visit().prototypes.unknown_row = wanted


def _search(view: View, i: int) -> int | None:
    here = visit().prototypes
    bound(
        "text_input", "Words or numbers, separated by commas", "prototypes.search", placeholder=_example(view),
        help="All of them must be found. A comparison such as “age > 60” looks into a column of numbers.",
    )  # fmt: skip
    at = {int(row): position for position, row in enumerate(view.points.rows.tolist()) if row >= 0}
    rows = decision.find(view.data.frame, here.search)
    found = [at[row] for row in rows.tolist() if row in at]
    st.caption(
        f"{wording.people(len(found))} found" + (f"; the first {FOUND} are offered." if len(found) > FOUND else ".")
    )
    if not found:
        return None
    offered = found[:FOUND]
    chosen = i if i in offered else offered[0]
    control(
        "selectbox", "Found", chosen, partial(_take, view.settings.dataset), name="person_found", options=offered,
        format_func=lambda position: _line(view, position), label_visibility="collapsed",
    )  # fmt: skip
    _take(view.settings.dataset, chosen)
    return chosen


def _example(view: View) -> str:
    """An example of a search, which finds somebody in this table."""
    known = view.known(int(np.flatnonzero(view.points.rows >= 0)[0]))
    parts: list[str] = []
    for column, value in known.items():
        if isinstance(value, str) and len(parts) == 0 and value:
            parts.append(value)
        elif isinstance(value, int | float) and len(parts) == 1:
            parts.append(f"{column} > {value:g}")
    return ", ".join(parts) or "a value"


def _line(view: View, i: int) -> str:
    values = ", ".join(wording.cut(value, 18) for value in list(view.known(i).values())[:6])
    return f"{number_of(view, i)}: {values}"


def _typed(view: View, i: int) -> np.ndarray:
    """A form with a field per column, filled with the person in view at first."""
    people = view.people
    here = visit().prototypes
    start = view.settings.dataset, view.settings.table, i
    kept = here.typed
    values: dict[str, float | str] = kept[1] if kept and kept[0] == start else decision.values_of(people, people.X[i])
    with st.form("typed_person"):
        fields = st.columns(3)
        for number, (block, *_) in enumerate(people.traits):
            with fields[number % 3]:
                key = "_".join(["p_typed", *map(str, start), block.column])
                values[block.column] = _field(view, block, values[block.column], key)
        st.form_submit_button("Decide", type="primary")
    here.typed = start, values
    return decision.person(people, values)


def _field(view: View, block: Block, value: float | str, key: str) -> float | str:
    people = view.people
    if block.kind != "number":
        options = list(block.categories)
        return st.selectbox(md(block.column), options, index=options.index(str(value)), key=key)
    low, high = people.lowest[block.start], people.highest[block.start]
    help_text = f"In the data from {wording.value(float(low))} to {wording.value(float(high))}."
    if people.whole[block.column]:
        return float(st.number_input(md(block.column), value=int(value), step=1, key=key, help=help_text))
    return st.number_input(md(block.column), value=float(value), step=(high - low) / 100, key=key, help=help_text)


# ---- the decision ----


def _who(view: View, i: int) -> str:
    people = view.people
    seen = "held out from training" if view.points.held_out[i] else "used in training"
    return (
        f"{number_of(view, i).capitalize()}: {md(people.groups[people.s[i]])}, true label "
        f"{sentences.quoted(people.classes[people.y[i]])}, {seen}"
    )


def _known(values: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({"column": list(values), "value": [wording.value(value) for value in values.values()]})


def _decisions(view: View, x: np.ndarray, truth: int | None) -> None:
    rows, mus = [], {}
    for method in view.trainings:
        label = _decided(view, method, x)
        row = {"method": TITLES[method], "decision": md(view.people.classes[label])}
        if truth is not None:
            row["right?"] = "right" if label == truth else "wrong"
        if method in view.models:
            verdict = decision.judge(view.models[method], x, truth)
            clear = sentences.clarity(verdict, view.explained(method))
            mus[TITLES[method]] = wording.number(verdict.mu, 3)
        else:
            clear = sentences.leaf_accuracy(view.tree(method), x)
        rows.append(row | {"how clear": clear})
    st.table(pd.DataFrame(rows), hide_index=True, border="horizontal")
    if not mus:
        return
    asked = "the true label" if truth is not None else "the class decided"
    with st.expander("Details for experts: how clear, as a number"):
        st.markdown("**μ.** " + ", ".join(f"{name} {mu}" for name, mu in mus.items()) + ".")
        st.caption(
            f"μ = (d+ − d−) / (d+ + d−), where d+ is the squared distance to the nearest prototype of {asked} and d− "  # noqa: RUF001
            "that to the nearest of any other class. Below 0: that class wins. Nearer to 0, the decision is less clear."
            + (LEARNED if any(model.omega is not None for model in view.models.values()) else "")
        )


def _decided(view: View, method: str, x: np.ndarray) -> int:
    """The class that a method decides for a scaled person."""
    return int(view.cells(method).model.decide(x[None])[0])


def _why_leaf(view: View, method: str, x: np.ndarray) -> None:
    """The questions that lead a person to a leaf."""
    explained = view.tree(method)
    p = int(explained.model.tree.apply(x[None])[0])
    label = sentences.quoted(view.people.classes[explained.answers[p]])
    st.markdown(
        f"**Why {TITLES[method]} decides {label}.** This person is in leaf {p + 1}: **{md(explained.rules[p])}**. "
        f"Everybody there gets {label}."
    )
    rows = explained.cell(p)
    if rows[-1].n:
        true = sentences.mix(view.people.classes, explained.classes_in(p).tolist())
        st.markdown(f"Of the {view.measured_words}, {rows[-1].n:,} are in this leaf. Their true labels: {true}.")


def _most_alike(view: View, method: str, i: int) -> None:
    """The people most like a measured one, and whether they are decided alike."""
    if not view.people.measured[i]:
        return
    box = st.expander("The people most like this one", expanded=view.compared, key="p_alike", on_change="rerun")
    found = view.alike(method) if box.open else None
    if found is None:
        return
    decided, others = view.cells(method).decisions, found.neighbours(i)
    away = found.near.others.distances[np.flatnonzero(found.near.compared == i)].ravel()
    columns = {
        "decision": [view.people.classes[c] for c in decided[others]],
        "distance": [wording.number(float(d), 2) for d in away],
    }
    same = int(np.sum(decided[others] == decided[i]))
    left_out = "; ".join(map(sentences.quoted, alike.left_out(view.people)))
    with box:
        st.markdown(f"{same} of {len(others)} get the same decision from {TITLES[method]}.")
        alt = "The people most like this one, nearest first."
        people_table(view, others, columns, key="p_neighbours", alt=alt)
        st.caption(
            "Nearest first. A number counts by its part of the range, another category as 1"
            + (f"; without {left_out}." if left_out else ".")
        )


def _why(view: View, method: str, x: np.ndarray, truth: int | None) -> None:
    people, model = view.people, view.models[method]
    verdict = decision.judge(model, x, truth)
    parts = decision.shares(people, model, x, verdict.plus, verdict.minus)
    plus, minus = int(model.labels[verdict.plus]), int(model.labels[verdict.minus])
    st.markdown(
        f"**Why {TITLES[method]} decides {sentences.quoted(people.classes[verdict.label])}.** The rivals are prototype "
        f"{verdict.plus + 1} for {sentences.quoted(people.classes[plus])} and prototype {verdict.minus + 1} for "
        f"{sentences.quoted(people.classes[minus])}. A bar shows which of the two a column favours, and how much."
    )
    columns = people.columns
    values = [wording.value(value) for value in decision.values_of(people, x).values()]
    st.plotly_chart(
        figures.shares_figure(columns, values, parts, plus=plus, minus=minus, classes=people.classes, theme=theme()),
        key="p_shares",
        alt=figures.shares_alt(columns, parts, plus=plus, minus=minus, classes=people.classes),
        **CHART,
    )
    if verdict.ahead:
        st.caption(
            f"Handicaps count, too: {'+' if verdict.ahead < 0 else wording.number(-1, 0)[0]}"
            f"{wording.number(abs(verdict.ahead), 3)}, and the decision is made by the sum."
        )
    if model.omega is not None:
        st.caption(
            "The model has learned directions that mix the columns. A column's part is what it adds through all of "
            "these mixtures, counted from where the two rivals are equally far away."
        )
    elif model.matrix is not None:
        st.caption(
            "INP mixes the columns before distances are taken. A column's part is what it adds through all of these "
            "mixtures, counted from where the two rivals are equally far away."
        )
    with st.expander("Details for experts: distances, and the same as a table"):
        st.markdown(
            f"**Distances.** d+ = {verdict.d_plus:.3f} to prototype {verdict.plus + 1}, d− = {verdict.d_minus:.3f} to "  # noqa: RUF001
            f"prototype {verdict.minus + 1}, both squared. The bars add up to d+ − d− = "  # noqa: RUF001
            f"{wording.number(float(parts.sum()), 3)}."
        )
        table = pd.DataFrame({"column": columns, "value": values, "part of d+ − d−": parts})  # noqa: RUF001
        order = np.argsort(-np.abs(parts), kind="stable")
        st.dataframe(table.iloc[order], hide_index=True, alt="Every column's part of the difference of distances.")


def _flip_test(view: View, method: str, x: np.ndarray, group: int | None) -> None:
    people = view.people
    block = decision.protected_block(people)
    if block is None:
        outcome = "cannot be flipped alone: some of its values as a feature belong to several groups."
        if not decision.named_after_group(people):
            outcome = (
                "is not among the features: the models do not see it, so nothing changes if it alone does. It can "
                "still act through features that go with it."
            )
        st.markdown(f"**Flip test.** {sentences.quoted(people.group_column)} {outcome}")
        return
    own = group if group is not None else _group_of(view, block, x)
    for flip in decision.flips(people, x, own):
        answers = {TITLES[m]: (_decided(view, m, x), _decided(view, m, flip.x)) for m in view.trainings}
        changed = [
            f"{name} would decide {sentences.quoted(people.classes[now])}"
            for name, (before, now) in answers.items()
            if now != before
        ]
        same = [name for name, (before, now) in answers.items() if now == before]
        outcome = "; ".join(changed) if changed else "no method would decide otherwise"
        if changed and same:
            outcome += f"; {wording.listed(same)} would not change"
        st.markdown(
            f"**Flip test.** The same person with {md(flip.column)} {md(wording.value(flip.after))} instead of "
            f"{md(wording.value(flip.before))}, and nothing else changed: {outcome}."
        )
    st.caption(_flips_of_all(view, method))


def _flips_of_all(view: View, method: str) -> str:
    """The flip test for everybody, in people."""
    found = decision.flip_counts(view.people, view.cells(method).model)
    if found is None:
        return ""
    parts = [
        f"{wording.of_hundred(n / whole)} of 100 {md(who)} ({wording.n_equals(whole, whole < SMALL)})"
        for n, whole, who in zip(*found, view.who, strict=True)
        if whole
    ]
    return f"Among all {view.measured_words}, {TITLES[method]} would decide otherwise for {wording.listed(parts)}."


def _group_of(view: View, block: Block, x: np.ndarray) -> int:
    """The group that a made-up person's protected value belongs to: that of the real people nearest in it."""
    away = np.abs(view.people.X[:, block.columns] - x[block.columns]).sum(axis=1)
    return int(view.people.s[away.argmin()])


# ---- what would change it ----


def _changes(view: View, method: str, x: np.ndarray) -> None:
    people = view.people
    st.markdown(f"## The smallest single change that flips the decision of {TITLES[method]}")
    columns = people.columns
    here = visit().prototypes
    kept = here.immutable
    if kept is None or kept[0] != tuple(columns):
        kept = here.immutable = tuple(columns), _immutable(view, columns)
    control(
        "multiselect", "Nobody can change these, so they are left alone (a guess from the names: correct it)", kept[1],
        partial(_keep_immutable, tuple(columns)), name="immutable", options=columns,
    )  # fmt: skip
    found = decision.changes(people, view.cells(method).model, x, kept[1])
    if not found:
        st.markdown("No single change within the range of the data flips it.")
        return
    first = found[0]
    st.markdown(
        f"**{md(first.column)} {md(wording.value(first.after, 12))}** instead of "
        f"{md(wording.value(first.before))}, {sentences.along_with(first)}, and the decision is "
        f"{sentences.quoted(people.classes[first.label])}."
    )
    table = pd.DataFrame(
        {
            "column": [change.column for change in found],
            "now": [wording.value(change.before) for change in found],
            "would have to be": [wording.value(change.after, 12) for change in found],
            "with it": [", ".join(f"{name} {wording.value(now)}" for name, _, now in change.also) for change in found],
            "decision then": [people.classes[change.label] for change in found],
            "length of the step": [round(change.step, 3) for change in found],
        }
    )
    if not any(change.also for change in found):
        table = table.drop(columns="with it")
    st.dataframe(table, hide_index=True, alt="Single changes that flip the decision, smallest first.")
    st.caption(
        "Smallest first: the whole range of a number is a step of 1, another category a step of "
        f"{math.sqrt(2):.2f}. Columns that determine each other change together. A flip shows what the model "
        "looks at. It is no advice, and need not be possible."
    )


def _keep_immutable(columns: tuple[str, ...], chosen: list[str]) -> None:
    visit().prototypes.immutable = columns, list(chosen)


def _immutable(view: View, columns: list[str]) -> list[str]:
    """What a visitor has marked in their own table as fixed; elsewhere a guess from the names."""
    used = visit().table.used
    if view.settings.dataset == TABLE and used is not None:
        return [column for column in columns if column in used[1].immutable]
    return list(decision.immutable_columns(view.people))


# ---- who pays ----


def _payers(view: View, after: str) -> None:
    changed = _changed(view, after)
    st.markdown(f"## Whose decision changed: from {TITLES[BEFORE]} to {TITLES[after]}")
    st.markdown(" ".join(payers(view, after)))
    if not len(changed):
        return
    was, now = view.cells(BEFORE).decisions, view.cells(after).decisions
    some, classes, wanted = changed[:LISTED], view.people.classes, view.people.favourable
    columns = {
        TITLES[BEFORE]: [classes[c] for c in was[some]],
        TITLES[after]: [classes[c] for c in now[some]],
        "favourable decision": [
            "gained" if now[i] == wanted else "lost" if was[i] == wanted else "neither" for i in some
        ],
        "now": ["right" if now[i] == view.people.y[i] else "wrong" for i in some],
    }
    people_table(view, some, columns, key="p_payers", alt="People whose decision changed, a row each.")
    st.caption(f"Tick a row to see that person above.{first_of(LISTED, len(changed))}")
