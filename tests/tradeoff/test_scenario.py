"""Which gap can be accepted: the best model within it and its people, counted by hand."""

import pandas as pd
import pytest

from fairglvq.tradeoff import curve, scenario


def fold(method, strength, fold, accuracy, gap, women, men):
    """A row of 10 women and 20 men per fold, of whom so many get the favourable decision."""
    counts = [[[10 - women, women], [0, 0]], [[0, 0], [20 - men, men]]]
    return {"dataset": "d", "method": method, "strength": strength, "fold": fold, "seed": 0, "accuracy": accuracy,
            "statistical_parity": gap, "equal_opportunity": 0.1, "seconds": 1.0, "counts": counts}  # fmt: skip


@pytest.fixture
def rows():
    return pd.DataFrame(
        [
            fold("fairglvq", 0.0, 0, 0.9, 0.3, 1, 10), fold("fairglvq", 0.0, 1, 0.9, 0.2046, 2, 9),
            fold("fairglvq", 1.0, 0, 0.8, 0.1, 3, 8), fold("fairglvq", 1.0, 1, 0.8, 0.1, 4, 9),
            fold("fairglvq", 2.0, 0, 0.7, 0.1, 5, 5), fold("fairglvq", 2.0, 1, 0.7, 0.06, 5, 5),
        ]
    )  # fmt: skip


def test_the_best_model_within_a_gap_and_its_people(rows):
    table = curve.summary(rows)
    found = scenario.scenario(rows, table, 0.1, "statistical_parity", ["women", "men"], "mild")
    assert found.model == "FairGLVQ (C = 1)"
    assert (found.gap, found.accuracy) == (pytest.approx(0.1), pytest.approx(0.8))
    assert found.outcomes == (("women", 20, 7, 4), ("men", 40, 17, -2))
    stricter = scenario.scenario(rows, table, 0.09, "statistical_parity", ["women", "men"])
    assert stricter.model == "FairGLVQ (C = 2)"
    assert scenario.scenario(rows, table, 0.05, "statistical_parity", ["women", "men"]) is None


def test_the_widest_gap_is_that_of_the_most_accurate_model(rows):
    assert scenario.widest(curve.summary(rows), "statistical_parity") == pytest.approx(0.253)  # 25.23, rounded up


def test_scenarios_side_by_side(rows):
    table = curve.summary(rows)
    kept = [
        scenario.scenario(rows, table, allowed, "statistical_parity", ["women", "men"], name)
        for allowed, name in ((0.253, "as it is"), (0.1, "mild"))
    ]
    head, body = scenario.side_by_side(kept)
    assert head == ["scenario", "as it is", "mild"]
    assert body[0] == ["largest gap allowed", "25.3 points", "10.0 points"]
    assert body[-2] == ["women", "3 of 20 (0)", "7 of 20 (+4)"]
    assert body[-1] == ["men", "19 of 40 (0)", "17 of 40 (\N{MINUS SIGN}2)"]


def test_people_are_compared_only_where_all_their_folds_are_measured(rows):
    """While a run goes on, a fair model known on one fold of two would seem to take every second decision away."""
    rows = rows[~((rows.strength == 1.0) & (rows.fold == 1))]
    even = curve.evenly_measured(curve.summary(rows))
    assert even["strength"].tolist() == [0.0, 2.0]
    found = scenario.scenario(rows, even, 0.1, "statistical_parity", ["women", "men"])
    assert found.outcomes == (("women", 20, 10, 7), ("men", 40, 10, -9))
