"""The report: its numbers are the model's, it needs nothing but itself, and hostile names stay text."""

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from models import after_inp

from fairglvq import FairGLVQ, FairTree, datasets, explain
from fairglvq.datasets import table
from fairglvq.datasets.split import Scaling, hold_out_share
from fairglvq.experiments import evaluation
from fairglvq.explain import alike
from fairglvq.explain.leaves import TreeModel, explain_tree
from fairglvq.explain.people import Population, population
from fairglvq.fairness import metrics
from fairglvq.report import content as report
from fairglvq.report import verdict
from fairglvq.report.html import to_html
from fairglvq.tradeoff.scenario import Outcome, Scenario

EVIL = "<script>alert(1)</script>"


def trained(data, C=1.5, held_out_share=0.2):
    held_out = hold_out_share(data.y * len(data.group_names) + data.s, held_out_share, 0)
    people = population(data, held_out)
    learn = ~held_out
    fitted = FairGLVQ(3, C=C, max_epochs=10, learning_rate=0.1, random_state=0)
    fitted.fit(people.X[learn], data.y[learn], sensitive_features=data.s[learn])
    labels = np.searchsorted(fitted.classes_, fitted.prototype_labels_)
    pseudo = np.searchsorted(fitted.groups_, fitted.pseudo_classes_)
    return explain.explain(people, explain.PrototypeModel(fitted.prototypes_, labels, pseudo))


@pytest.fixture(scope="module")
def german():
    return datasets.load("german")


@pytest.fixture(scope="module")
def explained(german):
    return trained(german)


@pytest.fixture(scope="module")
def rows(german):
    found = [
        evaluation.evaluate(german, method, [0, 1], folds=2, store=False, learning_rate=0.03, max_epochs=2)
        for method in ("glvq", "fairglvq")
    ]
    return pd.concat(found)


@pytest.fixture(scope="module")
def made(explained, german, rows):
    return report.make(
        explained, german, method="FairGLVQ", settings={"Fairness strength C": 1.5}, measured="200 held-out people",
        curve=rows, script="print(1 < 2)\n", made="16 November 2026", caveats=["One more."],
    )  # fmt: skip


