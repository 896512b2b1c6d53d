"""The compiled inner loops: one mini-batch step, exact nearest-prototype bookkeeping, and the votes.

A step of FairGLVQ is one subtraction, ``descent(y, labels) - C * descent(s, pseudo_classes)``
(:mod:`fairglvq.plain` spells it out). Three things make it fast here, and none changes the result:

* both terms read the same distances, computed once per point (fused in :func:`add_pulls`);
* rows stay sparse: |x - w|² = |w|² + Σ x_k (x_k - 2 w_k) over the non-zeros of x;
* a point is looked at again only when the triangle inequality says that its nearest prototype may have changed
  (:func:`reassign`), after Hamerly (2010).

Everything releases the GIL. Labels, groups and prototypes are integers here; estimators translate.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .activations import activate

_options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


class Rows(NamedTuple):
    """Points by row, dense or CSR: the other half is empty, and ``indptr`` empty means dense."""

    dense: np.ndarray  # (n, d)
    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,)
    indptr: np.ndarray  # (n + 1,) or (0,)
    squares: np.ndarray  # (n,) |x|², or (0,)
    rough: np.ndarray  # (nnz,) data in float32
    rough_squares: np.ndarray  # (n,) |x|² in float32


class Prototypes(NamedTuple):
    """Prototype positions in the two layouts that the loops read, and their squared norms."""

    W: np.ndarray  # (P, d)
    columns: np.ndarray  # (d, P), W transposed: the innermost loop runs over prototypes
    rough: np.ndarray  # (d, P) the same in float32
    norms: np.ndarray  # (P,) |w|²
    labels: np.ndarray  # (P,) class of each
    pseudo: np.ndarray  # (P,) pseudo-class of each


class Cells(NamedTuple):
    """Who is nearest to whom, kept exact while prototypes move.

    Point i cannot have left its cell a while ``reach[a] < limit[i]``: ``reach[a]`` sums, over all moves made, how far a
    moved plus how far any other prototype moved at most, and ``limit[i]`` is what that sum was when the
    point was last looked at, plus the gap between its second nearest and nearest prototype then.
    """

    nearest: np.ndarray  # (n,) int32
    limit: np.ndarray  # (n,) float32, rounded down: half the memory to run through after every step
    reach: np.ndarray  # (P,)
    counts: np.ndarray  # (P, K, G) members by class and group


class Pulls(NamedTuple):
    """Sums over a batch: what each term (0 class, 1 fair) asks of each prototype, and what was met on the way."""

    sums: np.ndarray  # (2, P, d)
    weights: np.ndarray  # (2, P) summed factors
    tallies: np.ndarray  # (2, 4) by term: the four below


COST, UPDATES, SIMULATED, RIGHT = 0, 1, 2, 3  # Σ Φ(μ); n of Algorithm 1; rivals simulated with alpha; points with μ < 0


class Tile(NamedTuple):
    """Scratch for a tile of points: loops along it (the last axis, T) are contiguous and become vector code."""

    x: np.ndarray  # (d, T) coordinates (dense rows only)
    row: np.ndarray  # (P,) one point's distances (sparse rows only)
    distances: np.ndarray  # (P, T)
    closest: np.ndarray  # (max(K, G), T) smallest distance per label
    who: np.ndarray  # (max(K, G), T) the prototype that has it, as a float
    label: np.ndarray  # (T,) each point's own label
    d_plus: np.ndarray  # (T,)
    d_minus: np.ndarray  # (T,)
    rival: np.ndarray  # (2, T) prototypes w+ and w- of each point, as floats, -1 where there is none
    mu: np.ndarray  # (T,)
    value: np.ndarray  # (T,) Φ(μ)
    slope: np.ndarray  # (T,) Φ'(μ)
    power: np.ndarray  # (T,) scratch of the exponential
    inverse: np.ndarray  # (T,) 1 / (d+ + d-)
    factor: np.ndarray  # (2, T) what multiplies (x - w+) and (x - w-)
    first: np.ndarray  # (T,) smallest distance of all
    second: np.ndarray  # (T,) second smallest
    nearest: np.ndarray  # (T,) the prototype that has the smallest, as a float
    rough_row: np.ndarray  # row, distances, first, second and nearest in 32 bits, for screening
    rough_distances: np.ndarray
    rough_first: np.ndarray
    rough_second: np.ndarray
    rough_nearest: np.ndarray


DOWN = 1.0 - 2.0**-22  # float32 may round a limit up by half of this: take it off first


@njit(**_options)
def new_tile(rows, prototypes, n_labels):
    """Scratch of the sizes that these rows and prototypes need."""
    P, d = prototypes.W.shape
    dense = rows.indptr.size == 0
    # Wide enough to be worth the calls, narrow enough for the fast memory: points of the plane are small.
    width = 256 if dense and d < 8 and P <= 32 else 64
    return Tile(
        np.empty((d if dense else 0, width)),
        np.empty(P),
        np.empty((P, width)),
        np.empty((n_labels, width)),
        np.empty((n_labels, width)),
        np.empty(width, np.int64),
        np.empty(width),
        np.empty(width),
        np.empty((2, width)),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty((2, width)),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty(P, np.float32),
        np.empty((P, width), np.float32),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
    )


@njit(**_options)
def place(prototypes):
    """Bring the transposed copy and the norms up to date after W was written."""
    W, columns, rough, norms = prototypes.W, prototypes.columns, prototypes.rough, prototypes.norms
    for j in range(W.shape[0]):
        total = 0.0
        for k in range(W.shape[1]):
            w = W[j, k]
            columns[k, j] = w
            rough[k, j] = w
            total += w * w
        norms[j] = total


@njit(**_options)
def measure(rows, points, start, count, prototypes, tile):
    """|x - w_j|² of the points ``points[start : start + count]`` to every prototype, into ``tile.distances``."""
    if rows.indptr.size == 0:
        _measure_dense(rows.dense, points, start, count, prototypes.W, tile.x, tile.distances)
    else:
        _measure_sparse(
            rows.data, rows.indices, rows.indptr, rows.squares, points, start, count,
            prototypes.columns, prototypes.norms, tile.row, tile.distances,
        )  # fmt: skip


@njit(fastmath={"contract"}, **_options)  # multiply and add in one instruction
def _measure_dense(X, points, start, count, W, x, distances):
    P, d = W.shape
    for k in range(d):
        for b in range(count):
            x[k, b] = X[points[start + b], k]
    for j in range(P):
        for b in range(count):
            distances[j, b] = 0.0
    # Four coordinates a pass: one load and store of the running sum for four terms.
    for k in range(0, d - 3, 4):
        for j in range(P):
            w0, w1, w2, w3 = W[j, k], W[j, k + 1], W[j, k + 2], W[j, k + 3]
            for b in range(count):
                a0, a1, a2, a3 = x[k, b] - w0, x[k + 1, b] - w1, x[k + 2, b] - w2, x[k + 3, b] - w3
                distances[j, b] += (a0 * a0 + a1 * a1) + (a2 * a2 + a3 * a3)
    for k in range(d - d % 4, d):
        for j in range(P):
            w = W[j, k]
            for b in range(count):
                gap = x[k, b] - w
                distances[j, b] += gap * gap


@njit(**_options)
def touch(data, indices, indptr, points, start, count):
    """Read a little of each row of a tile, so that all of them are on their way from memory at once."""
    seen = 0.0
    for b in range(count):
        e, end = indptr[points[start + b]], indptr[points[start + b] + 1]
        if end > e:
            seen += data[e] + data[end - 1] + indices[e] + indices[end - 1]
    return seen


@njit(fastmath={"contract"}, **_options)
def _measure_sparse(data, indices, indptr, squares, points, start, count, columns, norms, row, distances):
    P = norms.size
    row[0] = touch(data, indices, indptr, points, start, count)
    zero, two = norms.dtype.type(0), norms.dtype.type(2)  # of the rows' own type: float32 stays float32
    for b in range(count):
        i = points[start + b]
        for j in range(P):
            row[j] = zero
        e, end = indptr[i], indptr[i + 1]
        while e + 4 <= end:
            x0, x1, x2, x3 = data[e], data[e + 1], data[e + 2], data[e + 3]
            k0, k1, k2, k3 = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            for j in range(P):
                row[j] += (x0 * columns[k0, j] + x1 * columns[k1, j]) + (x2 * columns[k2, j] + x3 * columns[k3, j])
            e += 4
        while e < end:
            x0, k0 = data[e], indices[e]
            for j in range(P):
                row[j] += x0 * columns[k0, j]
            e += 1
        square = squares[i]
        for j in range(P):
            distances[j, b] = max(square + norms[j] - two * row[j], zero)  # rounding may leave -1e-17 on a prototype


# The loops below are written for vector code: indices as floats, `+ zero` after a choice (or else the compiler makes it
# a masked store, many times slower), and one simple thing per loop.


@njit(**_options)
def closest_by_label(distances, count, labels, n_labels, closest, who):
    """The nearest prototype of every label, for each point of a tile; the first wins a tie, -1 where there is none."""
    zero = 0.0
    for label in range(n_labels):
        for b in range(count):
            closest[label, b] = np.inf
        for b in range(count):
            who[label, b] = -1.0
    for j in range(labels.size):
        label, index = labels[j], float(j)
        for b in range(count):
            d, best, known = distances[j, b], closest[label, b], who[label, b]
            closer = d < best
            closest[label, b] = (d if closer else best) + zero
            who[label, b] = (index if closer else known) + zero


@njit(**_options)
def two_closest(distances, count, first, second, who):
    """The two smallest distances of each point of a tile, and the nearest prototype (the first at a tie)."""
    real = distances.dtype.type
    zero = real(0)
    for b in range(count):
        first[b] = np.inf
        second[b] = np.inf
    for j in range(distances.shape[0]):
        for b in range(count):
            d, best, next_best = distances[j, b], first[b], second[b]
            loser = best if d < best else d
            second[b] = (loser if loser < next_best else next_best) + zero
            first[b] = (d if d < best else best) + zero
    for j in range(distances.shape[0] - 1, -1, -1):
        index = real(j)
        for b in range(count):
            known = who[b]
            who[b] = (index if distances[j, b] == first[b] else known) + zero


@njit(**_options)
def choose_rivals(points, start, count, labels, n_labels, alpha, tile):
    """w+, w- and their distances for each point of a tile; returns how many rivals do not exist.

    Their distance is simulated with alpha (edge case 2): d+ = alpha d- or d- = d+ / alpha.
    """
    closest, who, label, rival = tile.closest, tile.who, tile.label, tile.rival
    d_plus, d_minus = tile.d_plus, tile.d_minus
    for b in range(count):
        label[b] = labels[points[start + b]]
    if n_labels == 2:
        for b in range(count):
            d_plus[b] = closest[0, b] if label[b] == 0 else closest[1, b]
        for b in range(count):
            d_minus[b] = closest[1, b] if label[b] == 0 else closest[0, b]
        for b in range(count):
            rival[0, b] = who[0, b] if label[b] == 0 else who[1, b]
        for b in range(count):
            rival[1, b] = who[1, b] if label[b] == 0 else who[0, b]
    else:
        for b in range(count):
            own = label[b]
            minus, nearest_other = -1.0, np.inf
            for other in range(n_labels):
                j, d = who[other, b], closest[other, b]
                if other != own and j >= 0 and (d < nearest_other or (d == nearest_other and j < minus)):
                    minus, nearest_other = j, d
            rival[0, b], d_plus[b] = who[own, b], closest[own, b]
            rival[1, b], d_minus[b] = minus, nearest_other
    missing = 0
    for b in range(count):
        missing += (rival[0, b] < 0.0) + (rival[1, b] < 0.0)
    if missing > 0:
        for b in range(count):
            if rival[0, b] < 0.0:
                d_plus[b] = alpha * d_minus[b]
            elif rival[1, b] < 0.0:
                d_minus[b] = d_plus[b] / alpha
    return missing


@njit(**_options)
def weigh(count, missing, code, beta, term, tile, tallies):
    """Factors of one term's pulls -∂Φ(μ)/∂w±, less the constant 4, for each point of a tile.

    μ = (d+ - d-) / (d+ + d-), so -∂Φ/∂w+ = 4 Φ'(μ) d- / (d+ + d-)² (x - w+) and its twin for w- with -d+.
    """
    rival, mu, inverse, factor = tile.rival, tile.mu, tile.inverse, tile.factor
    d_plus, d_minus, value, slope = tile.d_plus, tile.d_minus, tile.value, tile.slope
    for b in range(count):
        both = d_plus[b] + d_minus[b]
        # On both rivals at once μ is 0/0: nothing pulls. Below this, both² is no number to divide by either.
        inverse[b] = 1.0 / both if both > 1e-150 else 0.0
    for b in range(count):
        mu[b] = (d_plus[b] - d_minus[b]) * inverse[b]
    activate(code, mu, beta, count, tile.power, value, slope)
    cost, right = 0.0, 0
    for b in range(count):
        cost += value[b]
    for b in range(count):
        inverse[b] *= inverse[b] * slope[b]
    for b in range(count):
        right += (d_plus[b] < d_minus[b]) | ((d_plus[b] == d_minus[b]) & (rival[0, b] < rival[1, b]))
    for b in range(count):
        factor[0, b] = inverse[b] * d_minus[b]
    for b in range(count):
        factor[1, b] = -inverse[b] * d_plus[b]
    if missing > 0:
        for side in range(2):
            for b in range(count):
                if rival[side, b] < 0.0:  # nobody there: nothing is added to the first prototype
                    rival[side, b] = factor[side, b] = 0.0
    tallies[term, COST] += cost
    tallies[term, UPDATES] += 2 * count - missing
    tallies[term, SIMULATED] += missing
    tallies[term, RIGHT] += right


@njit(**_options)
def scatter(rows, points, start, count, term, tile, pulls):
    """Add factor * x of each point of a tile to the sums of its two rivals in one term."""
    sums, weights, rival, factor, x = pulls.sums, pulls.weights, tile.rival, tile.factor, tile.x
    data, indices, indptr, X = rows.data, rows.indices, rows.indptr, rows.dense
    d = sums.shape[2]
    for side in range(2):
        for b in range(count):
            weights[term, int(rival[side, b])] += factor[side, b]
    if indptr.size > 0:
        # Both rivals side by side: additions to different prototypes need not wait for each other.
        for b in range(count):
            i, f0, f1 = points[start + b], factor[0, b], factor[1, b]
            j0, j1 = int(rival[0, b]), int(rival[1, b])
            for e in range(indptr[i], indptr[i + 1]):
                sums[term, j0, indices[e]] += f0 * data[e]
                sums[term, j1, indices[e]] += f1 * data[e]
    elif d < 8:  # too short a row for vector code: run along the tile
        for side in range(2):
            for k in range(d):
                for b in range(count):
                    sums[term, int(rival[side, b]), k] += factor[side, b] * x[k, b]
    else:
        for side in range(2):
            for b in range(count):
                i, j, f = points[start + b], int(rival[side, b]), factor[side, b]
                for k in range(d):
                    sums[term, j, k] += f * X[i, k]


@njit(**_options)
def add_pulls(rows, y, s, batch, prototypes, n_classes, n_groups, fair, alpha, code, beta, tile, pulls):
    """Σ f (x - w) of both terms over a batch; class and fair term read the same distances."""
    pulls.sums[:] = 0.0
    pulls.weights[:] = 0.0
    pulls.tallies[:] = 0.0
    distances, closest, who, tallies = tile.distances, tile.closest, tile.who, pulls.tallies
    width = distances.shape[1]
    for start in range(0, batch.size, width):
        count = min(width, batch.size - start)
        measure(rows, batch, start, count, prototypes, tile)
        closest_by_label(distances, count, prototypes.labels, n_classes, closest, who)
        missing = choose_rivals(batch, start, count, y, n_classes, alpha, tile)
        weigh(count, missing, code, beta, 0, tile, tallies)
        scatter(rows, batch, start, count, 0, tile, pulls)
        if fair:
            closest_by_label(distances, count, prototypes.pseudo, n_groups, closest, who)
            missing = choose_rivals(batch, start, count, s, n_groups, alpha, tile)
            weigh(count, missing, code, beta, 1, tile, tallies)
            scatter(rows, batch, start, count, 1, tile, pulls)
    W, sums, weights = prototypes.W, pulls.sums, pulls.weights
    for term in range(1 + fair):
        for j in range(W.shape[0]):
            for k in range(W.shape[1]):
                sums[term, j, k] -= weights[term, j] * W[j, k]


@njit(**_options)
def distinct(labels, batch, n_labels):
    """How many different labels a batch holds."""
    seen = np.zeros(n_labels, np.bool_)
    for b in range(batch.size):
        seen[labels[batch[b]]] = True
    return seen.sum()


@njit(**_options)
def scales(published, y, s, batch, n_prototypes, n_classes, n_groups, tallies):
    """What the summed pulls of the class and the fair term are multiplied with.

    Algorithm 1: 4 (of the exact gradient) / number of updates. Published runs: no 4, and prototypes times distinct
    labels in the batch in place of the updates.
    """
    if published:
        class_scale = 1.0 / (n_prototypes * distinct(y, batch, n_classes))
        fair_scale = 1.0 / (n_prototypes * distinct(s, batch, n_groups))
    else:
        class_scale = 4.0 / max(tallies[0, UPDATES], 1.0)
        fair_scale = 4.0 / max(tallies[1, UPDATES], 1.0)
    return class_scale, fair_scale


@njit(**_options)
def look(rows, y, s, points, n_points, prototypes, tile, cells):
    """Measure the first ``n_points`` of ``points`` against every prototype; cells and limits are made anew."""
    nearest, limit, reach, counts = cells.nearest, cells.limit, cells.reach, cells.counts
    distances, first, second, who, gap = tile.distances, tile.first, tile.second, tile.nearest, tile.mu
    indptr, squares, longest = rows.indptr, rows.squares, np.sqrt(prototypes.norms.max())
    width = first.size
    for start in range(0, n_points, width):
        count = min(width, n_points - start)
        measure(rows, points, start, count, prototypes, tile)
        two_closest(distances, count, first, second, who)
        if indptr.size > 0:  # the sparse expansion cancels; its error, as in `screen`
            for b in range(count):
                i = points[start + b]
                error = (indptr[i + 1] - indptr[i] + 4) * 2.0**-52 * (np.sqrt(squares[i]) + longest) ** 2
                first[b] += error
                second[b] = max(second[b] - error, 0.0)
        for b in range(count):
            gap[b] = np.sqrt(second[b]) * (1.0 - 1e-9) - np.sqrt(first[b])
        for b in range(count):
            i = points[start + b]
            now = int(who[b])
            before = nearest[i]
            if now != before:
                if before >= 0:
                    counts[before, y[i], s[i]] -= 1
                counts[now, y[i], s[i]] += 1
                nearest[i] = now
            limit[i] = (reach[now] + gap[b]) * DOWN


@njit(**_options)
def screen(rows, y, s, points, n_points, prototypes, leftover, tile, cells):
    """As :func:`look`, on sparse rows in float32, for every point that float32 can decide; returns how many are left.

    A float32 distance² is off by at most (non-zeros + 4) (2⁻²³ (|x| + |w|)² + 2⁻¹⁴⁸), the last for numbers too small to
    keep their digits; where the nearest and the second nearest lie farther apart than both errors the nearest is
    certain, and the limit allows for the errors. All others, and what may overflow, are put into ``leftover`` for
    a look in float64.
    """
    nearest, limit, reach, counts = cells.nearest, cells.limit, cells.reach, cells.counts
    indptr, squares, norms = rows.indptr, rows.squares, prototypes.norms.astype(np.float32)
    distances, first, second, who = tile.rough_distances, tile.rough_first, tile.rough_second, tile.rough_nearest
    longest = np.sqrt(prototypes.norms.max())
    left = 0
    width = first.size
    for start in range(0, n_points, width):
        count = min(width, n_points - start)
        _measure_sparse(
            rows.rough, rows.indices, indptr, rows.rough_squares, points, start, count,
            prototypes.rough, norms, tile.rough_row, distances,
        )  # fmt: skip
        two_closest(distances, count, first, second, who)
        for b in range(count):
            i = points[start + b]
            size = (np.sqrt(squares[i]) + longest) ** 2
            error = (indptr[i + 1] - indptr[i] + 4) * (2.0**-23 * size + 2.0**-148)
            near, far = float(first[b]), float(second[b])
            if far - near <= 2.0 * error or size > 1e38:
                leftover[left] = i
                left += 1
                continue
            now = int(who[b])
            before = nearest[i]
            if now != before:
                if before >= 0:
                    counts[before, y[i], s[i]] -= 1
                counts[now, y[i], s[i]] += 1
                nearest[i] = now
            gap = np.sqrt(far - error) - np.sqrt(near + error)
            limit[i] = (reach[now] + gap * (1.0 - 1e-9)) * DOWN
    return left


@njit(**_options)
def reassign(rows, y, s, prototypes, moves, bounds, queue, tile, cells):
    """Make assignments exact again after prototype j moved by ``moves[j]``; returns how many points were looked at.

    ``bounds=False`` looks at every point, for tests and for measuring what the bounds are worth.
    """
    reach, nearest, limit = cells.reach, cells.nearest, cells.limit
    largest, second_largest, fastest = 0.0, 0.0, -1
    for j in range(moves.size):
        if moves[j] > largest:
            second_largest, largest, fastest = largest, moves[j], j
        elif moves[j] > second_largest:
            second_largest = moves[j]
    for j in range(moves.size):
        reach[j] += moves[j] + (second_largest if j == fastest else largest)
    queued = 0
    if bounds:
        for i in range(nearest.size):
            if reach[nearest[i]] >= limit[i]:
                queue[queued] = i
                queued += 1
    else:
        for i in range(nearest.size):
            queue[i] = i
        queued = nearest.size
    left = queued
    if bounds and rows.indptr.size > 0:
        left = screen(rows, y, s, queue, queued, prototypes, queue, tile, cells)
    look(rows, y, s, queue, left, prototypes, tile, cells)
    return queued


@njit(**_options)
def next_random(random):
    """The next of a stream of 32-bit numbers (splitmix64); ``random`` (1,) uint64 is its state."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


