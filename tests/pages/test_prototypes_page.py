"""The prototypes page without a browser: every data set and section, numbers against direct ones, and nasty names."""

import json
import re
from dataclasses import replace

import apptest
import numpy as np
import pytest
from apptest import labelled
from browser import ROOT
from streamlit.testing.v1 import AppTest

from fairglvq import FairTree, explain, wording
from fairglvq.datasets import Block, Dataset
from fairglvq.explain import alike, decision, metric
from fairglvq.fairness import metrics
from fairglvq.fairness.cells import cells_of
from fairglvq.scenes import settings as state
from fairglvq.scenes import sources
from fairglvq.scenes.settings import Fold, Settings

STARTS = {"glvq": "**GLVQ** decides", "inp": "**INP + GLVQ**, blind along", "fairglvq": "**FairGLVQ** with C"}
NASTY = '<script>alert("x")</script> **bold** :red[r] $x$ [a](http://b.example)'


PLAIN = {"metric": "euclidean", "beside": "inp.fairglvq"}
"""People measured as in the paper, not in planes that models have learned."""


def visit(*, plain=True, **query):
    own = PLAIN if plain and query.get("data") == "german" else {}
    return checked(apptest.visit("prototypes", **own, **query))


def settle(at):
    return checked(apptest.settle(at))


def checked(at):
    assert not at.exception
    return at


def choose(at, label, option):
    """Press one of a row of names."""
    return checked(labelled(at.button_group, label).set_value(option).run())


def go(at, section):
    return choose(at, "Section", section)


def texts(at):
    return [element.value for element in at.main.markdown]


def text(at, start):
    """The one paragraph that starts like this."""
    (found,) = [value for value in texts(at) if value.startswith(start)]
    return found


def plain(words):
    """Markdown without its escapes and without what keeps addresses from becoming links."""
    return re.sub(r"\\(.)", r"\1", words).replace("\N{WORD JOINER}", "")


def headings(at):
    """The prototypes of the open card and of the short ones, by number."""
    bodies = [element.proto.body for element in at.get("html")]
    return [int(found[1]) for body in bodies if (found := re.search(r"Prototype (\d+) decides", body))]


def charts(at):
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def numbers(array):
    """A Plotly array, plain or packed."""
    if isinstance(array, dict):
        import base64

        return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).tolist()
    return array


def on_map(at):
    """The prototypes on the map, and where they are drawn (P, 2)."""
    marks = next(trace for trace in charts(at)[1]["data"] if trace["mode"] == "markers+text")
    return [entry[0] for entry in marks["customdata"]], np.column_stack([numbers(marks["x"]), numbers(marks["y"])])


def view(at):
    return at.session_state["visit"].model.explained[1]


# ---- the model ----


def test_the_first_view_is_trained_and_its_numbers_are_those_of_the_metrics():
    at = visit()
    shown = at.session_state["visit"].model.shown[1].scene
    points, W = shown.points, shown.trainings["fairglvq"].prototypes[-1]
    X, y, s = points.X[points.measured], points.y[points.measured], points.s[points.measured]
    decided = (((X[:, None] - W) ** 2).sum(axis=2).argmin(axis=1) >= len(W) // 2).astype(int)
    parity = metrics.statistical_parity_difference(decided, sensitive_features=s, favourable=1)
    chance = metrics.equal_opportunity_difference(y, decided, sensitive_features=s, favourable=1)
    words = text(at, "**FairGLVQ** with C = 1.5 decides with 8 prototypes. Measured on 640 held-out points")
    assert f"**{100 * np.mean(decided == y):.1f}%** of its decisions are right" in words
    assert f"statistical parity gap of **{100 * parity:.1f} points**" in words
    assert f"equal opportunity gap of **{100 * chance:.1f} points**" in words
    assert at.query_params == {}
    assert not at.warning


def test_the_waterfall_on_the_page_adds_up_to_the_number_above_it():
    at = visit(data="german", epochs="20")
    for measure, words in (("statistical_parity", "statistical parity"), ("equal_opportunity", "equal opportunity")):
        choose(at, "Gap", measure)
        bars = next(trace for trace in charts(at)[0]["data"] if trace["type"] == "bar")
        *parts, gap = numbers(bars["y"])
        assert sum(parts) == pytest.approx(gap)
        assert f"{words} gap of **{gap:.1f} points**" in text(at, "**FairGLVQ**")
        table = at.dataframe[0].value
        assert table["points of the gap"].iloc[:-1].sum() == pytest.approx(
            table["points of the gap"].iloc[-1], abs=0.05
        )


@pytest.mark.parametrize(
    "name",
    [
        "three_classes",
        "three_groups",
        "german",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("local", "xor")),
    ],
)
def test_every_section_of_every_data_set(name):
    at = visit(data=name, epochs="20")
    for section in ("cards", "pairs", "alike", "person"):
        go(at, section)
        for method, start in STARTS.items():
            choose(at, "Model", method)
            assert text(at, start)
    assert not any("nan" in re.findall(r"\w+", words) for words in texts(at))


