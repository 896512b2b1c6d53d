"""What the pages export of a model in view: report, script and model file say what the screen says."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from tables import people

from fairglvq import datasets
from fairglvq.datasets import table
from fairglvq.explain.view import make_view
from fairglvq.report import content, model_file, tree_file
from fairglvq.report.html import to_html
from fairglvq.report.model_file import ModelFileError
from fairglvq.scenes import scene
from fairglvq.scenes.points import load_points
from fairglvq.scenes.settings import DEFAULTS, Fold, Point, Settings, for_table
from fairglvq.scenes.sources import dataset_of, lend, take_back
from fairglvq.scenes.training import train_part
from fairglvq.tradeoff.choice import PARAMETERS, usual
from pages.shared.prototypes import export

GERMAN = Settings(dataset="german", C=1.0, prototypes=2, batch_size=100, epochs=6, seed=3)
METHODS = GERMAN.methods
OWN_PLANES = replace(GERMAN, metric="matrix", beside=("inp", "fairglvq", "paritylvq"))


def view_of(settings):
    points = load_points(settings)
    trained = {m: train_part(settings, points, m, lambda share: None) for m in settings.methods}
    shown = scene.compose(settings, points, trained)
    return make_view(settings, dataset_of(settings), shown)


@pytest.fixture(scope="module", params=[GERMAN, OWN_PLANES], ids=["plain", "own planes"])
def german(request):
    return view_of(request.param)


@pytest.fixture(params=["glvq", "inp", "fairglvq", "paritylvq"])
def method(request, german):
    if request.param not in german.models:
        pytest.skip("ParityLVQ has a plane of its own")
    return request.param


def test_a_saved_model_decides_as_on_screen(german, method):
    saved = model_file.loads(model_file.dumps(export.saved_of(german, method)))
    decided = german.explained(method).decisions
    np.testing.assert_array_equal(saved.predict(german.data.X), decided)
    assert saved.scaling.apply(german.data.X).tobytes() == german.people.X.tobytes()
    assert saved.model.prototypes_.tobytes() == german.models[method].prototypes.tobytes()
    assert saved.fingerprint == german.data.fingerprint
    assert (saved.model.n_prototypes, saved.model.random_state) == (2, 3)


def test_an_opened_model_is_measured_on_everybody(german, method):
    saved = model_file.loads(model_file.dumps(export.saved_of(german, method)))
    explained = export.opened(saved, german.data)
    decided = german.explained(method).decisions
    np.testing.assert_allclose(explained.profiles, german.explained(method).profiles, atol=1e-9)
    np.testing.assert_array_equal(explained.decisions, decided)
    assert explained.score.n == 1000
    assert explained.score.accuracy == pytest.approx(np.mean(decided == german.data.y))
    with pytest.raises(ModelFileError, match="features"):
        export.opened(saved, datasets.load("xor", size=5))


def test_an_opened_model_does_not_mind_the_order_of_names(german, method):
    data = german.data
    turned = replace(
        data,
        class_names=dict(reversed(data.class_names.items())),
        group_names=dict(reversed(data.group_names.items())),
    )
    saved = model_file.loads(model_file.dumps(export.saved_of(german, method)))
    one, two = export.opened(saved, data), export.opened(saved, turned)
    assert two.people.classes == one.people.classes[::-1]
    np.testing.assert_array_equal(two.decisions, 1 - one.decisions)
    assert two.score.accuracy == one.score.accuracy
    assert two.score.statistical_parity == pytest.approx(one.score.statistical_parity)
    if one.model.pseudo is None:
        assert two.model.pseudo is None
    else:
        np.testing.assert_array_equal(two.model.pseudo, 1 - one.model.pseudo)


def numbers(program, capsys):
    exec(program, {})
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "settings",
    [
        GERMAN,
        Settings(dataset="german", prototypes=2, batch_size=100, epochs=4, step="published", held_out=0.0),
        Settings(dataset="xor", noise=1.2, bias=0.5, prototypes=2, epochs=4, beta=3.0, seed=7),
        replace(OWN_PLANES, bins=8),
        Settings(dataset="xor", prototypes=2, epochs=4, beside=("paritylvq",)),
        Settings(dataset="xor", metric="matrix", prototypes=2, epochs=4, beta=3.0, noise=1.2),
        replace(GERMAN, beside=("fairtree",), leaves=7, bins=8),
        Settings(dataset="xor", prototypes=2, epochs=4, beside=("fairtree",), leaves=5, held_out=0.0),
    ],
)
def test_the_script_prints_what_the_report_says(settings, capsys):
    view = view_of(settings)
    for method in settings.methods:
        made = export.report_of(view, method, None, export.script_of(settings, method))
        assert numbers(made.script, capsys).splitlines() == [
            f"accuracy {made.accuracy.value:.6f}",
            f"statistical parity gap {made.gaps[0].value:.6f}",
            f"equal opportunity gap {made.gaps[1].value:.6f}",
        ]


@pytest.mark.parametrize("method", METHODS)
def test_the_script_of_a_fold(method, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "store.sqlite"))
    fold = Fold(3, 1, 5)
    settings = Settings(dataset="german", C=1.0, prototypes=2, batch_size=100, epochs=4, projections=5, fold=fold)
    made = export.report_of(view_of(settings), method, None, export.script_of(settings, method))
    printed = pd.read_csv(io.StringIO(numbers(made.script, capsys)), sep=r"\s+")
    assert printed["accuracy"][0] == pytest.approx(made.accuracy.value, abs=1e-6)
    assert printed["statistical_parity"][0] == pytest.approx(made.gaps[0].value, abs=1e-6)
    assert made.settings["Test fold"] == "2 of 3, seed 5"
    assert "Share held out" not in made.settings


@pytest.mark.parametrize(("method", "dataset"), [("fairtree", "german"), ("paritylvq", "xor")])
def test_the_script_of_a_fold_of_methods_without_epochs(method, dataset, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "store.sqlite"))
    own = {"metric": "matrix", "leaves": 6, "max_gap": 0.1, "prototypes": 1, "beside": (method,)}
    settings = replace(DEFAULTS[dataset], **own, fold=Fold(2, 1, 0), epochs=10)
    made = export.report_of(view_of(settings), method, None, export.script_of(settings, method))
    printed = pd.read_csv(io.StringIO(numbers(made.script, capsys)), sep=r"\s+")
    assert printed["accuracy"][0] == pytest.approx(made.accuracy.value, abs=1e-6)
    assert printed["statistical_parity"][0] == pytest.approx(made.gaps[0].value, abs=1e-6)


def test_learned_planes_have_a_name_of_their_own_in_a_sweep():
    settings = replace(OWN_PLANES, fold=Fold(3, 1, 5))
    assert "'gmlvq': []" in export.script_of(settings, "glvq")
    assert "'fairgmlvq': [1.0]" in export.script_of(settings, "fairglvq")


@pytest.mark.parametrize("metric", ["matrix", "euclidean"])
def test_a_distance_is_called_learned_where_it_is(metric):
    settings = Settings(metric=metric, beside=("inp", "fairglvq", "paritylvq"))
    told = {method: export.settings_in_words(settings, method)["Distance"] for method in settings.methods}
    chosen = {"matrix": "Learned", "euclidean": "Plain"}[metric]
    assert told == {"glvq": chosen, "inp": "Plain", "fairglvq": chosen, "paritylvq": "Learned"}


def test_a_tree_is_told_by_its_own_settings():
    settings = replace(GERMAN, beside=("fairtree",), leaves=7)
    told = export.settings_in_words(settings, "fairtree")
    assert told == {
        "Fairness strength C": "1.0", "Leaves of the tree": "7", "Numbers also as ranges": "No",
        "Share held out": "20%", "Seed": "3",
    }  # fmt: skip
    assert "Leaves of the tree" not in export.settings_in_words(settings, "glvq")
    differs = export.curve_differs(usual("german"), settings, "fairtree")
    assert differs == ["Leaves of the tree: 20, here 7"]
    page = to_html(export.report_of(view_of(settings), "fairtree"))
    assert "FairTree decides with 7 leaves of a tree" in page


def test_settings_are_told_as_the_controls_call_them(german):
    told = export.settings_in_words(GERMAN, "fairglvq")
    assert told["Fairness strength C"] == "1.0"
    assert told["Share held out"] == "20%"
    assert told["Step rule"] == "Algorithm 1"
    assert "Noise" not in told
    assert "Plane shown" not in told
    assert "Directions INP removes" not in told
    assert "Fairness strength C" not in export.settings_in_words(GERMAN, "glvq")
    inp = export.settings_in_words(Settings(), "inp")
    assert inp["Directions INP removes"] == "1"
    assert "Fairness strength C" not in inp


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        (Settings(dataset="xor"), True),
        (Settings(dataset="xor", noise=1.7), False),
        (Settings(dataset="xor", painted=(Point(0.1, 0.2, 0, 1),)), False),
        (Settings(dataset="table"), False),
    ],
)
def test_a_report_has_the_curve_of_its_data(settings, known):
    """Also before the trade-off page was opened, but never that of other points."""
    curve = export._curve(settings)
    assert (curve is not None) == known
    if known:
        assert {"glvq", "inp", "fairglvq"} <= set(curve.rows["method"])


def test_a_report_says_in_what_the_curves_were_trained_otherwise():
    """Of what the method in view depends on: alpha is FairGLVQ's alone, and a learned metric knows no epochs."""
    choice = usual("adult")
    settings = replace(DEFAULTS["adult"], **{name: getattr(choice, name) for name in PARAMETERS}, bins=0)
    settings = replace(settings, metric="euclidean")
    assert export.curve_differs(choice, settings, "fairglvq") == []
    fewer = replace(settings, prototypes=5, epochs=30, alpha=7.0)
    told = export.curve_differs(choice, fewer, "fairglvq")
    assert f"Prototypes per class: {choice.prototypes}, here 5" in told
    assert f"Epochs: {choice.epochs}, here 30" in told
    assert len(told) == 3
    assert len(export.curve_differs(choice, fewer, "glvq")) == 2
    learned = export.curve_differs(choice, replace(fewer, metric="matrix"), "glvq")
    assert learned[0].startswith("they measure all columns alike")
    assert len(learned) == 2


