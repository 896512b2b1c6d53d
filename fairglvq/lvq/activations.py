"""Monotone activations Φ of the relative distance μ, each beside its derivative Φ'.

They take numbers or arrays; the kernels have their own version, :func:`fairglvq.lvq.kernels.activate`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


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