@pytest.mark.long
def test_every_section_of_models_in_their_own_planes():
    at = visit(plain=False, data="german", k="2", bins="8")
    starts = {
        "paritylvq": "**ParityLVQ**, allowed a gap of 5 points, decides",
        "fairglvq": "**FairGLVQ** with C",
        "glvq": "**GLVQ** decides",
    }
    for section in ("cards", "pairs", "alike", "person"):
        go(at, section)
        for method, start in starts.items():
            choose(at, "Model", method)
            assert "in a plane that it has learned" in text(at, start)
            assert not any("in bins" in words for words in texts(at))
    shown = at.session_state["visit"].model.shown[1].scene
    for method in starts:
        decided = np.array(shown.meta["panels"][0]["labels"])[shown.arrays[f"{method}.nearest"]]
        np.testing.assert_array_equal(view(at).explained(method).decisions[shown.shown], decided)


def test_settings_come_along_from_the_playground_and_stay_in_the_link():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["data"] = "local"
    at.query_params["k"] = "3"
    settle(at.run())
    at.switch_page("pages/prototypes.py")
    settle(at.run())
    assert at.session_state["visit"].model.settings == Settings(dataset="local", C=1.0, prototypes=3)
    assert "decides with 6 prototypes" in text(at, "**FairGLVQ**")
    labelled(at.slider, "Prototypes per class").set_value(2).run()
    settle(at)
    assert "decides with 4 prototypes" in text(at, "**FairGLVQ**")
    assert dict(at.query_params) == {"data": "local", "k": "2"}


@pytest.mark.parametrize("method", ["glvq", "inp"])
def test_the_method_that_a_curve_was_opened_with_is_shown(method):
    at = visit(method=method)
    assert text(at, STARTS[method])
    choose(at, "Model", "fairglvq")
    assert text(at, "**FairGLVQ** with C")
    assert "method" not in at.query_params


def test_a_model_of_one_fold_says_so():
    at = visit(data="german", epochs="20")
    at.session_state["visit"].model.settings = replace(at.session_state["visit"].model.settings, fold=Fold(5, 1, 3))
    settle(at.run())
    assert "(fold 2 of 5 of a trade-off curve, seed 3)" in text(at, "**FairGLVQ**")


def test_a_bad_link_is_repaired_and_said():
    at = visit(C="999")
    assert "not possible" in text(at, "**The link was repaired.**")
    labelled(at.button, "Dismiss").click().run()
    assert not any("link was repaired" in words for words in texts(at))


def test_what_cannot_be_trained_is_explained_and_undone():
    from fairglvq.scenes.points import load_points

    rows = (load_points(Settings()).y == 1).nonzero()[0].tolist()
    at = visit()
    at.session_state["visit"].model.history = [at.session_state["visit"].model.settings]
    at.session_state["visit"].model.settings = Settings(erased=tuple(rows))
    settle(at.run())
    assert text(at, "Only one class is left")
    at.button(key="undo_problem").click().run()
    assert not any("Only one class is left" in words for words in texts(settle(at)))


def test_compas_is_offered_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_CACHE", str(tmp_path))
    at = visit(data="compas")
    assert any("COMPAS is not on this computer yet" in words for words in texts(at))
    assert not at.get("plotly_chart")


# ---- cards ----


def test_cards_are_sorted_and_the_rest_comes_on_request():
    at = visit(data="german", epochs="20", k="6")
    for by in ("size", "impurity", "contribution"):
        choose(at, "Cards sorted by", by)
        explained = view(at).explained("fairglvq")
        expected = [p + 1 for p in explained.order(by) if explained.sizes[p]]
        opened, *short = headings(at)
        assert short == expected[:6]
    assert opened == expected[0]  # the card that adds most to the gap is open at first
    checked(labelled(at.toggle, "Show all").set_value(True).run())
    assert headings(at)[1:] == expected
    idle = [p + 1 for p in explained.order(by) if not explained.sizes[p]]
    assert len(expected) + len(idle) == 12
    fold = [one.label.split()[0] for one in at.expander if "for nobody who was measured" in one.label]
    assert fold == [str(len(idle))] * bool(idle)


