"""The trade-off page's choice: its sweep, its link, typed strengths, and the model behind a point."""

import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest
from browser import ROOT

from fairglvq import datasets
from fairglvq.datasets import DATASETS
from fairglvq.experiments import bundle, evaluation, methods, paper, sweep
from fairglvq.experiments.engine import Engine
from fairglvq.experiments.sweep import ModelKey
from fairglvq.scenes import points, scoring, training
from fairglvq.tradeoff import curve
from fairglvq.tradeoff.choice import OPENED_AS, Choice, read_strengths, settings_of, usual, write_strengths
from pages.shared.tradeoff import export, results
from pages.shared.tradeoff.links import from_query, to_query

XOR = usual("xor")


@pytest.mark.parametrize("name", paper.PARAMETERS)
def test_data_sets_of_the_paper_start_with_its_experiment(name):
    assert usual(name).sweep() == paper.paper_sweep(name)


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_has_a_sweep_that_can_be_trained(name):
    choice = usual(name)
    assert {"glvq", "inp", "fairglvq"} <= {method for method, _ in choice.strengths}
    if name != "compas":
        data = datasets.load(name)
        assert len(choice.sweep().keys(data)) == len(choice.sweep())


LINKS = {
    "usual": usual("adult"),
    "xor": XOR,
    "other axes": replace(XOR, x="equal_opportunity", y="statistical_parity"),
    "training": replace(XOR, prototypes=7, batch_size=50, alpha=3.0, epochs=20, step="algorithm", folds=10, seeds=2),
    "strengths": XOR.with_strengths("fairglvq", (0.0, 0.33, 7.0)),
    "many digits": XOR.with_strengths("fairglvq", (0.1234567, 1234567.25)),
    "methods": XOR.with_methods(["glvq", "threshold_optimizer", "fairglvq"], 2),
    "bins": replace(usual("german"), bins=8),
    "fine bins": replace(usual("adult"), bins=32),
    "one method": XOR.with_methods(["gradient_boosting"], 2),
}


@pytest.mark.parametrize("choice", LINKS.values(), ids=LINKS)
def test_a_link_brings_back_the_same_choice(choice):
    assert from_query(to_query(choice)) == (choice, [])


BAD_LINKS = {
    "data": ({"data": "iris"}, "“iris” is unknown"),
    "folds": ({"data": "xor", "folds": "99"}, "folds “99” is not possible"),
    "bins": ({"data": "german", "bins": "7"}, "bins “7” is not possible here: 0"),
    "bins in the plane": ({"data": "xor", "bins": "8"}, "bins “8” is not possible here: 0"),
    "axis": ({"x": "height"}, "x “height”"),
    "method": ({"methods": "magic.glvq"}, "Method “magic” is unknown"),
    "strengths": ({"s_fairglvq": "1_fast"}, "“fast” is not a number"),
    "picture": ({"s_fairglvq": "![x](//e.example/a)"}, "“??x????e.example?a?” is not a number"),
    "number": ({"batch": "many"}, "“many” is not a number"),
    "name": ({"colour": "red"}, "“colour” in the link is not known"),
    "table": ({"data": "table", "table": "0123"}, "only its owner's visit"),
}


@pytest.mark.parametrize(("query", "said"), BAD_LINKS.values(), ids=BAD_LINKS)
def test_a_bad_link_is_repaired_and_said(query, said):
    choice, told = from_query(query)
    assert len(told) == 1
    assert said in told[0]
    assert choice.sweep()
    assert from_query(to_query(choice)) == (choice, [])


@pytest.mark.parametrize(
    ("method", "text", "values"),
    [
        ("fairglvq", "1, 0.5;2  0.5", (0.5, 1.0, 2.0)),
        ("inp", "3 0", (0.0, 3.0)),
        ("threshold_optimizer", "1", (1.0,)),
    ],
)
def test_strengths_may_be_typed_in_any_order(method, text, values):
    assert read_strengths(method, text) == values
    assert read_strengths(method, write_strengths(values)) == values


