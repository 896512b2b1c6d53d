"""Data sets by name: ``load("adult")``, ``load("xor", bias=0.5)``; with a number as target ``load("communities")``.

Nothing heavy is imported until a data set needs it: the 2-D sets need NumPy only, so the first page loads fast.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, overload

from fairglvq.datasets.base import Block, Dataset
from fairglvq.datasets.regression import RegressionDataset

__all__ = ["DATASETS", "REGRESSION", "Block", "Dataset", "Entry", "RegressionDataset", "load"]


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded: by ``load`` of the module of its name, or by its function in ``synthetic``."""

    name: str
    title: str
    description: str
    synthetic: bool = False  # drawn at random in two dimensions, with parameters
    may_be_passed_on: bool = True  # whether its licence lets others have rows of it

    @property
    def loader(self) -> Callable[..., Any]:
        """The function that returns the data set; its module is imported on first use."""
        module, function = ("synthetic", self.name) if self.synthetic else (self.name, "load")
        return getattr(import_module(f"{__name__}.{module}"), function)

    @property
    def parameters(self) -> dict[str, Any]:
        """The names of the loader's parameters with their default values."""
        return {name: parameter.default for name, parameter in inspect.signature(self.loader).parameters.items()}


def _by_name(*entries: Entry) -> Mapping[str, Entry]:
    return MappingProxyType({entry.name: entry for entry in entries})


DATASETS = _by_name(
    Entry(
        "local",
        "Local",
        "Two separate problems, of which only one is tied to the group: fairness has to act locally.",
        synthetic=True,
    ),
    Entry(
        "xor",
        "XOR",
        "Four clouds where labels and groups cross: no straight cut tells the groups apart.",
        synthetic=True,
    ),
    Entry(
        "three_classes",
        "Three classes",
        "Rejected, waiting list or admitted: only one group is ever made to wait.",
        synthetic=True,
    ),
    Entry("three_groups", "Three groups", "Three groups of equal merit meet three different bars.", synthetic=True),
    Entry("adult", "Adult", "Who earns more than 50,000 dollars a year? US census of 1994, by sex."),
    Entry(
        "compas",
        "COMPAS",
        "Who is arrested again within two years? Broward County, by race.",
        may_be_passed_on=False,
    ),
    Entry("german", "German Credit", "Who is a good risk? A German bank in the 1970s, by age."),
)

REGRESSION = _by_name(
    Entry(
        "communities",
        "Communities and Crime",
        "How many violent crimes per head? US communities in the 1990s, by the share of Black people.",
    ),
    Entry("student", "Student performance", "Which final grade? Two schools in Portugal, by sex or by age."),
)
"""Data sets whose target is a number; not for classification."""


@overload
def load(name: Literal["communities", "student"], /, **params: Any) -> RegressionDataset: ...
@overload
def load(name: str, /, **params: Any) -> Dataset: ...
def load(name: str, /, **params: Any) -> Dataset | RegressionDataset:
    """Load the data set called ``name``.

    The synthetic ones take ``size``, ``noise``, ``bias`` and ``seed``; the group is never among their features. The
    real ones take ``drop_group``: True leaves the protected attribute (Adult: sex, German Credit: age, COMPAS: race)
    out of X. The group itself stays in ``s`` and in ``frame``. They also take ``bins``: 8, say, adds 0/1 columns for
    about 8 ranges of every number, so that models with straight borders can bend; 0 is the paper's encoding.

    Communities and Student performance have a number as target; Student also takes ``protected``, "sex" or "age".

    COMPAS is downloaded on first use (see ``fairglvq.datasets.compas``); everything else needs no network.
    """
    known = {**DATASETS, **REGRESSION}
    if name not in known:
        raise ValueError(f"Unknown data set {name!r}. Valid names: {', '.join(known)}.")
    entry = known[name]
    valid = entry.parameters
    wrong = [repr(param) for param in params if param not in valid]
    if wrong:
        raise TypeError(f"Data set {name!r} has no parameter {', '.join(wrong)}. Valid parameters: {', '.join(valid)}.")
    return entry.loader(**params)
