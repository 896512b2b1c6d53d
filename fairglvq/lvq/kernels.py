"""The compiled inner loops: one mini-batch step, exact nearest-prototype bookkeeping, and the votes.

A step of FairGLVQ is one subtraction, ``descent(y, labels) - C * descent(s, pseudo_classes)``
(:mod:`fairglvq.lvq.reference` spells it out). Three things make it fast here, and none changes the result:

* both terms read the same distances, computed once per point (:func:`add_pulls`);
* rows stay sparse: |x - w|² = |w|² + Σ x_k (x_k - 2 w_k) over the non-zeros of x;
* a point is looked at again only when the triangle inequality says that its nearest prototype may have changed
  (:func:`reassign`), after Hamerly (2010).

Labels, groups and prototypes are integers here; estimators translate. What the two terms differ in has two rows, 0 for
the class term and 1 for the fair term: a point's own label (y, s) and a prototype's (class, pseudo-class).

People wait for the first compilation, so it is kept short:

* An ``entry`` can be called from Python. A ``part`` is compiled into entries only; called from Python it runs as plain
  Python. Each level of calls compiles all below it once more: what only strings others together is ``inlined``.
* Nothing here allocates memory, so no references need be counted; Python passes the scratch (:class:`Tile`).
* Loops stand in place of NumPy's whole-array functions: each of those brings its error messages along.
* Everything is in one file: the cache on disk is renewed when the file of an entry changes, and only then.

Everything releases the GIL.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

_options: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
entry = njit(cache=True, **_options)
part = register_jitable(**_options)
fused_part = register_jitable(fastmath={"contract"}, **_options)  # multiply and add in one instruction
inlined = njit(inline="always", **_options)


class Rows(NamedTuple):
    """Points by row, dense or CSR: the other half is empty, and ``indptr`` empty means dense."""

    dense: np.ndarray  # (n, d)
    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,)
    indptr: np.ndarray  # (n + 1,) or (0,)
    squares: np.ndarray  # (n,) |x|², or (0,)
    rough_data: np.ndarray  # (nnz,) data in float32


class Prototypes(NamedTuple):
    """Prototype positions in the layouts that the loops read, their squared norms, and what they stand for."""

    W: np.ndarray  # (P, d)
    columns: np.ndarray  # (d, P), W transposed: the innermost loop runs over prototypes
    rough: np.ndarray  # (d, P) the same in float32
    norms: np.ndarray  # (P,) |w|²
    codes: np.ndarray  # (2, P) class and pseudo-class of each

    @property
    def labels(self) -> np.ndarray:
        """The class of each prototype, (P,)."""
        return self.codes[0]

    @property
    def pseudo(self) -> np.ndarray:
        """The pseudo-class of each prototype, (P,)."""
        return self.codes[1]


class Cells(NamedTuple):
    """Who is nearest to whom, kept exact while prototypes move.

    Point i cannot have left its cell a while ``reach[a] < limit[i]``: ``reach[a]`` sums, over all moves made, how far a
    moved plus how far any other prototype moved at most, and ``limit[i]`` is what that sum was when the
    point was last looked at, plus the gap between its second nearest and nearest prototype then.
    """

    nearest: np.ndarray  # (n,) int32
    limit: np.ndarray  # (n,) float32, rounded down: half the memory to run through after every step
    reach: np.ndarray  # (P,)
    moves: np.ndarray  # (P,) how far each prototype has moved in the step just made
    counts: np.ndarray  # (P, K, G) members by class and group


class Pulls(NamedTuple):
    """Sums over a batch: what each term (0 class, 1 fair) asks of each prototype, and what was met on the way."""

    sums: np.ndarray  # (2, P, d + 1) Σ f x, and Σ f in the last column
    tallies: np.ndarray  # (2, 4) by term: the four below


COST, UPDATES, SIMULATED, RIGHT = 0, 1, 2, 3  # Σ Φ(μ); n of Algorithm 1; rivals simulated with alpha; points with μ < 0


class Tile(NamedTuple):
    """Scratch for a tile of up to T points: loops along it (the last axis) are contiguous and become vector code."""

    x: np.ndarray  # (d, T) coordinates (dense rows only)
    near: np.ndarray  # (P, T) distances²
    closest: np.ndarray  # (max(K, G, 2), T) smallest distance² per label, then those of the two rivals
    who: np.ndarray  # (max(K, G, 2), T) the prototypes that have them, as floats, -1 where there is none
    lines: np.ndarray  # (5 * WIDTH,) the lines below, one after the other
    row: np.ndarray  # (P,) one point's products with the prototypes (sparse rows only)
    rough_near: np.ndarray  # near, lines and row in float32 (sparse rows only)
    rough_lines: np.ndarray
    rough_row: np.ndarray


# Lines of a tile: a number per point, and a known distance from line to line, which spares the compiler the doubt
# whether two of them overlap.
WIDTH = 256  # the most points of a tile
SIGN, MU, VALUE = 0, WIDTH, 2 * WIDTH  # which rival is w+ (see choose_rivals); μ; Φ(μ)
FACTOR = 3 * WIDTH  # two lines, what multiplies (x - w) of either rival
FIRST, SECOND, NEAREST = 0, WIDTH, 2 * WIDTH  # of a look: the two smallest distances², and who has the smallest

DOWN = 1.0 - 2.0**-22  # float32 may round a limit up by half of this: take it off first


def new_tile(rows: Rows, n_prototypes: int, n_labels: int) -> Tile:
    """Scratch of the sizes that these rows and prototypes need."""
    P, L, d, sparse = n_prototypes, max(n_labels, 2), rows.dense.shape[1], rows.indptr.size > 0
    # Wide enough to be worth the calls, narrow enough for the fast memory: points of the plane are small.
    T = WIDTH if not sparse and d < 8 and P <= 32 else 64
    rough_P = P if sparse else 0
    return Tile(
        np.empty((d, T)),
        np.empty((P, T)),
        np.empty((L, T)),
        np.empty((L, T)),
        np.empty(5 * WIDTH),
        np.empty(P),
        np.empty((rough_P, T), np.float32),
        np.empty(3 * WIDTH, np.float32),
        np.empty(rough_P, np.float32),
    )


# -- distances ------------------------------------------------------------------------------------------------------


@part
def place(W, columns, rough, norms):
    """Bring the transposed copies and the norms up to date after W was written."""
    for j in range(W.shape[0]):
        total = 0.0
        for k in range(W.shape[1]):
            w = W[j, k]
            columns[k, j] = w
            rough[k, j] = w
            total += w * w
        norms[j] = total


@fused_part
def measure_dense(X, points, start, count, W, x, near):
    """|x - w_j|² of the points ``points[start : start + count]`` to every prototype, into ``near``."""
    P, d = W.shape
    for k in range(d):
        for b in range(count):
            x[k, b] = X[points[start + b], k]
    for j in range(P):
        for b in range(count):
            near[j, b] = 0.0
    # Four coordinates a pass: one load and store of the running sum for four terms.
    for k in range(0, d - 3, 4):
        for j in range(P):
            w0, w1, w2, w3 = W[j, k], W[j, k + 1], W[j, k + 2], W[j, k + 3]
            for b in range(count):
                a0, a1, a2, a3 = x[k, b] - w0, x[k + 1, b] - w1, x[k + 2, b] - w2, x[k + 3, b] - w3
                near[j, b] += (a0 * a0 + a1 * a1) + (a2 * a2 + a3 * a3)
    for k in range(d - d % 4, d):
        for j in range(P):
            w = W[j, k]
            for b in range(count):
                gap = x[k, b] - w
                near[j, b] += gap * gap


@fused_part
def measure_sparse(data, indices, indptr, squares, points, start, count, columns, norms, row, near):
    """The same for sparse rows, in the type of ``row``: float64, or float32 for screening."""
    P, real = row.size, row.dtype.type
    zero, two = real(0), real(2)
    # Read a little of each row, so that all of them are on their way from memory at once.
    seen = zero
    for b in range(count):
        e, end = indptr[points[start + b]], indptr[points[start + b] + 1]
        if end > e:
            seen += data[e] + data[end - 1] + indices[e] + indices[end - 1]
    row[0] = seen
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
        square = real(squares[i])
        for j in range(P):
            distance = square + real(norms[j]) - two * row[j]
            near[j, b] = distance if distance > zero else zero  # rounding may leave -1e-17 on a prototype


# The loops below are written for vector code: indices as floats, `+ zero` after a choice (or else the compiler makes it
# a masked store, many times slower), and one simple thing per loop.


@part
def closest_by_label(near, count, labels, n_labels, closest, who):
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
            d, best, known = near[j, b], closest[label, b], who[label, b]
            closer = d < best
            closest[label, b] = (d if closer else best) + zero
            who[label, b] = (index if closer else known) + zero


@part
def two_closest(near, count, lines):
    """The two smallest distances² of each point of a tile and the nearest prototype (the first at a tie)."""
    real = near.dtype.type
    zero = real(0)
    for b in range(count):
        lines[FIRST + b] = lines[SECOND + b] = np.inf
    for j in range(near.shape[0]):
        index = real(j)
        for b in range(count):
            d, best, next_best, known = near[j, b], lines[FIRST + b], lines[SECOND + b], lines[NEAREST + b]
            closer = d < best
            loser = best if closer else d
            lines[FIRST + b] = (d if closer else best) + zero
            lines[SECOND + b] = (loser if loser < next_best else next_best) + zero
            lines[NEAREST + b] = (index if closer else known) + zero


# -- one term of a step ---------------------------------------------------------------------------------------------

# exp(t) = 2^n exp(r) with n = round(t / ln 2) and |r| <= ln 2 / 2; ln 2 in two parts keeps t - n ln 2 precise.
_PER_LN2 = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUNDER = 1.5 * 2.0**52  # added to a small number, leaves its nearest integer in the last bits


@fused_part
def exponential(t):
    """exp(t) for t between -700 and 700.

    In a loop it becomes vector code, five times faster than calling exp for each, and as precise (a test measures it).
    """
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
    """Φ(μ) and Φ'(μ) of the activation with this code in :mod:`fairglvq.activations`.

    By code, because a function passed to a compiled function would defeat the on-disk cache.
    """
    t = -beta * mu
    t = t if t > -700.0 else -700.0
    t = t if t < 700.0 else 700.0
    p = 1.0 / (1.0 + exponential(t))  # σ
    value = mu * p if code == 0 else (p if code == 1 else mu)
    slope = p + beta * mu * p * (1.0 - p) if code == 0 else (beta * p * (1.0 - p) if code == 1 else 1.0)
    return value, slope


@part
def choose_rivals(points, start, count, own, n_labels, alpha, closest, who, lines):
    """Bring each point's two rivals into rows 0 and 1 of ``closest`` and ``who``; returns how many do not exist.

    Of two labels each has its row already, and the sign says which rival is w+: +1 the first, -1 the second. Else w+
    comes first and w- second. The distance of a rival that does not exist is simulated with alpha (edge case 2):
    d+ = alpha d- or d- = d+ / alpha.
    """
    if n_labels == 2 and who[0, 0] >= 0.0 and who[1, 0] >= 0.0:  # both exist for this point, so they do for all
        for b in range(count):
            lines[SIGN + b] = 1.0 - 2.0 * own[points[start + b]]
        return 0
    missing = 0
    for b in range(count):
        label = own[points[start + b]]
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
        lines[SIGN + b] = 1.0
    return missing


@part
def weigh(count, code, beta, closest, lines):
    """Factors of one term's pulls -∂Φ(μ)/∂w±, less the constant 4, for each point of a tile.

    μ = (d+ - d-) / (d+ + d-), so -∂Φ/∂w+ = 4 Φ'(μ) d- / (d+ + d-)² (x - w+) and its twin for w- with -d+.
    """
    for b in range(count):
        d0, d1, sign = closest[0, b], closest[1, b], lines[SIGN + b]
        both = d0 + d1
        # On both rivals at once μ is 0/0: nothing pulls. Below this, both² is no number to divide by either.
        inverse = 1.0 / both if both > 1e-150 else 0.0
        mu = sign * (d0 - d1) * inverse
        value, slope = activate(code, beta, mu)
        lines[MU + b] = mu
        lines[VALUE + b] = value
        pull = sign * (inverse * (inverse * slope))
        lines[FACTOR + b] = pull * d1
        lines[FACTOR + WIDTH + b] = -pull * d0


@part
def scatter(dense, data, indices, indptr, points, start, count, who, lines, sums):
    """Add factor * (x, 1) of each point of a tile to the sums (P, d + 1) of its two rivals."""
    d = sums.shape[1] - 1
    for side in range(2):  # w+ of all points, then w-
        for b in range(count):
            rival = side if lines[SIGN + b] > 0.0 else 1 - side
            j, f = np.int64(who[rival, b]), lines[FACTOR + rival * WIDTH + b]
            if j < 0:  # nobody there: nothing is added
                continue
            sums[j, d] += f
            if indptr.size == 0:
                for k in range(d):
                    sums[j, k] += f * dense[points[start + b], k]
    if indptr.size > 0:
        # Both rivals side by side: additions to different prototypes need not wait for each other.
        for b in range(count):
            i, j0, j1 = points[start + b], np.int64(who[0, b]), np.int64(who[1, b])
            f0, f1 = lines[FACTOR + b], lines[FACTOR + WIDTH + b]
            if j0 < 0:
                j0, f0 = j1, 0.0
            if j1 < 0:
                j1, f1 = j0, 0.0
            for e in range(indptr[i], indptr[i + 1]):
                sums[j0, indices[e]] += f0 * data[e]
                sums[j1, indices[e]] += f1 * data[e]


@inlined
def add_pulls(
    dense, data, indices, indptr, squares, W, columns, norms, codes, sums, tallies,
    x, near, closest, who, lines, row, own, batch, n_terms, n_labels, alpha, code, beta, survey,
):  # fmt: skip
    """Σ f (x - w) over a batch, for the first ``n_terms`` terms; both read the same distances.

    A ``survey`` also tallies cost and right decisions.
    """
    P, d = W.shape
    for term in range(2):
        for j in range(P):
            for k in range(d + 1):
                sums[term, j, k] = 0.0
        for what in range(4):
            tallies[term, what] = 0.0
    width = near.shape[1]
    for start in range(0, batch.size, width):
        count = min(width, batch.size - start)
        if indptr.size == 0:
            measure_dense(dense, batch, start, count, W, x, near)
        else:
            measure_sparse(data, indices, indptr, squares, batch, start, count, columns, norms, row, near)
        for term in range(n_terms):
            closest_by_label(near, count, codes[term], n_labels[term], closest, who)
            missing = choose_rivals(batch, start, count, own[term], n_labels[term], alpha, closest, who, lines)
            weigh(count, code, beta, closest, lines)
            scatter(dense, data, indices, indptr, batch, start, count, who, lines, sums[term])
            tallies[term, UPDATES] += 2 * count - missing
            tallies[term, SIMULATED] += missing
            if survey:
                tally(count, who, lines, tallies[term])
    for term in range(n_terms):
        for j in range(P):
            for k in range(d):
                sums[term, j, k] -= sums[term, j, d] * W[j, k]


@part
def tally(count, who, lines, tallies):
    """Add cost and right decisions of a tile to one term's ``tallies`` (4,)."""
    cost, right = 0.0, 0
    for b in range(count):
        cost += lines[VALUE + b]
    for b in range(count):
        mu, order = lines[MU + b], lines[SIGN + b] * (who[0, b] - who[1, b])
        right += (mu < 0.0) | ((mu == 0.0) & (order < 0.0))  # at a tie the first prototype wins
    tallies[COST] += cost
    tallies[RIGHT] += right


