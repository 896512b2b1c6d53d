"""The compiled inner loops: mini-batch steps, exact nearest-prototype assignments, votes and distances.

A step of FairGLVQ is one subtraction, ``descent(y, labels) - C * descent(s, pseudo_classes)``
(:mod:`fairglvq.lvq.reference` spells it out). Here both terms share one pass over the distances of a batch. The class
term has index 0 and the fair term index 1 wherever the two differ: the labels of the points (y, s) and those of the
prototypes (class, pseudo-class). All labels are integers; the estimators translate.

What makes it fast, without changing the result (``python -m fairglvq bench --ablation`` measures each):

* points are processed in tiles, so that the innermost loops run over points and become vector code (:class:`Tile`),
  with an exponential function that does too (:func:`exponential`);
* sparse rows stay sparse: |x - w|² = |w|² + |x|² - 2 Σ x_k w_k over the non-zeros of x (:func:`measure_sparse`);
* after a step only those points are measured whose nearest prototype may have changed according to the triangle
  inequality (:func:`reassign`), after Hamerly (2010).

How to work on this file:

* Python calls an ``entry``. A ``part`` is compiled into the entries that use it; from Python it runs uncompiled.
  An entry that other entries use is kept on disk for them, so that two processes can share the compilation
  (:mod:`fairglvq.warm`).
* What differs between dense and sparse rows is a function for each (:func:`measure`, :func:`scatter`). The choice is
  made at run time: two types of rows would double the time of the first compilation.
* No compiled function allocates memory: Python passes the work space. This and plain loops in place of NumPy's
  whole-array functions keep the compilation short.
* Everything stays in one file: Numba renews its cache on disk only when the file of an entry changes.

Everything releases the GIL.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

_options: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,  # no memory is allocated, so no references need be counted
}
entry = njit(cache=True, **_options)
reordered_entry = njit(cache=True, fastmath={"contract", "reassoc"}, **_options)  # sums in any order, in vector code
part = register_jitable(**_options)
fused_part = register_jitable(fastmath={"contract"}, **_options)  # multiply and add in one instruction

TILE = 64  # points per tile: enough to outweigh the calls, few enough for the fastest level of memory


# -- data -----------------------------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """Points by row, as a table or as a CSR matrix; the arrays of the other layout are empty."""

    X: np.ndarray  # (n, d)
    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) int32
    indptr: np.ndarray  # (n + 1,) int32; (0,) means dense
    squares: np.ndarray  # (n,) |x|²

    @property
    def sparse(self) -> bool:
        """Whether this is a CSR matrix."""
        return self.indptr.size > 0

    @property
    def n(self) -> int:
        """How many points."""
        return len(self.squares if self.sparse else self.X)


class Points(NamedTuple):
    """A training set."""

    rows: Rows
    labels: np.ndarray  # (2, n) int32, class and group
    order: np.ndarray  # (n,) the order in which points are learned


class Prototypes(NamedTuple):
    """Prototype positions in the layouts that the loops read, and their labels."""

    W: np.ndarray  # (P, d)
    columns: np.ndarray  # (d, P), W transposed: loops over prototypes are contiguous
    norms: np.ndarray  # (P,) |w|²
    codes: np.ndarray  # (2, P) class and pseudo-class

    @property
    def labels(self) -> np.ndarray:
        """The class of each prototype, (P,)."""
        return self.codes[0]

    @property
    def pseudo(self) -> np.ndarray:
        """The pseudo-class of each prototype, (P,)."""
        return self.codes[1]


class Cells(NamedTuple):
    """The nearest prototype of every point, kept exact while prototypes move.

    Point i cannot have left its cell a while ``reach[a] < limit[i]``. ``reach[a]`` sums, over all moves made, how far
    prototype a moved plus how far any other moved at most. ``limit[i]`` is that sum when point i was last measured,
    plus the gap between its second nearest and its nearest prototype then.
    """

    nearest: np.ndarray  # (n,) int32, -1 before the first assignment; (0,) where nothing is voted on
    limit: np.ndarray  # (n,)
    reach: np.ndarray  # (P,)
    moves: np.ndarray  # (P,) how far each prototype moved in the last step
    counts: np.ndarray  # (P, K, G) members by class and group
    queue: np.ndarray  # (n,) work space: points to measure


class Pulls(NamedTuple):
    """Sums over a batch."""

    sums: np.ndarray  # (2, P, d + 1) by term and prototype: Σ f x, and Σ f in the last column
    totals: np.ndarray  # (2, 2) by term, where watched: Σ Φ(μ), and points whose nearest prototype has their label
    updates: np.ndarray  # (2,) by term: n of Algorithm 1, the number of updates
    simulated: np.ndarray  # (2,) by term: rivals that do not exist and were simulated with alpha
    scales: np.ndarray  # (2,) by term: what a step multiplies the sums with


class Tile(NamedTuple):
    """Work space for up to T points: loops along the last axis are contiguous and become vector code."""

    x: np.ndarray  # (4, T) some coordinates (dense rows only)
    products: np.ndarray  # (P,) x·w of one point (sparse rows only)
    near: np.ndarray  # (P, T) distances²
    closest: np.ndarray  # (max(K, G, 2), T) smallest distance² per label; then, in rows 0 and 1, those of w+ and w-
    who: np.ndarray  # (max(K, G, 2), T) the prototypes that have them, as floats, -1 where there is none
    factor: np.ndarray  # (2, T) what multiplies x - w of w+ and of w-
    value: np.ndarray  # (T,) Φ(μ)
    label: np.ndarray  # (T,) the points' labels, as floats
    first: np.ndarray  # (T,) smallest distance²
    second: np.ndarray  # (T,) second smallest distance²
    nearest: np.ndarray  # (T,) the prototype that has the smallest, as float


class Options(NamedTuple):
    """How prototypes are moved: :class:`fairglvq.lvq.trainer.Recipe` in numbers, and the limits of a move."""

    C: float
    alpha: float
    activation: int  # code in fairglvq.lvq.activations
    beta: float
    learning_rate: float
    batch_size: int
    published: bool
    shuffle: bool
    watched: bool  # whether costs are summed up
    bounds: bool  # False measures every point after every step
    running: bool  # True measures only the points of the batch after its step: votes are running counts
    centre: np.ndarray  # (d,)
    fence: float  # the largest distance from the centre that a prototype may reach


def new_tile(n_prototypes: int, n_labels: int = 2) -> Tile:
    """Work space for P prototypes and as many labels as classes or groups."""
    P, L, line = n_prototypes, max(n_labels, 2), (TILE,)
    shapes = ((4, TILE), (P,), (P, TILE), (L, TILE), (L, TILE), (2, TILE), line, line, line, line, line)
    # Each array begins where a line of the cache (8 numbers) does: a vector then never lies across two of them.
    lengths = [-(-math.prod(shape) // 8) * 8 for shape in shapes]
    room = np.empty(sum(lengths) + 8)
    begin, arrays = -(room.__array_interface__["data"][0] // 8) % 8, []
    for shape, length in zip(shapes, lengths, strict=True):
        arrays.append(room[begin : begin + math.prod(shape)].reshape(shape))
        begin += length
    return Tile(*arrays)


# -- distances ------------------------------------------------------------------------------------------------------


@fused_part
def measure_dense(X, prototypes, batch, tile):
    """:func:`measure`, four coordinates at a time: one load and one store of the running sum for four terms."""
    W, x, near = prototypes.W, tile.x, tile.near
    P, d = W.shape
    for j in range(P):
        for b in range(batch.size):
            near[j, b] = 0.0
    for k in range(0, d - 3, 4):
        for b in range(batch.size):
            i = batch[b]
            for c in range(4):
                x[c, b] = X[i, k + c]
        for j in range(P):
            w0, w1, w2, w3 = W[j, k], W[j, k + 1], W[j, k + 2], W[j, k + 3]
            for b in range(batch.size):
                a0, a1, a2, a3 = x[0, b] - w0, x[1, b] - w1, x[2, b] - w2, x[3, b] - w3
                near[j, b] += (a0 * a0 + a1 * a1) + (a2 * a2 + a3 * a3)
    for k in range(d - d % 4, d):
        for b in range(batch.size):
            x[0, b] = X[batch[b], k]
        for j in range(P):
            w = W[j, k]
            for b in range(batch.size):
                gap = x[0, b] - w
                near[j, b] += gap * gap


@fused_part
def measure_sparse(rows, prototypes, batch, tile):
    """:func:`measure`, by non-zeros: |x - w|² = |x|² + |w|² - 2 x·w."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    columns, norms, products, near = prototypes.columns, prototypes.norms, tile.products, tile.near
    P = norms.size
    products[0] = read_ahead(rows, batch)
    for b in range(batch.size):
        i = batch[b]
        for j in range(P):
            products[j] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x, k = data[e], indices[e]
            for j in range(P):
                products[j] += x * columns[k, j]
        for j in range(P):
            distance = rows.squares[i] + norms[j] - 2.0 * products[j]
            near[j, b] = distance if distance > 0.0 else 0.0  # rounding may leave -1e-17 on a prototype


