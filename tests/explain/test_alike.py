"""Like people decided alike: distances and neighbours by plain loops, for prototypes and for leaves."""

from dataclasses import replace

import numpy as np
import pytest
from models import binned, fitted, held, small

from fairglvq import FairTree, datasets, explain
from fairglvq.explain import alike, decision
from fairglvq.explain.leaves import TreeModel, explain_tree
from fairglvq.explain.people import PeopleInCells, population


def distance(data, i, j, skip=()):
    """Each original column counts: a number by its part of the range of those trained on, another category 1."""
    total = 0.0
    learn = ~held(len(data.y))
    for block in data.blocks:
        a, b = data.X[i, block.columns], data.X[j, block.columns]
        if block.column in skip or block.bins_of:
            continue
        if block.kind == "number":
            values = data.X[learn, block.start]
            total += ((a[0] - b[0]) / (values.max() - values.min())) ** 2
        else:
            total += float(not np.array_equal(a, b))
    return np.sqrt(total)


def leaves(data, people, C=0.5):
    learn = ~people.measured
    tree = FairTree(6, C=C).fit(people.X[learn], people.y[learn], sensitive_features=people.s[learn])
    return TreeModel(tree.tree_, tree.leaf_labels_, tree.pseudo_classes_, tree.rules(data))


@pytest.fixture(scope="module", params=["prototypes", "leaves", "bins"])
def case(request):
    data = binned(small()) if request.param == "bins" else small()
    people, model = fitted(data, held_out=held(len(data.y)))
    explained = (
        explain_tree(people, leaves(data, people)) if request.param == "leaves" else explain.explain(people, model)
    )
    return data, explained, alike.compare(explained)


def test_everybody_is_compared_with_the_people_most_like_them(case):
    data, explained, found = case
    measured = np.flatnonzero(explained.people.measured)
    np.testing.assert_array_equal(found.near.compared, measured)
    decided, wanted = explained.decisions, explained.decisions == explained.favourable
    violated, agree = [], []
    usual = np.median(found.near.others.distances)
    assert usual == found.near.usual
    for at, i in enumerate(measured):
        away = sorted((distance(data, i, j), j) for j in measured if j != i)[: alike.NEAREST]
        np.testing.assert_allclose(found.near.others.distances[at], [d for d, _ in away], atol=2e-6)
        assert set(found.neighbours(i)) == {j for _, j in away}
        agree.append(np.mean([decided[j] == decided[i] for _, j in away]))
        violated.append(np.mean([wanted[j] != wanted[i] and d < usual - 1e-6 for d, j in away]))
    np.testing.assert_allclose(found.agreement, agree)
    assert found.consistency == pytest.approx(np.mean(agree))
    assert found.violations == pytest.approx(np.mean(violated))
    assert 0 < found.violations < 1
    assert set(found.unlike) == {i for i, share in zip(measured, agree, strict=True) if share < 0.5}
    for p in range(len(explained.answers)):
        own = explained.nearest[measured] == p
        assert found.cells.n[p] == explained.sizes[p] == own.sum()
        if own.any():
            assert found.cells.consistency[p] == pytest.approx(np.mean(np.array(agree)[own]))
            assert found.cells.violations[p] == pytest.approx(np.mean(np.array(violated)[own]))


def test_usual_people_may_be_decided_differently_but_not_twins():
    """Exactly as far apart as usual is no violation, whatever rounding makes of it; twins decided differently are."""
    people = population(small(n=40))
    X = np.repeat(people.X[:1], 2, axis=0)
    X[1, 3:6] = np.roll(X[0, 3:6], 1)  # another town
    for rows, violated in ((X, 0.0), (X[[0, 0]], 1.0)):
        pair = replace(people, X=rows, y=people.y[:2], s=people.s[:2], measured=np.ones(2, bool))
        near = alike.nearest_people(pair)
        decided = PeopleInCells(np.zeros((2, 2, 2), int), np.array([0, 1]), 1, pair, np.array([0, 1]), np.array([1, 0]))
        assert alike.compare(decided, near).violations == violated
        np.testing.assert_array_equal(near.others.distances, [[1.0 - violated]] * 2)


def test_columns_that_tell_the_group_do_not_count():
    for name, column in (("german", "age"), ("adult", "sex")):
        data = datasets.load(name)
        people = population(data)
        assert column in alike.left_out(people)
        kept = alike.comparable(people, np.arange(3)).shape[1]
        assert kept == data.X.shape[1] - sum(
            b.stop - b.start for b in data.blocks if b.column in alike.left_out(people)
        )
    assert alike.left_out(population(small())) == []


def test_of_many_some_are_drawn(monkeypatch):
    data = small()
    people, model = fitted(data, held_out=held(len(data.y)))
    monkeypatch.setattr(alike, "MOST", 30)
    found = alike.compare(explain.explain(people, model))
    assert found.n == len(set(found.near.compared)) == 30
    assert people.measured[found.near.compared].all()
    told = alike.how_compared(alike.summary(found, people))
    assert told.startswith("Each of 30 people, drawn from 60, is compared with the 5 most like them.")


def test_nobody_to_compare_with():
    data = small(n=40)
    one = np.arange(40) == 0
    assert alike.nearest_people(population(data, one)) is None


# ---- trees ----


@pytest.mark.parametrize("data", [small(), small(n_classes=3, seed=1), binned(small())], ids=["two", "three", "bins"])
def test_the_smallest_change_that_a_tree_needs_is_found_by_trying_all(data):
    """Every value of every column, numbers in small steps: none nearer than the one found gets another decision."""
    people = population(data, held(len(data.y)))
    model = leaves(data, people)
    flipped = 0
    for i in range(0, 60, 4):
        x, decided = people.X[i], model.decide(people.X[i : i + 1])[0]
        found = {change.column: change for change in decision.changes(people, model, x)}
        values = decision.values_of(people, x)
        for block, *_ in people.traits:
            options = np.linspace(people.lowest[block.start], people.highest[block.start], 301).tolist()
            trials = options if block.kind == "number" else block.categories
            rows = [decision.person(people, values | {block.column: value}) for value in trials]
            others = model.decide(np.array(rows)) != decided
            steps = np.linalg.norm(np.array(rows)[:, block.columns] - x[block.columns], axis=1)
            change = found.get(block.column)
            assert (change is not None) >= others.any()
            if change is not None:
                flipped += 1
                after = decision.person(people, values | {block.column: change.after})
                assert model.decide(after[None])[0] == change.label != decided
                assert change.step <= steps[others].min(initial=np.inf) + 0.02  # years are whole numbers: 1 in 51
    assert flipped > 10
