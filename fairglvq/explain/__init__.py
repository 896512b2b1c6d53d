"""A prototype model explained: its people, its cells in original units, and single decisions."""

from fairglvq.explain.cells import (
    Explained,
    Pair,
    PrototypeModel,
    changed_people,
    explain,
    filled_in,
    gained_and_lost,
    match,
)
from fairglvq.fairness.cells import CellGroup, Contributions, Measure, Order, Removal, Score

__all__ = [
    "CellGroup",
    "Contributions",
    "Explained",
    "Measure",
    "Order",
    "Pair",
    "PrototypeModel",
    "Removal",
    "Score",
    "changed_people",
    "explain",
    "filled_in",
    "gained_and_lost",
    "match",
]