def test_a_sentence_says_what_hangs_on_the_protected_attribute_alone():
    """Everybody's decision again with nothing but the age moved to the other group's median, one person at a time."""
    at = visit(data="german", epochs="20")
    v = view(at)
    people, model = v.people, v.models["fairglvq"]
    j = v.data.feature_names.index("age")
    ages = people.original(people.X)[:, j]
    medians = [np.median(ages[people.s == g]) for g in (0, 1)]
    changed = 0
    for i in np.flatnonzero(people.measured):
        other = people.original(people.X[i])
        other[j] = round(medians[1 - people.s[i]])
        changed += int(model.decide(people.scaled(other)[None])[0] != model.decide(people.X[i][None])[0])
    told = plain(text(at, "**Protected attribute.**"))
    assert f"If nothing but this changed, {changed} of 200 decisions would change." in told
    assert "The law usually forbids" in told
    hidden = plain(text(visit(), "**Protected attribute.**"))  # drawn points: the group is no feature
    assert "The model does not see “town”: no decision changes if only this does." in hidden


def test_the_open_card_tells_what_a_direct_count_finds():
    at = visit(data="german", epochs="20")
    p = headings(at)[2] - 1
    checked(at.button(key=f"open_{p}").click().run())
    assert headings(at)[0] == p + 1
    v = view(at)
    people, explained = v.people, v.explained("fairglvq")
    W = explained.model.prototypes
    measured = np.flatnonzero(people.measured)
    cell = [i for i in measured if ((people.X[i] - W) ** 2).sum(axis=1).argmin() == p]
    assert f"**{len(cell) / 2:.1f}%** of them: {len(cell)} of 200 held-out people" in text(at, "It decides for")
    good = sum(people.y[i] == 1 for i in cell)
    assert f"{good} “good” ({100 * good / len(cell):.1f}%)" in plain(text(at, "**Who is in its cell.**"))
    rows = at.table[0].value
    for g, name in enumerate(people.groups):
        own = [i for i in cell if people.s[i] == g]
        row = rows.iloc[g]
        assert plain(row["group"]) == name
        assert row["people"] == f"{len(own)}" + (" (small n)" if 0 < len(own) < 30 else "")
        assert row["share of the cell"] == f"{100 * len(own) / len(cell):.1f}%"
        if own:
            right = sum(people.y[i] == explained.model.labels[p] for i in own) / len(own)
            assert row["decided rightly"] == f"{100 * right:.1f}%"
            assert row["truly good"] == f"{100 * sum(people.y[i] == 1 for i in own) / len(own):.1f}%"
    left = np.delete(np.arange(len(W)), p)
    rest = explain.explain(people, explain.PrototypeModel(W[left], explained.model.labels[left])).score
    removal = text(at, "**If it were removed.**")
    assert f"→ {100 * rest.accuracy:.1f}%, parity gap" in removal
    assert f"→ {100 * rest.statistical_parity:.1f} points, opportunity gap" in removal
    assert f"→ {100 * rest.equal_opportunity:.1f} points." in removal
    closest = sorted(np.flatnonzero(explained.nearest == p), key=lambda i: ((people.X[i] - W[p]) ** 2).sum())[:3]
    labels = [button.label for button in at.button if button.label.startswith("Explain ")]
    assert labels == [f"Explain person {v.points.rows[i] + 1}" for i in closest]


def test_every_column_of_a_prototype_is_there():
    at = visit(data="german", epochs="20")
    v, p = view(at), headings(at)[0] - 1
    x = v.people.original(v.models["fairglvq"].prototypes[p])
    table = next(frame.value for frame in at.dataframe if "average person" in frame.value).set_index("column")
    assert list(table.index) == [block.column for block in v.people.blocks]
    age, housing = v.people.trait("age")[0], v.people.trait("housing")[0]
    assert table.loc["age", f"prototype {p + 1}"] == f"{x[age.start]:.1f}"
    assert table.loc["age", "average person"] == f"{v.data.X[:, age.start].mean():.1f}"
    mean = v.data.X[:, housing.columns].mean(axis=0)
    order = np.argsort(-mean)
    expected = ", ".join(f"{housing.categories[c]} {100 * mean[c]:.0f}%" for c in order)
    assert table.loc["housing", "average person"] == expected


def test_the_map_shows_every_prototype_where_it_is():
    at = visit()
    order, places = on_map(at)
    assert sorted(order) == list(range(8))
    assert places == pytest.approx(view(at).models["fairglvq"].prototypes[order])