@njit(**_options)
def draw(random, n):
    """A random number out of 0 ... n - 1."""
    return np.int64((next_random(random) * np.uint64(n)) >> np.uint64(32))


@njit(**_options)
def shuffle(order, random):
    """Fisher and Yates in place; a sixth of the time of NumPy's, which was as long as half an epoch in the plane."""
    for i in range(order.size - 1, 0, -1):
        j = draw(random, i + 1)
        order[i], order[j] = order[j], order[i]


@njit(**_options)
def vote(counts, published, random, pseudo):
    """Majority group of every cell (the first at a tie); returns how many pseudo-classes votes have flipped.

    An empty cell takes a group at random (edge case 1); in the published runs, the first.
    """
    n_classes, n_groups = counts.shape[1:]
    flips = 0
    for j in range(pseudo.size):
        winner, most, members = 0, -1, 0
        for g in range(n_groups):
            votes = 0
            for c in range(n_classes):
                votes += counts[j, c, g]
            members += votes
            if votes > most:
                winner, most = g, votes
        if members == 0:
            winner = 0 if published else draw(random, n_groups)
        elif winner != pseudo[j]:
            flips += 1
        pseudo[j] = winner
    return flips


@njit(**_options)
def move(prototypes, pulls, class_scale, fair_scale, learning_rate, C, centre, fence, moves):
    """W += η (class pull - C fair pull); False, and W as it was, if a prototype would leave the fence or be NaN."""
    W, sums = prototypes.W, pulls.sums
    P, d = W.shape
    for j in range(P):
        step, away = 0.0, 0.0
        for k in range(d):
            delta = learning_rate * (class_scale * sums[0, j, k] - C * fair_scale * sums[1, j, k])
            sums[0, j, k] = delta
            w = W[j, k] + delta - centre[k]
            step += delta * delta
            away += w * w
        if not away <= fence * fence:
            return False
        moves[j] = np.sqrt(step)
    for j in range(P):
        for k in range(d):
            W[j, k] += sums[0, j, k]
    place(prototypes)
    return True


