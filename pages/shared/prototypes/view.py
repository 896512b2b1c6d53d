"""The model in view, as input of pictures."""

from __future__ import annotations

import numpy as np

from fairglvq.explain.view import View
from fairglvq.figures.prototypes import Marks


def marks_of(view: View, method: str) -> Marks:
    """A method's prototypes or leaves as marks of pictures."""
    cells, people = view.cells(method), view.people
    pseudo = np.zeros_like(cells.answers) if cells.model.pseudo is None else cells.model.pseudo
    return Marks(cells.answers, pseudo, cells.sizes / cells.score.n, people.classes, people.groups)
