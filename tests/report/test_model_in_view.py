"""What is exported of a model in view: report, script and model file say what the screen says."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from models import trained_view
from tables import people

from fairglvq import datasets
from fairglvq.datasets import table
from fairglvq.report import content, model_file, model_in_view, tree_file
from fairglvq.report.html import to_html
from fairglvq.report.model_file import ModelFileError
from fairglvq.scenes.settings import DEFAULTS, PARAMETERS, Fold, Settings, for_table
from fairglvq.scenes.sources import register, unregister
from fairglvq.tradeoff.choice import usual

GERMAN = Settings(dataset="german", C=1.0, prototypes=2, batch_size=100, epochs=6, seed=3)
METHODS = GERMAN.methods
OWN_PLANES = replace(GERMAN, metric="matrix", beside=("inp", "fairglvq", "paritylvq"))


@pytest.fixture(scope="module", params=[GERMAN, OWN_PLANES], ids=["plain", "own planes"])
def german(request):
    return trained_view(request.param)


@pytest.fixture(params=["glvq", "inp", "fairglvq", "paritylvq"])
def method(request, german):
    if request.param not in german.models:
        pytest.skip("ParityLVQ has a plane of its own")
    return request.param


def test_a_saved_model_decides_as_on_screen(german, method):
    saved = model_file.loads(model_file.dumps(model_in_view.saved_of(german, method)))
    decided = german.explained(method).decisions
    np.testing.assert_array_equal(saved.predict(german.data.X), decided)
    assert saved.scaling.apply(german.data.X).tobytes() == german.people.X.tobytes()
    assert saved.model.prototypes_.tobytes() == german.models[method].prototypes.tobytes()
    assert saved.fingerprint == german.data.fingerprint
    assert (saved.model.n_prototypes, saved.model.random_state) == (2, 3)


def test_an_opened_model_is_measured_on_everybody(german, method):
    saved = model_file.loads(model_file.dumps(model_in_view.saved_of(german, method)))
    explained = model_in_view.opened(saved, german.data)
    decided = german.explained(method).decisions
    np.testing.assert_allclose(explained.profiles, german.explained(method).profiles, atol=1e-9)
    np.testing.assert_array_equal(explained.decisions, decided)
    assert explained.score.n == 1000
    assert explained.score.accuracy == pytest.approx(np.mean(decided == german.data.y))
    with pytest.raises(ModelFileError, match="features"):
        model_in_view.opened(saved, datasets.load("xor", size=5))


def test_an_opened_model_does_not_mind_the_order_of_names(german, method):
    data = german.data
    turned = replace(
        data,
        class_names=dict(reversed(data.class_names.items())),
        group_names=dict(reversed(data.group_names.items())),
    )
    saved = model_file.loads(model_file.dumps(model_in_view.saved_of(german, method)))
    one, two = model_in_view.opened(saved, data), model_in_view.opened(saved, turned)
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
        pytest.param(replace(OWN_PLANES, bins=8), marks=pytest.mark.long),
        Settings(dataset="xor", prototypes=2, epochs=4, beside=("paritylvq",)),
        Settings(dataset="xor", metric="matrix", prototypes=2, epochs=4, beta=3.0, noise=1.2),
        replace(GERMAN, beside=("fairtree",), leaves=7, bins=8),
        Settings(dataset="xor", prototypes=2, epochs=4, beside=("fairtree",), leaves=5, held_out=0.0),
    ],
)
def test_the_script_prints_what_the_report_says(settings, capsys):
    view = trained_view(settings)
    for method in settings.methods:
        made = model_in_view.report_of(view, method, None, model_in_view.script_of(settings, method))
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
    made = model_in_view.report_of(trained_view(settings), method, None, model_in_view.script_of(settings, method))
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
    made = model_in_view.report_of(trained_view(settings), method, None, model_in_view.script_of(settings, method))
    printed = pd.read_csv(io.StringIO(numbers(made.script, capsys)), sep=r"\s+")
    assert printed["accuracy"][0] == pytest.approx(made.accuracy.value, abs=1e-6)
    assert printed["statistical_parity"][0] == pytest.approx(made.gaps[0].value, abs=1e-6)


def test_learned_planes_have_a_name_of_their_own_in_a_sweep():
    settings = replace(OWN_PLANES, fold=Fold(3, 1, 5))
    assert "'gmlvq': []" in model_in_view.script_of(settings, "glvq")
    assert "'fairgmlvq': [1.0]" in model_in_view.script_of(settings, "fairglvq")


@pytest.mark.parametrize("metric", ["matrix", "euclidean"])
def test_a_distance_is_called_learned_where_it_is(metric):
    settings = Settings(metric=metric, beside=("inp", "fairglvq", "paritylvq"))
    told = {method: model_in_view.settings_in_words(settings, method)["Distance"] for method in settings.methods}
    chosen = {"matrix": "Learned", "euclidean": "Plain"}[metric]
    assert told == {"glvq": chosen, "inp": "Plain", "fairglvq": chosen, "paritylvq": "Learned"}


def test_a_tree_is_told_by_its_own_settings():
    settings = replace(GERMAN, beside=("fairtree",), leaves=7)
    told = model_in_view.settings_in_words(settings, "fairtree")
    assert told == {
        "Fairness strength C": "1.0", "Leaves of the tree": "7", "Numbers also as ranges": "No",
        "Share held out": "20%", "Seed": "3",
    }  # fmt: skip
    assert "Leaves of the tree" not in model_in_view.settings_in_words(settings, "glvq")
    differs = model_in_view.curve_differs(usual("german"), settings, "fairtree")
    assert differs == ["Leaves of the tree: 20, here 7"]
    page = to_html(model_in_view.report_of(trained_view(settings), "fairtree"))
    assert "FairTree decides with 7 leaves of a tree" in page


def test_settings_are_told_as_the_controls_call_them(german):
    told = model_in_view.settings_in_words(GERMAN, "fairglvq")
    assert told["Fairness strength C"] == "1.0"
    assert told["Share held out"] == "20%"
    assert told["Step rule"] == "Algorithm 1"
    assert "Noise" not in told
    assert "Plane shown" not in told
    assert "Directions INP removes" not in told
    assert "Fairness strength C" not in model_in_view.settings_in_words(GERMAN, "glvq")
    inp = model_in_view.settings_in_words(Settings(), "inp")
    assert inp["Directions INP removes"] == "1"
    assert "Fairness strength C" not in inp


def test_a_report_says_in_what_the_curves_were_trained_otherwise():
    """Of what the method in view depends on: alpha is FairGLVQ's alone, and a learned metric knows no epochs."""
    choice = usual("adult")
    settings = replace(DEFAULTS["adult"], **{name: getattr(choice, name) for name in PARAMETERS}, bins=0)
    settings = replace(settings, metric="euclidean")
    assert model_in_view.curve_differs(choice, settings, "fairglvq") == []
    fewer = replace(settings, prototypes=5, epochs=30, alpha=7.0)
    told = model_in_view.curve_differs(choice, fewer, "fairglvq")
    assert f"Prototypes per class: {choice.prototypes}, here 5" in told
    assert f"Epochs: {choice.epochs}, here 30" in told
    assert len(told) == 3
    assert len(model_in_view.curve_differs(choice, fewer, "glvq")) == 2
    learned = model_in_view.curve_differs(choice, replace(fewer, metric="matrix"), "glvq")
    assert learned[0].startswith("they measure all columns alike")
    assert len(learned) == 2


