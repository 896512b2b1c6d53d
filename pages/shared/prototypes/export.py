"""Export of the model in view as report and model file, and import of model files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import explain
from fairglvq.datasets import Dataset
from fairglvq.datasets.split import Scaling
from fairglvq.explain.people import positions, scaled_population
from fairglvq.explain.view import View
from fairglvq.report import content, model_file, scripts, tree_file
from fairglvq.report.html import to_html
from fairglvq.report.model_file import ModelFileError, Projection, SavedModel
from fairglvq.scenes.own_plane import RANK
from fairglvq.scenes.scene import TITLES
from fairglvq.scenes.settings import DEFAULTS, FIELDS, TABLE, Settings
from fairglvq.scenes.training import start_rule
from fairglvq.tradeoff.choice import SHARED, Choice
from fairglvq.tradeoff.choice import usual as usual_choice
from fairglvq.tradeoff.scenario import Scenario
from pages.shared import safe_text
from pages.shared.tradeoff.scenarios import kept_for
from pages.shared.visit import visit

ESTIMATORS = {
    "glvq": "GLVQ", "inp": "GLVQ", "fairglvq": "FairGLVQ", "paritylvq": "ParityLVQ", "fairtree": "FairTree",
}  # fmt: skip
ONLY = {
    "C": ("fairglvq", "fairtree"), "alpha": ("fairglvq",), "projections": ("inp",), "max_gap": ("paritylvq",),
    "leaves": ("fairtree",),
}  # fmt: skip
"""Settings that only some methods have."""
OF_TREES = ("C", "leaves", "held_out", "noise", "bias", "seed", "bins")  # all settings that a tree depends on
STEPWISE = ("batch_size", "learning_rate", "epochs", "step")  # settings of training without a learned metric
NOT_TRAINED = ("dataset", "plane", "beside")  # settings that say nothing about any model


def offer(view: View, method: str) -> None:
    """Buttons that export the model in view, and a place to open an exported one."""
    box = st.expander("Export this model, or open a model file", key="model_export", on_change="rerun")
    if not box.open:
        return
    # What hangs on the visit is asked for here: the files themselves are made when a button is pressed, outside of it.
    curve, script = _curve(view.settings), script_of(view.settings, method)
    weighed = kept_for(view.settings.dataset, view.settings.table)
    made = partial(report_of, view, method, curve, script, weighed)
    name = f"fairglvq-{view.settings.dataset}-{method}"
    with box:
        st.html(safe_text.STYLE)
        with st.container(horizontal=True):
            st.download_button(
                "Report (HTML)", lambda: to_html(made()), f"{name}.html", "text/html", on_click="ignore", key="e_html",
                help="One file to read, print or send; it needs no program and no network.",
            )  # fmt: skip
            st.download_button(
                "Report (JSON)", lambda: content.to_json(made()), f"{name}-report.json", "application/json",
                on_click="ignore", key="e_json", help="The same numbers for programs.",
            )  # fmt: skip
            if method in view.models:
                st.download_button(
                    "Model (JSON)", lambda: model_file.dumps(saved_of(view, method)), f"{name}-model.json",
                    "application/json", on_click="ignore", key="e_model",
                    help="Prototypes, scaling and names with all digits. It can be opened below, or with the library.",
                )  # fmt: skip
            else:
                _offer_tree(view, method, name)
        file = st.file_uploader("Open a model file and measure it on the data in view", type="json", key="e_open")
        if file is not None:
            _show_opened(file.getvalue(), view)


def _offer_tree(view: View, method: str, name: str) -> None:
    own = view.tree(method), view.data, view.points.scaling
    chosen = parameters(view.settings, method)
    st.download_button(
        "Tree (JSON)", lambda: tree_file.dumps(*own, chosen), f"{name}-tree.json", "application/json",
        on_click="ignore", key="e_tree", help="Questions, leaves and borders in the units of the data, for programs.",
    )  # fmt: skip
    st.download_button(
        "Tree (text)", lambda: tree_file.to_text(*own), f"{name}-tree.txt", "text/plain", on_click="ignore",
        key="e_tree_text", help="A line per question and leaf, to read.",
    )  # fmt: skip


def _show_opened(file: bytes, view: View) -> None:
    try:
        saved = model_file.loads(file)
        explained = opened(saved, view.data)
    except ModelFileError as problem:
        safe_text.say(str(problem), "box wrong")
        return
    same = saved.fingerprint == view.data.fingerprint
    known = "It was trained on these data, so some of these people it has seen." if same else (
        "It was trained on other data with the same columns."
    )  # fmt: skip
    made = content.make(
        explained, view.data, method=_method(saved), settings=_parameters_in_words(saved),
        measured=f"all {explained.score.n:,} people of the data", who=view.who, made=_today(),
        caveats=[f"An opened model. {known}"],
    )  # fmt: skip
    safe_text.say(content.words(made), "box")
    safe_text.say(f"Measured on all {explained.score.n:,} people. {known}", "small")
    st.download_button(
        "Its report (HTML)", lambda: to_html(made), "fairglvq-opened.html", "text/html", on_click="ignore",
        key="e_opened",
    )  # fmt: skip


# ---- export ----


def report_of(
    view: View, method: str, curve: Curve | None = None, script: str = "", scenarios: Sequence[Scenario] = ()
) -> content.Report:
    """The report of the model in view."""
    settings = view.settings
    return content.make(
        view.cells(method),
        view.data,
        method=TITLES[method],
        settings=settings_in_words(settings, method),
        measured=view.measured_words,
        who=view.who,
        baseline=("GLVQ", view.explained("glvq")) if method != "glvq" and "glvq" in view.models else None,
        curve=None if curve is None else curve.rows,
        curve_differs=None if curve is None else curve_differs(curve.choice, settings, method),
        scenarios=scenarios,
        script=script,
        made=_today(),
        caveats=_about(settings),
    )


def saved_of(view: View, method: str) -> SavedModel:
    """The model in view with its scaling."""
    model = view.models[method]
    classes, groups = list(view.data.class_names), list(view.data.group_names)
    fitted = model_file.assemble(
        ESTIMATORS[method],
        parameters(view.settings, method),
        prototypes=model.prototypes,
        classes=classes,
        groups=groups,
        omega=model.omega,
        handicaps=model.handicaps,
        pseudo=np.zeros(len(model.labels), int) if model.pseudo is None else model.pseudo,
        epochs=view.settings.epochs,
    )
    projection = None
    if model.matrix is not None and model.shift is not None:
        projection = Projection(model.matrix, model.shift)
    return SavedModel.of(fitted, view.data, scaling=view.points.scaling, projection=projection)


def parameters(settings: Settings, method: str) -> dict[str, Any]:
    """The estimator's parameters that train what these settings train."""
    if method == "fairtree":
        return {"max_leaves": settings.leaves, "C": settings.C}
    own = {"C": settings.C, "alpha": settings.alpha} if method == "fairglvq" else {}
    found: dict[str, Any] = {"n_prototypes": settings.prototypes, "random_state": settings.seed}
    if method == "paritylvq":
        return found | {"max_gap": settings.max_gap}
    if settings.in_own_plane(method):
        return found | {"metric": "matrix", "rank": RANK, "beta": settings.beta} | own
    found = {
        "n_prototypes": settings.prototypes,
        "learning_rate": settings.learning_rate,
        "max_epochs": settings.epochs,
        "batch_size": settings.batch_size,
        "beta": settings.beta,
        "step": settings.step,
        "shuffle": settings.step == "algorithm",
        "random_state": settings.seed,
    }
    if method != "fairglvq" and start_rule(settings, method) == "shared-kmeans":  # FairGLVQ's default
        found["init"] = "shared-kmeans"
    return found | own


