"""Initial prototypes: functions (X, y, k, n_classes, rng) -> (n_classes * k, d), class by class.

k-means uses the library's own kernels, which run on one thread: scikit-learn's took 20 to 650 ms on 2,560 points of
the plane when both cores were busy, this one about 1 ms. It also saves the app the two seconds of loading scikit-learn.
"""

from collections.abc import Callable

import numpy as np

from fairglvq.lvq.trainer import as_rows, dense, nearest_prototypes, of_columns, squared_distances, times

# Variance per feature of the noise around shared centres in the published runs, whose features span [0, 1]; here it
# is scaled with a feature's range, so that it means the same for other scales.
SHARED_NOISE = 0.0005


# Centres of more rows than KMEANS_ROWS are those of KMEANS_SAMPLE drawn from them: a start need not be finer. Adult,
# whose published runs start from all rows, stays below it.
KMEANS_ROWS, KMEANS_SAMPLE = 50_000, 10_000


def kmeans(X, k: int, rng: np.random.Generator, *, max_iter: int = 300, tol: float = 1e-4) -> np.ndarray:
    """Centres (k, d) of Lloyd's algorithm from greedy k-means++ seeds; ``tol`` is relative to the features' variance.

    More than KMEANS_ROWS points are sampled. With fewer than k distinct points the surplus centres repeat others, and
    their cells are empty.
    """
    if X.shape[0] > KMEANS_ROWS:
        X = X[np.sort(rng.choice(X.shape[0], KMEANS_SAMPLE, replace=False))]
    rows = as_rows(X)
    W = _seeds(X, rows, k, rng)
    tol = tol * _mean_variance(X)
    for _ in range(max_iter):
        nearest = nearest_prototypes(rows, W)
        members = np.bincount(nearest, minlength=k)[:, None]
        means = _cell_sums(rows, nearest, *W.shape) / np.maximum(members, 1)
        before, W = W, np.where(members > 0, means, W)
        if ((W - before) ** 2).sum() <= tol:
            break
    return W


def shared_kmeans(X, y, k, n_classes, rng) -> np.ndarray:
    """Centres of all points together; at each one prototype per class, with a little noise (the paper's choice)."""
    centres = kmeans(X, k, rng)
    span = of_columns(X, "max") - of_columns(X, "min")
    noise = rng.normal(0.0, np.sqrt(SHARED_NOISE), (n_classes, *centres.shape))
    return (centres + noise * span).reshape(n_classes * k, -1)


def class_kmeans(X, y, k, n_classes, rng) -> np.ndarray:
    """Centres of each class by itself; a class with no point yet (streams) starts from all points."""
    members = [np.flatnonzero(y == c) for c in range(n_classes)]
    return np.vstack([kmeans(X[rows] if rows.size else X, k, rng) for rows in members])


def random_points(X, y, k, n_classes, rng) -> np.ndarray:
    """Random points of each class (of all where a class has none), without repetition if there are enough."""
    chosen = []
    for c in range(n_classes):
        members = np.flatnonzero(y == c)
        members = members if members.size else np.arange(X.shape[0])
        chosen.append(rng.choice(members, k, replace=members.size < k))
    return dense(X[np.concatenate(chosen)])


INITIALISERS: dict[str, Callable[..., np.ndarray]] = {
    "shared-kmeans": shared_kmeans,
    "class-kmeans": class_kmeans,
    "random": random_points,
}


def initial_prototypes(init, X, y, k: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """First prototypes (n_classes * k, d), class by class, from a name in INITIALISERS or a given array."""
    if isinstance(init, str):
        if init not in INITIALISERS:
            raise ValueError(f"init must be an array or one of {', '.join(map(repr, INITIALISERS))}; got {init!r}")
        return INITIALISERS[init](X, y, k, n_classes, rng)
    W = np.asarray(dense(init), dtype=np.float64)
    wanted = (n_classes * k, X.shape[1])
    if W.shape != wanted:
        raise ValueError(
            f"init has shape {W.shape}, expected {wanted}: {k} prototypes for each of {n_classes} classes, "
            f"class by class, in {X.shape[1]} features"
        )
    if not np.isfinite(W).all():
        raise ValueError("init holds NaN or infinity")
    return W


def _seeds(X, rows, k: int, rng) -> np.ndarray:
    """Greedy k-means++: each seed is the best of 2 + log k points drawn in proportion to the squared distance."""
    n = X.shape[0]
    chosen = [int(rng.integers(n))]
    closest = squared_distances(rows, dense(X[chosen]))[:, 0]
    trials = 2 + int(np.log(k))
    for _ in range(1, k):
        total = closest.cumsum()
        candidates = np.searchsorted(total, rng.random(trials) * total[-1])
        drawn = dense(X[np.minimum(candidates, n - 1)])
        distances = np.minimum(closest[:, None], squared_distances(rows, drawn))
        best = int(distances.sum(axis=0).argmin())
        chosen.append(int(min(candidates[best], n - 1)))
        closest = distances[:, best]
    return dense(X[np.array(chosen)])


def _cell_sums(rows, nearest, k: int, d: int) -> np.ndarray:
    """The sum of the points of each cell, (k, d)."""
    if not rows.sparse:
        return np.stack([np.bincount(nearest, column, k) for column in rows.X.T], axis=1)
    entry = np.repeat(nearest.astype(np.int64) * d, np.diff(rows.indptr)) + rows.indices
    return np.bincount(entry, rows.data, k * d).reshape(k, d)


def _mean_variance(X) -> float:
    return max(0.0, float(np.mean(of_columns(times(X, X), "mean") - of_columns(X, "mean") ** 2)))