@part
def scale(published, own, batch, n_prototypes, n_labels, updates):
    """What one term's summed pulls are multiplied with.

    Algorithm 1: 4 (of the exact gradient) / number of updates. Published runs: no 4, and prototypes times distinct
    labels in the batch in place of the updates.
    """
    if not published:
        return 4.0 / updates if updates > 0.0 else 4.0
    distinct = 0
    for label in range(n_labels):
        for b in range(batch.size):
            if own[batch[b]] == label:
                distinct += 1
                break
    return 1.0 / (n_prototypes * distinct)


@part
def move(W, sums, class_scale, fair_scale, learning_rate, C, centre, fence, moves):
    """W += η (class pull - C fair pull); False, and W as it was, if a prototype would leave the fence or be NaN."""
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
def enqueue(nearest, limit, reach, bounds, queue):
    """Put every point that may have left its cell into ``queue``, without bounds every point; returns how many."""
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
def widen(rough_lines, count, lines):
    """What a look has found, from float32 into float64."""
    for b in range(count):
        lines[FIRST + b] = rough_lines[FIRST + b]
        lines[SECOND + b] = rough_lines[SECOND + b]
        lines[NEAREST + b] = rough_lines[NEAREST + b]


@part
def settle(indptr, squares, length, queue, start, count, rough, left, lines, own, nearest, limit, reach, counts):
    """Give each point of a tile its new cell and limit; returns how many points have been put back for another look.

    Distances² of sparse rows are off by at most (non-zeros + 4) (ε (|x| + |w|)² + δ), because the expansion cancels.
    ε = 2⁻⁵² and δ = 0, or, ``rough`` in float32, ε = 2⁻²³ and δ = 2⁻¹⁴⁸ for numbers too small to keep their digits.
    The limit allows for the errors. Where the nearest and the second nearest lie closer together than both errors,
    float32 cannot decide: such points, and what may overflow, are put back at ``queue[left]`` for a look in float64.
    """
    epsilon, delta = (2.0**-23, 2.0**-148) if rough else (2.0**-52, 0.0)
    for b in range(count):
        i, now = queue[start + b], np.int64(lines[NEAREST + b])
        first, second = lines[FIRST + b], lines[SECOND + b]
        if indptr.size > 0:
            size = (np.sqrt(squares[i]) + length) ** 2
            error = (indptr[i + 1] - indptr[i] + 4) * (epsilon * size + delta)
            if rough and (second - first <= 2.0 * error or size > 1e38):
                queue[left] = i
                left += 1
                continue
            first += error
            second = second - error if second > error else 0.0
        before = nearest[i]
        if now != before:
            counts[before, own[0, i], own[1, i]] -= 1
            counts[now, own[0, i], own[1, i]] += 1
            nearest[i] = now
        limit[i] = (reach[now] + np.sqrt(second) * (1.0 - 1e-9) - np.sqrt(first)) * DOWN
    return left


