"""Training as a loop over epochs that anybody may drive: estimators to the end, a page step by step.

Nothing here knows scikit-learn: points, integer labels and first prototypes in, moved prototypes out.
"""

import math
from typing import NamedTuple

import numpy as np

from fairglvq.lvq import kernels
from fairglvq.lvq.activations import ACTIVATIONS

# A prototype this many data radii away from the data decides nothing any more. Measured: 2.6 radii at the strongest
# published C (Adult, COMPAS, Local, XOR), 18 at C = 300 on XOR, where half of all decisions are wrong already.
FENCE = 30.0


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
            return kernels.Rows(np.require(X, np.float64, ["C", "W"]), none, no_index, no_index, none, no_rough)
        from scipy.sparse import csr_array

        X = csr_array(X)
    data, squares = np.require(X.data, np.float64, ["C", "W"]), np.asarray(X.multiply(X).sum(axis=1)).ravel()
    indices, indptr = (np.require(index, np.int32, ["C", "W"]) for index in (X.indices, X.indptr))
    return kernels.Rows(np.empty((0, 0)), data, indices, indptr, squares, _rough(data))


def as_prototypes(W: np.ndarray, labels: np.ndarray, pseudo: np.ndarray | None = None) -> kernels.Prototypes:
    """Prototype arrays for the kernels; ``W`` is copied."""
    P = len(W)
    W = np.array(W, dtype=np.float64, order="C")
    codes = np.zeros((2, P), np.int64)
    codes[0] = labels
    if pseudo is not None:
        codes[1] = pseudo
    columns = np.ascontiguousarray(W.T)
    return kernels.Prototypes(W, columns, _rough(columns), (W * W).sum(axis=1), codes)


def nearest_prototypes(rows: kernels.Rows, prototypes: kernels.Prototypes, n: int) -> np.ndarray:
    """The nearest prototype of each of the n points (the first at a tie), int32 (n,)."""
    nearest, block = np.empty(n, np.int32), 4096  # points at a time: all distances at once would be much memory
    for a in range(0, n, block):
        out = np.empty((min(block, n - a), len(prototypes.W)))
        some = rows._replace(
            dense=rows.dense[a : a + block], indptr=rows.indptr[a : a + block + 1], squares=rows.squares[a : a + block]
        )
        kernels.distances(*some, *prototypes, out)
        nearest[a : a + block] = out.argmin(axis=1)
    return nearest


