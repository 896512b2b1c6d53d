"""Summaries and rows of made-up sweeps."""

import math

import pandas as pd


def curve_of(method, points, dataset="d"):
    """A summary with these (strength, gap, accuracy)."""
    table = pd.DataFrame(points, columns=["strength", "statistical_parity_mean", "accuracy_mean"])
    spreads = {"statistical_parity_std": 0.01, "accuracy_std": 0.02, "n": 5}
    return table.assign(dataset=dataset, method=method, **spreads)


def rows_of(method, strength, accuracy, gap=0.1, seed=0):
    n = len(accuracy)
    return pd.DataFrame(
        {"dataset": "d", "method": method, "strength": math.nan if strength is None else strength, "fold": range(n),
         "seed": seed, "accuracy": accuracy, "statistical_parity": gap, "equal_opportunity": 0.2, "seconds": 1.0}
    )  # fmt: skip
