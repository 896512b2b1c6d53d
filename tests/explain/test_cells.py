"""Every number a card or a person's page shows, against a direct computation with plain loops."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from models import after_inp, fitted, held, ranking, small, squared, vars_of

from fairglvq import GLVQ, datasets, explain
from fairglvq.datasets import Block, Dataset
from fairglvq.explain import PrototypeModel
from fairglvq.explain.people import Population, population
from fairglvq.explain.traits import differences, traits
from fairglvq.fairness import metrics

GAPS = ("statistical_parity", "equal_opportunity")


# ---- the population ----


def test_a_population_is_scaled_on_the_training_part():
    data = small()
    people = population(data, held(240))
    learned = people.X[~people.measured]
    assert learned.min(axis=0) == pytest.approx(np.zeros(6))
    assert learned.max(axis=0) == pytest.approx(np.ones(6))
    assert people.original(people.X) == pytest.approx(data.X)
    assert people.scaled(data.X) == pytest.approx(people.X)
    assert people.whole == {"years": True, "amount": False}
    assert population(replace(data, X=data.X * 2.0**60)).whole == {"years": False, "amount": False}
    assert people.lowest == pytest.approx(data.X.min(axis=0))
    assert people.highest == pytest.approx(data.X.max(axis=0))
    assert people.mean == pytest.approx(people.X.mean(axis=0))


def test_labels_of_any_kind_become_positions():
    data = small()
    words = np.array(["lost", "won"])[data.y]
    renamed = Dataset(
        **{**vars_of(data), "y": words, "class_names": {"won": "Won", "lost": "Lost"}, "favourable": "won"}
    )
    people = population(renamed)
    assert people.classes == ("Won", "Lost")
    assert people.favourable == 0
    assert people.y.tolist() == [0 if word == "won" else 1 for word in words]


# ---- profiles ----


def test_a_prototype_is_read_in_original_units():
    people = population(small())
    z = people.scaled(np.array([44.25, 2.5, 0.3, -0.1, 0.6, 0.3]))
    years, amount, member, town = traits(people, z)
    assert (years.value, years.words()) == (pytest.approx(44.25), "44.2")
    assert amount.words() == "2.5"
    assert member.shares == pytest.approx((0.7, 0.3))
    assert member.words(1) == "yes 30%"
    # -0.1 is clipped to 0, and 0.6 and 0.3 are two thirds and one third of what is left
    assert town.shares == pytest.approx((0.0, 2 / 3, 1 / 3))
    assert town.words() == "Bb 67%"
    assert not years.outside
    assert not member.outside
    assert not town.outside
    assert years.place == pytest.approx((44.25 - people.lowest[0]) / (people.highest[0] - people.lowest[0]))


def test_prototypes_beyond_the_data_and_without_any_category():
    people = population(small())
    years, _, member, town = traits(people, people.scaled(np.array([-3.0, 2.5, 1.4, -0.1, -0.2, 0.0])))
    assert years.outside
    assert years.words() == "\N{MINUS SIGN}3.0"
    assert member.shares == (0.0, 1.0)
    assert member.outside
    assert town.outside
    assert town.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_differences_add_up_to_the_squared_distance(case):
    people, model, explained = case
    for p in range(3):
        rival = explained.rival(p)
        others = [q for q in ranking(model.prototypes[p], model.prototypes) if model.labels[q] != model.labels[p]]
        assert rival == others[0]
        found = differences(people, model.prototypes[p], model.prototypes[rival])
        assert sum(d.part for d in found) == pytest.approx(squared(model.prototypes[p], model.prototypes[rival]))
        assert [d.gap for d in found] == sorted((d.gap for d in found), reverse=True)
        for d in found:
            block = people.trait(d.own.column)[0]
            if block.kind == "number":
                wide = people.highest[block.start] - people.lowest[block.start]
                assert d.gap == pytest.approx(abs(d.own.value - d.other.value) / wide)
            else:
                assert d.gap == pytest.approx(
                    max(abs(a - b) for a, b in zip(d.own.shares, d.other.shares, strict=True))
                )
        assert {d.own.column for d in found} == {block.column for block in people.blocks}


def test_a_difference_names_the_category_that_differs_most():
    people = population(small())
    own, other = np.array([30.0, 1.0, 1.0, 0.8, 0.2, 0.0]), np.array([30.0, 1.0, 1.0, 0.1, 0.3, 0.6])
    first = differences(people, people.scaled(own), people.scaled(other))[0]
    assert first.words("average") == "town: Aa 80% (average 10%)"
    own[0] = 60.0
    words = [d.words("average") for d in differences(people, people.scaled(own), people.scaled(other))]
    assert "years 60.0 (average 30.0)" in words


# ---- cells ----


def test_everybody_is_with_the_nearest_and_the_next_one(case):
    people, model, explained = case
    for i in range(0, len(people.y), 7):
        first, second = ranking(people.X[i], model.prototypes)[:2]
        assert (explained.nearest[i], explained.runner_up[i]) == (first, second)
        assert explained.distance[i] == pytest.approx(squared(people.X[i], model.prototypes[first]))


def test_the_score_is_that_of_the_metrics(case):
    people, _, explained = case
    m = people.measured
    y, s, decided = people.y[m], people.s[m], explained.decisions[m]
    assert explained.score.n == m.sum()
    assert explained.score.accuracy == pytest.approx(np.mean(y == decided))
    assert explained.score.statistical_parity == pytest.approx(
        metrics.statistical_parity_difference(decided, sensitive_features=s, favourable=people.favourable)
    )
    assert explained.score.equal_opportunity == pytest.approx(
        metrics.equal_opportunity_difference(y, decided, sensitive_features=s, favourable=people.favourable)
    )


def test_a_card_counts_its_people(case):
    people, model, explained = case
    measured = np.flatnonzero(people.measured)
    for p in range(len(model.labels)):
        members = [i for i in measured if explained.nearest[i] == p]
        *groups, everybody = explained.cell(p)
        assert everybody.n == explained.sizes[p] == len(members)
        assert [row.group for row in groups] == list(range(len(people.groups)))
        assert explained.classes_in(p).tolist() == [
            sum(people.y[i] == c for i in members) for c in range(len(people.classes))
        ]
        for row in [*groups, everybody]:
            own = [i for i in members if row.group in (-1, people.s[i])]
            whole = [i for i in measured if row.group in (-1, people.s[i])]
            assert row.n == len(own)
            assert row.small == (len(own) < 30)
            assert row.share_of_group == pytest.approx(len(own) / len(whole))
            if members:
                assert row.share_of_cell == pytest.approx(len(own) / len(members))
            if own:
                assert row.accuracy == pytest.approx(sum(people.y[i] == model.labels[p] for i in own) / len(own))
                assert row.favourable == pytest.approx(sum(people.y[i] == people.favourable for i in own) / len(own))
            else:
                assert math.isnan(row.accuracy)
                assert math.isnan(row.favourable)


def test_impurity_is_the_chance_that_two_draws_differ(case):
    people, model, explained = case
    for p in range(len(model.labels)):
        members = people.y[people.measured & (explained.nearest == p)]
        if len(members) == 0:
            assert math.isnan(explained.impurity[p])
        else:
            differ = np.mean([a != b for a in members for b in members])
            assert explained.impurity[p] == pytest.approx(differ)


@pytest.mark.parametrize("measure", GAPS)
def test_contributions_add_up_to_the_gap(case, measure):
    people, model, explained = case
    parts = explained.contributions(measure)
    assert parts.values.sum() == pytest.approx(getattr(explained.score, measure))
    assert parts.gap == pytest.approx(getattr(explained.score, measure))
    counted = people.measured & ((people.y == people.favourable) | (measure == "statistical_parity"))
    ahead, behind = ([i for i in np.flatnonzero(counted) if people.s[i] == g] for g in (parts.ahead, parts.behind))
    for p, label in enumerate(model.labels):
        expected = 0.0
        if label == people.favourable:
            expected += sum(explained.nearest[i] == p for i in ahead) / len(ahead)
            expected -= sum(explained.nearest[i] == p for i in behind) / len(behind)
        assert parts.values[p] == pytest.approx(expected)


def test_the_gap_taken_apart_reads_like_the_score():
    """12 of 320 points: 3.75, where a sum with a rounding error reads as 3.8 and the score as 3.7."""
    for seed in range(40):
        people, model = fitted(small(seed=seed), k=3)
        explained = explain.explain(people, model)
        for measure in GAPS:
            assert explained.contributions(measure).gap == getattr(explained.score, measure)


def test_rates_per_group_are_the_metrics(case):
    people, _, explained = case
    m = people.measured
    table = metrics.group_rates(
        people.y[m], explained.decisions[m], sensitive_features=people.s[m], favourable=people.favourable
    )
    selected, n = explained.rates("statistical_parity")
    right, n_favourable = explained.rates("equal_opportunity")
    assert selected[table.index] == pytest.approx(table["selection_rate"].to_numpy())
    assert right[table.index] == pytest.approx(table["true_positive_rate"].to_numpy())
    assert n[table.index].tolist() == table["n"].tolist()
    assert n_favourable[table.index].tolist() == table["n_favourable"].tolist()


def test_one_group_alone_has_no_gap_to_take_apart():
    people, model = fitted(small())
    alone = Population(**{**vars_of(people), "s": np.zeros_like(people.s)})
    parts = explain.explain(alone, model).contributions()
    assert math.isnan(parts.gap)
    assert np.isnan(parts.values).all()


def test_equal_rates_are_still_taken_apart_between_two_groups():
    """Two cells that cancel: the gap is 0, and each cell's part is not."""
    people = Population(
        X=np.array([[0.0], [0.0], [1.0], [1.0], [0.5], [0.5]]), y=np.array([1, 1, 1, 1, 0, 0]),
        s=np.array([0, 0, 1, 1, 0, 1]), measured=np.ones(6, bool), low=np.zeros(1), span=np.ones(1),
        blocks=(Block("x", 0, 1, "number"),), classes=("no", "yes"), groups=("a", "b"), favourable=1,
    )  # fmt: skip
    model = PrototypeModel(np.array([[0.5], [0.0], [1.0]]), np.array([0, 1, 1]))
    parts = explain.explain(people, model).contributions()
    assert parts.gap == pytest.approx(0.0)
    assert sorted(parts.values.tolist()) == pytest.approx([-2 / 3, 0.0, 2 / 3])


