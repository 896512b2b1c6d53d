"""The data set class that every loader returns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Block:
    """The columns of X that one original column became.

    A ``number`` is one column as it is. A ``binary`` is one column of 0 and 1, and ``categories`` holds the readable
    names of 0 and of 1, in this order. A ``category`` is one 0/1 column per entry of ``categories``. Where a category
    repeats a number in bins, ``bins_of`` is the number's column and ``starts`` are the smallest values of all bins but
    the first. ``feature`` is what a number is called in X, where a story gives the column another name.
    """

    column: str
    start: int
    stop: int
    kind: Literal["number", "binary", "category"]
    categories: tuple[str, ...] = ()
    bins_of: str = ""
    starts: tuple[float, ...] = ()
    feature: str = ""

    @property
    def columns(self) -> slice:
        """Where the block stands: ``X[:, block.columns]`` has shape (n, width)."""
        return slice(self.start, self.stop)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """A name per column of X; a category's columns are called ``column=category``."""
        if self.kind == "category":
            return tuple(f"{self.column}={category}" for category in self.categories)
        return (self.feature or self.column,)

    def bin_of(self, value: float) -> int:
        """The bin that a number falls into."""
        starts = np.array(self.starts)
        # A value that was scaled and scaled back may lie a rounding error below the start of its bin.
        return int(np.searchsorted(starts - 1e-11 * np.abs(starts), value, side="right"))


TraitBlocks = tuple[Block, ...]
"""The blocks that one original column became: a number's bins stand behind the number."""


def trait_blocks(blocks: Iterable[Block]) -> tuple[TraitBlocks, ...]:
    """Blocks by the original column that they came from."""
    every = tuple(blocks)
    bins = {block.bins_of: block for block in every if block.bins_of}
    return tuple(
        (block, bins[block.column]) if block.kind == "number" and block.column in bins else (block,)
        for block in every
        if not block.bins_of
    )


def columns_of(trait: TraitBlocks) -> npt.NDArray[np.int64]:
    """All columns of X that a trait became (width,)."""
    return np.concatenate([np.arange(block.start, block.stop) for block in trait])


@dataclass(frozen=True, eq=False)
class Table:
    """Features ``X`` (n, d), targets ``y`` (n,) and protected values ``s`` (n,).

    ``blocks`` says which original column each column of X came from; ``source``, ``licence`` and ``caveats`` describe
    the data to readers.
    """

    name: str
    title: str
    X: npt.NDArray[np.float64] = field(repr=False)
    y: npt.NDArray[Any] = field(repr=False)
    s: npt.NDArray[Any] = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    source: str = field(repr=False, kw_only=True)
    licence: str = field(repr=False, kw_only=True)
    caveats: tuple[str, ...] = field(default=(), repr=False, kw_only=True)

    def __post_init__(self) -> None:
        n, d = self.X.shape
        if self.y.shape != (n,) or self.s.shape != (n,):
            raise ValueError(f"X has {n} rows, but y has shape {self.y.shape} and s has shape {self.s.shape}.")
        ends = [0, *(block.stop for block in self.blocks)]
        if [block.start for block in self.blocks] != ends[:-1] or ends[-1] != d:
            raise ValueError(f"The blocks must cover the {d} columns of X from left to right without a gap.")
        if len(self.feature_names) != d:
            raise ValueError(f"The blocks name {len(self.feature_names)} columns, but X has {d}.")

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """A name per column of X."""
        return tuple(name for block in self.blocks for name in block.feature_names)

    def _described(self, *lines: str) -> str:
        """The description: its size, these lines, and where it is from."""
        n, d = self.X.shape
        size = f"{self.title}: {n:,} rows, {d} columns made from {len(trait_blocks(self.blocks))}"
        caveats = (f"Caveat: {caveat}" for caveat in self.caveats)
        return "\n".join([size, *lines, f"Source: {self.source}", f"Licence: {self.licence}", *caveats])


@dataclass(frozen=True, eq=False)
class Dataset(Table):
    """A table ready for a prototype classifier: numbers, labels, groups, and the words for them.

    ``y`` (n,) holds labels and ``s`` (n,) protected groups. ``favourable`` is the label that people want.
    ``class_names`` and ``group_names`` translate labels and groups into words. In ``frame``, ``label_column`` and
    ``group_column`` hold those words.
    """

    favourable: Hashable
    class_names: Mapping[Any, str]
    group_names: Mapping[Any, str]
    label_column: str
    group_column: str
    # The original columns, where X cannot give them back (several races merged into 0 and 1, say).
    readable: pd.DataFrame | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, values, names in (("label", self.y, self.class_names), ("group", self.s, self.group_names)):
            nameless = [value for value in np.unique(values).tolist() if value not in names]
            if nameless:
                raise ValueError(f"No readable name for {what} {', '.join(map(repr, nameless))}.")
        if self.favourable not in self.class_names:
            raise ValueError(f"The favourable label {self.favourable!r} is not among {list(self.class_names)}.")

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The readable table: original columns in original units, row i being row i of X, with label and group."""
        import pandas as pd  # here, because it costs half a second and the 2-D pages never need it

        if self.readable is None:
            frame = pd.DataFrame(self.X, columns=list(self.feature_names))
            frame = frame.rename(columns={block.feature: block.column for block in self.blocks})
        else:
            frame = self.readable.reset_index(drop=True)
        frame[self.label_column] = pd.Series(self.y).map(dict(self.class_names))
        frame[self.group_column] = pd.Series(self.s).map(dict(self.group_names))
        return frame

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of what a model and its scores depend on: X, y, s, favourable and the feature names."""
        names = {"feature_names": self.feature_names, "favourable": _plain(self.favourable), "shape": self.X.shape}
        digest = hashlib.sha256()
        parts = (json.dumps(names).encode(), self.X.astype("<f8").tobytes(), _label_bytes(self.y), _label_bytes(self.s))
        for part in parts:
            # The length in front keeps the end of one part from passing for the start of the next.
            digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()

    def describe(self) -> str:
        """Describe the data set in a few lines: size, labels, groups, who gets the favourable label, and the source."""
        present = [group for group in self.group_names if np.any(self.s == group)]
        rates = [float(np.mean(self.y[self.s == group] == self.favourable)) for group in present]
        by_group = ", ".join(
            f"{self.group_names[group]} {rate:.1%}" for group, rate in zip(present, rates, strict=True)
        )
        gap = 100 * (max(rates) - min(rates))
        return self._described(
            f"Label ({self.label_column}): {_counts(self.y, self.class_names)}",
            f"Group ({self.group_column}): {_counts(self.s, self.group_names)}",
            f"Favourable label: {self.class_names[self.favourable]}",
            f"Favourable label per group: {by_group} (largest gap {gap:.1f} points)",
        )


def _counts(values: npt.NDArray[Any], names: Mapping[Any, str]) -> str:
    counts = {value: int(np.count_nonzero(values == value)) for value in names}
    return ", ".join(f"{names[value]} {count:,} ({count / len(values):.1%})" for value, count in counts.items())


def _plain(value: Any) -> Any:
    """The Python value of a NumPy scalar, so that 1 and np.int64(1) hash alike."""
    return value.item() if isinstance(value, np.generic) else value


def _label_bytes(values: npt.NDArray[Any]) -> bytes:
    """Labels as bytes that depend neither on the platform's integer width nor on how NumPy stores text."""
    if values.dtype.kind in "biu":
        return values.astype("<i8").tobytes()
    return json.dumps(values.tolist(), default=str).encode()
