"""Accuracy at a bounded gap: the best strength within the bound, and its lead on the same folds."""

import pandas as pd
import pytest

from fairglvq.tradeoff import beyond


def rows_of(method, strength, accuracies, gap):
    return [
        {"dataset": "xor", "method": method, "strength": strength, "fold": fold, "seed": 0, "accuracy": accuracy,
         "statistical_parity": gap, "equal_opportunity": 0.0}
        for fold, accuracy in enumerate(accuracies)
    ]  # fmt: skip


@pytest.fixture
def rows():
    return pd.DataFrame([
        *rows_of("const", float("nan"), [0.5, 0.52], 0.0),
        *rows_of("fairglvq", 0.0, [0.95, 0.97], 0.2),
        *rows_of("fairglvq", 1.0, [0.8, 0.84], 0.08),
        *rows_of("fairglvq", 2.0, [0.7, 0.7], 0.07),
        *rows_of("paritylvq", 0.95, [0.85, 0.91], 0.04),
        *rows_of("fairtree", 1.0, [0.9, 0.9], 0.3),
        *rows_of("gmlvq", float("nan"), [0.99, 0.99], 0.01),
    ])  # fmt: skip


def test_the_most_accurate_strength_within_the_bound(rows):
    found = beyond.reached(rows, 0.1)
    assert list(found) == ["fairglvq", "paritylvq"]
    assert (found["fairglvq"].strength, found["fairglvq"].accuracy) == (1.0, pytest.approx(0.82))
    assert found["fairglvq"].lead is None
    one = found["paritylvq"]
    assert one.folds == (0.85, 0.91)
    assert one.gap == pytest.approx(0.04)
    assert one.lead.difference == pytest.approx(0.06)
    assert one.lead.first == ("paritylvq", 0.95)


def test_without_fairglvq_within_the_bound_there_is_no_lead(rows):
    found = beyond.reached(rows, 0.05)
    assert list(found) == ["paritylvq"]
    assert found["paritylvq"].lead is None


def test_one_answer_for_all(rows):
    assert beyond.one_answer(rows) == pytest.approx(0.51)