def test_removing_a_prototype_is_the_model_without_it(case):
    people, model, explained = case
    for p in range(len(model.labels)):
        left = np.delete(np.arange(len(model.labels)), p)
        rest = explain.explain(people, PrototypeModel(model.prototypes[left], model.labels[left]))
        removal = explained.without(p)
        assert removal.before == explained.score
        assert removal.after == pytest.approx(rest.score, nan_ok=True)
        measured = np.flatnonzero(people.measured)
        moved = [i for i in measured if rest.decisions[i] != explained.decisions[i]]
        assert removal.changed == len(moved)
        for g in range(len(people.groups)):
            own = [i for i in moved if people.s[i] == g]
            assert removal.gained[g] == sum(rest.decisions[i] == people.favourable for i in own)
            assert removal.lost[g] == sum(explained.decisions[i] == people.favourable for i in own)


def test_the_closest_people_are_of_the_cell(case):
    people, model, explained = case
    for p in range(len(model.labels)):
        members = [i for i in range(len(people.y)) if explained.nearest[i] == p]
        nearest = sorted(members, key=lambda i: squared(people.X[i], model.prototypes[p]))[:3]
        found = explained.closest_people(p)
        assert [squared(people.X[i], model.prototypes[p]) for i in found] == pytest.approx(
            [squared(people.X[i], model.prototypes[p]) for i in nearest]
        )


