"""A model on a stream: every batch is decided before it is learned, so that every score is about new people."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairglvq.datasets.streams import Batch, Drift, stream
from fairglvq.fairness.metrics import gaps_from_counts
from fairglvq.labels import favourable_of, positions


class StreamScores(NamedTuple):
    """Scores of the points since the scores before, each decided by the model of that time; time and memory."""

    seen: int
    decided: int  # since the scores before; the first batch is learned only
    accuracy: float
    statistical_parity: float
    seconds: float  # spent in partial_fit so far
    memory: float  # of the process, in MB


def prequential(
    model: Any, batches: Iterable[Batch], *, classes, groups, favourable=None, every: int = 10_000
) -> Iterator[StreamScores]:
    """Decide about each batch, then learn it; scores whenever ``every`` more points were seen, and at the end.

    The first batch is learned only. ``favourable`` None takes the last one of two classes. Nothing is kept but counts.
    """
    counts = _Counts(np.asarray(classes), np.asarray(groups), favourable)
    takes_groups = "groups" in inspect.signature(model.partial_fit).parameters
    seen, seconds, last = 0, 0.0, 0
    for X, y, s in batches:
        if seen:
            counts.add(y, model.predict(X), s)
        start = time.perf_counter()
        if takes_groups:
            model.partial_fit(X, y, sensitive_features=s, classes=classes, groups=groups)
        else:
            model.partial_fit(X, y, classes=classes)
        seconds, seen = seconds + time.perf_counter() - start, seen + len(y)
        if seen - last >= every and counts.n:
            yield StreamScores(seen, *counts.taken(), seconds, memory())
            last = seen
    if counts.n:
        yield StreamScores(seen, *counts.taken(), seconds, memory())


class LiveStream:
    """FairGLVQ on a stream that drifts half way, a step at a time, so that a picture can be drawn between two."""

    def __init__(self, name: str, drift: Drift, C: float, *, points: int = 40_000, every: int = 1_000, seed: int = 0):
        from fairglvq.lvq.fair_glvq import FairGLVQ

        self.key = (name, drift, C)
        self.points, self.change = points, None if drift == "none" else points // 2
        self.model = FairGLVQ(C=C, random_state=seed)
        self.history: list[StreamScores] = []
        self.arrived: Batch | None = None  # the last points
        batches = self._watched(stream(name, points=points, batch_size=every // 4, drift=drift, seed=seed))
        self._upcoming = prequential(self.model, batches, classes=[0, 1], groups=[0, 1], every=every)

    @property
    def done(self) -> bool:
        """Whether all points have arrived."""
        return bool(self.history) and self.history[-1].seen >= self.points

    def step(self) -> None:
        """Decide about and learn the next points; nothing once all have arrived."""
        if not self.done:
            self.history.append(next(self._upcoming))

    def _watched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            self.arrived = batch
            yield batch


class _Counts:
    """Counts of decisions since `taken` was called last."""

    def __init__(self, classes: np.ndarray, groups: np.ndarray, favourable):
        self.groups, self.favourable = groups, classes[favourable_of(classes, favourable)]
        self.counts, self.right = np.zeros((len(groups), 2, 2), np.int64), 0

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    def add(self, y: np.ndarray, decided: np.ndarray, s: np.ndarray) -> None:
        truth, favoured = ((values == self.favourable).astype(int) for values in (y, decided))
        np.add.at(self.counts, (positions(s, self.groups, "group"), truth, favoured), 1)
        self.right += int(np.count_nonzero(decided == y))

    def taken(self) -> tuple[int, float, float]:
        """Number of decisions, accuracy and gap; then counting starts from 0."""
        scores = self.n, self.right / self.n, float(gaps_from_counts(self.counts).statistical_parity)
        self.counts[:], self.right = 0, 0
        return scores


def memory() -> float:
    """Resident memory of this process in MB; where the system does not report it, the largest so far."""
    import resource  # not on Windows

    now = Path("/proc/self/statm")
    if now.exists():
        return int(now.read_text("ascii").split()[1]) * resource.getpagesize() / 1e6
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most / 1e3
