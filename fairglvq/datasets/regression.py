"""Data sets whose target is a number: the class that their loaders return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairglvq import wording
from fairglvq.datasets.base import Dataset, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RegressionDataset(Table):
    """A table with a number ``y`` (n,) as target; ``s`` (n,) is a protected number, or a group with ``group_names``.

    ``favourable`` says whether people want the target "high" or "low".
    """

    favourable: Literal["high", "low"]
    target_column: str
    protected_column: str
    group_names: Mapping[Any, str] | None
    frame: pd.DataFrame = field(repr=False)  # original columns and units, row i being row i of X

    @property
    def groups(self) -> bool:
        """Whether the protected value is a group and not a number."""
        return self.group_names is not None

    def cut(self, target_at: float | None = None, protected_at: float | None = None) -> Dataset:
        """The same people for classification: 1 where a number is at least so large, by default above its median.

        What a cut loses can so be measured: below it, and above it, all numbers are alike.
        """
        y, classes = _halves(self.y, target_at)
        s, groups = (self.s, self.group_names) if self.group_names is not None else _halves(self.s, protected_at)
        return Dataset(
            name=f"{self.name}_cut",
            title=f"{self.title}, cut",
            X=self.X,
            y=y,
            s=s,
            blocks=self.blocks,
            favourable=int(self.favourable == "high"),
            class_names=classes,
            group_names=groups,
            label_column=f"{self.target_column} (cut)",
            group_column=self.protected_column if self.groups else f"{self.protected_column} (cut)",
            source=self.source,
            licence=self.licence,
            caveats=self.caveats,
            readable=self.frame,
        )

    def describe(self) -> str:
        """Describe the data set in a few lines: size, target, protected value, and the source."""
        if self.group_names is None:
            protected = f"Protected ({self.protected_column}): {_spread(self.s)}"
            link = f"Correlation of target and protected value: {wording.number(np.corrcoef(self.y, self.s)[0, 1], 2)}"
        else:
            sizes = [f"{name} {np.count_nonzero(self.s == g):,}" for g, name in self.group_names.items()]
            means = [f"{name} {self.y[self.s == g].mean():.2f}" for g, name in self.group_names.items()]
            protected = f"Protected ({self.protected_column}): {', '.join(sizes)}"
            link = f"Mean target per group: {', '.join(means)}"
        return self._described(
            f"Target ({self.target_column}, {self.favourable} is favourable): {_spread(self.y)}",
            protected,
            link,
        )


def _halves(values: np.ndarray, at: float | None) -> tuple[np.ndarray, dict[int, str]]:
    """0 and 1 below and from a border on; None: the smallest value above the median."""
    if at is None:
        above = values[values > np.median(values)]
        at = float(above.min() if above.size else values.max())
    text = wording.value(float(at))
    return (values >= at).astype(np.int64), {0: f"under {text}", 1: f"{text} or more"}


def _spread(values: np.ndarray) -> str:
    low, high = (wording.value(float(end)) for end in (values.min(), values.max()))
    return f"{low} to {high}, mean {values.mean():.3g}, standard deviation {values.std():.3g}"