@entry
def measure(rows, prototypes, batch, tile):
    """|x - w_j|² of the points of a batch of up to T to every prototype, into ``tile.near``."""
    if rows.indptr.size == 0:
        measure_dense(rows.X, prototypes, batch, tile)
    else:
        measure_sparse(rows, prototypes, batch, tile)


@part
def read_ahead(rows, batch):
    """Read a little of each row, so that memory delivers all of them at once; the sum keeps the reads from removal."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    total = 0.0
    for b in range(batch.size):
        e, end = indptr[batch[b]], indptr[batch[b] + 1]
        if end > e:
            total += data[e] + data[end - 1] + indices[e] + indices[end - 1]
    return total


@part
def update_copies(prototypes):
    """Bring the transposed copy and the norms up to date after W was written."""
    W = prototypes.W
    for j in range(W.shape[0]):
        total = 0.0
        for k in range(W.shape[1]):
            w = W[j, k]
            prototypes.columns[k, j] = w
            total += w * w
        prototypes.norms[j] = total


# The next loops are written for vector code: indices as floats, `+ zero` after a choice (without it the compiler makes
# a masked store, many times slower), and at most two or three rows written per loop.


@part
def closest_by_label(tile, count, labels, n_labels):
    """The nearest prototype of every label, for each point of a tile; the first wins a tie, -1 where there is none."""
    near, closest, who, zero = tile.near, tile.closest, tile.who, 0.0
    for label in range(n_labels):
        for b in range(count):
            closest[label, b] = np.inf
        for b in range(count):
            who[label, b] = -1.0
    for j in range(labels.size):
        label, index = labels[j], float(j)
        for b in range(count):
            d, best, known = near[j, b], closest[label, b], who[label, b]
            closer = d < best
            closest[label, b] = (d if closer else best) + zero
            who[label, b] = (index if closer else known) + zero


@part
def two_closest(tile, count):
    """The two smallest distances² of each point of a tile and the nearest prototype (the first at a tie)."""
    near, first, second, nearest, zero = tile.near, tile.first, tile.second, tile.nearest, 0.0
    for b in range(count):
        first[b] = np.inf
        second[b] = np.inf
    for j in range(near.shape[0]):
        index = float(j)
        for b in range(count):
            d, best, next_best, known = near[j, b], first[b], second[b], nearest[b]
            closer = d < best
            farther = best if closer else d
            first[b] = (d if closer else best) + zero
            second[b] = (farther if farther < next_best else next_best) + zero
            nearest[b] = (index if closer else known) + zero


# -- one term of a step ---------------------------------------------------------------------------------------------

# exp(t) = 2^n exp(r) with n = round(t / ln 2) and |r| <= ln 2 / 2; ln 2 in two parts keeps t - n ln 2 precise.
_PER_LN2 = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUNDER = 1.5 * 2.0**52  # added to a small number, leaves its nearest integer in the last bits


@fused_part
def exponential(t):
    """exp(t) for t between -700 and 700, as precise as NumPy's, and vector code when called in a loop."""
    shifted = t * _PER_LN2 + _ROUNDER
    n = shifted - _ROUNDER
    r = (t - n * _LN2_HIGH) - n * _LN2_LOW
    series = 1 / 39916800 + r * (1 / 479001600 + r * (1 / 6227020800))
    series = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * series))
    series = 1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * series))
    series = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * series))))
    # n, in the last bits, moves into the exponent: times 2^n.
    return np.int64(np.float64(series).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)).view(np.float64)


