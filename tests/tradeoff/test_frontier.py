"""Accuracy at bounded gaps: which strength counts, and what is said of the difference."""

import numpy as np
import pandas as pd

from fairglvq import datasets
from fairglvq.experiments.engine import Engine
from fairglvq.fairness import limit
from fairglvq.tradeoff import frontier

LINE = limit.Limit(np.array([0.0, 1.0]), np.array([0.8, 0.9]), estimated=False)


def rows(method, strength, accuracy, gap):
    key = {"dataset": "xor", "method": method, "strength": strength, "fold": range(len(accuracy))}
    return pd.DataFrame(key | {"accuracy": accuracy, "statistical_parity": gap})


def table():
    return pd.concat(
        [
            rows("paritylvq", 0.9, [0.80, 0.82], 0.09),
            rows("paritylvq", 0.95, [0.78, 0.80], 0.04),
            rows("paritylvq", 1.0, [0.70, 0.70], 0.01),
            rows("exponentiated_gradient", 0.9, [0.79, 0.83], 0.08),
            rows("exponentiated_gradient", 1.0, [0.79, 0.79], 0.06),
        ]
    )


def test_sentences_name_limit_methods_and_lead():
    """Of the strengths within a bound the most accurate one counts."""
    tight, loose = frontier.sentences(table(), LINE)
    assert tight == (
        "gap up to 0.05: limit 0.805, paritylvq 0.790 / 0.040 (parity 0.95), "
        "exponentiated_gradient: no strength keeps to it"
    )
    assert "limit 0.810, paritylvq 0.810 / 0.090 (parity 0.9)" in loose
    assert loose.endswith("lead +0.000 ± 0.010")


def test_everybody_gets_the_same_folds_and_columns(monkeypatch):
    monkeypatch.setattr(frontier, "PARITIES", (0.95,))
    data = datasets.load("xor", size=40)
    with Engine(1, None) as engine:
        found = frontier.run(engine, data, 2)
    assert set(found.method) == set(frontier.METHODS)
    assert len(found) == len(frontier.METHODS) * 2
    assert frontier.load_binned("german").X.shape[1] > datasets.load("german").X.shape[1]
