"""The two-dimensional plane that a picture of real data shows, and each model on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairglvq.scenes.points import Points
from fairglvq.scenes.scoring import nearest
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import Training

SAMPLE = 2000  # people of a real data set that are drawn


class Lens(NamedTuple):
    """The shown plane x = origin + axes q in a model's space: z = centre + frame A q."""

    centre: np.ndarray  # (d,)
    frame: np.ndarray  # (d, 2), orthonormal columns
    A: np.ndarray  # (2, 2)

    def places(self, W: np.ndarray) -> np.ndarray:
        """Coordinates (..., 2) of prototypes (..., d)."""
        return (W - self.centre) @ self.frame

    def weights(self, W: np.ndarray) -> np.ndarray:
        """Squared distances of prototypes to the plane."""
        away = W - self.centre
        return np.maximum(0.0, (away**2).sum(axis=-1) - ((away @ self.frame) ** 2).sum(axis=-1))

    def moved(self, W: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Prototypes (P, d) moved parallel to the plane to these places (P, 2) on it."""
        return W + (places - self.places(W)) @ self.frame.T


class Plane(NamedTuple):
    """A point and two orthonormal directions in the space of the points."""

    origin: np.ndarray  # (d,)
    axes: np.ndarray  # (d, 2)
    names: list[str]
    sentence: str

    def lens(self, training: Training) -> Lens:
        """The plane in a model's space."""
        if training.matrix is None or training.shift is None:
            return Lens(self.origin, self.axes, np.eye(2))
        frame, A = np.linalg.qr(training.matrix @ self.axes)
        return Lens(training.matrix @ self.origin + training.shift, frame, A)


OWN_PLANE = (
    "Each picture is its model: of all columns, a decision needs two numbers, and these are the directions shown. "
    "Right is towards the favourable label. Everybody stands in the cell that decides about them. {drawn:,} of {all:,} "
    "people are drawn; a few stand beyond the edge."
)


def lens_of(training: Training, plane: Plane | None) -> Lens | None:
    """How a model's space is shown: its own plane, the common one, or None where the points' space is the picture."""
    if training.frame_names is None or training.matrix is None or training.shift is None:
        return plane.lens(training) if plane else None
    frame = np.eye(3, 2)
    if training.decisions is None:  # drawn data stay where they are
        return Lens(training.shift, frame, training.matrix[:2])
    return Lens(np.zeros(3), frame, np.eye(2))


def find_plane(settings: Settings, points: Points, glvq: Training) -> Plane:
    """The plane that the settings choose."""
    learn = np.flatnonzero(~points.held_out)
    sample = points.X[np.random.default_rng(0).permutation(learn)[:4000]]
    origin = sample.mean(axis=0)
    d = points.X.shape[1]
    if settings.plane == "pca":
        values, vectors = np.linalg.eigh(np.cov(sample.T))
        share = values[-2:].sum() / values.sum()
        axes = vectors[:, [-1, -2]]
        names = ["widest spread", "second widest"]
        shows = f"the 2 of {d} dimensions in which people differ most ({share:.0%} of all spread)"
    else:
        first, second = _busiest(glvq, points)
        origin, along = (first + second) / 2, second - first
        along = along / np.linalg.norm(along)
        rest = sample - origin
        rest = rest - np.outer(rest @ along, along)
        across = np.linalg.eigh(rest.T @ rest)[1][:, -1]
        axes = np.column_stack([along, across - along * (across @ along)])
        axes[:, 1] /= np.linalg.norm(axes[:, 1])
        names = ["from prototype to prototype", "widest spread across"]
        shows = f"through GLVQ's busiest prototype of two classes, and the widest of the other {d - 1} dimensions"
    # Signs of eigenvectors are arbitrary; a positive largest entry makes pictures comparable.
    axes = axes * np.where(np.abs(axes).max(axis=0) == axes.max(axis=0), 1.0, -1.0)
    sentence = (
        f"A slice: {shows}. Colours of the ground are the true decision on this plane. People stand off the plane, so "
        f"some are decided otherwise than the ground under them; the numbers count everybody exactly. "
        f"{min(SAMPLE, len(points.y)):,} of {len(points.y):,} people are drawn."
    )
    return Plane(origin, axes, names, sentence)


def _busiest(glvq: Training, points: Points) -> tuple[np.ndarray, np.ndarray]:
    """The prototypes of the first two classes that decide for most points."""
    W = glvq.prototypes[-1]
    sizes = np.bincount(nearest(glvq, points.X[~points.held_out], W), minlength=len(W)).reshape(len(points.classes), -1)
    per_class = sizes.shape[1]
    return W[sizes[0].argmax()], W[per_class + sizes[1].argmax()]