def test_cards_of_inp_are_filled_in_with_the_average_person_and_say_so():
    at = visit(data="german", epochs="20", inp="10")
    choose(at, "Model", "inp")
    v = view(at)
    model, people = v.models["inp"], v.people
    removed = at.session_state["visit"].model.shown[1].scene.trainings["inp"].removed
    assert "blind along 10 of 59 directions" in text(at, STARTS["inp"])
    assert any(words.value.startswith("INP took out 10 of 59 directions") for words in at.caption)
    profiles = v.explained("inp").profiles
    assert profiles @ model.matrix.T + model.shift == pytest.approx(model.prototypes, abs=1e-9)
    assert (profiles - people.X.mean(axis=0)) @ removed.T == pytest.approx(np.zeros((len(profiles), 10)), abs=1e-9)
    order, places = on_map(at)
    assert places == pytest.approx((profiles[order] - v.plane.origin) @ v.plane.axes)
    p = headings(at)[0] - 1
    told = plain(text(at, "**Apart from the average person:**"))
    column, category, own, average = re.search(r":\*\* (\w+): (.+?) (\d+)% \(average (\d+)%\)", told).groups()
    block = people.trait(column)[0]
    at_category = block.categories.index(category)
    values = np.maximum(people.original(profiles[p])[block.columns], 0)
    assert int(own) == round(100 * values[at_category] / values.sum())
    assert int(average) == round(100 * people.original(people.mean)[block.columns][at_category])
    measured = np.flatnonzero(people.measured)
    Z = people.X @ model.matrix.T + model.shift
    cell = [i for i in measured if ((Z[i] - model.prototypes) ** 2).sum(axis=1).argmin() == p]
    assert f"{len(cell)} of 200 held-out people" in text(at, "It decides for")


@pytest.mark.long
def test_nothing_is_left_where_inp_removes_everything():
    at = visit(data="german", epochs="20", inp="50")
    choose(at, "Model", "inp")
    assert any("all prototypes stand at one place" in words.value for words in at.caption)
    assert text(at, "**Apart from the average person:** nothing, they look the same.")
    assert text(at, "No prototype adds to the gap")
    for section in ("pairs", "person", "cards"):
        go(at, section)


def test_a_prototype_of_inp_that_training_pushed_aside_is_told():
    at = visit(data="xor")
    choose(at, "Model", "inp")
    explained = view(at).explained("inp")
    p = int(explained.aside.argmax())
    assert explained.aside[p] > 0.05
    at.session_state["visit"].prototypes.all_cards = True
    at.session_state["idle_cards"] = True  # where prototypes that decide for nobody are
    checked(at.run())
    checked(at.button(key=f"open_{p}").click().run())
    assert any(f"pushed this prototype {explained.aside[p]:.2f} aside" in words.value for words in at.caption)


def test_a_person_of_a_card_is_explained_with_one_click():
    at = visit(data="german", epochs="20")
    button = next(button for button in at.button if button.label.startswith("Explain person"))
    number = button.label.split()[-1]
    checked(button.click().run())
    assert text(at, f"## Person {number}:")
    assert labelled(at.number_input, "Number, from").value == int(number)


# ---- pairs ----


def test_both_models_stand_side_by_side():
    at = go(visit(data="german", epochs="20"), "pairs")
    v = view(at)
    table = at.table[0].value
    for method, name in (("glvq", "GLVQ"), ("fairglvq", "FairGLVQ")):
        score = v.explained(method).score
        assert table[name].tolist() == [
            f"{100 * score.accuracy:.1f}%",
            f"{100 * score.statistical_parity:.1f}",
            f"{100 * score.equal_opportunity:.1f}",
        ]
    pairs = explain.match(v.explained("glvq"), v.explained("fairglvq"))
    told = [words for words in texts(at) if words.startswith("**GLVQ ")]
    assert len(told) == 6
    for words, pair in zip(told, pairs, strict=False):
        assert words.startswith(f"**GLVQ {pair.before + 1} → FairGLVQ {pair.after + 1}**")
        assert f"moved by {pair.distance:.2f}" in words
    checked(labelled(at.toggle, "Show all").set_value(True).run())
    assert len([words for words in texts(at) if words.startswith("**GLVQ ")]) == len(pairs) == 8
    m = v.people.measured
    for g, who in enumerate(v.who):
        own = m & (v.people.s == g)
        had, has = (v.explained(k).decisions[own] == 1 for k in ("glvq", "fairglvq"))
        words = text(at, f"Of 100 {who},")
        assert f"{100 * np.mean(has & ~had):.0f} gained and {100 * np.mean(had & ~has):.0f} lost" in words


# ---- one person ----


def pick(at, way):
    return choose(at, "Who?", way)


def reasons(at):
    """Every column's part of the decision, as the bars show it."""
    shares = next(spec for spec in charts(at) if any("speaks for" in trace.get("name", "") for trace in spec["data"]))
    return [x for trace in shares["data"] for x in numbers(trace["x"])]