def settings_in_words(settings: Settings, method: str) -> dict[str, str]:
    """Every setting that the model depends on, as the controls call it."""
    found = {}
    for name, field in FIELDS.items():
        own = name == "projections" and method == "inp"  # also where it is not offered, and always 1
        if name in NOT_TRAINED or not _has(method, name) or not (own or field.applies(settings)):
            continue
        if settings.in_own_plane(method) and (name in STEPWISE or (name == "beta" and method == "paritylvq")):
            continue
        value = getattr(settings, name)
        if name == "metric":  # some methods always learn their distance, and one on drawn data never does
            value = "matrix" if settings.in_own_plane(method) else "euclidean"
        if not (name == "held_out" and settings.fold):
            found[field.label] = field.worded(value)
    if settings.fold:
        folds, fold, seed = settings.fold
        found["Test fold"] = f"{fold + 1} of {folds}, seed {seed}"
    return found


def _has(method: str, setting: str) -> bool:
    """Whether a method depends on a setting at all."""
    return method in ONLY.get(setting, (method,)) and (method != "fairtree" or setting in OF_TREES)


def script_of(settings: Settings, method: str) -> str:
    """A Python script that prints the numbers; none where points were painted or prototypes moved by hand."""
    if settings.painted or settings.erased or settings.start:
        return ""
    load = _load(settings)
    if not load:
        return ""
    chosen = parameters(settings, method)
    projections = settings.projections if method == "inp" else 0
    if settings.fold is None:
        share, seed = settings.held_out, settings.seed
        return scripts.model(load, ESTIMATORS[method], chosen, held_out=share, seed=seed, projections=projections)
    folds, fold, seed = settings.fold
    params = {name: value for name, value in chosen.items() if name not in ("C", "max_gap", "random_state")}
    return scripts.sweep(load, _on_curve(settings, method), folds=folds, seeds=[seed], params=params, fold=fold)