# Entry points called from Python take plain arrays, `*rows, *prototypes, ...`: Numba needs 0.3 ms to look through the
# type of a tuple of arrays at every call, which is as long as an epoch on a small set.


@njit(**_options)
def distances(
    dense, data, indices, indptr, squares, rough_data, rough_squares, W, columns, rough, norms, labels, pseudo, out
):
    """|x - w|² of every point to every prototype, into ``out`` (n, P)."""
    rows = Rows(dense, data, indices, indptr, squares, rough_data, rough_squares)
    prototypes = Prototypes(W, columns, rough, norms, labels, pseudo)
    tile = new_tile(rows, prototypes, 2)
    points = np.arange(out.shape[0])
    width = tile.first.size
    for start in range(0, points.size, width):
        count = min(width, points.size - start)
        measure(rows, points, start, count, prototypes, tile)
        out[start : start + count] = tile.distances[:, :count].T


@njit(**_options)
def begin(
    dense, data, indices, indptr, squares, rough_data, rough_squares, W, columns, rough, norms, labels, pseudo,
    nearest, limit, reach, counts, y, s,
):  # fmt: skip
    """Fill the cells from nothing: look at every point."""
    rows = Rows(dense, data, indices, indptr, squares, rough_data, rough_squares)
    prototypes = Prototypes(W, columns, rough, norms, labels, pseudo)
    nearest[:] = -1
    counts[:] = 0
    reach[:] = 0.0
    tile = new_tile(rows, prototypes, 1)
    look(rows, y, s, np.arange(y.size), y.size, prototypes, tile, Cells(nearest, limit, reach, counts))