@part
def activate(code, beta, mu):
    """Φ(μ) and Φ'(μ) of the activation with this code in :mod:`fairglvq.lvq.activations`.

    By code, because a function passed to a compiled function would defeat the cache on disk.
    """
    t = -beta * mu
    t = t if t > -700.0 else -700.0
    t = t if t < 700.0 else 700.0
    p = 1.0 / (1.0 + exponential(t))  # σ
    value = mu * p if code == 0 else (p if code == 1 else mu)
    slope = p + beta * mu * p * (1.0 - p) if code == 0 else (beta * p * (1.0 - p) if code == 1 else 1.0)
    return value, slope


@part
def choose_rivals(tile, labels, batch, n_labels, alpha):
    """Bring w+ and w- of each point into rows 0 and 1 of ``closest`` and ``who``; returns how many do not exist.

    The distance of a rival that does not exist is simulated with alpha (edge case 2): d+ = alpha d- or d- = d+ / alpha.
    """
    closest, who = tile.closest, tile.who
    if n_labels == 2 and who[0, 0] >= 0.0 and who[1, 0] >= 0.0:  # both exist for this point, so they do for all
        order_two_rivals(tile, labels, batch)
        return 0
    missing = 0
    for b in range(batch.size):
        label = labels[batch[b]]
        plus, d_plus, minus, d_minus = who[label, b], closest[label, b], -1.0, np.inf
        for other in range(n_labels):
            j, d = who[other, b], closest[other, b]
            if other != label and j >= 0 and (d < d_minus or (d == d_minus and j < minus)):
                minus, d_minus = j, d
        if plus < 0.0:
            d_plus = alpha * d_minus
            missing += 1
        elif minus < 0.0:
            d_minus = d_plus / alpha
            missing += 1
        who[0, b], closest[0, b], who[1, b], closest[1, b] = plus, d_plus, minus, d_minus
    return missing


