"""Training as a loop over epochs: the estimators run it to the end, the playground in small parts.

Independent of scikit-learn: points, integer labels and first prototypes in, moved prototypes out.
"""

import math
from typing import NamedTuple

import numpy as np

from fairglvq.lvq import kernels
from fairglvq.lvq.activations import ACTIVATIONS
from fairglvq.lvq.schedules import Plateau, Timetable

# A prototype this many data radii away from the data has no cell any more. Measured: 2.6 radii at the strongest
# published C (Adult, COMPAS, Local, XOR), 18 at C = 300 on XOR, where half of all decisions are wrong already.
FENCE = 30.0


# Up to so many points, votes after every step are those of all points. Above, that would take longer the more steps an
# epoch has; a point is then counted in the cell where it was after the last step that it took part in.
EXACT_VOTES = 100_000


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


def compact(X):
    """An array (n, d) that is mostly zero as a CSR matrix; everything else as it is."""
    # Below a quarter of non-zeros the sparse loops win (measured on Adult's 98 columns); narrow tables never do.
    if not isinstance(X, np.ndarray) or X.shape[1] < 16:
        return X
    for rows in (len(X) // 3, len(X)):  # for an array without zeros a third is enough
        if np.count_nonzero(X[:rows] != 0.0) > 0.25 * X.size:
            return X
    from scipy.sparse import csr_array

    return csr_array(X)


def dense(X) -> np.ndarray:
    """An array or a sparse matrix as an array."""
    return X.toarray() if hasattr(X, "toarray") else X


def times(X, factor):
    """X, an array or a sparse matrix, times a factor entry by entry."""
    return X.multiply(factor) if hasattr(X, "multiply") else X * factor


def of_columns(X, statistic: str) -> np.ndarray:
    """Mean, sum, min or max of each column of an array or a sparse matrix, (d,)."""
    return np.asarray(dense(getattr(X, statistic)(axis=0))).ravel()


def as_rows(X) -> kernels.Rows:
    """Rows for the kernels from a float array (n, d) or a CSR matrix; arrays that are mostly zero become sparse."""
    X = compact(X)
    if isinstance(X, np.ndarray):
        return dense_rows(X)
    data, squares = np.require(X.data, np.float64, ["C", "W"]), np.asarray(X.multiply(X).sum(axis=1)).ravel()
    indices, indptr = (np.require(index, np.int32, ["C", "W"]) for index in (X.indices, X.indptr))
    return kernels.Rows(np.empty((0, 0)), data, indices, indptr, squares)


def dense_rows(X: np.ndarray) -> kernels.Rows:
    """Rows that stay dense, however many zeros they hold."""
    none, no_index = np.empty(0), np.empty(0, np.int32)
    # Numba would compile anew for read-only arrays (memory maps of worker processes): a copy is cheaper.
    return kernels.Rows(np.require(X, np.float64, ["C", "W"]), none, no_index, no_index, none)


def as_prototypes(W: np.ndarray, labels=0, pseudo=0) -> kernels.Prototypes:
    """Prototype arrays for the kernels; ``W`` is copied."""
    W = np.array(W, dtype=np.float64, order="C")
    codes = np.empty((2, len(W)), np.int64)
    codes[0], codes[1] = labels, pseudo
    return kernels.Prototypes(W, np.ascontiguousarray(W.T), (W * W).sum(axis=1), codes)


def squared_distances(rows: kernels.Rows, W: np.ndarray) -> np.ndarray:
    """|x - w|² of every point to every prototype, (n, P)."""
    out = np.empty((rows.n, len(W)))
    kernels.distances(rows, as_prototypes(W), out)
    return out


def nearest_prototypes(rows: kernels.Rows, W: np.ndarray) -> np.ndarray:
    """The nearest prototype of each point (the first at a tie), int32 (n,)."""
    nearest, block = np.empty(rows.n, np.int32), 4096  # points at a time, to save memory
    for a in range(0, rows.n, block):
        some = rows._replace(
            X=rows.X[a : a + block], indptr=rows.indptr[a : a + block + 1], squares=rows.squares[a : a + block]
        )
        nearest[a : a + block] = squared_distances(some, W).argmin(axis=1)
    return nearest


def new_cells(n: int, n_prototypes: int, n_classes: int, n_groups: int) -> kernels.Cells:
    """Cells that none of the n points is in yet."""
    return kernels.Cells(
        nearest=np.full(n, -1, np.int32),
        limit=np.zeros(n),
        reach=np.zeros(n_prototypes),
        moves=np.zeros(n_prototypes),
        counts=np.zeros((n_prototypes, n_classes, n_groups), np.int64),
        queue=np.empty(n, np.int64),
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
    """FairGLVQ on one training set (Algorithm 1), any number of epochs at a time.

    ``s`` may be None: then nothing is voted on, and ``recipe.C`` must be 0. With ``running_votes`` (P, K, G), a
    stream's counts so far, this training set is one more batch: its points are added to the counts, and the sums are
    voted on. Where C is 0 pseudo-classes have no influence: ``lazy_votes`` then votes only when a snapshot is taken.
    Above EXACT_VOTES points votes are running counts; snapshots and ``count_votes`` make them exact again.
    ``bounds=False`` measures every point after every step, for tests and for ``bench --ablation``.
    """

    def __init__(
        self, rows, y, s, W, labels, recipe: Recipe, rng, *, n_groups=2, pseudo=None, running_votes=None, bounds=True,
        lazy_votes=False,
    ):  # fmt: skip
        if lazy_votes and (recipe.C or running_votes is not None):
            raise ValueError("votes can only wait where C is 0 and nothing is streamed")
        self.recipe, self.bounds, self.lazy_votes, self.voting = recipe, bounds, lazy_votes, s is not None
        n = len(y)
        self.running = n > EXACT_VOTES and running_votes is None
        self.points = kernels.Points(rows, np.zeros((2, n), np.int32), np.arange(n))
        self.points.labels[0] = y
        if self.voting:
            self.points.labels[1] = s
        self.prototypes = as_prototypes(W, labels, 0 if pseudo is None else pseudo)
        P, d = self.prototypes.W.shape
        n_classes, n_groups = int(self.prototypes.labels.max()) + 1, n_groups if self.voting else 1
        self.no_cells = new_cells(0, P, n_classes, n_groups)
        self.cells = new_cells(n, P, n_classes, n_groups) if self.voting else self.no_cells
        if running_votes is not None and self.voting:
            self.cells = self.cells._replace(counts=running_votes)
        self.pulls = kernels.Pulls(
            np.zeros((2, P, d + 1)), np.zeros((2, 2)), np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2)
        )
        self.tile = kernels.new_tile(P, max(n_classes, n_groups))
        self.random = rng.integers(0, 2**63, 2, dtype=np.uint64)  # for the order, and for the draws of empty cells
        self.n_batches = math.ceil(n / recipe.batch_size)
        self.centre, self.fence = self._fence()
        self.epoch = self.flips = self.alpha_uses = self.steps = 0
        self.measured = 0  # points measured again after a step, over all steps
        self.flew_off = False
        self.history: list[Snapshot] = []
        self.flips_recorded = 0
        if self.voting:
            self._vote()

    def run(self, n_epochs: int, record_every: int = 0, schedule: Timetable | Plateau | None = None) -> bool:
        """Up to ``n_epochs`` more epochs; False once prototypes fly off (they stay where they were before that step).

        With ``record_every`` > 0, ``history`` grows by a snapshot every so many epochs and one at the end
        (``n_epochs=0`` takes just that one). A ``schedule`` gets the class cost of every epoch if it
        is ``watched``, lowers the rate and may end the training (:mod:`fairglvq.lvq.schedules`).
        """
        if self.flew_off:
            return False
        last, counts, kept = self.epoch + n_epochs, [], len(self.history)
        while True:
            epochs = min(record_every or n_epochs, last - self.epoch)
            self._run_by(schedule, epochs) if schedule else self._run(epochs)
            if record_every:
                self.history.append(self._snapshot())
                counts.append(self.cells.counts.copy())
            if self.flew_off or self.epoch >= last or (schedule and schedule.over):
                break
        if counts and self.voting:
            gaps = parity_gaps(np.stack(counts), self.prototypes.labels).tolist()
            measured = zip(self.history[kept:], gaps, strict=True)
            self.history[kept:] = [snapshot._replace(statistical_parity=gap) for snapshot, gap in measured]
        return not self.flew_off

    def count_votes(self) -> None:
        """Vote anew in every cell, if the votes of the last step were not those of all points."""
        if self.voting and (self.lazy_votes or self.running):
            before = self.prototypes.pseudo.copy()
            self.cells.counts[:] = 0
            self.cells.nearest[:] = -1
            self._vote()
            self.flips += int((before != self.prototypes.pseudo).sum())

    def _vote(self) -> None:
        """Assign every point to its cell, and vote in every cell."""
        # A step of no points moves nothing, but assigns and votes.
        options = self.options()._replace(C=0.0, fence=math.inf, shuffle=False, bounds=False, running=False)
        none = self.points._replace(order=self.points.order[:0])
        same = self.prototypes._replace(norms=self.prototypes.norms.copy())  # a step sums them up in another order
        kernels.run(none, same, self.cells, self.tile, self.pulls, options, self.random, 1)

    def _run_by(self, schedule: Timetable | Plateau, n_epochs: int) -> None:
        """Train without a record, epoch by epoch; the cost of an epoch is that of each batch before its step."""
        last = self.epoch + n_epochs
        while self.epoch < last and not (self.flew_off or schedule.over):
            self.pulls.totals[:] = 0.0
            self._run(1, schedule.factor, schedule.watched)
            schedule.see(float(self.pulls.totals[0, 0]) / len(self.points.order))

    def _run(self, n_epochs: int, factor: float = 1.0, watched: bool = False) -> None:
        """Train without a record, at the recipe's rate times a factor."""
        cells, options = self.no_cells if self.lazy_votes else self.cells, self.options(factor, watched)
        done, steps, measured, flips, uses, flew_off = kernels.run(
            self.points, self.prototypes, cells, self.tile, self.pulls, options, self.random, int(n_epochs)
        )
        self.flew_off |= flew_off
        self.epoch += done
        self.steps += steps
        self.measured += measured
        self.flips += flips
        self.alpha_uses += uses

    def options(self, factor: float = 1.0, watched: bool = False) -> kernels.Options:
        """The recipe as the kernels take it, at its rate times a factor."""
        recipe = self.recipe
        return kernels.Options(
            # Plain numbers only: Numba would compile anew for every other kind.
            C=float(recipe.C),
            alpha=float(recipe.alpha),
            activation=ACTIVATIONS[recipe.activation].code,
            beta=float(recipe.beta),
            learning_rate=float(recipe.learning_rate) * factor,
            batch_size=int(min(recipe.batch_size, len(self.points.order))),
            published=recipe.step == "published",
            shuffle=bool(recipe.shuffle),
            watched=watched,
            bounds=self.bounds,
            running=self.running,
            centre=self.centre,
            fence=self.fence,
        )

    def _snapshot(self) -> Snapshot:
        """The model as it is, except for its statistical parity."""
        self.count_votes()
        options, n_terms, n = self.options(watched=True), 2 if self.voting else 1, len(self.points.order)
        n_labels, everybody = self.cells.counts.shape[1:], np.arange(n)  # in the order in which they lie in memory
        self.pulls.totals[:] = 0.0
        kernels.survey(self.points, self.prototypes, everybody, self.tile, self.pulls, options, n_labels, n_terms)
        class_pull, fair_pull = self.pulls.sums[:, :, :-1] * self.pulls.scales[:, None, None]
        costs, right = (self.pulls.totals / n).T.tolist()
        if not self.voting:
            fair_pull[:] = math.nan
        flips = self.flips - self.flips_recorded
        self.flips_recorded = self.flips
        return Snapshot(
            self.epoch,
            self.prototypes.W.copy(),
            self.prototypes.pseudo.copy() if self.voting else None,
            costs[0],
            costs[1] if self.voting else math.nan,
            class_pull,
            fair_pull,
            right[0],
            math.nan,
            flips,
            self.alpha_uses,
        )

    def _fence(self) -> tuple[np.ndarray, float]:
        """Centre of the first prototypes and the distance from it at which a prototype has flown off."""
        W = self.prototypes.W
        centre = W.mean(axis=0)
        spread = max(kernels.farthest(self.points.rows, centre), ((W - centre) ** 2).sum(axis=1).max())
        return centre, FENCE * (math.sqrt(spread) or 1.0)
