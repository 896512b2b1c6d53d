"""The model in view outside of the app: as report, script and saved model; and a saved model opened again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairglvq import explain
from fairglvq.datasets import Dataset
from fairglvq.datasets.split import Scaling
from fairglvq.explain.people import scaled_population
from fairglvq.explain.view import View
from fairglvq.report import content, model_file, scripts
from fairglvq.report.model_file import ModelFileError, Projection, SavedModel
from fairglvq.scenes.own_plane import RANK
from fairglvq.scenes.scene import TITLES
from fairglvq.scenes.settings import FIELDS, KNOBS, PARAMETERS, TABLE, Settings
from fairglvq.scenes.training import start_rule
from fairglvq.tradeoff.choice import Choice
from fairglvq.tradeoff.scenario import Scenario

ESTIMATORS = {
    "glvq": "GLVQ", "inp": "GLVQ", "fairglvq": "FairGLVQ", "paritylvq": "ParityLVQ", "fairtree": "FairTree",
}  # fmt: skip
NOT_TRAINED = ("dataset", "plane", "beside")  # settings that say nothing about any model


class Curve(NamedTuple):
    """Rows of the trade-off page, and what they are of."""

    choice: Choice
    rows: pd.DataFrame


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
        made=today(),
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
    found = settings.parameters(name for name in PARAMETERS if FIELDS[name].concerns(settings, method))
    if method in KNOBS:
        found[KNOBS[method]] = getattr(settings, KNOBS[method])
    if method == "fairtree":
        return found
    found["random_state"] = settings.seed
    if method == "paritylvq":
        return found
    if settings.in_own_plane(method):
        return found | {"metric": "matrix", "rank": RANK}
    if method != "fairglvq" and start_rule(settings, method) == "shared-kmeans":  # FairGLVQ's default
        found["init"] = "shared-kmeans"
    return found


def settings_in_words(settings: Settings, method: str) -> dict[str, str]:
    """Every setting that the model depends on, as the controls call it."""
    found = {}
    for name, field in FIELDS.items():
        offered = field.applies(settings) or name == "projections"  # that one is always 1 where it is not offered
        if name in NOT_TRAINED or not offered or not field.concerns(settings, method):
            continue
        value = getattr(settings, name)
        if name == "metric":  # some methods always learn their distance, and one on drawn data never does
            value = "matrix" if settings.in_own_plane(method) else "euclidean"
        if not (name == "held_out" and settings.fold):
            found[field.label] = field.worded(value)
    if settings.fold:
        found["Test fold"] = settings.fold.words
    return found


def script_of(settings: Settings, method: str, load_table: str = "") -> str:
    """A Python script that prints the numbers; none where points were painted or prototypes moved by hand.

    ``load_table`` are the lines that read a visitor's own table.
    """
    load = load_table if settings.dataset == TABLE else _load(settings)
    if settings.painted or settings.erased or settings.start or not load:
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


def curve_differs(choice: Choice, settings: Settings, method: str) -> list[str]:
    """In what the models of a curve were trained otherwise than the model in view: "Epochs: 500, here 30"."""
    differences, own_plane = [], settings.in_own_plane(method)
    if own_plane:
        differences.append("they measure all columns alike, this one has learned by which directions to decide")
    for name in (*PARAMETERS, "bins"):
        theirs, ours, field = getattr(choice, name), getattr(settings, name), FIELDS[name]
        applies = field.concerns(settings, method) and not (own_plane and name == "beta")
        if applies and theirs != ours:
            differences.append(f"{field.label}: {field.named(theirs)}, here {field.named(ours)}")
    return differences


def today() -> str:
    """The date in words: "1 May 2026"."""
    now = date.today()
    return f"{now.day} {now:%B %Y}"


def opened(saved: SavedModel, data: Dataset) -> explain.Explained:
    """A saved model with everybody of a data set in their cells, measured on all of them."""
    saved.check_fits(data)
    classes, groups = list(data.class_names), list(data.group_names)
    model = saved.model
    if set(model.classes_.tolist()) != set(classes):
        raise ModelFileError(f"The model decides between {len(model.classes_)} outcomes that these data do not have.")
    people = scaled_population(data, saved.scaling or Scaling.identity(data.X.shape[1]))
    seen = (None, None) if saved.projection is None else (saved.projection.matrix, saved.projection.shift)
    return explain.explain(people, explain.PrototypeModel.of(model, classes, groups, *seen))


def method_of(saved: SavedModel) -> str:
    """What an opened model is called."""
    name = type(saved.model).__name__
    return name if saved.projection is None else f"INP + {name}"


def parameters_in_words(saved: SavedModel) -> dict[str, str]:
    """The parameters of an opened model; a start given as an array would be too long to read."""
    return {name: str(value) for name, value in saved.model.get_params(deep=False).items() if name != "init"}