@part
def order_two_rivals(tile, labels, batch):
    """Of two labels each has its row already: exchange the rows where the point has label 1, in vector code."""
    closest, who, label, zero = tile.closest, tile.who, tile.label, 0.0
    for b in range(batch.size):
        label[b] = labels[batch[b]]
    for b in range(batch.size):
        d0, d1, exchange = closest[0, b], closest[1, b], label[b] > 0.0
        closest[0, b] = (d1 if exchange else d0) + zero
        closest[1, b] = (d0 if exchange else d1) + zero
    for b in range(batch.size):
        j0, j1, exchange = who[0, b], who[1, b], label[b] > 0.0
        who[0, b] = (j1 if exchange else j0) + zero
        who[1, b] = (j0 if exchange else j1) + zero


@part
def relative_difference(d_plus, d_minus):
    """μ = (d+ - d-) / (d+ + d-), and 1 / (d+ + d-).

    With both distances 0, μ is 0/0: both are set to 0, and nothing pulls. Below 1e-150 the square would underflow.
    """
    both = d_plus + d_minus
    inverse = 1.0 / both if both > 1e-150 else 0.0
    return (d_plus - d_minus) * inverse, inverse


@part
def weigh(tile, count, options):
    """Φ(μ) and the factors of one term's pulls -∂Φ(μ)/∂w±, less the constant 4, for each point of a tile.

    -∂Φ/∂w+ = 4 Φ'(μ) d- / (d+ + d-)² (x - w+), and -∂Φ/∂w- = -4 Φ'(μ) d+ / (d+ + d-)² (x - w-).
    """
    closest, factor, value = tile.closest, tile.factor, tile.value
    for b in range(count):
        d_plus, d_minus = closest[0, b], closest[1, b]
        mu, inverse = relative_difference(d_plus, d_minus)
        value[b], slope = activate(options.activation, options.beta, mu)
        pull = inverse * (inverse * slope)
        factor[0, b] = pull * d_minus
        factor[1, b] = -pull * d_plus


@part
def scatter_dense(X, batch, tile, sums):
    """:func:`scatter`, by coordinates."""
    d = X.shape[1]
    for side in range(2):  # w+ of all points, then w-
        for b in range(batch.size):
            i, j, f = batch[b], np.int64(tile.who[side, b]), tile.factor[side, b]
            if j < 0:  # does not exist
                continue
            sums[j, d] += f
            for k in range(d):
                sums[j, k] += f * X[i, k]