def _rough(values: np.ndarray) -> np.ndarray:
    """In float32; what does not fit becomes infinite, and the kernels take the float64 values there."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def new_cells(n: int, n_prototypes: int, n_classes: int, n_groups: int) -> kernels.Cells:
    """Bookkeeping for n points, not filled; limits of 0 ask for a look at everybody after the first step."""
    return kernels.Cells(
        np.zeros(n, np.int32),
        np.zeros(n, np.float32),
        np.zeros(n_prototypes),
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
    voted on. Where C is 0 pseudo-classes steer nothing: ``lazy_votes`` then votes only when a snapshot is taken.
    """

    def __init__(
        self, rows, y, s, W, labels, recipe: Recipe, rng, *, n_groups=2, pseudo=None, running_votes=None, bounds=True,
        lazy_votes=False,
    ):  # fmt: skip
        if lazy_votes and (recipe.C or running_votes is not None):
            raise ValueError("votes can only wait where C is 0 and nothing is streamed")
        self.recipe, self.bounds, self.lazy_votes = recipe, bounds, lazy_votes
        self.rows, self.voting = rows, s is not None
        self.own = np.zeros((2, len(y)), np.int32)
        self.own[0] = y
        if self.voting:
            self.own[1] = s
        self.prototypes = as_prototypes(W, labels, pseudo)
        P, d = self.prototypes.W.shape
        n_classes, n_groups = int(self.prototypes.labels.max()) + 1, n_groups if self.voting else 1
        n = len(y)
        self.cells = new_cells(n if self.voting else 0, P, n_classes, n_groups)
        if running_votes is not None and self.voting:
            self.cells = self.cells._replace(counts=running_votes)
        self.pulls = kernels.Pulls(np.zeros((2, P, d + 1)), np.zeros((2, 4)))
        self.tile = kernels.new_tile(rows, P, max(n_classes, n_groups))
        self.order = np.arange(n)
        self.random = rng.integers(0, 2**63, 2, dtype=np.uint64)  # of the order, and of the draws of empty cells
        self.n_batches = math.ceil(n / recipe.batch_size)
        self.centre, self.fence = self._fence()
        self.epoch = self.flips = self.alpha_uses = self.looks = self.steps = 0
        self.flew_off = False
        self.history: list[Snapshot] = []
        self.flips_told = 0  # flips that the history already reports
        self.idle = new_cells(0, P, n_classes, n_groups)
        if self.voting:
            self._vote()

    def run(self, n_epochs: int, record_every: int = 0) -> bool:
        """Up to ``n_epochs`` more epochs; False once prototypes fly off (they stay where they last were sane).

        With ``record_every`` > 0, ``history`` grows by a snapshot every so many epochs and one at the end
        (``n_epochs=0`` takes just that one).
        """
        if self.flew_off:
            return False
        last, counts, kept = self.epoch + n_epochs, [], len(self.history)
        while True:
            self._run(min(record_every or n_epochs, last - self.epoch))
            if record_every:
                self.history.append(self._snapshot())
                counts.append(self.cells.counts.copy())
            if self.flew_off or self.epoch >= last:
                break
        if counts and self.voting:
            gaps = parity_gaps(np.stack(counts), self.prototypes.labels).tolist()
            measured = zip(self.history[kept:], gaps, strict=True)
            self.history[kept:] = [snapshot._replace(statistical_parity=gap) for snapshot, gap in measured]
        return not self.flew_off

    def _vote(self) -> None:
        """Everybody into their cell, and every cell votes."""
        self.cells.nearest[:] = nearest_prototypes(self.rows, self.prototypes, self.order.size)
        counts = self.cells.counts
        cell = np.ravel_multi_index((self.cells.nearest, *self.own), counts.shape)
        counts += np.bincount(cell, minlength=counts.size).reshape(counts.shape)
        kernels.vote(counts, self.recipe.step == "published", self.random[1:], self.prototypes.pseudo)

    def _run(self, n_epochs: int, survey: bool = False) -> None:
        """Train without a record; a ``survey`` makes no step and leaves in ``pulls`` what the whole set asks."""
        recipe, n = self.recipe, self.order.size
        cells = self.idle if self.lazy_votes and not survey else self.cells
        queue = np.empty(cells.nearest.size, np.int64)
        # Plain numbers only: every other kind would be compiled for anew.
        done, looks, steps, flips, uses, flew_off = kernels.run(
            *self.rows, *self.prototypes, *cells, *self.pulls, *self.tile, queue, self.own, self.order,
            self.random, self.centre, self.fence, float(recipe.C), float(recipe.alpha),
            ACTIVATIONS[recipe.activation].code, float(recipe.beta), float(recipe.learning_rate),
            n if survey else int(min(recipe.batch_size, n)), recipe.step == "published", bool(recipe.shuffle),
            self.bounds, int(n_epochs), survey,
        )  # fmt: skip
        self.flew_off |= flew_off
        self.epoch += done
        self.looks += looks
        self.steps += steps
        self.flips += flips
        self.alpha_uses += uses

    def _snapshot(self) -> Snapshot:
        """The model as it is, all but its statistical parity."""
        if self.lazy_votes and self.voting:
            before = self.prototypes.pseudo.copy()
            self.cells.counts[:] = 0
            self._vote()
            self.flips += int((before != self.prototypes.pseudo).sum())
        self._run(1, survey=True)
        class_pull, fair_pull = self.pulls.sums[:, :, :-1].copy()
        class_tally, fair_tally = self.pulls.tallies.tolist()
        n, flips = self.order.size, self.flips - self.flips_told
        self.flips_told = self.flips
        if not self.voting:
            fair_pull[:] = fair_tally[kernels.COST] = math.nan
        return Snapshot(
            self.epoch,
            self.prototypes.W.copy(),
            self.prototypes.pseudo.copy() if self.voting else None,
            class_tally[kernels.COST] / n,
            fair_tally[kernels.COST] / n,
            class_pull,
            fair_pull,
            class_tally[kernels.RIGHT] / n,
            math.nan,
            flips,
            self.alpha_uses,
        )

    def _fence(self) -> tuple[np.ndarray, float]:
        """Centre of the first prototypes and the distance from it at which a prototype has flown off."""
        W = self.prototypes.W
        centre = W.mean(axis=0)
        out = np.empty((self.order.size, 1))
        kernels.distances(*self.rows, *as_prototypes(centre[None], np.zeros(1)), out)
        spread = max(out.max(initial=0.0), ((W - centre) ** 2).sum(axis=1).max())
        return centre, FENCE * (math.sqrt(spread) or 1.0)