def test_what_was_done_by_hand_has_no_script():
    settings = Settings(prototypes=2, epochs=3, erased=(0, 1))
    assert export.script_of(settings, "glvq") == ""
    made = export.report_of(view_of(settings), "glvq", None, "")
    assert "There is no script to reproduce this: points were erased by hand." in made.caveats


def page(content=None):
    """A page that only offers the model of a small training."""
    import streamlit as st

    from pages.shared.prototypes import export
    from tests.pages.test_export import GERMAN, view_of

    @st.cache_resource
    def view():
        return view_of(GERMAN)

    export.offer(view(), "fairglvq")


def test_the_buttons_and_the_import(german, monkeypatch):
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["model_export"] = True
    at.run()
    assert not at.exception
    assert [button.label for button in at.get("download_button")] == ["Report (HTML)", "Report (JSON)", "Model (JSON)"]
    content = model_file.dumps(export.saved_of(german, "fairglvq")).encode()
    at.file_uploader(key="e_open").set_value(("model.json", content, "application/json")).run()
    assert not at.exception
    said = " ".join(element.proto.body for element in at.get("html"))
    assert "Measured on all 1,000 people. It was trained on these data" in said
    assert "decides with 4 prototypes" in said
    broken = json.loads(content)
    broken["prototypes"][0][0] = "<b>x</b>"
    at.file_uploader(key="e_open").set_value(("model.json", json.dumps(broken).encode(), "application/json")).run()
    assert not at.exception
    said = " ".join(element.proto.body for element in at.get("html"))
    assert "“prototypes[0]” must hold finite numbers" in said
    assert "<b>" not in said