@part
def scatter_sparse(rows, batch, tile, sums):
    """:func:`scatter`, by non-zeros, both rivals side by side: their additions do not wait for each other."""
    data, indices, d = rows.data, rows.indices, sums.shape[1] - 1
    for b in range(batch.size):
        i, j0, j1 = batch[b], np.int64(tile.who[0, b]), np.int64(tile.who[1, b])
        f0, f1 = tile.factor[0, b], tile.factor[1, b]
        if j0 < 0:
            j0, f0 = j1, 0.0
        if j1 < 0:
            j1, f1 = j0, 0.0
        sums[j0, d] += f0
        sums[j1, d] += f1
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            sums[j0, indices[e]] += f0 * data[e]
            sums[j1, indices[e]] += f1 * data[e]


@entry
def scatter(rows, batch, tile, sums):
    """Add factor * (x, 1) of each point of a tile to the sums (P, d + 1) of its two rivals."""
    if rows.indptr.size == 0:
        scatter_dense(rows.X, batch, tile, sums)
    else:
        scatter_sparse(rows, batch, tile, sums)


@part
def clear(pulls):
    """Set all sums to 0."""
    for term in range(2):
        pulls.updates[term] = pulls.simulated[term] = 0
        for j in range(pulls.sums.shape[1]):
            for k in range(pulls.sums.shape[2]):
                pulls.sums[term, j, k] = 0.0


@part
def add_totals(tile, count, totals):
    """Add Σ Φ(μ) and the number of points whose nearest prototype has their label to the totals (2,) of a term."""
    closest, who = tile.closest, tile.who
    for b in range(count):
        totals[0] += tile.value[b]
        d_plus, d_minus = closest[0, b], closest[1, b]
        totals[1] += (d_plus < d_minus) | ((d_plus == d_minus) & (who[0, b] < who[1, b]))  # the first wins a tie


@entry
def add_term(term, points, batch, prototypes, tile, pulls, options, n_labels):
    """Σ f (x, 1) of one term over the points of a tile, from the distances in ``tile.near``."""
    closest_by_label(tile, batch.size, prototypes.codes[term], n_labels[term])
    missing = choose_rivals(tile, points.labels[term], batch, n_labels[term], options.alpha)
    weigh(tile, batch.size, options)
    if options.watched:
        add_totals(tile, batch.size, pulls.totals[term])
    scatter(points.rows, batch, tile, pulls.sums[term])
    pulls.updates[term] += 2 * batch.size - missing
    pulls.simulated[term] += missing


@part
def subtract_prototypes(prototypes, pulls, n_terms):
    """Turn Σ f x and Σ f into Σ f (x - w)."""
    P, d = prototypes.W.shape
    for term in range(n_terms):
        for j in range(P):
            for k in range(d):
                pulls.sums[term, j, k] -= pulls.sums[term, j, d] * prototypes.W[j, k]


@part
def scale(term, points, batch, pulls, n_labels, options):
    """What one term's summed pulls are multiplied with.

    Algorithm 1: 4 (of the exact gradient) / number of updates. Published runs: no 4, and prototypes times distinct
    labels in the batch in place of the updates.
    """
    if not options.published:
        return 4.0 / pulls.updates[term] if pulls.updates[term] > 0 else 4.0
    distinct, labels = 0, points.labels[term]
    for label in range(n_labels[term]):
        for b in range(batch.size):
            if labels[batch[b]] == label:
                distinct += 1
                break
    return 1.0 / (pulls.sums.shape[1] * max(distinct, 1))


@part
def move(prototypes, pulls, moves, options):
    """W += η (class pull - C fair pull); False, and W as it was, if a prototype would leave the fence or be NaN."""
    W, sums, centre = prototypes.W, pulls.sums, options.centre
    P, d = W.shape
    class_scale, fair_scale = pulls.scales[0], pulls.scales[1]
    for j in range(P):
        step, away = 0.0, 0.0
        for k in range(d):
            delta = options.learning_rate * (class_scale * sums[0, j, k] - options.C * fair_scale * sums[1, j, k])
            sums[0, j, k] = delta
            w = W[j, k] + delta - centre[k]
            step += delta * delta
            away += w * w
        if not away <= options.fence * options.fence:
            return False
        moves[j] = np.sqrt(step)
    for j in range(P):
        for k in range(d):
            W[j, k] += sums[0, j, k]
    return True