@njit(**_options)
def run(
    dense, data, indices, indptr, squares, rough_data, rough_squares, W, columns, rough, norms, labels, pseudo,
    nearest, limit, reach, counts, sums, weights, tallies, y, s, order, random, centre, fence,
    n_classes, n_groups, C, alpha, code, beta, learning_rate, batch_size, published, shuffled, bounds,
    n_epochs, record_every, kept_W, kept_pseudo, kept_counts, kept_sums, kept_tallies, kept_events,
):  # fmt: skip
    """Train for up to ``n_epochs`` passes in mini-batches (Algorithm 1, lines 4 to 23 for every batch).

    Without cells (``nearest`` empty) nothing is voted on. ``random`` (2,) holds two streams, one of the order and one
    of the draws of empty cells: voting does not change the order in which points are learned. Every ``record_every``
    epochs (0: never) and at the end the ``kept_...`` arrays take the model and what both terms pull on the whole set;
    ``kept_events`` takes epochs done here, flips and uses of alpha so far. With ``n_epochs=0`` only the model as it is
    is kept. Returns epochs done, records kept, points looked at, steps made, flips, uses of alpha, and whether
    prototypes were about to leave the fence.
    """
    rows = Rows(dense, data, indices, indptr, squares, rough_data, rough_squares)
    prototypes = Prototypes(W, columns, rough, norms, labels, pseudo)
    cells = Cells(nearest, limit, reach, counts)
    pulls = Pulls(sums, weights, tallies)
    P, n = labels.size, y.size
    voting = nearest.size > 0
    tile = new_tile(rows, prototypes, max(n_classes, n_groups))
    moves = np.zeros(P)
    queue = np.empty(nearest.size + 1, np.int64)
    flips, uses, looks, steps, kept, done = 0, 0, 0, 0, 0, 0
    flown = False
    while True:
        ended = done >= n_epochs or flown
        if record_every > 0 and (ended or (done > 0 and done % record_every == 0)):
            add_pulls(rows, y, s, order, prototypes, n_classes, n_groups, voting, alpha, code, beta, tile, pulls)
            class_scale, fair_scale = scales(published, y, s, order, P, n_classes, n_groups, tallies)
            kept_W[kept] = W
            kept_pseudo[kept] = pseudo
            kept_counts[kept] = counts
            for j in range(P):
                for k in range(W.shape[1]):
                    kept_sums[kept, 0, j, k] = class_scale * sums[0, j, k]
                    kept_sums[kept, 1, j, k] = fair_scale * sums[1, j, k]
            kept_tallies[kept] = tallies
            kept_events[kept, 0], kept_events[kept, 1], kept_events[kept, 2] = done, flips, uses
            kept += 1
        if ended:
            break
        if shuffled:
            shuffle(order, random[:1])
        for start in range(0, n, batch_size):
            batch = order[start : min(start + batch_size, n)]
            add_pulls(rows, y, s, batch, prototypes, n_classes, n_groups, C > 0.0, alpha, code, beta, tile, pulls)
            class_scale, fair_scale = scales(published, y, s, batch, P, n_classes, n_groups, tallies)
            if not move(prototypes, pulls, class_scale, fair_scale, learning_rate, C, centre, fence, moves):
                flown = True
                break
            if voting:
                looks += reassign(rows, y, s, prototypes, moves, bounds, queue, tile, cells)
                flips += vote(counts, published, random[1:], pseudo)
            uses += int(tallies[1, SIMULATED])
            steps += 1
        done += 1
    return done, kept, looks, steps, flips, uses, flown


