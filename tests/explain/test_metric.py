"""Learned metrics and handicaps explained: by hand, and against the estimators themselves."""

import math

import numpy as np
import pytest
from models import after_inp, held, small, squared

from fairglvq import GLVQ, FairGLVQ, ParityLVQ, datasets, explain
from fairglvq.datasets import Block
from fairglvq.explain import PrototypeModel, decision
from fairglvq.explain.metric import Handicap, handicap, handicap_words, relevance_profile
from fairglvq.explain.people import Population, population

ESTIMATORS = {
    "diagonal": lambda: GLVQ(2, metric="diagonal", max_epochs=10, random_state=0),
    "matrix": lambda: GLVQ(2, metric="matrix", max_epochs=10, random_state=0),
    "rank 2": lambda: FairGLVQ(3, metric="matrix", rank=2, max_epochs=10, random_state=0),
    "parity": lambda: ParityLVQ(3, max_gap=0.02, max_epochs=5, random_state=0),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def learned(request):
    """(people, estimator, model) of German credit with its numbers in bins too."""
    data = datasets.load("german", bins=4)
    people = population(data, held(len(data.y)))
    learn = ~people.measured
    model = ESTIMATORS[request.param]()
    groups = {"sensitive_features": people.s[learn]} if type(model) is not GLVQ else {}
    model.fit(people.X[learn], people.y[learn], **groups)
    return people, model, PrototypeModel.of(model, range(len(people.classes)), range(len(people.groups)))


# ---- the model's own distances ----


def test_cells_and_decisions_are_those_of_the_estimator(learned):
    people, estimator, model = learned
    explained = explain.explain(people, model)
    np.testing.assert_array_equal(explained.decisions, estimator.predict(people.X))
    D = estimator.transform(people.X) ** 2
    np.testing.assert_allclose(model.distances(people.X), D)
    np.testing.assert_allclose(explained.distance, D[np.arange(len(D)), explained.nearest])
    np.testing.assert_array_equal(explained.closest, D.argmin(axis=1))
    handicaps = getattr(estimator, "handicaps_", 0.0)
    np.testing.assert_array_equal(explained.nearest, (D - handicaps).argmin(axis=1))


def test_without_one_prototype_its_people_go_to_whom_the_model_would_send_them(learned):
    people, _, model = learned
    explained = explain.explain(people, model)
    p = int(explained.sizes.argmax())
    costs = model.costs(people.X)
    costs[:, p] = np.inf
    now = model.labels[costs.argmin(axis=1)]
    assert explained.without(p).changed == np.sum((now != explained.decisions) & people.measured)


def test_shares_add_up_to_the_difference_of_distances(learned):
    people, estimator, model = learned
    D = estimator.transform(people.X) ** 2
    assert len(people.traits) < len(people.blocks)
    for i in (0, 3, 8):
        verdict = decision.judge(model, people.X[i])
        assert verdict.label == estimator.predict(people.X[i : i + 1])[0]
        parts = decision.shares(people, model, people.X[i], verdict.plus, verdict.minus)
        assert len(parts) == len(people.traits)
        assert parts.sum() == pytest.approx(D[i, verdict.plus] - D[i, verdict.minus], abs=1e-9 * D[i].max())
        assert verdict.mu <= 0


def test_shares_of_a_learned_metric_by_hand():
    # Ω doubles the first column and ignores the second: w+ = (0, 0), w- = (2, 1), x = (0.5, 5).
    people = line()
    model = PrototypeModel(np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([0, 1]), omega=np.array([[2.0, 0.0]]))
    parts = decision.shares(people, model, np.array([0.5, 5.0]), 0, 1)
    assert parts.tolist() == [1.0 - 9.0, 0.0]  # (2 * 0.5)² - (2 * 1.5)²


def test_every_change_flips_the_estimators_decision(learned):
    people, estimator, model = learned
    count = 0
    for i in range(0, len(people.y), 29):
        x = people.X[i]
        values = decision.values_of(people, x)
        for change in decision.changes(people, model, x):
            moved = {change.column: change.after} | {name: after for name, _, after in change.also}
            z = decision.person(people, values | moved)
            assert estimator.predict(z[None])[0] == change.label != estimator.predict(x[None])[0]
            count += 1
    assert count > 3


def test_a_metric_behind_a_projection():
    """INP first, then a learned metric: both count in images, shares and changes."""
    people, inp, _ = after_inp(small(), 1)
    omega = np.random.default_rng(0).normal(size=(2, 6))
    model = PrototypeModel(inp.prototypes, inp.labels, None, inp.matrix, inp.shift, omega, np.arange(6) / 10)
    x = people.X[4]
    z = omega @ (inp.matrix @ x + inp.shift)
    expected = [squared(z, omega @ w) for w in inp.prototypes]
    np.testing.assert_allclose(model.distances(x[None])[0], expected)
    assert model.decide(x[None])[0] == inp.labels[np.argmin(np.array(expected) - np.arange(6) / 10)]
    assert decision.shares(people, model, x, 1, 4).sum() == pytest.approx(expected[1] - expected[4])
    assert model.blind == inp.blind


def test_handicaps_decide_by_hand():
    people = line()
    model = PrototypeModel(
        np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0, 1]), omega=np.array([[1.0, 0.0]]), handicaps=np.array([0.0, 8])
    )
    # Squared distances 2.25 and 6.25: without handicaps the first is closer, with them the second wins.
    verdict = decision.judge(model, np.array([1.5, 0.0]), 0)
    assert (verdict.label, verdict.nearest, verdict.plus, verdict.minus) == (1, 1, 0, 1)
    assert (verdict.d_plus, verdict.d_minus, verdict.ahead) == (2.25, 6.25, -8.0)
    assert verdict.mu == pytest.approx((2.25 - 6.25 + 8) / 8.5)
    # The border x² = (4 - x)² - 8 is at 1.
    (change,) = decision.changes(people, model, np.array([1.5, 0.0]))
    assert (change.column, change.label) == ("a", 0)
    assert change.border == pytest.approx(1.0)


