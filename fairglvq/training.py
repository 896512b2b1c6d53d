"""Training as a loop over epochs that anybody may drive: estimators to the end, a page step by step.

Nothing here knows scikit-learn: points, integer labels and first prototypes in, moved prototypes out.
"""

import math
from typing import NamedTuple

import numpy as np

from . import kernels
from .activations import ACTIVATIONS

# A prototype this many data radii away from the data classifies nothing any more and soon overflows.
FENCE = 1e3


class Recipe(NamedTuple):
    """How prototypes are moved; the names are the estimators' parameters."""

    C: float = 0.0
    alpha: float = 2.0
    learning_rate: float = 0.03
    batch_size: int = 250
    activation: str = "swish"
    beta: float = 2.0
    step: str = "algorithm"
    shuffle: bool = True


class Snapshot(NamedTuple):
    """The model after one epoch (epoch 0: before the first), measured on the whole training set.

    Costs are means of Φ(μ) over the points. ``class_pull`` and ``fair_pull`` are the mean pulls on each prototype, as
    the step would scale them: it moves by η (class_pull - C fair_pull). Without groups the fair entries are NaN.
    ``flips`` counts pseudo-classes changed by a vote since the last snapshot, ``alpha_uses`` all uses of alpha so far.
    """

    epoch: int
    prototypes: np.ndarray  # (P, d)
    pseudo_classes: np.ndarray | None  # (P,)
    class_cost: float
    fair_cost: float
    class_pull: np.ndarray  # (P, d)
    fair_pull: np.ndarray  # (P, d)
    accuracy: float
    statistical_parity: float
    flips: int
    alpha_uses: int


def as_rows(X) -> kernels.Rows:
    """Rows for the kernels from a float array (n, d) or a CSR matrix; arrays that are mostly zero become sparse."""
    none, no_index, no_rough = np.empty(0), np.empty(0, np.int32), np.empty(0, np.float32)
    if isinstance(X, np.ndarray):
        # Below a quarter of non-zeros the sparse loops win (measured on Adult's 98 columns); narrow tables never do.
        if X.shape[1] < 16 or np.count_nonzero(X) > 0.25 * X.size:
            # Read-only arrays (memory maps of worker processes) would be compiled for anew: a copy is cheaper.
            return kernels.Rows(
                np.require(X, np.float64, ["C", "W"]), none, no_index, no_index, none, no_rough, no_rough
            )
        from scipy.sparse import csr_array

        X = csr_array(X)
    data, squares = np.require(X.data, np.float64, ["C", "W"]), np.asarray(X.multiply(X).sum(axis=1)).ravel()
    indices, indptr = (np.require(index, np.int32, ["C", "W"]) for index in (X.indices, X.indptr))
    return kernels.Rows(np.empty((0, 0)), data, indices, indptr, squares, _rough(data), _rough(squares))


def as_prototypes(W: np.ndarray, labels: np.ndarray, pseudo: np.ndarray | None = None) -> kernels.Prototypes:
    """Prototype arrays for the kernels; ``W`` is copied."""
    P = len(W)
    W = np.array(W, dtype=np.float64, order="C")
    pseudo = np.zeros(P, np.int64) if pseudo is None else np.array(pseudo, np.int64)
    columns = np.ascontiguousarray(W.T)
    labels = np.array(labels, np.int64)
    return kernels.Prototypes(W, columns, _rough(columns), (W * W).sum(axis=1), labels, pseudo)


def _rough(values: np.ndarray) -> np.ndarray:
    """In float32; what does not fit becomes infinite, and the kernels take the float64 values there."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def new_cells(n: int, n_prototypes: int, n_classes: int, n_groups: int) -> kernels.Cells:
    """Empty bookkeeping for n points."""
    return kernels.Cells(
        np.full(n, -1, np.int32),
        np.zeros(n, np.float32),
        np.zeros(n_prototypes),
        np.zeros((n_prototypes, n_classes, n_groups), np.int64),
    )


def parity_gaps(counts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Largest gap between groups in the share that gets a class, over all classes, from counts (F, P, K, G).

    With two classes this is statistical parity, whichever outcome is favourable.
    """
    by_group = counts.sum(axis=2)  # (F, P, G)
    n = by_group.sum(axis=1)  # (F, G)
    given = np.stack([by_group[:, labels == c].sum(axis=1) for c in range(counts.shape[2])], axis=1)  # (F, K, G)
    present = n[0] > 0
    return np.ptp(given[..., present] / n[:, None, present], axis=2).max(axis=1)