@pytest.mark.parametrize(
    ("method", "text", "said"),
    [
        ("fairglvq", "", "at least one"),
        ("fairglvq", "1, fast", "“fast” is not a number"),
        ("fairglvq", "-1", "0 or more"),
        ("fairglvq", "inf", "0 or more"),
        ("inp", "1.5", "must be whole"),
        ("exponentiated_gradient", "2", "from 0 to 1"),
        ("fairglvq", " ".join(map(str, range(50))), "too many"),
    ],
)
def test_bad_strengths_are_named(method, text, said):
    with pytest.raises(ValueError, match=said):
        read_strengths(method, text)


def test_methods_that_stay_keep_their_strengths():
    mine = XOR.with_strengths("fairglvq", (0.7,)).with_methods(["inp", "fairglvq", "correlation_remover"], 2)
    assert dict(mine.strengths) == {
        "inp": (0.0, 1.0),
        "fairglvq": (0.7,),
        "correlation_remover": methods.METHODS["correlation_remover"].strengths,
    }


QUICK_XOR = replace(XOR, epochs=10)
QUICK_GERMAN = replace(usual("german"), epochs=5, folds=3, prototypes=2)


@pytest.mark.parametrize(
    ("choice", "model"),
    [
        (QUICK_XOR, ModelKey("fairglvq", 1.25, 3, 1)),
        (QUICK_XOR, ModelKey("inp", 1.0, 0, 0)),
        (QUICK_XOR, ModelKey("glvq", None, 2, 0)),
        pytest.param(QUICK_XOR, ModelKey("paritylvq", 0.9, 1, 0), marks=pytest.mark.long),
        (QUICK_XOR, ModelKey("gmlvq", None, 1, 0)),
        (QUICK_XOR, ModelKey("fairgmlvq", 0.5, 0, 1)),
        (QUICK_XOR, ModelKey("fairtree", 0.5, 1, 0)),
        (QUICK_GERMAN, ModelKey("fairtree", 0.5, 1, 0)),
        (QUICK_GERMAN, ModelKey("gmlvq", None, 2, 0)),
        (replace(QUICK_GERMAN, bins=8), ModelKey("glvq", None, 1, 0)),
        (replace(QUICK_GERMAN, bins=8), ModelKey("paritylvq", 1.0, 1, 0)),
        pytest.param(QUICK_GERMAN, ModelKey("fairgmlvq", 0.5, 0, 0), marks=pytest.mark.long),
    ],
    ids=lambda value: f"{value.method}" if isinstance(value, ModelKey) else f"{value.dataset}-{value.bins}",
)
def test_an_opened_model_is_the_one_on_the_curve(choice, model):
    settings = settings_of(choice, model)
    data = results.data_of(choice)
    strengths = [] if model.strength is None else [model.strength]
    params = dict(choice.sweep().params)
    rows = evaluation.evaluate(data, model.method, strengths, choice.folds, model.seed, store=False, **params)
    row = rows[rows.fold == model.fold].iloc[0]
    loaded = points.load_points(settings)
    panel = OPENED_AS[model.method][0]
    assert settings.methods == ("glvq", "fairglvq" if panel == "glvq" else panel)  # nothing else is trained
    trained = training.train_part(settings, loaded, panel, lambda share: None)
    found = scoring.score(loaded, scoring.final_decisions(loaded, trained))
    assert found == (row.accuracy, row.statistical_parity, row.equal_opportunity)


def test_what_the_playground_cannot_show_cannot_be_opened():
    assert settings_of(XOR, ModelKey("gradient_boosting", None, 0, 0)) is None
    assert settings_of(usual("german"), ModelKey("paritylvq", 0.87, 0, 0)) is None  # not on the slider
    assert settings_of(usual("german"), ModelKey("inp", 3.0, 0, 0)) is None
    assert settings_of(XOR, ModelKey("fairglvq", 20.0, 0, 0)) is None
    tree = settings_of(usual("german"), ModelKey("fairtree", 0.5, 0, 0))
    assert (tree.beside, tree.C, tree.leaves) == (("fairtree",), 0.5, 20)