# -- cells ----------------------------------------------------------------------------------------------------------


@part
def extend(moves, reach):
    """Add to each prototype's reach how far it moved and how far any other moved at most."""
    largest, second_largest, fastest = 0.0, 0.0, -1
    for j in range(moves.size):
        if moves[j] > largest:
            second_largest, largest, fastest = largest, moves[j], j
        elif moves[j] > second_largest:
            second_largest = moves[j]
    for j in range(moves.size):
        reach[j] += moves[j] + (second_largest if j == fastest else largest)


@part
def enqueue(cells, bounds):
    """Put every point that may have left its cell into the queue, without bounds every point; returns how many."""
    nearest, limit, reach, queue = cells.nearest, cells.limit, cells.reach, cells.queue
    queued = 0
    for i in range(nearest.size):
        if not bounds or reach[nearest[i]] >= limit[i]:
            queue[queued] = i
            queued += 1
    return queued


@part
def longest(norms):
    """The length |w| of the longest prototype."""
    most = 0.0
    for j in range(norms.size):
        if norms[j] > most:
            most = norms[j]
    return np.sqrt(most)


@part
def rounding(rows, i, length):
    """How far rounding can have moved the squared distances of point i to prototypes no longer than ``length``.

    Sums of squares of dense rows are relatively exact. The expanded square of sparse rows cancels:
    (non-zeros + 4) ε (|x| + |w|)².
    """
    if rows.indptr.size == 0:
        return 0.0
    return (rows.indptr[i + 1] - rows.indptr[i] + 4) * 2.0**-52 * (np.sqrt(rows.squares[i]) + length) ** 2


@part
def assign(points, batch, tile, cells, length):
    """Give each point of a tile its new cell and limit; ``length`` is that of the longest prototype."""
    labels, counts = points.labels, cells.counts
    for b in range(batch.size):
        i, now = batch[b], np.int64(tile.nearest[b])
        before, error = cells.nearest[i], rounding(points.rows, i, length)
        first, second = tile.first[b] + error, tile.second[b] - error
        if now != before:
            if before >= 0:
                counts[before, labels[0, i], labels[1, i]] -= 1
            counts[now, labels[0, i], labels[1, i]] += 1
            cells.nearest[i] = now
        gap = (np.sqrt(second) * (1.0 - 1e-9) if second > 0.0 else 0.0) - np.sqrt(first)
        cells.limit[i] = cells.reach[now] + gap


@entry
def reassign(points, prototypes, cells, tile, learned, options):
    """Make assignments exact again after prototype j moved by ``moves[j]``; returns how many points were measured.

    With running counts this is done only for the points just ``learned``; others stay where they were after theirs.
    """
    extend(cells.moves, cells.reach)
    queue = learned if options.running else cells.queue[: enqueue(cells, options.bounds)]
    width, length = tile.near.shape[1], longest(prototypes.norms)
    for start in range(0, queue.size, width):
        batch = queue[start : start + width]
        measure(points.rows, prototypes, batch, tile)
        two_closest(tile, batch.size)
        assign(points, batch, tile, cells, length)
    return queue.size


# -- what Python calls ----------------------------------------------------------------------------------------------


@entry
def draw(random, n):
    """A random number out of 0 ... n - 1; ``random`` (1,) uint64 is the state of the stream (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = (z ^ (z >> np.uint64(31))) >> np.uint64(32)  # the upper half
    return np.int64((z * np.uint64(n)) >> np.uint64(32))


@entry
def shuffle(order, random):
    """Fisher and Yates in place; NumPy's takes six times as long, half an epoch on a small set."""
    for i in range(order.size - 1, 0, -1):
        j = draw(random, i + 1)
        order[i], order[j] = order[j], order[i]


