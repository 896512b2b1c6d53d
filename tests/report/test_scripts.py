"""Scripts that reproduce numbers: each one runs, and prints what the pages and reports show."""

import io

import numpy as np
import pandas as pd
import pytest

from fairglvq import datasets
from fairglvq.datasets.table import Plan
from fairglvq.experiments import evaluation
from fairglvq.report import scripts
from fairglvq.scenes import scoring
from fairglvq.scenes.points import load_points
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import train_part
from fairglvq.tradeoff import curve


def test_a_sweep_prints_the_numbers(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "store.sqlite"))
    data = datasets.load("xor", size=40, seed=2)
    params = {"n_prototypes": np.int64(2), "learning_rate": 0.03, "max_epochs": 3, "init": "shared-kmeans"}
    sweeps = {"glvq": [], "fairglvq": [0, 0.5]}
    shown = curve.summary(
        pd.concat(
            evaluation.evaluate(data, method, strengths, folds=2, seed=[0, 1], **params)
            for method, strengths in sweeps.items()
        )
    )
    load = scripts.load_dataset("xor", size=40, seed=2)
    script = scripts.sweep(load, sweeps, folds=2, seeds=range(2), params=params)
    exec(compile(script, "script", "exec"), {})
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out), sep=r"\s+")
    pd.testing.assert_frame_equal(printed, shown.round(4), check_dtype=False)
    assert len(script.splitlines()) < 30


@pytest.mark.parametrize("method", ["glvq", "inp", "fairglvq"])
def test_a_model_prints_the_numbers_of_the_playground(method, capsys):
    settings = Settings(dataset="german", C=1.0, prototypes=2, batch_size=100, epochs=8, learning_rate=0.05, seed=3)
    loaded = load_points(settings)
    run = train_part(settings, loaded, method, lambda share: None)
    score = scoring.score(loaded, scoring.decide(loaded, run, run.prototypes[-1]))
    parameters = {"n_prototypes": 2, "learning_rate": 0.05, "max_epochs": 8, "batch_size": 100, "random_state": 3}
    # All methods of the playground start alike; it is FairGLVQ's default.
    parameters |= {"C": 1.0, "alpha": 2.0} if method == "fairglvq" else {"init": "shared-kmeans"}
    name = "FairGLVQ" if method == "fairglvq" else "GLVQ"
    given = {"held_out": 0.2, "seed": 3, "projections": 1 if method == "inp" else 0}
    exec(scripts.model(scripts.load_dataset("german"), name, parameters, **given), {})
    assert capsys.readouterr().out.splitlines() == [
        f"accuracy {score.accuracy:.6f}",
        f"statistical parity gap {score.statistical_parity:.6f}",
        f"equal opportunity gap {score.equal_opportunity:.6f}",
    ]


def test_values_that_python_cannot_read_back_are_refused():
    with pytest.raises(ValueError, match="init is a ndarray"):
        scripts.sweep("data = mine()", {"glvq": []}, params={"init": np.zeros((2, 2))})
    assert "data = mine()" in scripts.sweep("data = mine()", {"glvq": []})


def test_names_of_a_table_are_only_text():
    plan = Plan(target="it's", favourable='"; import os', protected="a\nb", kinds={"{{ 1 + 1 }}": "number"})
    names: dict = {}
    script = scripts.load_table(plan, "<my>'file.csv")
    exec(script[script.index("plan = ") : script.index("data = ")], {"table": datasets.table}, names)
    assert names["plan"] == plan
    assert 'table.read(Path("<my>\'file.csv").read_bytes(), "<my>\'file.csv", most_rows=100000)' in script
    assert "skip_ragged=True" in scripts.load_table(plan, "x.csv", ["2 rows with too many or too few values left out."])