def test_the_report_of_the_page_reads_and_loads(german):
    made = export.report_of(german, "fairglvq", None, "")
    assert "German Credit" in to_html(made)
    assert json.loads(content.to_json(made))["n_measured"] == int(german.people.measured.sum())


def test_a_tree_of_a_table_of_ones_own():
    """Rules in the visitor's own columns, in the report and in both files; names stay text."""
    frame = people().rename(columns={"height": "<b>height</b>"})
    plan = table.with_protected(frame, table.with_target(frame, table.guess(frame), "hired"), "sex")
    data = table.build(frame, plan)
    settings = replace(for_table(lend(data), data), beside=("fairtree",), leaves=4, C=0.0, prototypes=1, epochs=5)
    view = view_of(settings)
    rules = view.tree("fairtree").rules
    assert any("<b>height</b>" in rule or "town" in rule or "age" in rule for rule in rules)
    page = to_html(export.report_of(view, "fairtree"))
    assert "<b>height" not in page
    whole = json.loads(tree_file.dumps(view.tree("fairtree"), data, view.points.scaling, {}))
    assert whole["classes"] == ["no", "yes"]
    told = tree_file.to_text(view.tree("fairtree"), data, view.points.scaling)
    assert told.count("class:") == len(rules)
    take_back(data)