class Page(HTMLParser):
    """Tags, attributes and text of a page; every tag must be closed."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.words = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


def test_numbers_are_those_of_a_direct_computation(made, explained, german):
    people = explained.people
    m = people.measured
    y, s, decided = german.y[m], german.s[m], explained.decisions[m]
    about = {"sensitive_features": s, "favourable": 1}
    assert made.accuracy.value == pytest.approx(np.mean(decided == y), abs=1e-12)
    parity, opportunity = made.gaps
    assert parity.value == pytest.approx(metrics.statistical_parity_difference(decided, **about), abs=1e-12)
    assert opportunity.value == pytest.approx(metrics.equal_opportunity_difference(y, decided, **about), abs=1e-12)
    assert parity.low < parity.value < parity.high
    frame = metrics.group_rates(y, decided, **about)
    for g, group in enumerate(made.groups):
        assert group.n == frame["n"][g]
        assert group.favourable.value == pytest.approx(frame["selection_rate"][g])
        assert group.opportunity.value == pytest.approx(frame["true_positive_rate"][g])
        assert group.accuracy.value == pytest.approx(frame["accuracy"][g])
        assert group.favourable.low < group.favourable.value < group.favourable.high
    assert made.n_measured == m.sum() == sum(card.people for card in made.cards)


def test_parts_add_up_and_profiles_are_in_original_units(made, explained, german):
    assert sum(card.statistical_parity for card in made.cards) == pytest.approx(made.gaps[0].value, abs=1e-12)
    assert sum(card.equal_opportunity for card in made.cards) == pytest.approx(made.gaps[1].value, abs=1e-12)
    card = next(card for card in made.cards if card.number == 2)
    original = explained.people.original(explained.model.prototypes[1])
    assert card.profile["age"] == pytest.approx(original[german.feature_names.index("age")])
    assert sum(card.profile["housing"].values()) == pytest.approx(1)
    assert [n for _, n in card.groups] == explained.counts[1].sum(axis=0).tolist()
    assert [card.people for card in made.cards] == sorted((card.people for card in made.cards), reverse=True)


def test_the_page_holds_every_part_and_needs_nothing_else(made):
    text = to_html(made)
    page = Page(text)
    for part in ("Verdict", "Who decided what", "How it decides", "All methods", "How good, and how fair",
                 "Group by group", "Fairness against accuracy",
                 "Where the gaps come from", "The prototypes", "The data", "How the model was trained", "Caveats",
                 "Script to reproduce this", "One more.", "16 November 2026", "print(1 < 2)",
                 made.data.fingerprint):  # fmt: skip
        assert part in page.text
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert "img" not in page.tags
    assert page.tags.count("svg") == 2  # one for each theme
    assert page.tags.count("article") == len(made.cards) == 6
    assert not [value for _, name, value in page.attributes if name in ("src", "href", "action") or name[:2] == "on"]
    outside = set(re.findall(r"https?://[^\s\"'<]+", text)) - {"http://www.w3.org/2000/svg"}
    assert all(url in made.data.source for url in outside)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_numbers_on_the_page_are_those_of_the_report(made):
    page = Page(to_html(made)).text
    assert f"{100 * made.accuracy.value:.1f}%" in page
    assert f"{100 * made.accuracy.low:.1f} to {100 * made.accuracy.high:.1f}%" in page
    for group in made.groups:
        assert f"{100 * group.favourable.value:.1f}% of {group.n:,}" in page
    assert f"{100 * made.gaps[0].value:.1f} points" in page.replace("\N{MINUS SIGN}", "-")
    assert "the model of this report" in page


def test_the_sentence_names_who_loses(made):
    told = report.words(made)
    gap = made.gaps[0]
    shares = {group.name: group.favourable.value for group in made.groups}
    assert shares[gap.behind] < shares[gap.ahead]
    assert f"Of 100 people in the group “{gap.behind}”, {100 * shares[gap.behind]:.0f} get “good”" in told


def moved(now, before):
    """Who is decided about favourably by the first model and not by the second, by group, one person at a time."""
    people, found = now.people, [0] * len(now.people.groups)
    for i in np.flatnonzero(people.measured):
        found[people.s[i]] += now.decisions[i] == people.favourable and before.decisions[i] != people.favourable
    return tuple(found)


def test_page_one_has_verdict_baseline_and_who_loses(explained, german):
    before = trained(german, C=0.0)
    who = ["people under 25", "people of 25 or older"]
    made = report.make(explained, german, method="FairGLVQ", who=who, baseline=("GLVQ", before))
    y, decided = german.y[explained.people.measured], before.decisions[explained.people.measured]
    about = {"sensitive_features": german.s[explained.people.measured], "favourable": 1}
    gap = metrics.statistical_parity_difference(decided, **about)
    assert made.baseline.gaps[0].value == pytest.approx(gap, abs=1e-12)
    assert made.baseline.accuracy.value == pytest.approx(np.mean(decided == y))
    assert made.baseline.gained == moved(explained, before)
    assert made.baseline.lost == moved(before, explained)
    page = Page(to_html(made)).text
    first = page[: page.index("How it decides")]
    assert f"GLVQ, trained for accuracy alone, has a gap of {100 * gap:.1f} points" in first
    alone = replace(made, baseline=replace(made.baseline, lost=(1, 0), gained=(0, 1)))
    told = verdict.who_loses(alone)
    assert "1 loses “good” and 0 gain it" in told[0]
    assert "0 lose “good” and 1 gains it" in told[1]
    young = f"{made.baseline.lost[0]} lose “good” and {made.baseline.gained[0]} gain it, of {made.groups[0].n} measured"
    assert f"People under 25: {young}" in first
    assert "in the group" not in page
    assert "Still to be decided by people" in first


def test_the_mark_of_the_report_says_whether_the_curves_are_its_own(made, explained, german, rows):
    assert "is not known to this report" in Page(to_html(made)).text
    about = {"method": "FairGLVQ", "curve": rows}
    alike = Page(to_html(report.make(explained, german, curve_differs=[], **about))).text
    assert "models with the same settings" in alike
    assert "trained otherwise" not in alike
    page = Page(to_html(report.make(explained, german, curve_differs=["Epochs: 2, here 10"], **about))).text
    assert page.count("the model of this report (trained otherwise)") == 2  # in the picture of each theme
    assert "need not lie on the curve of its method: Epochs: 2, here 10." in page
    assert page.index("Fairness against accuracy") > page.index("The prototypes")
    assert page.index("All methods") > page.index("How it decides")


def test_json_is_complete_and_has_no_nan(made):
    content = json.loads(report.to_json(made), parse_constant=lambda word: pytest.fail(word))
    assert content["format"] == "fairglvq-report"
    assert content["accuracy"]["value"] == made.accuracy.value
    assert len(content["cards"]) == 6
    assert content["cards"][0]["profile"].keys() == made.cards[0].profile.keys()
    assert len(content["cards"][0]["profile"]) == 20
    assert content["curve"][0]["strength"] is None  # GLVQ has none
    assert len(content["curve"]) == 2 + 4
    assert content["script"] == made.script


def test_a_report_without_curve_or_script(explained, german):
    page = Page(to_html(report.make(explained, german, method="GLVQ")))
    assert "Fairness against accuracy" not in page.text
    assert "Script to reproduce this" not in page.text
    assert "svg" not in page.tags


def test_hostile_names_stay_text():
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame(
        {
            EVIL: rng.choice(["<img src=x onerror=alert(1)>", 'a" onload="x', "ok"], n),
            "מין": rng.choice(["</style><b>f", "m&amp;"], n),
            "score": rng.random(n),
            "hired": rng.choice(["<yes>", "no'"], n),
        }
    )
    plan = table.Plan(target="hired", favourable="<yes>", protected="מין", left_out=())
    data = table.build(frame, plan, title=f"{EVIL}.csv", source="</pre><script>x</script>", notes=[f"Note {EVIL}"])
    made = report.make(
        trained(data), data, method="FairGLVQ", settings={EVIL: EVIL}, script=f"# {EVIL}\n", caveats=[EVIL], made=EVIL,
        measured=EVIL,
    )  # fmt: skip
    page = Page(to_html(made))
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert page.tags.count("b") == 0
    assert page.tags.count("style") == 1
    assert not [name for _, name, _ in page.attributes if name[:2] == "on"]
    assert EVIL in page.text
    assert "</style><b>f" in page.text
    assert json.loads(report.to_json(made))["settings"] == {EVIL: EVIL}


def test_one_group_alone_is_no_gap():
    data = datasets.load("xor", size=30)
    people = population(data)
    alone = Population(
        X=people.X, y=people.y, s=np.zeros_like(people.s), measured=people.measured, low=people.low, span=people.span,
        blocks=people.blocks, classes=people.classes, groups=people.groups, favourable=people.favourable,
    )  # fmt: skip
    model = explain.PrototypeModel(np.array([[0.2, 0.2], [0.8, 0.8]]), np.array([0, 1]))
    made = report.make(explain.explain(alone, model), data, method="GLVQ")
    assert math.isnan(made.gaps[0].value)
    assert "no two groups to compare" in to_html(made)
    assert json.loads(report.to_json(made))["gaps"][0]["value"] is None
    assert "Where the gaps come from" not in to_html(made)


def test_a_model_after_inp_is_reported_with_what_was_filled_in(german):
    people, model, directions = after_inp(german, 10)
    made = report.make(explain.explain(people, model), german, method="INP + GLVQ")
    page, content = to_html(made), json.loads(report.to_json(made))
    assert made.filled_in.startswith("INP took out 10 of 59 directions")
    assert f"<p>{made.filled_in}</p>" in page
    assert content["filled_in"] == made.filled_in
    for card in made.cards:
        x = np.zeros(59)
        for block in people.blocks:
            if block.kind == "number":
                x[block.start] = card.profile[block.column]
        w, numbers = model.prototypes[card.number - 1], [b.start for b in people.blocks if b.kind == "number"]
        # The one point that looks like w and agrees with the average person along what was removed.
        rows = np.vstack([model.matrix, directions])
        wanted = np.concatenate([w - model.shift, directions @ people.mean])
        direct = people.original(np.linalg.lstsq(rows, wanted)[0])
        assert x[numbers] == pytest.approx(direct[numbers])


@pytest.mark.filterwarnings("ignore:Fewer distinct points")
def test_where_nothing_differs_nothing_is_told_apart():
    people, model, _ = after_inp(datasets.load("xor"), 2)
    made = report.make(explain.explain(people, model), datasets.load("xor"), method="INP + GLVQ")
    page = to_html(made)
    assert made.gaps[0].value == 0
    assert all(card.apart == () for card in made.cards)
    assert page.count("It looks like the average.") == len(made.cards)
    assert "no difference" in page
    assert "ahead of" not in page
    assert "may be chance" not in page


def test_a_model_that_sees_everything_fills_in_nothing(made):
    assert made.filled_in == ""
    assert "filled in" not in to_html(made)


def test_scenarios_that_were_weighed_are_on_page_one(explained, german):
    outcomes = (Outcome("people under 25", 190, 100, 12), Outcome("people of 25 or older", 810, 600, -30))
    weighed = [Scenario("mild <b>", 0.1, "FairGLVQ (C = 1)", 0.096, 0.74, outcomes)]
    made = report.make(explained, german, method="FairGLVQ", scenarios=weighed)
    page = Page(to_html(made))
    first = page.text[: page.text.index("How it decides")]
    assert "mild <b>" in first
    assert "600 of 810 (\N{MINUS SIGN}30)" in first
    assert "b" not in page.tags
    assert json.loads(report.to_json(made))["scenarios"][0]["accuracy"] == 0.74


# ---- like people, and trees ----


@pytest.fixture(scope="module")
def of_tree(german):
    """The report of a tree, and its leaves."""
    people = population(german, hold_out_share(german.y * 2 + german.s, 0.2, 0))
    learn = ~people.measured
    tree = FairTree(7, C=0.5).fit(people.X[learn], german.y[learn], sensitive_features=german.s[learn])
    scaling = Scaling.fit(german.X[learn])
    model = TreeModel(tree.tree_, tree.leaf_labels_, tree.pseudo_classes_, tree.rules(german, scaling))
    leaves = explain_tree(people, model)
    before = trained(german, C=0)
    return report.make(
        leaves, german, method="FairTree", who=["the young", "the old"], baseline=("GLVQ", before)
    ), leaves


def test_individual_fairness_in_the_report_is_that_of_the_library(made, explained):
    found = alike.compare(explained)
    assert made.alike.compared == 200
    assert made.alike.consistency == pytest.approx(found.consistency)
    assert made.alike.left_out == ("age",)
    assert sum(k for _, k, _ in made.alike.unlike) == len(found.unlike) == sum(card.unlike for card in made.cards)
    by_size = sum(card.consistency * card.people for card in made.cards if card.people) / made.n_measured
    assert by_size == pytest.approx(made.alike.consistency)
    page = Page(to_html(made)).text
    assert f"(consistency {100 * found.consistency:.1f}%)" in page
    assert f"{len(found.unlike)} of 200 people are decided unlike most of those most like them" in page
    assert "“age” does not count." in page
    assert json.loads(report.to_json(made))["alike"]["consistency"] == pytest.approx(found.consistency)


def test_a_tree_has_a_report_of_its_leaves(of_tree, german):
    made, leaves = of_tree
    assert made.cells == "leaf"
    assert [card.rule for card in sorted(made.cards, key=lambda card: card.number)] == list(leaves.rules)
    assert made.accuracy.value == pytest.approx(leaves.score.accuracy)
    assert sum(card.statistical_parity for card in made.cards) == pytest.approx(made.gaps[0].value, abs=1e-12)
    m = leaves.people.measured
    gained = (leaves.decisions[m] == 1) & (trained(german, C=0).decisions[m] != 1)
    assert sum(made.baseline.gained) == gained.sum()
    page = Page(to_html(made)).text
    for rule in leaves.rules:
        assert rule in page
    assert "FairTree decides with 7 leaves of a tree" in page
    assert "prototype" not in page.lower()
    content = json.loads(report.to_json(made))
    assert (content["format_version"], content["cells"]) == (4, "leaf")


def test_nobody_is_compared_with_nobody(german):
    one = report.make(trained(german, held_out_share=0.001), german, method="FairGLVQ")
    assert (one.n_measured, one.alike) == (1, None)
    assert "like people" not in Page(to_html(one)).text
