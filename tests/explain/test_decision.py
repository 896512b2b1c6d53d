"""One decision and everything said about it, against plain loops and hand-worked borders."""

import math

import numpy as np
import pandas as pd
import pytest
from models import after_inp, binned, fitted, held, ranking, small, squared, vars_of

from fairglvq import datasets
from fairglvq.datasets import Block, Dataset
from fairglvq.explain import PrototypeModel, decision
from fairglvq.explain.links import Column, find_links
from fairglvq.explain.people import Population, population
from fairglvq.explain.traits import differences

# ---- one person ----


def test_a_verdict_names_both_rivals_and_mu(case):
    people, model, _ = case
    for i in range(0, 60, 3):
        x, truth = people.X[i], people.y[i]
        order = ranking(x, model.prototypes)
        plus = next(p for p in order if model.labels[p] == truth)
        minus = next(p for p in order if model.labels[p] != truth)
        d_plus, d_minus = squared(x, model.prototypes[plus]), squared(x, model.prototypes[minus])
        verdict = decision.judge(model, x, truth)
        assert (verdict.plus, verdict.minus, verdict.nearest) == (plus, minus, order[0])
        assert verdict.label == model.labels[order[0]]
        assert verdict.mu == pytest.approx((d_plus - d_minus) / (d_plus + d_minus))
        assert (verdict.mu < 0) == (verdict.label == truth)
        assert decision.judge(model, x).mu <= 0


def test_shares_of_columns_add_up(case):
    people, model, _ = case
    for i in range(0, 60, 3):
        verdict = decision.judge(model, people.X[i], people.y[i])
        parts = decision.shares(people, model, people.X[i], verdict.plus, verdict.minus)
        assert parts.sum() == pytest.approx(verdict.d_plus - verdict.d_minus)
        for part, block in zip(parts, people.blocks, strict=True):
            columns = range(block.start, block.stop)
            w_plus, w_minus, x = model.prototypes[verdict.plus], model.prototypes[verdict.minus], people.X[i]
            assert part == pytest.approx(sum((x[j] - w_plus[j]) ** 2 - (x[j] - w_minus[j]) ** 2 for j in columns))


def test_a_model_in_its_own_space():
    people, model = fitted(small())
    rng = np.random.default_rng(5)
    matrix, shift = rng.normal(size=(6, 6)), rng.normal(size=6)
    inp = PrototypeModel(model.prototypes @ matrix.T + shift, model.labels, matrix=matrix, shift=shift)
    for X in (people.X[:5], people.X):  # few by NumPy, many by the kernels
        D = inp.distances(X)
        for i in (0, 3, len(X) - 1):
            z = matrix @ X[i] + shift
            assert D[i] == pytest.approx([squared(z, w) for w in inp.prototypes])
    assert decision.judge(inp, people.X[0]).label == inp.decide(people.X[:1])[0]


def test_shares_of_a_model_that_mixes_columns():
    people, inp, _ = after_inp(small(), 1)
    # One prototype stands aside from all people, as long training may leave it.
    aside = np.linalg.svd(inp.matrix.T)[2][-1]
    moved = inp.prototypes + np.outer(np.arange(6) == 2, 0.3 * aside)
    model = PrototypeModel(moved, inp.labels, None, inp.matrix, inp.shift)
    for i in (0, 7, 100):
        x = people.X[i]
        for plus, minus in ((0, 3), (2, 5), (4, 2)):
            z = inp.matrix @ x + inp.shift
            expected = squared(z, moved[plus]) - squared(z, moved[minus])
            parts = decision.shares(people, model, x, plus, minus)
            assert parts.sum() == pytest.approx(expected, abs=1e-9)
            for b, block in enumerate(people.blocks):  # another value in one column changes its own part alone
                other = x.copy()
                other[block.columns] = people.X[i + 1][block.columns]
                there = decision.shares(people, model, other, plus, minus)
                assert np.delete(there, b) == pytest.approx(np.delete(parts, b))


