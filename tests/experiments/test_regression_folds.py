"""Cross-validation with a number as target."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from fairglvq import FairTreeRegressor, datasets
from fairglvq.__main__ import main
from fairglvq.experiments.regression import CUT, TREE, evaluate, summarise


@pytest.fixture(scope="module")
def rows():
    return evaluate(datasets.load("student", protected="age"), [0, 1], folds=2, max_leaves=6)


def test_a_row_per_method_strength_and_fold(rows):
    assert len(rows) == len(rows.drop_duplicates(["method", "strength", "fold"])) == 8
    assert rows[rows.method == TREE].drop(columns="mean_difference").notna().all().all()
    of_cut = rows[rows.method == CUT]
    assert of_cut[["r2", "rmse", "correlation"]].isna().all().all()
    assert of_cut[["accuracy", "statistical_parity", "decision_dependence"]].notna().all().all()


def test_numbers_are_those_of_the_held_out_rows(rows):
    data = datasets.load("student", protected="age")
    learn, test = next(iter(KFold(2, shuffle=True, random_state=0).split(data.X)))
    tree = FairTreeRegressor(6, C=1.0).fit(data.X[learn], data.y[learn], sensitive_features=data.s[learn])
    predicted = tree.predict(data.X[test])
    own = rows[(rows.method == TREE) & (rows.strength == 1) & (rows.fold == 0)].iloc[0]
    assert own.r2 == pytest.approx(r2_score(data.y[test], predicted), abs=1e-12)
    assert own.correlation == pytest.approx(abs(np.corrcoef(predicted, data.s[test])[0, 1]), abs=1e-12)
    high = predicted >= data.y[data.cut().y == 1].min()
    assert own.accuracy == pytest.approx(np.mean(high == data.cut().y[test]), abs=1e-12)
    means = summarise(rows)
    assert means[(means.method == TREE) & (means.strength == 1)].r2.item() == pytest.approx(
        rows[(rows.method == TREE) & (rows.strength == 1)].r2.mean()
    )


def test_command(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    command = ["regression", "--dataset", "student", "--strengths", "0", "--folds", "2", "--csv", str(path)]
    assert main(command) == 0
    heading = capsys.readouterr().out.splitlines()[0].split()
    assert heading[:5] == ["dataset", "method", "strength", "r2", "rmse"]
    assert "mean_difference" in heading
    assert "correlation" not in heading  # sex is a group
    assert len(pd.read_csv(path)) == 4
    assert main(["regression", "--protected", "age"]) == 2
    assert "has no parameter 'protected'" in capsys.readouterr().err
