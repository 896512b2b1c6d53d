"""Monotone activations Φ of the relative distance μ, each beside its derivative Φ'.

The functions in the registry take numbers or arrays; :func:`value_and_slope` is what the kernels call.
"""

from collections.abc import Callable
from typing import NamedTuple

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


@njit(cache=True, nogil=True, error_model="numpy")
def value_and_slope(code, mu, beta):
    """Φ(μ) and Φ'(μ) of the activation with this code, for one number, from one exponential.

    By code, because a function passed to a compiled function would defeat the on-disk cache. A test holds it to the
    functions above.
    """
    if code == 2:
        return mu, 1.0
    p = 1.0 / (1.0 + np.exp(-beta * mu))
    steep = beta * p * (1.0 - p)
    if code == 1:
        return p, steep
    return mu * p, p + mu * steep