def person(at):
    """Position of the person in view, from the heading."""
    words = next(words for words in texts(at) if re.match(r"## (Person|Point) \d", words))
    return int(re.search(r"\d+", words)[0]) - 1


def test_somebody_whose_decision_changed():
    at = go(visit(data="german", epochs="20"), "person")
    v = view(at)
    changed = explain.changed_people(v.explained("glvq"), v.explained("fairglvq"))
    assert person(at) in v.points.rows[changed]
    before = person(at)
    checked(labelled(at.button, f"Somebody else of these {len(changed)}").click().run())
    assert person(at) != before
    assert person(at) in v.points.rows[changed]
    payers = at.dataframe[-1].value
    assert payers["person"].tolist() == [f"person {row + 1}" for row in v.points.rows[changed]]
    assert (payers["GLVQ"] != payers["FairGLVQ"]).all()


def test_a_person_by_number_with_decision_reasons_and_changes():
    at = pick(go(visit(data="german", epochs="20"), "person"), "row")
    checked(labelled(at.number_input, "Number, from").set_value(17).run())
    assert person(at) == 16
    v = view(at)
    x, truth = v.people.X[16], int(v.people.y[16])
    model = v.models["fairglvq"]
    D = ((x - model.prototypes) ** 2).sum(axis=1)
    plus, minus = D[model.labels == truth].min(), D[model.labels != truth].min()
    table = at.table[0].value.set_index("method")
    for method, name in (("glvq", "GLVQ"), ("inp", "INP + GLVQ"), ("fairglvq", "FairGLVQ")):
        m = v.models[method]
        z = x if m.matrix is None else m.matrix @ x + m.shift
        label = m.labels[((z - m.prototypes) ** 2).sum(axis=1).argmin()]
        assert table.loc[name, "decision"] == v.people.classes[label]
        assert table.loc[name, "right?"] == ("right" if label == truth else "wrong")
    mus = text(at, "**μ.**").replace("\N{MINUS SIGN}", "-")
    assert f"FairGLVQ {(plus - minus) / (plus + minus):.3f}." in mus
    assert text(at, "**Why FairGLVQ decides")
    why = text(at, "**Distances.**").replace("\N{MINUS SIGN}", "-")
    assert f"d+ = {plus:.3f}" in why
    assert f"d- = {minus:.3f}" in why
    assert f"d+ - d- = {plus - minus:.3f}" in why
    assert sum(reasons(at)) == pytest.approx(plus - minus)
    assert "age" in text(at, "**Flip test.**")


def test_the_reasons_of_inp_add_up():
    at = go(visit(data="german", epochs="20"), "person")
    choose(at, "Model", "inp")
    v, i = view(at), person(at)
    model = v.models["inp"]
    z = model.matrix @ v.people.X[i] + model.shift
    D = ((z - model.prototypes) ** 2).sum(axis=1)
    own = model.labels == v.people.y[i]
    difference = D[own].min() - D[~own].min()
    assert sum(reasons(at)) == pytest.approx(difference)
    assert f"d+ - d- = {difference:.3f}" in text(at, "**Distances.**").replace("\N{MINUS SIGN}", "-")
    payers = at.dataframe[-1].value
    assert (payers["GLVQ"] != payers["INP + GLVQ"]).all()


def test_immutable_columns_can_be_corrected():
    at = go(visit(data="german", epochs="20"), "person")
    (chosen,) = at.multiselect
    assert chosen.value == ["age", "foreign_worker", "personal_status"]

    def offered():
        tables = [frame.value for frame in at.dataframe if "would have to be" in frame.value]
        return set(tables[0]["column"]) if tables else set()

    columns = offered()
    assert columns
    assert not columns & {"age", "foreign_worker", "personal_status"}
    first = sorted(columns)[0]
    checked(chosen.set_value([first]).run())
    assert first not in offered()


def test_search_finds_and_says_how_many():
    at = pick(go(visit(data="german", epochs="20"), "person"), "search")
    checked(labelled(at.text_input, "Words or numbers").set_value("age > 70, good").run())
    frame = view(at).data.frame
    rows = frame.index[(frame["age"] > 70) & (frame["credit"] == "good")]
    assert any(caption.value == f"{len(rows)} people found." for caption in at.caption)
    assert person(at) in rows
    checked(labelled(at.text_input, "Words or numbers").set_value("nobody is called that").run())
    assert any(caption.value == "0 people found." for caption in at.caption)


