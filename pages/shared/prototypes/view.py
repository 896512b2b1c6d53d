"""The model in view, explained once per visit and training."""

from __future__ import annotations

import numpy as np

from fairglvq.explain.view import View, make_view
from fairglvq.figures.prototypes import Marks
from fairglvq.scenes.sources import GoneError, dataset_of
from pages.shared.visit import visit


def current_view() -> View | None:
    """The explained training; None if there is none, or if it was of a table that is no longer there."""
    shown, kept = visit().model.shown, visit().prototypes.view
    if shown is None:
        return None
    settings, show = shown
    if kept is None or kept[0] is not show:
        try:
            kept = show, make_view(settings, dataset_of(settings), show.scene)
        except GoneError:
            return None
        visit().prototypes.view = kept
    return kept[1]


def marks_of(view: View, method: str) -> Marks:
    """A method's prototypes or leaves as pictures want them."""
    cells, people = view.cells(method), view.people
    pseudo = np.zeros_like(cells.answers) if cells.model.pseudo is None else cells.model.pseudo
    return Marks(cells.answers, pseudo, cells.sizes / cells.score.n, people.classes, people.groups)