def test_shares_do_not_depend_on_whether_a_model_says_that_it_mixes_nothing(case):
    people, model, _ = case
    d = people.X.shape[1]
    same = PrototypeModel(model.prototypes, model.labels, None, np.eye(d), np.zeros(d))
    for i in (0, 5):
        expected = decision.shares(people, model, people.X[i], 0, len(model.labels) - 1)
        assert decision.shares(people, same, people.X[i], 0, len(model.labels) - 1) == pytest.approx(expected, abs=1e-9)


def test_values_and_back(case):
    people, _, _ = case
    for i in range(0, 60, 7):
        assert decision.person(people, decision.values_of(people, people.X[i])) == pytest.approx(people.X[i], abs=1e-9)


def test_typed_values_are_checked():
    people = population(small())
    values = {"years": 40.0, "amount": 2.0, "member": "no", "town": "Cc"}
    assert people.original(decision.person(people, values)) == pytest.approx([40, 2, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="'town' is missing"):
        decision.person(people, {"years": 40.0, "amount": 2.0, "member": "no"})
    with pytest.raises(ValueError, match="'Dd' is not a value of 'town'; there are Aa, Bb, Cc"):
        decision.person(people, values | {"town": "Dd"})
    with pytest.raises(ValueError, match="'years' must be a number"):
        decision.person(people, values | {"years": float("nan")})


# ---- changes ----


def tried(people, model, x, block):
    """The smallest flipping change of one column by trying: whole numbers one by one, others on a fine grid."""
    decided = model.labels[ranking(model.see(x), model.prototypes)[0]]
    raw = people.original(x)
    if block.kind == "number":
        low, high = people.lowest[block.start], people.highest[block.start]
        grid = np.arange(round(low), round(high) + 1) if people.whole[block.column] else np.linspace(low, high, 1001)
        trials = [(value, block.start, value) for value in grid.tolist()]
    elif block.kind == "binary":
        trials = [(name, block.start, float(k)) for k, name in enumerate(block.categories)]
    else:
        trials = [(name, block.columns, np.eye(len(block.categories))[k]) for k, name in enumerate(block.categories)]
    best = None
    for value, where, content in trials:
        other = raw.copy()
        other[where] = content
        z = people.scaled(other)
        label = model.labels[ranking(model.see(z), model.prototypes)[0]]
        step = math.sqrt(squared(z, x))
        if label != decided and (best is None or step < best[0]):
            best = step, value, label
    return best


@pytest.mark.parametrize("kind", ["own space", "the data's space"])
def test_the_smallest_change_is_the_one_that_trying_finds(kind):
    people, model = fitted(small(n_classes=3, seed=4), k=5)
    if kind == "own space":
        matrix = np.random.default_rng(6).normal(size=(6, 6))
        model = PrototypeModel(model.prototypes @ matrix.T, model.labels, matrix=matrix, shift=np.zeros(6))
    seen = 0
    for i in range(0, 60, 3):
        x = people.X[i]
        found = {change.column: change for change in decision.changes(people, model, x)}
        for block in people.blocks:
            expected = tried(people, model, x, block)
            if expected is None:
                # A fine grid may step over a narrow strip; whole numbers and categories may not.
                assert block.column not in found or block.column == "amount"
                continue
            change = found[block.column]
            if block.column == "amount":  # the border lies within one step of the grid, the value just behind it
                grid = (people.highest[1] - people.lowest[1]) / 1000
                border = abs(change.border - change.before)
                assert expected[0] * people.span[1] - grid <= border <= expected[0] * people.span[1] + 1e-9
                assert border < abs(change.after - change.before) <= border + 0.001
            else:
                assert change.step == pytest.approx(expected[0])
            seen += 1
    assert seen > 20


def test_a_number_and_its_bins_are_one_trait():
    people = population(binned(small()))
    assert people.columns == ["years", "amount", "member", "town"]
    x = people.X[3]
    assert list(decision.values_of(people, x)) == people.columns
    assert decision.person(people, decision.values_of(people, x)) == pytest.approx(x, abs=1e-9)
    years, bins = people.trait("years")
    for value in (18.0, bins.starts[0] - 1, bins.starts[0], bins.starts[-1], 69.0):
        z = people.original(decision.person(people, decision.values_of(people, x) | {"years": value}))
        assert z[years.start] == pytest.approx(value)
        assert z[bins.columns].round(9).tolist() == [
            float(b == np.sum(np.array(bins.starts) <= value)) for b in range(4)
        ]


def test_differences_and_shares_sum_over_a_number_and_its_bins():
    people, model = fitted(binned(small()))
    x = people.X[0]
    own = [j for b in people.blocks if "years" in (b.column, b.bins_of) for j in range(b.start, b.stop)]
    assert len(own) == 5
    W = model.prototypes
    parts = decision.shares(people, model, x, 0, 5)
    assert parts[0] == pytest.approx(((x - W[0]) ** 2 - (x - W[5]) ** 2)[own].sum())
    assert parts.sum() == pytest.approx(squared(x, W[0]) - squared(x, W[5]))
    found = {d.own.column: d for d in differences(people, W[0], people.mean)}
    assert set(found) == set(people.columns)
    assert found["years"].part == pytest.approx(((W[0] - people.mean) ** 2)[own].sum())
    assert found["years"].category == -1


@pytest.mark.parametrize("kind", ["Euclidean", "learned metric with handicaps"])
def test_the_smallest_change_of_a_number_in_bins_is_the_one_that_trying_finds(kind):
    people, model = fitted(binned(small(n_classes=3, seed=4)), k=3)
    if kind != "Euclidean":
        rng = np.random.default_rng(1)
        omega = rng.normal(size=(2, people.X.shape[1]))
        model = PrototypeModel(model.prototypes, model.labels, omega=omega, handicaps=rng.normal(size=9) / 5)
    seen = 0
    for i in range(0, 120, 3):
        x = people.X[i]
        values, decided = decision.values_of(people, x), model.decide(x[None])[0]
        found = {change.column: change for change in decision.changes(people, model, x)}
        for column, low, high, unit in (("years", 18.0, 69.0, 1.0), ("amount", *amounts(people), 0.01)):
            grid = np.arange(low, high, unit) if unit < 1 else np.arange(low, high + 1)
            Z = np.array([decision.person(people, values | {column: value}) for value in grid])
            ways = np.abs(grid - values[column])[model.decide(Z) != decided]
            if column in found:
                change = found[column]
                z = decision.person(people, values | {column: change.after})
                assert model.decide(z[None])[0] == change.label != decided
            if len(ways):
                assert abs(found[column].after - found[column].before) <= ways.min() + 1e-9
                seen += 1
            elif unit == 1:
                assert column not in found
    assert seen > 20


def amounts(people):
    j = people.trait("amount")[0].start
    return float(people.lowest[j]), float(people.highest[j])


def test_a_number_flips_the_decision_as_soon_as_it_enters_a_bin():
    """By hand: the model looks at one bin only, so the decision tips at its start, and back below it."""
    values = np.arange(0.0, 11)
    bins = Block("x in bins", 1, 4, "category", ("0 to 3", "4 to 6", "7 to 10"), "x", (4.0, 7.0))
    people = Population(
        X=np.column_stack([values, np.eye(3)[np.searchsorted([4, 7], values, side="right")]]),
        y=np.zeros(11, int), s=np.zeros(11, int), measured=np.ones(11, bool), low=np.zeros(4), span=np.ones(4),
        blocks=(Block("x", 0, 1, "number"), bins), classes=("a", "b"), groups=("g",), favourable=1,
    )  # fmt: skip
    W = np.array([[0.0, 0, 0, 0], [0, 0, 2, 0]])
    model = PrototypeModel(W, np.array([0, 1]), omega=np.array([[0.0, 0, 1, 0]]), handicaps=np.array([0.0, 1.0]))
    for before, after in ((1.0, 4.0), (3.0, 4.0), (9.0, 6.0), (4.0, 3.0), (6.0, 7.0)):
        x = decision.person(people, {"x": before})
        (change,) = decision.changes(people, model, x)
        assert (change.before, change.after) == (before, after)


def test_columns_that_determine_each_other_change_together():
    """Two columns tell the school, one by number; a third tells only whether it was a university."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 60)
    names = ("school", "college", "university")
    blocks = (
        Block("kind", 0, 3, "category", names),
        Block("level", 3, 4, "number"),
        Block("academic", 4, 5, "binary", ("no", "yes")),
        Block("other", 5, 6, "binary", ("no", "yes")),
    )
    X = np.column_stack([np.eye(3)[level], level / 2, level == 2, rng.integers(0, 2, 60)])
    people = Population(
        X=X, y=np.zeros(60, int), s=np.zeros(60, int), measured=np.ones(60, bool), low=np.zeros(6),
        span=np.array([1, 1, 1, 2.0, 1, 1]), blocks=blocks, classes=("a", "b"), groups=("g",), favourable=1,
    )  # fmt: skip
    assert people.links["level"] == {
        "kind": {0.0: "school", 1.0: "college", 2.0: "university"},
        "academic": {0.0: "no", 1.0: "no", 2.0: "yes"},
    }
    assert all("other" not in (leader, *followers) for leader, followers in people.links.items())
    # The model looks at "kind" alone: university against the rest.
    model = PrototypeModel(np.array([[0.0] * 6, [0.0, 0, 1, 0, 0, 0]]), np.array([0, 1]), omega=np.eye(6)[[2]])
    x = decision.person(people, {"kind": "school", "level": 0.0, "academic": "no", "other": "yes"})
    (change,) = decision.changes(people, model, x)
    assert (change.column, change.before, change.after, change.step) == ("level", 0.0, 2.0, 1.0)
    assert change.also == (("kind", "school", "university"), ("academic", "no", "yes"))
    assert decision.changes(people, model, x, ["academic"]) == []


def test_columns_with_hardly_anybody_per_value_determine_nothing():
    """In a table of six people every name has one age; that is no reason to change them together."""
    column = Column("name", False, list("abcdef"), np.arange(6))
    assert find_links([column, Column("age", True, [1.0, 2.0], np.array([0, 0, 0, 1, 1, 1]))]) == {}


def test_links_against_a_plain_search():
    rng = np.random.default_rng(3)
    base = rng.integers(0, 6, (3, 6000))
    rare = np.where(np.arange(6000) == 5500, 1, base[0] // 3)  # one person late in the table breaks the rule
    drawn = [*base, base[0] // 2, 5 - base[1], (base[2] == 4).astype(int), rare]
    columns = []
    for number, values in enumerate(drawn):
        present, codes = np.unique(values, return_inverse=True)
        columns.append(Column(f"c{number}", number == 4, [float(value) for value in present], codes))
    found = {(leader, follower) for leader, followers in find_links(columns).items() for follower in followers}
    expected = set()
    for a in columns:
        for b in columns:
            tells = len(set(zip(a.codes.tolist(), b.codes.tolist(), strict=True))) == len(a.values)
            back = len(set(zip(a.codes.tolist(), b.codes.tolist(), strict=True))) == len(b.values)
            first = (not a.number, a.name) < (not b.number, b.name)
            if a is not b and tells and (not back or first):
                expected.add((a.name, b.name))
    assert found == expected == {("c0", "c3"), ("c4", "c1"), ("c2", "c5")}


def test_adults_education_is_one_trait_in_two_columns():
    people = population(datasets.load("adult"))
    assert list(people.links) == ["education-num"]
    assert people.links["education-num"]["education"][13.0] == "Bachelors"


def test_every_change_really_flips_the_decision(case):
    people, model, _ = case
    count = 0
    for i in range(0, len(people.y), 9):
        x = people.X[i]
        values, decided = decision.values_of(people, x), decision.judge(model, x).label
        found = decision.changes(people, model, x)
        assert [change.step for change in found] == sorted(change.step for change in found)
        for change in found:
            assert values[change.column] == change.before != change.after
            z = decision.person(
                people, values | {change.column: change.after} | {name: after for name, _, after in change.also}
            )
            assert decision.judge(model, z).label == change.label != decided
            block = people.trait(change.column)[0]
            if block.kind == "number":
                assert people.lowest[block.start] - 1e-9 <= change.after <= people.highest[block.start] + 1e-9
                if people.whole[change.column]:
                    assert change.after == int(change.after)
            count += 1
    assert count > 5


def line(prototypes, labels, top=10.0, whole=False):
    """One column from 0 to ``top``, and prototypes on it."""
    values = np.arange(0.0, top + 1) if whole else np.append(np.linspace(0, top, 7), 0.1234)
    people = Population(
        X=values[:, None] / top, y=np.zeros(len(values), int), s=np.zeros(len(values), int),
        measured=np.ones(len(values), bool), low=np.zeros(1), span=np.array([top]),
        blocks=(Block("x", 0, 1, "number"),), classes=("a", "b"), groups=("g",), favourable=1,
    )  # fmt: skip
    return people, PrototypeModel(np.array(prototypes)[:, None] / top, np.array(labels))


def test_a_border_worked_out_by_hand():
    people, model = line([2.0, 7.0], [0, 1])
    (change,) = decision.changes(people, model, np.array([0.3]))
    assert change.border == pytest.approx(4.5)
    assert 4.5 < change.after <= 4.51
    people, model = line([2.0, 7.0], [0, 1], whole=True)
    (change,) = decision.changes(people, model, np.array([0.3]))
    assert (change.before, change.after, change.label) == (3.0, 5.0, 1)
    assert change.step == pytest.approx(0.2)


def test_a_strip_too_narrow_for_a_whole_number_is_passed_over():
    # The cell of 3.5 reaches from 3.25 to 3.75 and holds no whole number; the next other cell begins at 7.5.
    people, model = line([3.0, 3.5, 4.0, 11.0], [0, 1, 0, 1], whole=True)
    (change,) = decision.changes(people, model, np.array([0.3]))
    assert change.after == 8.0
    people, model = line([3.0, 3.5, 4.0, 11.0], [0, 1, 0, 1])
    (change,) = decision.changes(people, model, np.array([0.3]))
    assert 3.25 < change.after < 3.75


def test_a_change_beyond_the_data_does_not_count():
    people, model = line([2.0, 19.0], [0, 1])
    assert decision.changes(people, model, np.array([0.3])) == []


def test_immutable_columns_are_left_alone():
    people, model = fitted(small(), k=5)
    everything = {change.column for i in range(60) for change in decision.changes(people, model, people.X[i])}
    assert "years" in everything
    kept = {change.column for i in range(60) for change in decision.changes(people, model, people.X[i], {"years"})}
    assert kept == everything - {"years"}


def named(*columns, group="group"):
    blocks = tuple(Block(column, j, j + 1, "number") for j, column in enumerate(columns))
    empty = np.zeros((2, len(columns)))
    return Population(
        X=empty, y=np.zeros(2, int), s=np.zeros(2, int), measured=np.ones(2, bool), low=empty[0], span=empty[0] + 1,
        blocks=blocks, classes=("a", "b"), groups=("g",), favourable=1, group_column=group,
    )  # fmt: skip


def test_what_nobody_can_change_is_guessed_by_name():
    people = named("Age", "wage", "NativeCountry", "place of birth", "hours", "caste_code", "usage", "zip", group="zip")
    assert decision.immutable_columns(people) == ("Age", "NativeCountry", "place of birth", "caste_code", "zip")
    german = population(datasets.load("german"))
    assert decision.immutable_columns(german) == ("age", "foreign_worker", "personal_status")


# ---- the flip test ----


def test_the_flip_test_changes_nothing_but_the_protected_value():
    data = datasets.load("german")
    people = population(data)
    assert decision.protected_block(people).column == "age"
    i = int(np.flatnonzero(people.s == 0)[0])
    (flip,) = decision.flips(people, people.X[i], 0)
    assert flip.group == 1
    assert flip.before == data.X[i, 4] < 25
    assert flip.after == np.median(data.X[data.s == 1, 4])
    raw = data.X[i].copy()
    raw[4] = flip.after
    assert people.original(flip.x) == pytest.approx(raw)


def test_the_flip_test_takes_the_commonest_category_of_the_other_group():
    data = small()
    town = data.X[:, 3:].argmax(axis=1)
    by_town = Dataset(**{**vars_of(data), "s": (town == 0).astype(int), "group_column": "town"})
    people = population(by_town)
    i = int(np.flatnonzero(town == 0)[0])
    (flip,) = decision.flips(people, people.X[i], 1)
    commonest = "Bb" if np.sum(town == 1) > np.sum(town == 2) else "Cc"
    assert (flip.before, flip.after) == ("Aa", commonest)
    assert decision.values_of(people, flip.x) == decision.values_of(people, people.X[i]) | {"town": commonest}


def test_the_flip_test_of_everybody_counts_single_flips():
    data = datasets.load("german")
    people, model = fitted(data, C=0.0, held_out=held(1000))
    changed, n = decision.flip_counts(people, model)
    for g in (0, 1):
        own = [i for i in range(1000) if people.measured[i] and people.s[i] == g]
        assert n[g] == len(own)
        assert changed[g] == sum(
            decision.judge(model, decision.flips(people, people.X[i], g)[0].x).label
            != decision.judge(model, people.X[i]).label
            for i in own
        )
    assert sum(changed) > 0
    assert decision.flip_counts(population(datasets.load("xor")), model) is None


def test_adult_is_flipped_by_sex():
    people = population(datasets.load("adult"))
    i = int(np.flatnonzero(people.s == 1)[0])
    (flip,) = decision.flips(people, people.X[i], 1)
    assert (flip.column, flip.before, flip.after) == ("sex", "male", "female")
    assert set(decision.immutable_columns(people)) == {"age", "race", "sex", "native-country"}


def test_a_feature_that_is_the_group_under_another_name_is_found():
    data = small()
    member = data.X[:, 2].astype(int)
    by_member = Dataset(**{**vars_of(data), "s": member})  # the column is called "group", the feature "member"
    people = population(by_member)
    assert decision.protected_block(people).column == "member"
    assert decision.immutable_columns(people) == ("member",)
    (flip,) = decision.flips(people, people.X[0], int(member[0]))
    assert {flip.before, flip.after} == {"no", "yes"}
    loose = Dataset(**{**vars_of(data), "s": np.where(np.arange(240) == 0, 1 - member, member)})
    assert decision.protected_block(population(loose)) is None  # one person does not fit
    town = data.X[:, 3:].argmax(axis=1)
    by_town = Dataset(**{**vars_of(data), "s": (town == 0).astype(int)})
    assert decision.protected_block(population(by_town)) is None  # three categories, two groups, no name


def test_a_group_that_is_no_feature_cannot_be_flipped():
    data = datasets.load("xor")
    people = population(data)
    assert decision.protected_block(people) is None
    assert decision.flips(people, people.X[0], 0) == []


# ---- finding people ----

FRAME = pd.DataFrame(
    {
        "age": [25, 61, 70, 61],
        "job": ["Tech-support", "Sales", None, "tech lead"],
        "sex": ["female", "male", "female", "female"],
    }
)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("", [0, 1, 2, 3]),
        ("tech", [0, 3]),
        ("SUPPORT", [0]),
        ("male", [1]),  # the beginning of a word, so that men can be found among women
        ("61", [1, 3]),
        ("age > 60, female", [2, 3]),
        ("Age<=25", [0]),
        ("age = 70", [2]),
        ("salary > 3", []),
        ("(", []),
    ],
)
def test_people_are_found(query, rows):
    assert decision.find(FRAME, query).tolist() == rows
