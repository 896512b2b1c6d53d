"""How far off a rate may be: 95 % intervals of shares and of their differences, and when people are too few."""

from __future__ import annotations

import math

SMALL = 30
"""A group of fewer people is flagged: its rate can be far off."""

Z = 1.959963984540054  # of a 95 % interval


def wilson(k: int, n: int) -> tuple[float, float]:
    """95 % interval of a share of k out of n (Wilson 1927): holds for small n and for shares of 0 and 1, too.

    ::

        (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    """
    if n == 0:
        return 0.0, 1.0
    p, zz = k / n, Z * Z / n
    middle, reach = p + zz / 2, Z * math.sqrt(p * (1 - p) / n + zz / (4 * n))
    low, high = (middle - reach) / (1 + zz), (middle + reach) / (1 + zz)
    return (0.0 if k == 0 else low), (1.0 if k == n else high)


def newcombe(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float]:
    """95 % interval of k1/n1 - k2/n2 from their Wilson intervals (Newcombe 1998, method 10); NaN if nobody is there."""
    if n1 == 0 or n2 == 0:
        return math.nan, math.nan
    p1, p2 = k1 / n1, k2 / n2
    (low1, high1), (low2, high2) = wilson(k1, n1), wilson(k2, n2)
    return p1 - p2 - math.hypot(p1 - low1, high2 - p2), p1 - p2 + math.hypot(high1 - p1, p2 - low2)