@njit(**_options)
def lloyd(
    dense, data, indices, indptr, squares, rough_data, rough_squares, W, columns, rough, norms, labels, pseudo,
    nearest, limit, reach, counts, y, max_iter, tol,
):  # fmt: skip
    """k-means from the centres W, with the same exact bookkeeping; returns the number of iterations.

    ``y`` is all zeros (nobody has a label here), ``counts`` (k, 1, 1). A centre that loses all its points stays. Ends
    when centres move by less than ``tol`` (summed squares).
    """
    rows = Rows(dense, data, indices, indptr, squares, rough_data, rough_squares)
    prototypes = Prototypes(W, columns, rough, norms, labels, pseudo)
    cells = Cells(nearest, limit, reach, counts)
    tile = new_tile(rows, prototypes, 2)
    k, d = W.shape
    sums, moves = np.empty((k, d)), np.zeros(k)
    queue = np.empty(y.size + 1, np.int64)
    for iteration in range(max_iter):
        reassign(rows, y, y, prototypes, moves, iteration > 0, queue, tile, cells)
        sums[:] = 0.0
        for i in range(y.size):
            a = nearest[i]
            if indptr.size == 0:
                for f in range(d):
                    sums[a, f] += dense[i, f]
            else:
                for e in range(indptr[i], indptr[i + 1]):
                    sums[a, indices[e]] += data[e]
        shift = 0.0
        for j in range(k):
            moved = 0.0
            if counts[j, 0, 0] > 0:
                for f in range(d):
                    centre = sums[j, f] / counts[j, 0, 0]
                    moved += (centre - W[j, f]) ** 2
                    W[j, f] = centre
            moves[j] = np.sqrt(moved)
            shift += moved
        place(prototypes)
        if shift <= tol:
            return iteration + 1
    return max_iter
