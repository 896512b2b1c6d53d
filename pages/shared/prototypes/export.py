"""Export of the model in view as report and model file, and import of model files."""

from __future__ import annotations

from functools import partial

import streamlit as st

from fairglvq.explain.view import View
from fairglvq.report import content, model_file, model_in_view, tree_file
from fairglvq.report.html import to_html
from fairglvq.report.model_file import ModelFileError
from fairglvq.report.model_in_view import Curve
from fairglvq.scenes.settings import DEFAULTS, TABLE, Settings
from fairglvq.tradeoff.choice import usual as usual_choice
from pages.shared import safe_text
from pages.shared.tradeoff import results
from pages.shared.tradeoff.scenarios import kept_for
from pages.shared.visit import visit
from pages.shared.widgets import download


def offer(view: View, method: str) -> None:
    """Buttons that export the model in view, and a place to open an exported one."""
    box = st.expander("Export this model, or open a model file", key="model_export", on_change="rerun")
    if not box.open:
        return
    # What depends on the visit is read here: the files are made when a button is pressed, outside of it.
    curve, script = curve_for(view.settings), model_in_view.script_of(view.settings, method, visit().table.script)
    scenarios = kept_for(view.settings.dataset, view.settings.table)
    made = partial(model_in_view.report_of, view, method, curve, script, scenarios)
    name = f"fairglvq-{view.settings.dataset}-{method}"
    with box:
        st.html(safe_text.STYLE)
        with st.container(horizontal=True):
            download(
                "Report (HTML)", lambda: to_html(made()), f"{name}.html", "text/html", key="e_html",
                help="One file to read, print or send; it needs no program and no network.",
            )  # fmt: skip
            download(
                "Report (JSON)", lambda: content.to_json(made()), f"{name}-report.json", "application/json",
                key="e_json", help="The same numbers for programs.",
            )  # fmt: skip
            if method in view.models:
                download(
                    "Model (JSON)", lambda: model_file.dumps(model_in_view.saved_of(view, method)),
                    f"{name}-model.json", "application/json", key="e_model",
                    help="Prototypes, scaling and names with all digits. It can be opened below, or with the library.",
                )  # fmt: skip
            else:
                _offer_tree(view, method, name)
        file = st.file_uploader("Open a model file and measure it on the data in view", type="json", key="e_open")
        if file is not None:
            _show_opened(file.getvalue(), view)


def _offer_tree(view: View, method: str, name: str) -> None:
    own = view.tree(method), view.data, view.points.scaling
    chosen = model_in_view.parameters(view.settings, method)
    download(
        "Tree (JSON)", lambda: tree_file.dumps(*own, chosen), f"{name}-tree.json", "application/json", key="e_tree",
        help="Questions, leaves and borders in the units of the data, for programs.",
    )  # fmt: skip
    download(
        "Tree (text)", lambda: tree_file.to_text(*own), f"{name}-tree.txt", "text/plain", key="e_tree_text",
        help="A line per question and leaf, to read.",
    )  # fmt: skip


def _show_opened(file: bytes, view: View) -> None:
    try:
        saved = model_file.loads(file)
        explained = model_in_view.opened(saved, view.data)
    except ModelFileError as problem:
        safe_text.write(str(problem), "box wrong")
        return
    known = "It was trained on other data with the same columns."
    if saved.fingerprint == view.data.fingerprint:
        known = "It was trained on these data, so it has already seen some of these people."
    made = content.make(
        explained, view.data, method=model_in_view.method_of(saved), settings=model_in_view.parameters_in_words(saved),
        measured=f"all {explained.score.n:,} people of the data", who=view.who, made=model_in_view.today(),
        caveats=[f"An opened model. {known}"],
    )  # fmt: skip
    safe_text.write(content.words(made), "box")
    safe_text.write(f"Measured on all {explained.score.n:,} people. {known}", "small")
    download("Its report (HTML)", lambda: to_html(made), "fairglvq-opened.html", "text/html", key="e_opened")


def curve_for(settings: Settings) -> Curve | None:
    """Rows of the trade-off page about the same data: of the curve in view there, or else of the one it starts with."""
    usual = DEFAULTS[settings.dataset]
    as_drawn = usual.real or (settings.noise, settings.bias) == (usual.noise, usual.bias)
    if not as_drawn or settings.painted or settings.erased:
        return None
    choice = visit().curve.choice
    if choice is None or choice.dataset != settings.dataset or choice.table != settings.table:
        if settings.dataset == TABLE:
            return None
        choice = usual_choice(settings.dataset)
    rows = results.collect(choice).rows
    return None if rows.empty else Curve(choice, rows)