@entry
def vote(counts, published, random, pseudo):
    """Majority group of every cell (the first at a tie); returns how many pseudo-classes votes have flipped.

    An empty cell takes a group at random (edge case 1); in the published runs, the first.
    """
    flips = 0
    for j in range(pseudo.size):
        winner, most, members = 0, -1, 0
        for g in range(counts.shape[2]):
            votes = 0
            for c in range(counts.shape[1]):
                votes += counts[j, c, g]
            members += votes
            if votes > most:
                winner, most = g, votes
        if members == 0:
            winner = 0 if published else draw(random, counts.shape[2])
        elif winner != pseudo[j]:
            flips += 1
        pseudo[j] = winner
    return flips


@entry
def distances(rows, prototypes, out):
    """|x - w|² of every point to every prototype, into ``out`` (n, P)."""
    columns, norms = prototypes.columns, prototypes.norms
    for i in range(out.shape[0]):
        for j in range(norms.size):
            out[i, j] = 0.0
        if rows.indptr.size == 0:
            for k in range(columns.shape[0]):
                x = rows.X[i, k]
                for j in range(norms.size):
                    gap = x - columns[k, j]
                    out[i, j] += gap * gap
        else:
            for e in range(rows.indptr[i], rows.indptr[i + 1]):
                x, k = rows.data[e], rows.indices[e]
                for j in range(norms.size):
                    out[i, j] += x * columns[k, j]
            for j in range(norms.size):
                distance = rows.squares[i] + norms[j] - 2.0 * out[i, j]
                out[i, j] = distance if distance > 0.0 else 0.0


@reordered_entry
def farthest(rows, centre):
    """The largest |x - centre|² of all points."""
    largest, norm, dense = 0.0, 0.0, rows.indptr.size == 0
    for k in range(centre.size):
        norm += centre[k] * centre[k]
    for i in range(rows.X.shape[0] if dense else rows.squares.size):
        if dense:
            total = 0.0
            for k in range(centre.size):
                gap = rows.X[i, k] - centre[k]
                total += gap * gap
        else:
            total = norm + rows.squares[i]
            for e in range(rows.indptr[i], rows.indptr[i + 1]):
                total -= 2.0 * rows.data[e] * centre[rows.indices[e]]
        if total > largest:
            largest = total
    return largest


@entry
def survey(points, prototypes, batch, tile, pulls, options, n_labels, n_terms):
    """Leave in ``pulls`` how the terms pull on a batch of any size, and what a step multiplies that with."""
    width = tile.near.shape[1]
    clear(pulls)
    for start in range(0, batch.size, width):
        some = batch[start : start + width]
        measure(points.rows, prototypes, some, tile)
        for term in range(n_terms):
            add_term(term, points, some, prototypes, tile, pulls, options, n_labels)
    subtract_prototypes(prototypes, pulls, n_terms)
    for term in range(n_terms):
        pulls.scales[term] = scale(term, points, batch, pulls, n_labels, options)


@entry
def run(points, prototypes, cells, tile, pulls, options, random, n_epochs):
    """Train for up to ``n_epochs`` passes in mini-batches (Algorithm 1, lines 4 to 23 for every batch).

    Without cells (``nearest`` empty) nothing is voted on; without an order, one step of no points moves nothing, but
    cells are made exact and vote. ``random`` (2,) holds two streams, one for the order and one for the draws of empty
    cells: voting does not change the order in which points are learned. Returns epochs done, steps made, points
    measured again, flips, uses of alpha, and whether prototypes were about to leave the fence.
    """
    n_labels, n_terms, voting = cells.counts.shape[1:], 2 if options.C > 0.0 else 1, cells.nearest.size > 0
    n, size = points.order.size, options.batch_size
    steps, measured, flips, uses = 0, 0, 0, 0
    for epoch in range(n_epochs):
        if options.shuffle:
            shuffle(points.order, random[:1])
        for begin in range(0, max(n, 1), size):
            batch = points.order[begin : begin + size]
            survey(points, prototypes, batch, tile, pulls, options, n_labels, n_terms)
            if not move(prototypes, pulls, cells.moves, options):
                return epoch + 1, steps, measured, flips, uses, True
            update_copies(prototypes)
            if voting:
                measured += reassign(points, prototypes, cells, tile, batch, options)
                flips += vote(cells.counts, options.published, random[1:], prototypes.codes[1])
            uses += pulls.simulated[1]
            steps += 1
    return n_epochs, steps, measured, flips, uses, False
