"""The trade-off page: whole curves with error bars, computed in the background, and any point of them to open."""

from __future__ import annotations

import streamlit as st

from fairglvq import wording
from fairglvq.datasets import DATASETS
from fairglvq.experiments.sweep import ModelKey
from fairglvq.tradeoff import curve
from fairglvq.tradeoff.choice import OPENED_AS, Choice, settings_of, usual
from pages.shared import download, menu, runs
from pages.shared.session import link_to
from pages.shared.style import STYLE
from pages.shared.tradeoff import controls, export, links, numbers, picture, results, scenarios, session
from pages.shared.visit import visit
from pages.shared.widgets import one_of, repaired

INTRO = (
    "Every mark is a method at one strength, measured on people it has not seen: **up is more accurate, left is "
    "fairer**. Bars are the spread over test folds. Click a mark to open it, or change what is compared and compute."
)

PREDICTED = {"decisions": "Yes or no", "numbers": "A number"}
LONG = 2.0  # seconds of training that are announced


def main() -> None:
    """Settings, run, picture."""
    first = visit().curve.address.written is None
    choice = session.begin()
    st.html(STYLE)
    st.title("How much accuracy does fairness cost?", anchor=False)
    with st.container(key="intro"):
        st.markdown(INTRO if visit().regression.shown == "decisions" else numbers.INTRO)
    one_of("What is predicted?", PREDICTED, "regression.shown", label_visibility="collapsed")
    repaired(visit().curve.repairs)
    if visit().regression.shown == "numbers":
        with st.sidebar:
            numbers.controls()
        numbers.draw()
        visit().curve.address.write(numbers.to_query(visit().regression))
        return
    # At first the picture, which takes the browser longest; later the controls, which answer a click.
    if not first:
        controls_beside(choice)
    if download.needed(choice.dataset) and not results.bundled(choice):
        download.offer(back=lambda: session.change(usual("adult")))
    else:
        running = results.running(choice)
        st.fragment(body, run_every=runs.POLL if running else None)(choice, running)
    if first:
        controls_beside(choice)
    visit().curve.address.write(links.to_query(choice))
    results.join(choice)  # after the picture: its workers get ready while the visitor looks


def controls_beside(choice: Choice) -> None:
    """What is compared."""
    with st.sidebar:
        controls.panel(choice)


def body(choice: Choice, was_running: bool) -> None:
    """Everything that changes while a run goes on."""
    if session.current() != choice or results.running(choice) != was_running:
        st.rerun()  # to update the address, the sidebar or the polling

    found = results.collect(choice)
    results.status(choice, found)
    if not choice.strengths:
        st.info("Choose at least one method to compare, in the controls; Reset brings back the usual ones.")
        return
    if found.rows.empty:
        if found.n_missing:
            press = "" if was_running else "Press **Compute** above. "
            st.info(f"Nothing is computed yet for this choice. {press}First points come in seconds.")
        return
    table = curve.summary(found.rows)
    view = picture.view_controls(choice)
    drawn = picture.picture(choice, table, view)
    point = picture.point_picker(table)
    even = curve.evenly_measured(table)
    picture.conclusions(choice, found, even, view)
    scenarios.draw(choice, found, even)
    if point:
        opened(choice, found, *point)
    export.offer(choice, found, table, drawn.figure)
    picture.draw_chart(drawn)


def opened(choice: Choice, found: results.Found, method: str, strength: float | None) -> None:
    """One point: its folds, its groups, and its model."""
    own_rows = picture.point_details(found, method, strength)
    st.markdown("**Open this model** as it was trained on one of the folds:")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = {(int(row.fold), int(row.seed)): row for row in own_rows.itertuples()}
        fold, seed = st.selectbox(
            "Fold",
            list(labels),
            index=curve.typical_fold(own_rows),
            format_func=lambda key: (
                f"fold {key[0] + 1}, seed {key[1]}: accuracy {wording.percent(labels[key].accuracy)}, "
                f"gap {wording.gap(labels[key].statistical_parity)}"
            ),
            width=340,
        )
        model = ModelKey(method, strength, fold, seed)
        settings = settings_of(choice, model)
        ready = settings is not None and not download.needed(choice.dataset)
        # Links, for one Back from there leads to this curve: switching pages from here would leave three addresses.
        link = link_to(settings, OPENED_AS[method][0]) if settings else {}
        cells = "Its leaves" if method == "fairtree" else "Its prototypes"
        for page, label in (("playground", "In the playground"), ("prototypes", cells)):
            st.page_link(f"pages/{page}.py", label=label, query_params=link, disabled=not ready)
    if ready and (seconds := labels[fold, seed].seconds) >= LONG:
        st.caption(
            f"It is trained anew for that, with GLVQ beside it: training it took {seconds:.0f} s when the curve was "
            "computed. The page shows how far it is, and Cancel."
        )
    if settings is None:
        st.caption(f"The other pages cannot show {curve.label(method, strength)} on these data.")
    elif not ready:
        st.caption(f"Opening a model needs the people of {DATASETS[choice.dataset].title}, which are not here yet.")


menu.require_app()
main()