def line():
    """People at 0, 0.5 ... 4 in column a, all alike in column b."""
    a = np.arange(9) / 2
    return Population(
        X=np.column_stack([a, np.zeros(9)]), y=np.zeros(9, int), s=np.zeros(9, int), measured=np.ones(9, bool),
        low=np.zeros(2), span=np.ones(2), blocks=(Block("a", 0, 1, "number"), Block("b", 1, 2, "number")),
        classes=("no", "yes"), groups=("g",), favourable=1,
    )  # fmt: skip


# ---- handicaps in words ----


def handicapped(handicaps):
    model = PrototypeModel(
        np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0, 1]), omega=np.array([[1.0, 0.0]]), handicaps=handicaps
    )
    return explain.explain(line(), model)


def test_a_handicap_worked_out_by_hand():
    # Border at 1: of people at 0, 0.5 ... 4, those at 0, 0.5 stay, 1 is a draw and goes to the first. The squared
    # distances to the own prototype are 0, 0.25, 1, 6.25, 4, 2.25, 1, 0.25, 0: the median is 1.
    explained = handicapped(np.array([0.0, 8.0]))
    assert handicap(explained, 1) == Handicap(0, 8.0, pytest.approx(2.0), 2, 0)  # sqrt(1 + 8) = 3 times as far
    told = handicap(explained, 0)
    assert told[:2] == (1, -8.0)
    assert math.isnan(told.farther)  # 1 - 8 is no squared distance
    assert (told.brought, told.taken) == (0, 2)  # people at 1.5 and 2, the latter by the tie
    assert handicap_words(handicap(explained, 1)) == (
        "People are assigned to it even if it is 200.0% farther away than prototype 1, its nearest rival. "
        "Handicaps bring it 2 people who are closer to another prototype."
    )
    assert handicap_words(told) == (
        "It must be closer than prototype 2, its nearest rival, by more than the distance of most people to their "
        "prototype. Handicaps take away 2 people who are closest to it."
    )


def test_handicaps_that_are_equal_small_or_missing():
    assert "of the two, the closer one decides. Handicaps move nobody" in handicap_words(
        handicap(handicapped(np.array([3.0, 3.0])), 0)
    )
    assert "a little (under 0.1%) farther" in handicap_words(Handicap(1, 0.01, 0.0004, 1, 0))
    assert handicap_words(Handicap(1, -0.5, -0.12, 3, 1)).startswith("It must be 12.0% closer than prototype 2,")
    assert handicap_words(Handicap(1, -0.5, -0.12, 3, 1)).endswith(
        "Handicaps bring it 3 people who are closer to another prototype and take away 1 person who is closest to it."
    )
    assert handicap(handicapped(None), 0) is None


# ---- relevances and axes ----


def test_relevances_by_hand():
    people = Population(
        X=np.array([[0.0, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 1]]), y=np.zeros(4, int), s=np.zeros(4, int),
        measured=np.ones(4, bool), low=np.zeros(4), span=np.ones(4),
        blocks=(Block("age", 0, 1, "number"), Block("sex", 1, 2, "binary", ("f", "m")),
                Block("age in bins", 2, 4, "category", ("0", "1"), "age", (1.0,))),
        classes=("no", "yes"), groups=("g",), favourable=1,
    )  # fmt: skip
    model = PrototypeModel(np.zeros((2, 4)), np.array([0, 1]), omega=np.array([[2.0, 0, 1, 0], [0, 3, 0, 1]]))
    # All variances are 1/4; weights 4, 9, 1, 1; age has 4 + 1 + 1 of 15.
    assert [(one.column, one.share) for one in relevance_profile(people, model)] == [
        ("sex", pytest.approx(9 / 15)),
        ("age", pytest.approx(6 / 15)),
    ]
    assert relevance_profile(people, PrototypeModel(np.zeros((2, 4)), np.array([0, 1]))) == []


def test_relevances_are_the_estimators_weighed_by_spread(learned):
    people, estimator, model = learned
    found = relevance_profile(people, model)
    assert sum(one.share for one in found) == pytest.approx(1.0)
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
    weighed = estimator.relevances_ * people.X.var(axis=0)
    own = [j for b in people.blocks if "age" in (b.column, b.bins_of) for j in range(b.start, b.stop)]
    assert len(own) > 2
    assert dict(found)["age"] == pytest.approx(weighed[own].sum() / weighed.sum())