@inlined
def screen(
    rough_data, indices, indptr, squares, rough, norms, nearest, limit, reach, counts,
    lines, rough_near, rough_lines, rough_row, queue, own, n_points,
):  # fmt: skip
    """Settle those of the first ``n_points`` of ``queue`` that float32 can decide; returns how many are left in it."""
    left, width, length = 0, rough_near.shape[1], longest(norms)
    for start in range(0, n_points, width):
        count = min(width, n_points - start)
        measure_sparse(rough_data, indices, indptr, squares, queue, start, count, rough, norms, rough_row, rough_near)
        two_closest(rough_near, count, rough_lines)
        widen(rough_lines, count, lines)
        left = settle(
            indptr, squares, length, queue, start, count, True, left, lines, own, nearest, limit, reach, counts
        )
    return left


@inlined
def look(
    dense, data, indices, indptr, squares, W, columns, norms, nearest, limit, reach, counts,
    x, near, lines, row, queue, own, n_points,
):  # fmt: skip
    """Settle the first ``n_points`` of ``queue`` in float64."""
    width, length = near.shape[1], longest(norms)
    for start in range(0, n_points, width):
        count = min(width, n_points - start)
        if indptr.size == 0:
            measure_dense(dense, queue, start, count, W, x, near)
        else:
            measure_sparse(data, indices, indptr, squares, queue, start, count, columns, norms, row, near)
        two_closest(near, count, lines)
        settle(indptr, squares, length, queue, start, count, False, 0, lines, own, nearest, limit, reach, counts)