def test_typed_values_are_decided():
    at = pick(go(visit(data="german", epochs="20"), "person"), "typed")
    v = view(at)
    i = int(explain.changed_people(v.explained("glvq"), v.explained("fairglvq"))[0])
    values = decision.values_of(v.people, v.people.X[i])
    field = {element.label: element for element in [*at.number_input, *at.selectbox] if "typed" in str(element.key)}
    assert {plain(label) for label in field} == set(values)
    assert field["age"].value == values["age"]
    field["age"].set_value(70)
    field["housing"].set_value("for free")
    checked(labelled(at.button, "Decide").click().run())
    x = decision.person(v.people, values | {"age": 70.0, "housing": "for free"})
    table = at.table[0].value.set_index("method")
    for method, name in (("glvq", "GLVQ"), ("inp", "INP + GLVQ"), ("fairglvq", "FairGLVQ")):
        assert table.loc[name, "decision"] == v.people.classes[decision.judge(v.models[method], x).label]
    assert "right?" not in table


def test_a_group_that_the_models_do_not_see_is_said():
    at = go(visit(), "person")
    assert "is not among the features" in text(at, "**Flip test.**")


# ---- names from a visitor's table ----


def nasty_table(n=200):
    rng = np.random.default_rng(0)
    number, town = rng.normal(size=n), rng.integers(0, 2, n)
    s = rng.integers(0, 2, n)
    return Dataset(
        name="table", title=NASTY, X=np.column_stack([number, np.eye(2)[town]]), y=(number + s > 0.5).astype(int), s=s,
        blocks=(Block(NASTY, 0, 1, "number"), Block("t_o_w_n", 1, 3, "category", (NASTY, "*b*"))), favourable=1,
        class_names={0: NASTY, 1: "_yes_"}, group_names={0: NASTY, 1: "`g`"}, label_column="l", group_column="<i>g</i>",
        source="", licence="",
    )  # fmt: skip


def test_no_name_becomes_markup():
    data = nasty_table()
    settings = state.for_table(sources.register(data), data)
    at = visit()
    at.session_state["visit"].model.settings = settings
    settle(at.run())
    for section in ("cards", "pairs", "alike", "person"):
        go(at, section)
        said = [*texts(at), *(caption.value for caption in at.caption)]
        for words in said:
            for sign in ("<script", "**bold**", ":red[", "$x$", "](http", "<i>"):
                assert not re.search(r"(?<!\\)" + re.escape(sign), words)  # an escape before it makes it plain text
        assert section == "alike" or any(NASTY in plain(words) for words in said)  # names stand in a table there
        for element in at.get("html"):
            assert "<script" not in element.proto.body
        for spec in charts(at):
            assert "<script" not in json.dumps(spec)


# ---- learned metrics and handicaps ----


def bars(at, part):
    """The chart whose horizontal axis is called like this."""
    found = [spec for spec in charts(at) if part in str(spec["layout"]["xaxis"].get("title", ""))]
    return found[0] if found else None


def parity(section="cards"):
    """German credit with ParityLVQ in its own plane; the view, and the costs (n, P) by which it decides."""
    at = visit(plain=False, data="german", k="2", beside="fairglvq.paritylvq")
    choose(at, "Model", "paritylvq")
    own = view(at).trainings["paritylvq"].learned
    D = (((view(at).people.X @ own.omega.T)[:, None] - own.prototypes @ own.omega.T) ** 2).sum(axis=2)
    return go(at, section), D, own.handicaps


def test_a_plain_model_says_nothing_of_metrics():
    at = visit(data="german", epochs="5")
    assert bars(at, "share of the distance") is None
    assert not any(value.startswith("**Its handicap.**") for value in texts(at))
    assert not any("nothing else counts" in element.value for element in at.main.caption)


def test_a_model_with_handicaps_in_its_own_plane():
    at, D, handicaps = parity()
    v = view(at)
    decided = v.models["paritylvq"].labels[(D - handicaps).argmin(axis=1)]
    words = text(
        at, "**ParityLVQ**, allowed a gap of 5 points, decides with 4 prototypes in a plane that it has learned"
    )
    right = np.mean((decided == v.people.y)[v.people.measured])
    assert f"**{100 * right:.1f}%** of its decisions are right" in words
    assert sum(numbers(bars(at, "share of the distance")["data"][0]["x"])) == pytest.approx(100)
    across, up = map(wording.axis_direction, v.own_axes("paritylvq"))
    assert any(f"To the right: {across}. Upwards: {up}." in plain(element.value) for element in at.main.caption)
    assert any("closest to the average of its cell" in element.value for element in at.main.caption)
    opened = headings(at)[0] - 1
    in_cell, closest = (D - handicaps).argmin(axis=1) == opened, D.argmin(axis=1) == opened
    found = metric.handicap(v.explained("paritylvq"), opened)
    assert found.brought == np.sum((in_cell & ~closest)[v.people.measured])
    assert found.taken == np.sum((closest & ~in_cell)[v.people.measured])
    assert text(at, "**Its handicap.**") == f"**Its handicap.** {metric.handicap_words(found)}"
    (_, places), people = on_map(at), v.sample("paritylvq")[0]
    margin = np.ptp(people, axis=0) / 3 + 1e-9  # prototypes far away do not push the people into a corner
    assert (places <= people.max(axis=0) + margin).all()
    assert (places >= people.min(axis=0) - margin).all()


