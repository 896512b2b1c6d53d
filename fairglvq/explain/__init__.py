"""A prototype model explained: its people, its cells in original units, and single decisions."""

from fairglvq.explain.cells import (
    CellGroup,
    Contributions,
    Explained,
    Measure,
    Order,
    Pair,
    PrototypeModel,
    Removal,
    Score,
    changed_people,
    explain,
    filled_in,
    match,
    score,
)

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
    "match",
    "score",
]