@inlined
def reassign(
    dense, data, indices, indptr, squares, rough_data, W, columns, rough, norms, nearest, limit, reach, moves, counts,
    x, near, lines, row, rough_near, rough_lines, rough_row, queue, own, bounds,
):  # fmt: skip
    """Make assignments exact again after prototype j moved by ``moves[j]``; returns how many points were looked at.

    Sparse rows are screened in float32 first. ``bounds=False`` looks at every point and screens none, for tests and for
    measuring what the bounds are worth.
    """
    extend(moves, reach)
    queued = enqueue(nearest, limit, reach, bounds, queue)
    left = queued
    if bounds and indptr.size > 0:
        left = screen(
            rough_data, indices, indptr, squares, rough, norms, nearest, limit, reach, counts,
            lines, rough_near, rough_lines, rough_row, queue, own, queued,
        )  # fmt: skip
    look(
        dense, data, indices, indptr, squares, W, columns, norms, nearest, limit, reach, counts,
        x, near, lines, row, queue, own, left,
    )  # fmt: skip
    return queued


# -- what Python calls ----------------------------------------------------------------------------------------------

# Entries take plain arrays, `*rows, *prototypes, ...`: Numba needs 0.3 ms to look through the type of a tuple of arrays
# at every call, which is as long as an epoch on a small set.


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
    """Fisher and Yates in place; a sixth of the time of NumPy's, which was as long as half an epoch in the plane."""
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
def distances(dense, data, indices, indptr, squares, rough_data, W, columns, rough, norms, codes, out):
    """|x - w|² of every point to every prototype, into ``out`` (n, P)."""
    P, d = W.shape
    for i in range(out.shape[0]):
        for j in range(P):
            out[i, j] = 0.0
        if indptr.size == 0:
            for k in range(d):
                x = dense[i, k]
                for j in range(P):
                    gap = x - columns[k, j]
                    out[i, j] += gap * gap
        else:
            for e in range(indptr[i], indptr[i + 1]):
                x, k = data[e], indices[e]
                for j in range(P):
                    out[i, j] += x * columns[k, j]
            square = squares[i]
            for j in range(P):
                distance = square + norms[j] - 2.0 * out[i, j]
                out[i, j] = distance if distance > 0.0 else 0.0