def test_a_learned_distance_may_put_prototypes_far_from_all_drawn_points():
    at = visit(plain=False, metric="matrix", beside="fairglvq")
    v = view(at)
    assert text(at, "**FairGLVQ** with C = 1.5 decides with 8 prototypes by a distance that it has learned")
    people, places = v.sample("fairglvq")[0], v.models["fairglvq"].prototypes
    margin = np.ptp(people, axis=0) / 3
    far = int(((places < people.min(axis=0) - margin) | (places > people.max(axis=0) + margin)).any(axis=1).sum())
    assert far > 1
    assert any(f"{far} prototypes lie far from all people" in element.value for element in at.main.caption)
    assert on_map(at)[1][:, 0].max() == pytest.approx((people.max(axis=0) + margin)[0])


def test_the_map_of_an_own_plane_points_where_its_words_say():
    at, *_ = parity()
    v = view(at)
    places = v.places(v.people.X, "paritylvq")
    for axis, traits in enumerate(v.own_axes("paritylvq")):
        for trait in traits:
            block = v.people.trait(trait.column)[0]
            column = v.people.X[:, block.start]
            if block.kind == "category":
                column = v.people.X[:, block.start + block.categories.index(trait.value)]
            elif block.kind == "binary" and trait.value == block.categories[0]:
                column = 1 - column
            assert np.corrcoef(places[:, axis], column)[0, 1] * trait.weight > 0


def test_one_person_under_a_learned_metric():
    at, D, handicaps = parity("person")
    at = pick(at, "row")
    checked(labelled(at.number_input, "Number, from").set_value(17).run())
    v = view(at)
    model, truth = v.models["paritylvq"], int(v.people.y[16])
    costs, own = D[16] - handicaps, model.labels == truth
    plus, minus = np.flatnonzero(own)[costs[own].argmin()], np.flatnonzero(~own)[costs[~own].argmin()]
    table = at.table[0].value.set_index("method")
    assert table.loc["ParityLVQ", "decision"] == v.people.classes[model.labels[costs.argmin()]]
    drawn = [value for trace in bars(at, "part of d+")["data"] for value in numbers(trace["x"])]
    assert sum(drawn) == pytest.approx(D[16, plus] - D[16, minus])
    assert any(element.value.startswith("Handicaps count, too:") for element in at.main.caption)
    for frame in at.dataframe:
        if "would have to be" in frame.value:
            assert table.loc["ParityLVQ", "decision"] not in set(frame.value["decision then"])


def test_numbers_in_ranges_are_single_columns_on_the_page():
    at = visit(plain=False, data="german", k="2", bins="8", beside="fairglvq")
    v = view(at)
    assert len(v.people.blocks) > len(v.people.traits)
    table = next(frame.value for frame in at.dataframe if "average person" in frame.value)
    assert table["column"].tolist() == v.people.columns
    at = pick(go(at, "person"), "typed")
    fields = {plain(element.label) for element in [*at.number_input, *at.selectbox]}
    assert set(v.people.columns) <= fields
    assert not any("in bins" in words for words in [*fields, *texts(at)])


def test_leaves_of_a_tree_have_cards():
    """Rules, people and what would be without a leaf are those of FairTree itself; other methods stay as they were."""
    at = visit(data="xor", beside="fairtree", epochs="10", leaves="5", C="0")
    now = view(at)
    learn, m = ~now.points.held_out, now.points.measured
    tree = FairTree(5, C=0).fit(now.points.X[learn], now.points.y[learn], sensitive_features=now.points.s[learn])
    X, y, s = now.points.X[m], now.points.y[m], now.points.s[m]
    right = np.mean(tree.predict(X) == y)
    assert f"**{100 * right:.1f}%** of its decisions are right" in text(
        at, "**FairTree** with C = 0 decides with 5 leaves"
    )
    cells = cells_of(tree, X, y, sensitive_features=s)
    shown = [plain(value) for value in texts(at)]
    for p, rule in enumerate(tree.rules(now.data, now.points.scaling)):
        assert f"**{rule}**" in shown
        n = int(np.sum(tree.apply(X) == p))
        assert any(f"(n = {n:,}" in value for value in shown)
        after = cells.without(p).after
        removed = f"**If it were removed.** Accuracy {100 * right:.1f}% → {100 * after.accuracy:.1f}%"
        assert any(value.startswith(removed) for value in shown)
    bodies = [element.proto.body for element in at.get("html")]
    assert {int(found[1]) for body in bodies if (found := re.search(r"Leaf (\d) decides", body))} == {1, 2, 3, 4, 5}
    choose(at, "Model", "glvq")
    assert go(at, "pairs")
    assert "No other method with prototypes is trained: choose one beside GLVQ." in texts(at)
    go(at, "person")


