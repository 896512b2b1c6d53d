"""A step of a real training, opened: the values of its points add up to the step, and the step is the kernels'."""

import numpy as np
import oracle
import pytest

from fairglvq.datasets import load
from fairglvq.experiments import anatomy, methods
from fairglvq.experiments.anatomy import ChosenStep
from fairglvq.experiments.fold import training_fold


@pytest.mark.parametrize("step", ["published", "algorithm"])
def test_all_steps_of_an_epoch_end_where_the_kernels_do(step):
    fold, params = training_fold(load("xor")), ChosenStep(step=step).params
    last = anatomy.open_step(ChosenStep("xor", epochs=1, batch=10, step=step))
    assert last.n_batches == 11
    start = methods.get("fairglvq").prepare(fold, [1.25], params)
    model = methods.get("fairglvq").fit(fold, start, 1.25, params | {"max_epochs": 2})
    assert last.step.prototypes == pytest.approx(model.prototypes_, abs=1e-9)
    assert last.pseudo_after.tolist() == model.pseudo_classes_.tolist()


@pytest.mark.parametrize(
    "chosen", [ChosenStep(), ChosenStep("local", 1, 1.5, 10, 3), ChosenStep(step="algorithm", epochs=0)]
)
def test_a_step_is_algorithm_1_s_and_the_sum_of_its_points(chosen):
    """The oracle takes a batch as its whole data set; its vote is another one then, so only prototypes are compared."""
    opened = anatomy.open_step(chosen)
    moved = np.zeros_like(opened.W)
    for i in range(len(opened.X)):
        for term in anatomy.terms_of(opened, i):
            for pull in term.pulls:
                moved[pull.prototype] += pull.moves
    assert opened.step.prototypes - opened.W == pytest.approx(moved, abs=1e-12)
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr(oracle, "vote", lambda *_: (opened.pseudo.tolist(), [False] * len(opened.W)))
        expected = oracle.train(
            opened.X, opened.y, opened.s, opened.W, opened.labels, C=chosen.C, learning_rate=opened.learning_rate,
            batch_size=len(opened.X), max_epochs=1, rng=np.random.default_rng(0), step=chosen.step, shuffle=False,
        )  # fmt: skip
    assert opened.step.prototypes == pytest.approx(np.array(expected.prototypes), abs=1e-9)


def test_values_of_a_point_are_those_of_the_formulas():
    opened = anatomy.open_step(ChosenStep())
    x, y, s = opened.X[7], opened.y[7], opened.s[7]
    distances = ((x - opened.W) ** 2).sum(1)
    for term, own, codes, weight in zip(
        anatomy.terms_of(opened, 7), (y, s), (opened.labels, opened.pseudo), (1, -opened.C), strict=True
    ):
        same = codes == own
        assert term.plus == np.flatnonzero(same)[distances[same].argmin()]
        assert term.minus == np.flatnonzero(~same)[distances[~same].argmin()]
        mu = (distances[term.plus] - distances[term.minus]) / (distances[term.plus] + distances[term.minus])
        sigmoid = 1 / (1 + np.exp(-2 * mu))
        assert (term.mu, term.phi) == pytest.approx((mu, mu * sigmoid))
        assert term.slope == pytest.approx(sigmoid + 2 * mu * sigmoid * (1 - sigmoid))
        both = (distances[term.plus] + distances[term.minus]) ** 2
        expected = weight * 4 * term.slope * distances[term.minus] / both * (x - opened.W[term.plus])
        assert term.pulls[0].vector == pytest.approx(expected)
    assert opened.votes.sum() == 2560


def test_alpha_stands_in_where_all_prototypes_are_of_one_group():
    opened = anatomy.open_step(ChosenStep("local", 1, 1.5, 10, 0))
    fair = [anatomy.terms_of(opened, i)[1] for i in range(len(opened.X))]
    missing = sum(bool(term.simulated) for term in fair)
    assert missing == (len(fair) if len(set(opened.pseudo.tolist())) == 1 else 0)
    assert missing == 250


def test_swish_turns_where_its_slope_is_0():
    """Φ' = σ (1 + βμ (1 - σ)) is 0 at βμ = -1.2785."""
    assert anatomy.turning_point() == pytest.approx(-1.2785 / 2, abs=1e-4)


def test_shares_of_pulls_that_are_turned_round():
    chosen = ChosenStep(epochs=0)
    opened, fold = anatomy.open_step(chosen), training_fold(load("xor"))
    d = ((fold.X[:, None] - opened.W) ** 2).sum(2)
    for codes, own, share in zip(
        (opened.labels, opened.pseudo), (fold.y, fold.s), anatomy.reversed_shares(chosen), strict=True
    ):
        same = codes == own[:, None]
        plus, minus = np.where(same, d, np.inf).min(1), np.where(same, np.inf, d).min(1)
        assert share == pytest.approx(np.mean((plus - minus) / (plus + minus) < anatomy.turning_point()))


def test_without_a_fair_term_there_is_only_one():
    opened = anatomy.open_step(ChosenStep(C=0.0))
    assert anatomy.terms_of(opened, 0)[1] is None
    assert not opened.step.fair_move.any()
