"""``learning_rate="auto"``: Algorithm 1 with a step size η from the data (lowered by :mod:`schedules`).

A pull of Algorithm 1 is about (x - w) / d, with d the squared distances in μ, times the share of the batch that pulls:
about 1 / P, and at least one point of B. So η = RATE min(P, B) d moves a prototype by a part of its way in each step,
whatever the scale of the data, the number of prototypes P and the number of points.
"""

import numpy as np

from fairglvq.lvq.schedules import LOWERING
from fairglvq.lvq.trainer import as_rows, squared_distances

# On wine, iris, breast cancer, digits, German and Adult, rates from 0.1 to 0.5 end within a point of accuracy.
RATE = 0.5

# A stream does not end: its rate is that of the second level from the beginning.
STREAM_RATE = RATE / LOWERING

# An epoch has at least so many steps, in smaller batches than asked for where points are few.
STEPS_PER_EPOCH = 4

# The typical distance is that of about so many points.
SAMPLE = 5_000


def typical_distance(X, y, W, labels) -> float:
    """The median over points of (d+ + d-) / 2; 0 where most points lie on prototypes of two classes."""
    some = slice(None, None, max(1, len(y) // SAMPLE))
    D = squared_distances(as_rows(X[some]), W)  # (n, P)
    same = y[some, None] == labels
    d_plus, d_minus = np.where(same, D, np.inf).min(axis=1), np.where(same, np.inf, D).min(axis=1)
    return float(np.median(d_plus + d_minus)) / 2