# ---- like people ----


def test_like_people_are_counted_and_the_loneliest_are_listed():
    at = go(visit(data="german", epochs="20"), "alike")
    v = view(at)
    found = alike.compare(v.explained("fairglvq"))
    told = plain(text(at, "Of 100 pairs of people most alike"))
    assert f"(consistency {100 * found.consistency:.1f}%)" in told
    assert f"{len(found.unlike)} of 200 people are decided unlike most of those most like them" in told
    assert any("“age” does not count." in plain(element.value) for element in at.main.caption)
    cells, people = (frame.value for frame in at.dataframe)
    assert cells["people"].sum() == 200
    assert cells["unlike most"].sum() == len(found.unlike)
    assert people["person"].tolist() == [f"person {v.points.rows[i] + 1}" for i in found.unlike[:20]]
    decided = v.explained("fairglvq").decisions
    assert people["decision"].tolist() == [v.people.classes[decided[i]] for i in found.unlike[:20]]


def test_a_person_is_shown_beside_the_people_most_like_them():
    at = go(visit(data="german", epochs="20"), "alike")
    v = view(at)
    i = int(alike.compare(v.explained("fairglvq")).unlike[0])
    here = at.session_state["visit"].prototypes
    here.person, here.section, here.way = ("german", i), "person", "row"
    checked(at.run())
    assert text(at, f"## Person {v.points.rows[i] + 1}:")
    table = next(frame.value for frame in at.dataframe if "distance" in frame.value)
    assert table["person"].tolist() == [
        f"person {v.points.rows[j] + 1}" for j in alike.compare(v.explained("fairglvq")).neighbours(i)
    ]
    same = np.sum(table["decision"] == v.people.classes[v.explained("fairglvq").decisions[i]])
    assert same < 3
    assert text(at, f"{same} of 5 get the same decision from FairGLVQ.")


def test_people_in_leaves_are_compared_and_explained():
    at = go(visit(data="xor", beside="fairtree", epochs="10", leaves="5", C="0"), "alike")
    v = view(at)
    found = alike.compare(v.tree("fairtree"))
    assert f"(consistency {100 * found.consistency:.1f}%)" in plain(text(at, "Of 100 pairs of people most alike"))
    assert at.dataframe[0].value["leaf"].is_unique
    here = at.session_state["visit"].prototypes
    i = int(found.near.compared[0])
    here.person, here.section, here.way = ("xor", i), "person", "row"
    checked(at.run())
    leaf = v.tree("fairtree").nearest[i]
    assert f"in leaf {leaf + 1}: **{v.tree('fairtree').rules[leaf]}**" in plain(text(at, "**Why FairTree decides"))
    table = next(frame for frame in at.table if "method" in frame.value).value
    assert "FairTree" in table["method"].tolist()
    label = v.people.classes[v.tree("fairtree").decisions[i]]
    assert table.set_index("method").loc["FairTree", "decision"] == label.replace("(", "\\(").replace(")", "\\)")
    change = next(frame.value for frame in at.dataframe if "would have to be" in frame.value)
    assert label not in set(change["decision then"])
    at = pick(at, "changed")
    assert text(at, "## Point")


def test_a_tree_of_real_people_has_a_diagram_cards_and_a_person():
    at = visit(plain=False, data="german", beside="fairtree", leaves="6", C="0.5", k="2")
    v = view(at)
    tree = v.tree("fairtree")
    assert f"decides with {len(tree.answers)} leaves" in text(at, "**FairTree** with C = 0.5")
    assert "If nothing but this changed" in plain(text(at, "**Protected attribute.**"))
    figure = charts(at)[0]
    numbered = [number[0] for trace in figure["data"][2:] for number in trace["customdata"]]
    assert sorted(numbered) == list(range(len(tree.answers)))
    shown = [plain(value) for value in texts(at)]
    assert all(f"**{rule}**" in shown for rule in tree.rules)
    at = pick(go(at, "person"), "random")
    assert "This person is in leaf" in plain(text(at, "**Why FairTree decides"))
    choose(at, "Model", "glvq")
    go(at, "cards")