class Trainer:
    """FairGLVQ on one training set (Algorithm 1), as many epochs at a time as its driver likes.

    ``s`` may be None: then nothing is voted on, and ``recipe.C`` must be 0. With ``running_votes`` (P, K, G), a
    stream's counts so far, this training set is one more batch: its points are added to them, and they are what is
    voted on.
    """

    def __init__(
        self, rows, y, s, W, labels, recipe: Recipe, rng, *, n_groups=2, pseudo=None, running_votes=None, bounds=True
    ):
        self.recipe, self.bounds = recipe, bounds
        self.rows = rows
        self.y = np.require(y, np.int64, ["C", "W"])
        self.voting = s is not None
        self.s = np.zeros_like(self.y) if s is None else np.require(s, np.int64, ["C", "W"])
        self.prototypes = as_prototypes(W, labels, pseudo)
        P, d = self.prototypes.W.shape
        self.n_classes, self.n_groups = int(self.prototypes.labels.max()) + 1, n_groups if self.voting else 1
        n = self.y.size
        self.cells = new_cells(n if self.voting else 0, P, self.n_classes, self.n_groups)
        self.pulls = kernels.Pulls(np.zeros((2, P, d)), np.zeros((2, P)), np.zeros((2, 4)))
        self.order = np.arange(n)
        self.random = rng.integers(0, 2**63, 2, dtype=np.uint64)  # of the order, and of the draws of empty cells
        self.n_batches = math.ceil(n / recipe.batch_size)
        self.centre, self.fence = self._fence()
        self.epoch = self.flips = self.alpha_uses = self.looks = self.steps = 0
        self.flew_off = False
        self.history: list[Snapshot] = []
        self.flips_told = 0  # flips that the history already reports
        if self.voting:
            kernels.begin(*self.rows, *self.prototypes, *self.cells, self.y, self.s)
            if running_votes is not None:
                running_votes += self.cells.counts
                self.cells = self.cells._replace(counts=running_votes)
            kernels.vote(self.cells.counts, recipe.step == "published", self.random[1:], self.prototypes.pseudo)

    def run(self, n_epochs: int, record_every: int = 0) -> bool:
        """Up to ``n_epochs`` more epochs; False once prototypes fly off (they stay where they last were sane).

        With ``record_every`` > 0, ``history`` grows by a snapshot every so many epochs and one at the end
        (``n_epochs=0`` takes just that one).
        """
        if self.flew_off:
            return False
        recipe, (P, d) = self.recipe, self.prototypes.W.shape
        slots = math.ceil(n_epochs / record_every) + 1 if record_every else 0
        kept = (
            np.empty((slots, P, d)),
            np.empty((slots, P), np.int64),
            np.empty((slots, P, self.n_classes, self.n_groups), np.int64),
            np.empty((slots, 2, P, d)),
            np.empty((slots, 2, 4)),
            np.empty((slots, 3), np.int64),
        )
        # Plain numbers only: every other kind would be compiled for anew.
        done, n_kept, looks, steps, flips, uses, self.flew_off = kernels.run(
            *self.rows, *self.prototypes, *self.cells, *self.pulls, self.y, self.s, self.order, self.random,
            self.centre, self.fence, self.n_classes, self.n_groups, float(recipe.C), float(recipe.alpha),
            ACTIVATIONS[recipe.activation].code, float(recipe.beta), float(recipe.learning_rate),
            int(min(recipe.batch_size, self.y.size)), recipe.step == "published", bool(recipe.shuffle), self.bounds,
            int(n_epochs), int(record_every), *kept,
        )  # fmt: skip
        if n_kept:
            self._remember(*(array[:n_kept] for array in kept))
        self.epoch += done
        self.looks += looks
        self.steps += steps
        self.flips += flips
        self.alpha_uses += uses
        return not self.flew_off

    def _remember(self, W, pseudo, counts, pulls, tallies, events):
        n = self.y.size
        costs = tallies[:, :, kernels.COST] / n
        accuracy = tallies[:, 0, kernels.RIGHT] / n
        if self.voting:
            parity = parity_gaps(counts, self.prototypes.labels)
        else:
            parity = np.full(len(W), np.nan)
            costs[:, 1] = np.nan
            pulls[:, 1] = np.nan
        flips = np.diff(events[:, 1] + self.flips, prepend=self.flips_told)
        self.flips_told = int(events[-1, 1]) + self.flips
        for f in range(len(W)):
            self.history.append(
                Snapshot(
                    self.epoch + int(events[f, 0]),
                    W[f],
                    pseudo[f] if self.voting else None,
                    float(costs[f, 0]),
                    float(costs[f, 1]),
                    pulls[f, 0],
                    pulls[f, 1],
                    float(accuracy[f]),
                    float(parity[f]),
                    int(flips[f]),
                    self.alpha_uses + int(events[f, 2]),
                )
            )

    def _fence(self) -> tuple[np.ndarray, float]:
        """Centre of the first prototypes and the distance from it at which a prototype has flown off."""
        W = self.prototypes.W
        centre = W.mean(axis=0)
        out = np.empty((self.y.size, 1))
        kernels.distances(*self.rows, *as_prototypes(centre[None], np.zeros(1)), out)
        spread = max(out.max(initial=0.0), ((W - centre) ** 2).sum(axis=1).max())
        return centre, FENCE * (math.sqrt(spread) or 1.0)
