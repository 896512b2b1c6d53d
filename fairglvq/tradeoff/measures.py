"""What can stand on an axis of a curve: accuracy and the fairness gaps, with their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairglvq.wording import gap, percent


@dataclass(frozen=True)
class Measure:
    """A score of a model: its name on an axis, and which direction is better."""

    title: str
    more_is_better: bool = False

    @property
    def unit(self) -> str:
        """In which unit people read it: a share in percent, a gap in points."""
        return "%" if self.more_is_better else "points"

    @property
    def heading(self) -> str:
        """Its name with the unit, above numbers: "accuracy (%)"."""
        return f"{self.title} ({self.unit})"

    def words(self, value: float) -> str:
        """A value of it in a sentence: "83.1%", "7.2 points"."""
        return percent(value) if self.more_is_better else gap(value)

    def cost(self, values: Any) -> Any:
        """The score turned so that less is better."""
        return -values if self.more_is_better else values


MEASURES: Mapping[str, Measure] = {
    "accuracy": Measure("accuracy", more_is_better=True),
    "statistical_parity": Measure("statistical parity gap"),
    "equal_opportunity": Measure("equal opportunity gap"),
    "equalized_odds": Measure("equalised odds gap"),
}
