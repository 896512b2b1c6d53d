import numpy as np
import pytest

from fairglvq import ParityLVQ, datasets, wording
from fairglvq.datasets.base import Block
from fairglvq.datasets.split import Scaling
from fairglvq.lvq.axes import axis_traits

BLOCKS = (
    Block("age", 0, 1, "number"),
    Block("sex", 1, 2, "binary", ("Female", "Male")),
    Block("job", 2, 5, "category", ("clerk", "nurse", "pilot")),
    Block("age in bins", 5, 7, "category", ("20 to 39", "40 to 60"), "age"),
)
# Ages 20, 40, 40, 60; two women, two men; clerk, nurse, pilot, pilot.
X = np.array(
    [
        [0.0, 0, 1, 0, 0, 1, 0],
        [0.5, 0, 0, 1, 0, 0, 1],
        [0.5, 1, 0, 0, 1, 0, 1],
        [1.0, 1, 0, 0, 1, 0, 1],
    ]
)


def test_weights_by_hand():
    omega = np.array([[2.0, 0, 0, 0, 0, 0, 4], [0, -3, 5, 5, 7, 0, 0]])
    first, second = axis_traits(omega, X, BLOCKS)
    # Axis 1: age and its bins together are 0, 5, 5, 6 with mean 4: the spread is sqrt((16 + 1 + 1 + 4) / 4).
    assert [(trait.column, trait.value) for trait in first] == [("age", None)]
    assert first[0].weight == pytest.approx(np.sqrt(22 / 4))
    # Axis 2: sex is 0, 0, -3, -3 (spread 1.5, women to the right); jobs are 5, 5, 7, 7 (spread 1).
    assert [(trait.column, trait.value) for trait in second] == [("sex", "Female"), ("job", "pilot")]
    assert [trait.weight for trait in second] == pytest.approx([1.5, 1.0])
    assert wording.axis_name(second) == "sex, job"
    assert wording.axis_direction(second) == "sex Female, job pilot"


def test_directions_in_words():
    (axis,) = axis_traits(np.array([[-2.0, 0, 0, 0, -1, 0, 0]]), X, BLOCKS)
    assert wording.axis_direction(axis) == "less age, job other than pilot"


def test_bins_turn_a_number_round():
    """The number's own weight says more, its bins say less and weigh more."""
    (axis,) = axis_traits(np.array([[1.0, 0, 0, 0, 0, 0, -4]]), X, BLOCKS)
    assert axis[0].words == "less age"


def test_a_constant_in_a_category_changes_nothing():
    omega = np.array([[0.3, 0, 1, 2, 4, 0, 0]])
    shifted = omega + np.array([[0, 0, 50, 50, 50, 0, 0]])
    for one, other in zip(axis_traits(omega, X, BLOCKS)[0], axis_traits(shifted, X, BLOCKS)[0], strict=True):
        assert (one.column, one.value) == (other.column, other.value)
        assert one.weight == pytest.approx(other.weight)


def test_no_more_than_asked_for_and_nothing_negligible():
    omega = np.array([[3.0, 1, 2, 0, 0, 0, 0]])
    assert len(axis_traits(omega, X, BLOCKS, most=2)[0]) == 2
    assert [trait.column for trait in axis_traits(np.array([[9.0, 1e-3, 0, 0, 0, 0, 0]]), X, BLOCKS)[0]] == ["age"]
    assert axis_traits(np.zeros((1, 7)), X, BLOCKS) == [[]]


def test_the_strongest_trait_of_a_fitted_model_by_brute_force():
    data = datasets.load("german", bins=4)
    rows = Scaling.fit(data.X).apply(data.X)
    model = ParityLVQ(1, max_epochs=2, random_state=0).fit(rows, data.y, sensitive_features=data.s)
    for omega, axis in zip(model.omega_, axis_traits(model.omega_, rows, data.blocks), strict=True):
        spread = {}
        for name in {block.bins_of or block.column for block in data.blocks}:
            own = [j for b in data.blocks if name in (b.column, b.bins_of) for j in range(b.start, b.stop)]
            spread[name] = np.std(rows[:, own] @ omega[own])
        strongest = sorted(spread, key=spread.__getitem__, reverse=True)[: len(axis)]
        assert [trait.column for trait in axis] == strongest
        assert [abs(trait.weight) for trait in axis] == pytest.approx([spread[name] for name in strongest])
