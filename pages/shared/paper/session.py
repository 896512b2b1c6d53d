"""What is looked at on the paper's page, as the parameters of a link and back; what cannot be read is repaired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairglvq.datasets import DATASETS
from pages.shared import links
from pages.shared.display import PARAMETERS as DISPLAY_PARAMETERS
from pages.shared.visit import PaperVisit, visit

SECTIONS = {
    "table1": "Table 1",
    "figure2": "Figure 2",
    "reasons": "Why they differ",
    "algorithm": "Algorithm 1",
    "beyond": "What goes further",
}
"""By the module that draws it."""

FIGURES = {name: DATASETS[name].title for name in ("compas", "adult")}
REASONS = {
    "step": "Length of a step",
    "seeds": "Chance in INP",
    "rank": "Too many projections",
    "alpha": "What alpha did",
    "labels": "COMPAS's labels",
}
COMPARED = {name: DATASETS[name].title for name in ("adult", "compas", "german", "xor", "local")}
SYNTHETIC = {name: DATASETS[name].title for name in ("xor", "local")}
STEPS = {"published": "as published", "algorithm": "as printed"}
EPOCHS = (0, 1, 10, 50, 250)
STRENGTHS = (0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 3.0)
BATCHES, POINTS, PROTOTYPES, GAPS = range(1, 12), range(1, 251), range(1, 6), (5, 10)

ALLOWED: dict[str, Any] = {
    "section": SECTIONS, "figure": FIGURES, "reason": REASONS, "gap": GAPS, "compared": COMPARED, "dataset": SYNTHETIC,
    "prototypes": PROTOTYPES, "C": STRENGTHS, "epochs": EPOCHS, "batch": BATCHES, "step": STEPS, "point": POINTS,
}  # fmt: skip
"""Every value that a link may have."""


def begin() -> PaperVisit:
    """What this run shows: the link's on arrival and after Back or Forward, the visit's otherwise."""
    here = visit().paper
    query = here.address.link_to_follow()
    if query is not None:
        values, here.repairs = from_query(query)
        for name, value in values.items():
            setattr(here, name, value)
    return here


def to_query(here: PaperVisit) -> dict[str, str]:
    """The link's parameters: only what differs from what a visitor finds at first."""
    return links.differing(here, PaperVisit(), {name: name for name in ALLOWED})


def from_query(params: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """A value for everything that a link may say, and a sentence for each that had to be repaired."""
    usual = PaperVisit()
    repairs: list[str] = []
    values = {
        name: links.one_of(params, name, allowed, getattr(usual, name), repairs) for name, allowed in ALLOWED.items()
    }
    return values, repairs + links.unknown(params, {*ALLOWED, *DISPLAY_PARAMETERS, "embed"})
