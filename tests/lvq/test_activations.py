"""Φ and Φ': values worked by hand, slopes by central differences, and the kernels' version."""

import numpy as np
import pytest
from numba import njit, vectorize
from numpy.testing import assert_allclose

from fairglvq.lvq.activations import ACTIVATIONS
from fairglvq.lvq.kernels import activate, exponential

MU = np.linspace(-1, 1, 41)


@pytest.mark.parametrize("beta", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slope_is_the_derivative_of_the_value(name, beta):
    activation, h = ACTIVATIONS[name], 1e-5
    difference = (activation.value(MU + h, beta) - activation.value(MU - h, beta)) / (2 * h)
    assert_allclose(activation.slope(MU, beta), difference, rtol=0, atol=1e-7)


@pytest.mark.parametrize("beta", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_what_the_kernels_call_gives_the_same(name, beta):
    activation = ACTIVATIONS[name]
    value, slope = activated(activation, MU, beta)
    assert_allclose(value, activation.value(MU, beta), rtol=0, atol=1e-15)
    assert_allclose(slope, activation.slope(MU, beta), rtol=0, atol=1e-14)


def activated(activation, mu, beta):
    """Value and slope from the kernels' version."""
    compiled = njit(activate)
    return np.transpose([compiled(activation.code, beta, m) for m in mu])


def test_exponentials_are_precise_to_the_last_digit():
    t = np.concatenate([np.linspace(-700, 700, 100_001), np.linspace(-3, 3, 100_001), [0.0]])
    out = vectorize(exponential)(t)
    assert_allclose(out, np.exp(t), rtol=2 * np.finfo(float).eps, atol=0)
    assert out[-1] == 1.0


@pytest.mark.parametrize(
    ("name", "value", "slope"),
    [
        # β μ = ln 3, so σ = 3/4 and σ (1 - σ) = 3/16
        ("swish", np.log(3) / 2 * 3 / 4, 3 / 4 + np.log(3) * 3 / 16),
        ("sigmoid", 3 / 4, 2 * 3 / 16),
        ("identity", np.log(3) / 2, 1.0),
    ],
)
def test_by_hand(name, value, slope):
    mu = np.log(3) / 2
    assert_allclose(ACTIVATIONS[name].value(mu, 2.0), value, rtol=1e-15)
    assert_allclose(ACTIVATIONS[name].slope(mu, 2.0), slope, rtol=1e-15)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_very_steep_activation_stays_finite(name):
    activation = ACTIVATIONS[name]
    assert np.isfinite(activation.value(MU, 1e300)).all()
    assert np.isfinite(activation.slope(MU, 1e300)).all()
    assert np.isfinite(activated(activation, MU, 1e300)).all()


def test_codes_are_distinct():
    assert sorted(activation.code for activation in ACTIVATIONS.values()) == list(range(len(ACTIVATIONS)))
