"""The conditions of a leaf in the words of a data set: original columns, original units."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairglvq import wording
from fairglvq.datasets.base import Block, Table
from fairglvq.datasets.split import Scaling
from fairglvq.trees.structure import LEAF, Condition, Tree

EVERYBODY = "everybody"


def rules(tree: Tree, data: Table, scaling: Scaling) -> list[str]:
    """A phrase per leaf, from left to right; several conditions on one column are merged into the first.

    ``scaling`` is the one that made the features of the tree from ``data.X``.
    """
    boxes = tree.boxes(data.X.shape[1]) * scaling.span[:, None] + scaling.low[:, None]
    return [_phrase(path, box, data) for path, box in zip(tree.paths, boxes, strict=True)]


def questions(tree: Tree, data: Table, scaling: Scaling) -> dict[int, str]:
    """The condition of each node that is split, by node: rows for which it is true go left."""
    asked = {}
    for node in np.flatnonzero(tree.feature != LEAF).tolist():
        f, border = int(tree.feature[node]), float(tree.threshold[node])
        box = np.tile([-np.inf, np.inf], (data.X.shape[1], 1))
        box[f, 1] = border * scaling.span[f] + scaling.low[f]
        asked[node] = _phrase([Condition(f, border, left=True)], box, data)
    return asked


def _phrase(path: Sequence[Condition], box: np.ndarray, data: Table) -> str:
    owner = np.repeat(np.arange(len(data.blocks)), [block.stop - block.start for block in data.blocks])
    blocks = [data.blocks[b] for b in dict.fromkeys(owner[condition.feature] for condition in path)]
    parts = [_of_block(block, box[block.columns, 0], box[block.columns, 1], data) for block in blocks]
    return wording.listed(parts) if parts else EVERYBODY


def _of_block(block: Block, low: np.ndarray, high: np.ndarray, data: Table) -> str:
    if block.kind == "number":
        return f"{block.column} {_range(low[0], high[0], data.X[:, block.start])}"
    if block.kind == "binary":
        return f"{block.column} {block.categories[int(np.isfinite(low[0]))]}"
    column = block.bins_of or block.column
    if np.isfinite(low).any():
        return f"{column} {block.categories[int(np.isfinite(low).argmax())]}"
    out = [name for name, border in zip(block.categories, high, strict=True) if math.isfinite(border)]
    left = [name for name in block.categories if name not in out]
    if 0 < len(left) <= len(out):
        return f"{column} {' or '.join(left)}"
    return f"{column} not {' or '.join(out)}"


def _range(low: float, high: float, values: np.ndarray) -> str:
    """Between which borders a number lies; whole numbers have whole borders."""
    if np.array_equal(values, np.round(values)):
        low, high, decimals = np.floor(low + 1e-9), np.floor(high + 1e-9), 0
    else:
        decimals = max(_decimals(border, values) for border in (low, high))
    parts = [f"over {wording.of_column(low, decimals)}"] if math.isfinite(low) else []
    parts += [f"{'up to' if parts else 'at most'} {wording.of_column(high, decimals)}"] if math.isfinite(high) else []
    return " ".join(parts)


def _decimals(border: float, values: np.ndarray) -> int:
    """As few as part these values exactly as the border does."""
    below = np.count_nonzero(values <= border)
    enough = (n for n in range(12) if np.count_nonzero(values <= round(border, n)) == below)
    return next(enough, 12) if math.isfinite(border) else 0
