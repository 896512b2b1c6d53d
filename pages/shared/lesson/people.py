"""People whose decision changed, beside the prototypes that decided, in original units; and a verdict on each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import explain, wording
from fairglvq.explain import decision
from fairglvq.explain.traits import traits
from fairglvq.explain.view import View
from fairglvq.scenes.scene import TITLES
from pages.shared.lesson import course
from pages.shared.lesson.step_words import Reader
from pages.shared.training import current_view
from pages.shared.widgets import button

COLUMNS = 6  # of a person: those with the largest parts in the decision
BEFORE, AFTER = "glvq", "fairglvq"


def draw(reader: Reader) -> None:
    """One person after the other; the first without a verdict is open."""
    if not (course.revealed(reader.step) and AFTER in reader.seen.scene.trainings):
        return
    view, answers = current_view(), course.progress().answers
    if view is None:
        return
    for verdict, i in zip(reader.step.gate.verdicts, chosen(view), strict=True):
        _person(reader, view, verdict.key, i)
        if verdict.key not in answers:
            return


def chosen(view: View) -> list[int]:
    """A younger one who lost the favourable decision, an older one, and one who gained it; else the next in order."""
    people, changed = view.people, explain.changed_people(view.explained(BEFORE), view.explained(AFTER))
    gained = view.cells(AFTER).decisions[changed] == people.favourable
    group = people.s[changed]
    found: list[int] = []
    for wanted in (~gained & (group == 0), ~gained & (group == 1), gained):
        order = [*changed[wanted].tolist(), *changed.tolist()]
        found.append(next(i for i in order if i not in found))
    return found


def _person(reader: Reader, view: View, key: str, i: int) -> None:
    people, verdict = view.people, course.progress().answers.get(key)
    with st.container(key=f"lesson_person_{key}", border=True):
        decisions = {method: people.classes[view.cells(method).decisions[i]] for method in (BEFORE, AFTER)}
        decided = [f"{TITLES[method]} {reader.word('decided')} **{one}**" for method, one in decisions.items()]
        group, label = people.groups[people.s[i]], people.classes[people.y[i]]
        st.markdown(
            f"**{reader.word('person')} {int(view.points.rows[i]) + 1}.** {reader.word('group')}: {group}. "
            f"{reader.word('label')}: {label}. {', '.join(decided)}."
        )
        if verdict is not None:
            st.markdown(f"{reader.word('verdict')} **{reader.word('your verdict')}: {reader.word(verdict)}**")
            return
        st.table(_table(reader, view, i), border="horizontal", hide_index=True)
        st.caption(reader.word("mixture"))
        st.markdown(f"**{reader.word('verdict')}**")
        with st.container(horizontal=True):
            for option in ("yes", "no", "unsure"):
                button(reader.word(option), course.answer, key, option, key=f"lesson_{key}_{option}")


def _table(reader: Reader, view: View, i: int) -> pd.DataFrame:
    """The person and both deciding prototypes, in the columns with the largest parts in the second decision."""
    people, x = view.people, view.people.X[i]
    verdict = decision.judge(view.models[AFTER], x)
    parts = decision.shares(people, view.models[AFTER], x, verdict.plus, verdict.minus)
    first = np.sort(np.argsort(-np.abs(parts), kind="stable")[:COLUMNS])
    known = [wording.value(value) for value in decision.values_of(people, x).values()]
    table = {
        reader.word("column"): [people.columns[c].replace("_", " ") for c in first],
        reader.word("person"): [known[c] for c in first],
    }
    for method in (BEFORE, AFTER):
        nearest = decision.judge(view.models[method], x).nearest
        own = traits(people, view.models[method].prototypes[nearest])
        table[f"{reader.word('prototype of')} {TITLES[method]}"] = [own[c].words() for c in first]
    return pd.DataFrame(table)
