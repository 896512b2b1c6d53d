"""Cross-validation with a number as target."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from fairglvq import FairGLVQ, FairTreeRegressor, datasets
from fairglvq.__main__ import main
from fairglvq.datasets.split import Scaling
from fairglvq.experiments.regression import (
    CUT,
    MEAN,
    STRENGTHS,
    TASKS,
    TREE,
    bundled,
    evaluate,
    load,
    predict,
    predictions,
    spread,
    summarise,
)


@pytest.fixture(scope="module")
def rows():
    return evaluate(datasets.load("student", protected="age"), [0, 1], folds=2, max_leaves=6)


def test_a_row_per_method_strength_and_fold(rows):
    assert len(rows) == len(rows.drop_duplicates(["method", "strength", "fold"])) == 10
    assert rows[rows.method != MEAN].drop(columns="mean_difference").notna().all().all()
    of_mean = rows[rows.method == MEAN]
    assert len(of_mean) == 2
    assert of_mean["strength"].isna().all()
    told = of_mean[["correlation", "mutual_information", "maximal_correlation", "decision_dependence"]]
    assert told.to_numpy().max() < 1e-12
    assert of_mean["r2"].between(-0.05, 0).all()


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
    truth = data.y[test]
    mean = rows[(rows.method == MEAN) & (rows.fold == 0)].iloc[0]
    assert mean.rmse == pytest.approx(np.sqrt(np.mean((truth - data.y[learn].mean()) ** 2)), abs=1e-12)
    means = summarise(rows)
    assert means[(means.method == TREE) & (means.strength == 1)].r2.item() == pytest.approx(
        rows[(rows.method == TREE) & (rows.strength == 1)].r2.mean()
    )


def test_the_number_of_a_class_is_the_mean_of_those_decided_so():
    data = datasets.load("student", protected="age")
    held_out = np.arange(len(data.y)) % 3 == 0
    found = predict(data, CUT, held_out, 0.5, 7)
    scaling = Scaling.fit(data.X[~held_out])
    model = FairGLVQ(C=0.5, random_state=7, record_every=None)
    cut = data.cut()
    model.fit(scaling.apply(data.X[~held_out]), cut.y[~held_out], sensitive_features=cut.s[~held_out])
    learned = model.predict(scaling.apply(data.X[~held_out]))
    np.testing.assert_array_equal(found.high, model.predict(scaling.apply(data.X[held_out])) == 1)
    for side in (0, 1):
        own = found.numbers[found.high == side]
        assert own.size
        np.testing.assert_allclose(own, data.y[~held_out][learned == side].mean())


def test_everybody_is_predicted_by_a_tree_that_has_not_seen_them(rows):
    data = datasets.load("student", protected="age")
    shares = []
    found = predictions(data, 1.0, folds=2, report=shares.append, max_leaves=6)
    own = rows[(rows.method == TREE) & (rows.strength == 1)]
    for fold, (_, test) in enumerate(KFold(2, shuffle=True, random_state=0).split(data.X)):
        assert r2_score(data.y[test], found[test]) == pytest.approx(own[own.fold == fold].r2.item(), abs=1e-12)
    assert shares == [0.5, 1.0]


def test_spread_over_the_folds(rows):
    found = spread(rows).set_index(["method", "strength"]).loc[(TREE, 1.0)]
    own = rows[(rows.method == TREE) & (rows.strength == 1)].r2.to_numpy()
    assert found.r2_mean == pytest.approx(own.mean())
    assert found.r2_std == pytest.approx(abs(own[0] - own[1]) / 2)
    assert found.n == 2
    assert len(spread(rows)) == 5


def test_bundled_rows_are_those_of_the_command():
    """Every task with every method and strength; one tree and the mean computed anew."""
    rows = bundled()
    assert len(rows) == len(TASKS) * 5 * (2 * len(STRENGTHS) + 1)
    own = rows[(rows.dataset == "student") & (rows.protected == "sex")]
    again = evaluate(load("student"), [1.0], methods=(TREE, MEAN))
    for row in again.itertuples():
        same = own[(own.method == row.method) & (own.fold == row.fold) & ((own.strength == 1) | (row.method == MEAN))]
        assert same.r2.item() == pytest.approx(row.r2, abs=1e-5)
        assert same.mean_difference.item() == pytest.approx(row.mean_difference, abs=1e-5)


def test_command(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    command = ["regression", "--dataset", "student", "--strengths", "0", "--folds", "2", "--csv", str(path)]
    assert main(command) == 0
    heading = capsys.readouterr().out.splitlines()[0].split()
    assert heading[:6] == ["dataset", "protected", "method", "strength", "r2", "rmse"]
    assert "mean_difference" in heading
    assert "correlation" not in heading  # sex is a group
    assert len(pd.read_csv(path)) == 6
    assert main(["regression", "--protected", "age"]) == 2
    assert "has no parameter 'protected'" in capsys.readouterr().err
