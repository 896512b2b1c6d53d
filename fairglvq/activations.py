"""Monotone activations Φ of the relative distance μ, each beside its derivative Φ'.

The functions in the registry take numbers or arrays; :func:`activate` is what the kernels call.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit


def sigmoid(mu, beta):
    """σ(βμ) = 1 / (1 + exp(-βμ)), written so that nothing overflows."""
    return 0.5 + 0.5 * np.tanh(0.5 * beta * mu)


def sigmoid_slope(mu, beta):
    """d/dμ σ(βμ) = β σ (1 - σ)."""
    p = sigmoid(mu, beta)
    return beta * p * (1.0 - p)


def swish(mu, beta):
    """Φ(μ) = μ σ(βμ) (Villmann et al. 2020, the paper's choice)."""
    return mu * sigmoid(mu, beta)


def swish_slope(mu, beta):
    """Φ'(μ) = σ + βμ σ (1 - σ)."""
    p = sigmoid(mu, beta)
    return p + beta * mu * p * (1.0 - p)


def identity(mu, beta):
    """Φ(μ) = μ, Sato and Yamada's plain cost; β plays no part."""
    return mu * 1.0


def identity_slope(mu, beta):
    """Φ'(μ) = 1, in the shape of μ."""
    return mu * 0.0 + 1.0


class Activation(NamedTuple):
    """Φ and Φ' as functions of (μ, β), with the number by which the kernel knows them."""

    code: int
    value: Callable
    slope: Callable


ACTIVATIONS = {
    "swish": Activation(0, swish, swish_slope),
    "sigmoid": Activation(1, sigmoid, sigmoid_slope),
    "identity": Activation(2, identity, identity_slope),
}


_options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}

# exp(t) = 2^n exp(r) with n = round(t / ln 2) and |r| <= ln 2 / 2; ln 2 in two parts keeps t - n ln 2 precise.
_PER_LN2 = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUNDER = 1.5 * 2.0**52  # added to a small number, leaves its nearest integer in the last bits


@njit(fastmath={"contract"}, **_options)
def exponentials(t, count, power, out):
    """exp(t) of the first ``count`` numbers, each between -700 and 700, into ``out``; ``power`` is scratch.

    Vector code, five times faster than calling exp for each, and as precise (a test measures it).
    """
    for b in range(count):
        shifted = t[b] * _PER_LN2 + _ROUNDER
        n = shifted - _ROUNDER
        r = (t[b] - n * _LN2_HIGH) - n * _LN2_LOW
        power[b] = shifted
        series = 1 / 39916800 + r * (1 / 479001600 + r * (1 / 6227020800))
        series = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * series))
        series = 1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * series))
        out[b] = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * series))))
    n_bits, bits = power.view(np.int64), out.view(np.int64)
    for b in range(count):
        bits[b] += n_bits[b] << 52  # n in the last bits moves into the exponent: times 2^n


@njit(**_options)
def activate(code, mu, beta, count, power, value, slope):
    """Φ(μ) and Φ'(μ) of the first ``count`` numbers, of the activation with this code; ``power`` is scratch.

    By code, because a function passed to a compiled function would defeat the on-disk cache.
    """
    if code == 2:
        for b in range(count):
            value[b] = mu[b]
        for b in range(count):
            slope[b] = 1.0
        return
    for b in range(count):
        t = -beta * mu[b]
        t = t if t > -700.0 else -700.0
        value[b] = t if t < 700.0 else 700.0
    exponentials(value, count, power, slope)
    for b in range(count):
        value[b] = 1.0 / (1.0 + slope[b])  # σ
    if code == 1:
        for b in range(count):
            slope[b] = beta * value[b] * (1.0 - value[b])
    else:
        for b in range(count):
            slope[b] = value[b] + beta * mu[b] * value[b] * (1.0 - value[b])
        for b in range(count):
            value[b] = mu[b] * value[b]