def _on_curve(settings: Settings, method: str) -> dict[str, list[float]]:
    """What a model is called in a sweep, and its strength there."""
    learned = method in ("glvq", "fairglvq") and settings.in_own_plane(method)
    name = {"glvq": "gmlvq", "fairglvq": "fairgmlvq"}[method] if learned else method
    strengths = {
        "inp": [float(settings.projections)], "fairglvq": [settings.C], "fairtree": [settings.C],
        "paritylvq": [round(1 - settings.max_gap, 10)],
    }  # fmt: skip
    return {name: strengths.get(method, [])}


def _load(settings: Settings) -> str:
    if settings.dataset == TABLE:
        return visit().table.script
    own: dict[str, Any] = {"noise": settings.noise, "bias": settings.bias, "seed": settings.seed}
    if settings.real:
        own = {"bins": settings.bins} if settings.bins else {}
    return scripts.load_dataset(settings.dataset, **own)


def _about(settings: Settings) -> list[str]:
    hand = [
        words
        for given, words in (
            (settings.painted, "points were painted by hand"),
            (settings.erased, "points were erased by hand"),
            (settings.start, "prototypes were moved by hand before training"),
        )
        if given
    ]
    return [f"There is no script to reproduce this: {', and '.join(hand)}."] if hand else []


class Curve(NamedTuple):
    """Rows of the trade-off page, and what they are of."""

    choice: Choice
    rows: pd.DataFrame


def curve_differs(choice: Choice, settings: Settings, method: str) -> list[str]:
    """In what the models of a curve were trained otherwise than the model in view: "Epochs: 500, here 30"."""
    told, own_plane = [], settings.in_own_plane(method)
    if own_plane:
        told.append("they measure all columns alike, this one has learned by which directions to decide")
    for name in (*SHARED, "bins"):
        theirs, ours, field = getattr(choice, name), getattr(settings, name), FIELDS[name]
        applies = _has(method, name) and not (own_plane and name in (*STEPWISE, "beta"))
        if applies and theirs != ours:
            told.append(f"{field.label}: {field.named(theirs)}, here {field.named(ours)}")
    return told


def _curve(settings: Settings) -> Curve | None:
    """Rows of the trade-off page about the same data: of the curve in view there, or else of the one it starts with."""
    usual = DEFAULTS[settings.dataset]
    as_drawn = usual.real or (settings.noise, settings.bias) == (usual.noise, usual.bias)
    if not as_drawn or settings.painted or settings.erased:
        return None
    from pages.shared.tradeoff import results

    choice = visit().curve.choice
    if choice is None or choice.dataset != settings.dataset or choice.table != settings.table:
        if settings.dataset == TABLE:
            return None
        choice = usual_choice(settings.dataset)
    rows = results.collect(choice).rows
    return None if rows.empty else Curve(choice, rows)


def _today() -> str:
    today = date.today()
    return f"{today.day} {today:%B %Y}"


# ---- import ----


def opened(saved: SavedModel, data: Dataset) -> explain.Explained:
    """A saved model with everybody of a data set in their cells, measured on all of them."""
    saved.check_fits(data)
    classes, groups = list(data.class_names), list(data.group_names)
    model = saved.model
    if set(model.classes_.tolist()) != set(classes):
        raise ModelFileError(f"The model decides between {len(model.classes_)} outcomes that these data do not have.")
    people = scaled_population(data, saved.scaling or Scaling.identity(data.X.shape[1]))
    pseudo = None
    if model.pseudo_classes_ is not None and model.groups_ is not None and set(model.groups_.tolist()) == set(groups):
        pseudo = positions(model.pseudo_classes_, groups)
    labels = positions(model.cell_labels_, classes)
    seen = (None, None) if saved.projection is None else (saved.projection.matrix, saved.projection.shift)
    learned = {name: getattr(model, f"{name}_", None) for name in ("omega", "handicaps")}
    return explain.explain(people, explain.PrototypeModel(model.prototypes_, labels, pseudo, *seen, **learned))


def _method(saved: SavedModel) -> str:
    """What an opened model is called."""
    name = type(saved.model).__name__
    return name if saved.projection is None else f"INP + {name}"


def _parameters_in_words(saved: SavedModel) -> dict[str, str]:
    return {name: str(value) for name, value in saved.model.get_params(deep=False).items() if name != "init"}
