"""The limit line: closed forms, properties that every such line has, and the estimate beside the exact one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from fairglvq import datasets
from fairglvq.datasets import Block
from fairglvq.fairness import limit


def joint_of(mass, eta, q):
    """joint[x, s, y] with label and group independent given x."""
    s, y = np.stack([1 - q, q], axis=1), np.stack([1 - eta, eta], axis=1)
    return mass[:, np.newaxis, np.newaxis] * s[:, :, np.newaxis] * y[:, np.newaxis, :]


def by_linear_programme(joint, sp):
    """The definition itself: the most accurate lottery among those with a gap of at most sp."""
    shares = joint.sum(axis=(0, 2))
    merit = joint[:, :, 1].sum(axis=1) - joint[:, :, 0].sum(axis=1)
    pull = joint[:, 1].sum(axis=1) / shares[1] - joint[:, 0].sum(axis=1) / shares[0]
    found = linprog(-merit, A_ub=[pull, -pull], b_ub=[sp, sp], bounds=(0, 1))
    return joint[:, :, 0].sum() - found.fun


def assert_is_a_limit(line):
    assert line.sp[0] == 0
    assert line.sp[-1] == 1
    assert (np.diff(line.sp) > 0).all()
    assert (np.diff(line.accuracy) >= 0).all()
    slopes = np.diff(line.accuracy) / np.diff(line.sp)
    assert (np.diff(slopes) < 1e-6).all()  # concave


def test_four_people_worked_by_hand():
    """Two values of x, group = x. At x = 1 the label is 1 for 3 in 4, at x = 0 for 1 in 4.

    Unconstrained: follow x, right for 3 in 4, gap 1. Every share f of x = 1 that is refused costs f/2 * 1/2 of accuracy
    and f of the gap: accuracy = 0.75 - 0.25 * (1 - sp).
    """
    line = limit.from_joint(joint_of(np.array([0.5, 0.5]), np.array([0.25, 0.75]), np.array([0.0, 1.0])))
    assert not line.estimated
    assert line.at([0, 0.2, 1]) == pytest.approx([0.5, 0.55, 0.75])
    assert line.mean_distance([0.2, 1.0], [0.5, 0.74]) == pytest.approx((0.05 + 0.01) / 2)


def test_one_dimension_two_gaussians_in_closed_form():
    """x ~ N(-a, 1) or N(a, 1) by group, label = [x > 0]. The best rule gives way where the group is surest: |x| > c.

    It says yes on (0, c) and below -c; its error is P(|x| > c) and its gap follows from the normal distribution.
    """
    a = 0.8
    edges = np.linspace(-8, 8, 4001)
    x = (edges[:-1] + edges[1:]) / 2
    masses = [np.diff(norm.cdf(edges, centre)) / 2 for centre in (-a, a)]
    joint = np.zeros((len(x), 2, 2))
    for s in (0, 1):
        joint[np.arange(len(x)), s, (x > 0).astype(int)] = masses[s]
    line = limit.from_joint(joint)
    assert line.at(1.0) == pytest.approx(1.0, abs=1e-9)
    for c in (1.6, 2.0, 2.5):
        yes = [norm.cdf(c - m) - norm.cdf(-m) + norm.cdf(-c - m) for m in (-a, a)]
        gap = yes[1] - yes[0]
        assert gap > 0
        error = norm.cdf(-c + a) + norm.cdf(-c - a)
        assert line.at(gap) == pytest.approx(1 - error, abs=2e-3)
    assert_is_a_limit(line)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_linear_programme(seed):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(40, 0.5)).reshape(10, 2, 2)
    line = limit.from_joint(joint)
    for sp in (0.0, 0.03, 0.1, 0.3, 1.0):
        assert line.at(sp) == pytest.approx(by_linear_programme(joint, sp), abs=1e-6)
    assert_is_a_limit(line)
    told = limit.from_joint(joint, with_group=True)
    assert told.with_group
    assert (told.at(line.sp) >= line.accuracy - 1e-9).all()  # who knows more can do no worse


def test_xor():
    """Unconstrained all but the overlap; each point of gap costs half a point; at parity 7 in 8 (closed form)."""
    line = limit.known("xor")
    overlap = norm.cdf(-0.5 / 0.15)  # the halfway line between two clouds of the same row
    base_gap = 1 - norm.cdf(0.1 / 0.15)
    assert 1 - 2 * overlap < line.at(1.0) < 1
    assert line.at(0.0) == pytest.approx(1 - base_gap / 2, abs=2 * overlap)
    assert line.at(0.1) - line.at(0.0) == pytest.approx(0.05, abs=1e-4)
    assert limit.known("xor", with_group=True).at(0.0) == pytest.approx(1 - base_gap / 2, abs=5e-4)
    assert_is_a_limit(line)


def test_local():
    """A quarter are group 1, all of label 1; of the others a third are. Refusing 1 in 6 evens the gap of 2/3."""
    line = limit.known("local")
    assert line.at(0.0) == pytest.approx(1 - 1 / 6, abs=1e-3)
    assert line.at(2 / 3) == pytest.approx(1, abs=1e-3)
    assert_is_a_limit(line)


def test_knobs_of_the_synthetic_sets():
    """Without bias fairness is free; without noise Local's upper clouds are one point each, of two labels."""
    free = limit.known("xor", bias=0.0)
    assert free.at(0.0) == pytest.approx(free.at(1.0))
    assert limit.known("xor", bias=0.5).at(0.1) > limit.known("xor").at(0.1) + 0.04
    assert limit.known("xor", noise=2.0).at(1.0) < 0.96
    assert limit.known("local", noise=0.0).at(1.0) == pytest.approx(0.75, abs=1e-6)
    np.testing.assert_allclose(limit.known("xor", noise=1e-3).at([0, 1]), [1, 1], atol=1e-6)