def test_orders(case):
    _, model, explained = case
    sizes = explained.sizes[explained.order("size")]
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)
    parts = np.abs(explained.contributions().values)[explained.order("contribution")]
    assert parts.tolist() == sorted(parts.tolist(), reverse=True)
    impurity = explained.impurity[explained.order("impurity")]
    known = impurity[~np.isnan(impurity)]
    assert known.tolist() == sorted(known.tolist(), reverse=True)
    assert np.isnan(impurity[len(known) :]).all()
    assert sorted(explained.order("size")) == list(range(len(model.labels)))


def test_a_single_prototype_is_refused():
    people = population(small())
    with pytest.raises(ValueError, match="two prototypes"):
        explain.explain(people, PrototypeModel(np.zeros((1, 6)), np.array([0])))


# ---- profiles of models that do not see everything ----


@pytest.mark.parametrize(("name", "projections", "removed"), [("xor", 1, 1), ("german", 1, 1), ("german", 10, 10)])
def test_a_profile_looks_like_its_prototype_and_is_average_where_the_model_is_blind(name, projections, removed):
    data = datasets.load(name)
    people, model, directions = after_inp(data, projections, held(len(data.y)))
    explained = explain.explain(people, model)
    assert model.blind == len(directions) == removed
    profiles, mean = explained.profiles, people.X.mean(axis=0)
    for profile, w in zip(profiles, model.prototypes, strict=True):
        assert model.matrix @ profile + model.shift == pytest.approx(w, abs=1e-9)
        for direction in directions:  # along what was removed: where the average person is
            assert direction @ profile == pytest.approx(direction @ mean, abs=1e-9)
            assert model.matrix @ direction == pytest.approx(np.zeros(len(w)), abs=1e-9)
    assert explained.aside == pytest.approx(np.zeros(6), abs=1e-9)
    assert np.abs(profiles - mean).max() > 0.1
    told = explain.filled_in(explained)
    assert f"INP took out {removed} of {len(mean)} directions" in told
    assert "filled in with the average person" in told
    assert "one place" not in told