@entry
def run(
    dense, data, indices, indptr, squares, rough_data, W, columns, rough, norms, codes,
    nearest, limit, reach, moves, counts, sums, tallies,
    x, near, closest, who, lines, row, rough_near, rough_lines, rough_row, queue, own, order, random, centre, fence,
    C, alpha, code, beta, learning_rate, batch_size, published, shuffled, bounds, n_epochs, survey,
):  # fmt: skip
    """Train for up to ``n_epochs`` passes in mini-batches (Algorithm 1, lines 4 to 23 for every batch).

    Without cells (``nearest`` empty) nothing is voted on. ``random`` (2,) holds two streams, one of the order and one
    of the draws of empty cells: voting does not change the order in which points are learned. Returns epochs done,
    points looked at, steps made, flips, uses of alpha, and whether prototypes were about to leave the fence.

    A ``survey`` makes no step: it leaves in ``sums`` and ``tallies`` what the terms pull on the first batch.
    """
    n_labels = counts.shape[1:]
    P, n, voting = W.shape[0], order.size, nearest.size > 0
    n_terms = 2 if C > 0.0 or (survey and voting) else 1
    flips, uses, looks, steps = 0, 0, 0, 0
    for epoch in range(n_epochs):
        if shuffled and not survey:
            shuffle(order, random[:1])
        for start in range(0, n, batch_size):
            batch = order[start : start + batch_size]
            add_pulls(
                dense, data, indices, indptr, squares, W, columns, norms, codes, sums, tallies,
                x, near, closest, who, lines, row, own, batch, n_terms, n_labels, alpha, code, beta, survey,
            )  # fmt: skip
            class_scale = scale(published, own[0], batch, P, n_labels[0], tallies[0, UPDATES])
            fair_scale = scale(published, own[1], batch, P, n_labels[1], tallies[1, UPDATES])
            if survey:
                for j in range(P):
                    for k in range(W.shape[1]):
                        sums[0, j, k] *= class_scale
                        sums[1, j, k] *= fair_scale
                return epoch, looks, steps, flips, uses, False
            if not move(W, sums, class_scale, fair_scale, learning_rate, C, centre, fence, moves):
                return epoch + 1, looks, steps, flips, uses, True
            place(W, columns, rough, norms)
            if voting:
                looks += reassign(
                    dense, data, indices, indptr, squares, rough_data, W, columns, rough, norms,
                    nearest, limit, reach, moves, counts,
                    x, near, lines, row, rough_near, rough_lines, rough_row, queue, own, bounds,
                )  # fmt: skip
                flips += vote(counts, published, random[1:], codes[1])
            uses += int(tallies[1, SIMULATED])
            steps += 1
    return n_epochs, looks, steps, flips, uses, False