def test_finer_cells_change_nothing(monkeypatch):
    coarse = limit.known("xor", noise=2.0)
    monkeypatch.setattr(limit, "CELLS", 24)
    fine = limit.known("xor", noise=2.0)
    np.testing.assert_allclose(fine.at(np.linspace(0, 1, 21)), coarse.at(np.linspace(0, 1, 21)), atol=2e-4)


def test_no_drawn_sample_beats_the_densities():
    """The rule that the densities name best, applied to a large drawn sample, lands on the line."""
    data = datasets.load("xor", size=20_000, seed=7)
    by_height = data.X[:, 1] > 0.5
    gap = abs(by_height[data.s == 1].mean() - by_height[data.s == 0].mean())
    line = limit.known("xor")
    assert np.mean(by_height == data.y) <= line.at(gap) + 0.003
    assert np.mean(by_height == data.y) == pytest.approx(line.at(0.0), abs=0.003)


def test_the_estimate_is_close_to_the_exact_line():
    data = datasets.load("xor", size=300, seed=2)
    line, exact = limit.estimate(data, folds=3), limit.known("xor")
    assert line.estimated
    assert_is_a_limit(line)
    shown = np.linspace(0, 1, 11)
    np.testing.assert_allclose(line.at(shown), exact.at(shown), atol=0.025)


def with_column(data, values):
    block = Block("extra", data.X.shape[1], data.X.shape[1] + 1, "number")
    return replace(data, X=np.column_stack([data.X, values]), blocks=(*data.blocks, block))


def test_the_estimate_takes_the_group_from_a_feature_that_is_the_group(monkeypatch):
    """One model instead of two if the group is a feature, coded either way round."""
    trained = []

    def predict(model, X, outcome, **options):
        trained.append(outcome)
        share = np.where(outcome == 1, 0.7, 0.3)
        return np.column_stack([1 - share, share])

    monkeypatch.setattr("sklearn.model_selection.cross_val_predict", predict)
    data = datasets.load("xor", size=50)
    cases = [(data, 2), (with_column(data, 5.0 - 2 * data.s), 1), (with_column(data, np.ones(len(data.s))), 2)]
    for case, models in cases:
        trained.clear()
        limit.estimate(case)
        assert len(trained) == models
    trained.clear()
    assert limit.estimate(data, with_group=True).with_group
    assert len(trained) == 1


def test_words_instead_of_numbers(monkeypatch):
    """Labels and groups may be words, and the line does not ask which label is favourable."""

    def predict(model, X, outcome, **_):
        share = np.clip(X[:, 1], 0, 1)
        return np.column_stack([1 - share, share])

    monkeypatch.setattr("sklearn.model_selection.cross_val_predict", predict)
    data = datasets.load("xor", size=50)
    worded = replace(
        data,
        y=np.array(["no", "yes"])[data.y],
        s=np.array(["a", "b"])[data.s],
        class_names={"no": "no", "yes": "yes"},
        group_names={"a": "a", "b": "b"},
        favourable="no",
    )
    np.testing.assert_array_equal(limit.estimate(worded).accuracy, limit.estimate(data).accuracy)


@pytest.mark.parametrize(("name", "word"), [("three_classes", "3 labels"), ("three_groups", "3 groups")])
def test_more_than_two_of_a_kind_is_refused(name, word):
    with pytest.raises(ValueError, match="two groups and two labels"):
        limit.known(name)
    with pytest.raises(ValueError, match=f"two groups and two labels.*{word}"):
        limit.estimate(datasets.load(name, size=20))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="'adult' are not known; they are of local, xor"):
        limit.known("adult")
    with pytest.raises(ValueError, match="bias"):
        limit.known("xor", bias=2.0)
    with pytest.raises(ValueError, match="both groups"):
        limit.from_joint(np.array([[[0.5, 0.5], [0.0, 0.0]]]))
    with pytest.raises(ValueError, match=r"shape is \(2, 3, 2\)"):
        limit.from_joint(np.ones((2, 3, 2)))


@pytest.mark.parametrize("share", [0.0, -1.0, np.nan, np.inf])
def test_what_is_no_probability(share):
    with pytest.raises(ValueError, match="joint must hold probabilities"):
        limit.from_joint(np.full((3, 2, 2), share))