@pytest.mark.filterwarnings("ignore:Fewer distinct points")
@pytest.mark.parametrize(("name", "projections", "removed"), [("xor", 2, 2), ("german", 50, 49)])
def test_with_everything_removed_every_prototype_is_the_average_person(name, projections, removed):
    people, model, _ = after_inp(datasets.load(name), projections)
    explained = explain.explain(people, model)
    assert model.blind == removed
    assert explained.profiles == pytest.approx(np.tile(people.mean, (6, 1)), abs=1e-9)
    assert "all prototypes stand at one place, and look like the average person" in explain.filled_in(explained)


def test_a_prototype_beside_all_people_worked_out_by_hand():
    """The model sees twice the first column only; 0.4 of the first prototype is where it sees nobody."""
    people = population(small())
    people = Population(
        X=np.array([[0.2, 0.0], [0.8, 0.5], [0.5, 0.1]]), y=np.array([0, 1, 1]), s=np.array([0, 1, 0]),
        measured=np.ones(3, bool), low=np.zeros(2), span=np.ones(2), blocks=people.blocks[:2], classes=("a", "b"),
        groups=("g", "h"), favourable=1,
    )  # fmt: skip
    matrix, shift = np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0.1, 0.5])
    model = PrototypeModel(np.array([[0.7, 0.9], [1.7, 0.5]]), np.array([0, 1]), None, matrix, shift)
    explained = explain.explain(people, model)
    assert explained.profiles == pytest.approx(np.array([[0.3, 0.2], [0.8, 0.2]]))
    assert explained.aside == pytest.approx([0.4, 0.0])
    assert model.blind == 1


def test_a_model_that_sees_everything_is_its_own_profile(case):
    _, model, explained = case
    assert explained.profiles is model.prototypes
    assert model.blind == 0
    assert explain.filled_in(explained) == ""
    assert explained.aside.tolist() == [0.0] * len(model.labels)


# ---- two models ----


def test_matched_prototypes_have_the_smallest_sum_of_squares():
    people = population(small())
    plain = GLVQ(4, learning_rate=0.03, max_epochs=10, random_state=0).fit(people.X, people.y)
    _, fair = fitted(small(), C=2.0)
    before = PrototypeModel(plain.prototypes_, plain.prototype_labels_)
    pairs = explain.match(explain.explain(people, before), explain.explain(people, fair))
    assert [pair.distance for pair in pairs] == sorted((pair.distance for pair in pairs), reverse=True)
    for label in (0, 1):
        ours, theirs = np.flatnonzero(before.labels == label), np.flatnonzero(fair.labels == label)
        best = min(
            sum(squared(before.prototypes[i], fair.prototypes[j]) for i, j in zip(ours, way, strict=True))
            for way in permutations(theirs)
        )
        own = [pair for pair in pairs if before.labels[pair.before] == label]
        assert sum(pair.distance**2 for pair in own) == pytest.approx(best)
        assert all(fair.labels[pair.after] == label for pair in own)


def test_prototypes_in_another_space_are_matched_by_their_profiles():
    people, inp, _ = after_inp(small(), 1, k=4)
    _, plain = fitted(small(), C=0.0)
    before, after = explain.explain(people, plain), explain.explain(people, inp)
    pairs = explain.match(before, after)
    assert sorted(pair.after for pair in pairs) == list(range(8))
    for pair in pairs:
        way = squared(before.profiles[pair.before], after.profiles[pair.after])
        assert pair.distance**2 == pytest.approx(way)


def test_people_whose_decision_changed():
    people, fair = fitted(small(), C=3.0, held_out=held(240))
    _, plain = fitted(small(), C=0.0, held_out=held(240))
    before, after = explain.explain(people, plain), explain.explain(people, fair)
    expected = [i for i in range(240) if people.measured[i] and before.decisions[i] != after.decisions[i]]
    assert explain.changed_people(before, after).tolist() == expected
    assert expected