def test_what_was_done_by_hand_has_no_script():
    settings = Settings(prototypes=2, epochs=3, erased=(0, 1))
    assert model_in_view.script_of(settings, "glvq") == ""
    made = model_in_view.report_of(trained_view(settings), "glvq", None, "")
    assert "There is no script to reproduce this: points were erased by hand." in made.caveats


def test_the_report_reads_and_loads(german):
    made = model_in_view.report_of(german, "fairglvq", None, "")
    assert "German Credit" in to_html(made)
    assert json.loads(content.to_json(made))["n_measured"] == int(german.people.measured.sum())


def test_a_tree_of_a_table_of_ones_own():
    """Rules in the visitor's own columns, in the report and in both files; names stay text."""
    frame = people().rename(columns={"height": "<b>height</b>"})
    plan = table.with_protected(frame, table.with_target(frame, table.guess(frame), "hired"), "sex")
    data = table.build(frame, plan)
    settings = replace(for_table(register(data), data), beside=("fairtree",), leaves=4, C=0.0, prototypes=1, epochs=5)
    view = trained_view(settings)
    rules = view.tree("fairtree").rules
    assert any("<b>height</b>" in rule or "town" in rule or "age" in rule for rule in rules)
    page = to_html(model_in_view.report_of(view, "fairtree"))
    assert "<b>height" not in page
    whole = json.loads(tree_file.dumps(view.tree("fairtree"), data, view.points.scaling, {}))
    assert whole["classes"] == ["no", "yes"]
    told = tree_file.to_text(view.tree("fairtree"), data, view.points.scaling)
    assert told.count("class:") == len(rules)
    unregister(data)