def test_rows_in_bins_are_rows_of_their_own():
    """Other columns: another sweep, other keys in the store, and a script that loads them; off until asked for."""
    plain = usual("german")
    binned = replace(plain, bins=8)
    assert {usual(name).bins for name in DATASETS} == {0}
    assert plain.sweep() != binned.sweep()
    keys = [choice.sweep().keys(results.data_of(choice)) for choice in (plain, binned)]
    assert keys[0].keys() == keys[1].keys()
    assert not {key.digest() for key in keys[0].values()} & {key.digest() for key in keys[1].values()}
    assert "datasets.load('german', bins=8)" in (export.script_of(binned) or "")
    assert "datasets.load('german')" in (export.script_of(plain) or "")


def test_rates_by_group_are_those_of_the_people():
    data = datasets.load("german")
    plan = sweep.of("german", {"glvq": ()}, folds=3, seeds=(0, 1), n_prototypes=2, max_epochs=5)
    with Engine(n_jobs=1) as engine:
        rows = engine.compute(plan, data)
    table = evaluation.tidy(rows).assign(counts=[row["counts"] for row in rows])
    shown = curve.rates_by_group(table, ["a", "b"])
    assert shown["people"].tolist() == [int((data.s == group).sum()) for group in (0, 1)]
    total = sum(shown["decided rightly"] * shown["people"]) / len(data.y)
    assert total == pytest.approx(table.accuracy.mean(), abs=1e-3)
    assert 0 <= curve.typical_fold(table) < len(table)


def test_the_default_choice_is_adult():
    assert Choice().dataset == "adult"


def test_the_script_prints_the_numbers_on_screen(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "store.sqlite"))
    choice = replace(XOR, epochs=3, folds=2, seeds=1).with_strengths("fairglvq", (0.0, 1.0))
    with Engine(n_jobs=1) as engine:
        rows = engine.compute(choice.sweep(), datasets.load("xor"))
    exec(compile(export.script_of(choice), "script", "exec"), {})
    table = curve.summary(evaluation.tidy(rows))
    shown = table[[name for name in table if not name.startswith("equalized")]]
    assert capsys.readouterr().out == shown.round(4).to_string(index=False) + "\n"


def test_the_first_picture_waits_for_no_scikit_learn():
    """Bundled results are drawn without what only training needs; it takes a new server a second and a half to load."""
    program = """
        import sys
        import pandas as pd
        from fairglvq.figures.tradeoff import tradeoff_figure
        from fairglvq.tradeoff.choice import usual
        from fairglvq.tradeoff.curve import summary
        from pages.shared.tradeoff import controls, export, picture, results

        found = results.bundled(usual("adult"))
        rows = pd.DataFrame([{"dataset": "adult"} | model._asdict() | row for model, row in found.items()])
        picture.to_svg(tradeoff_figure(summary(rows), limits=picture.limits_of(usual("adult"))[0]))
        print([name for name in ("sklearn", "scipy.stats", "joblib", "dask", "fairlearn") if name in sys.modules])
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout == "[]\n"


def test_leaves_are_part_of_a_choice_where_they_differ_from_the_usual():
    """Bundled trees have 20 leaves: these must be found again, and trees of another size be another sweep."""
    plain = replace(usual("german"), strengths=(("fairtree", (0.0, 0.5)),))
    small = replace(plain, leaves=5)
    assert "max_leaves" not in dict(plain.sweep().params)
    assert dict(small.sweep().params)["max_leaves"] == 5
    assert len(bundle.load().known(plain.sweep())) > 0
    assert not bundle.load().known(small.sweep())
    assert to_query(small)["leaves"] == "5"
    assert from_query(to_query(small)) == (small, [])
    assert settings_of(small, ModelKey("fairtree", 0.5, 0, 0)).leaves == 5
