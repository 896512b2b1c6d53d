"""The diagram of a tree: a row per node, and every leaf where its rule says."""

import json

import numpy as np
import pytest
from models import binned, held, small

from fairglvq import FairTree, datasets
from fairglvq.datasets.split import Scaling
from fairglvq.explain.leaves import TreeModel, diagram, explain_tree
from fairglvq.explain.people import population
from fairglvq.figures.prototypes import Marks
from fairglvq.figures.tree import tree_alt, tree_figure
from fairglvq.report import tree_file
from fairglvq.trees.rules import questions


def grown(data, leaves=8):
    held_out = held(len(data.y))
    people, scaling = population(data, held_out), Scaling.fit(data.X[~held_out])
    tree = FairTree(leaves, C=0.3).fit(people.X[~held_out], data.y[~held_out], sensitive_features=data.s[~held_out])
    words = tree.rules(data, scaling), questions(tree.tree_, data, scaling)
    return explain_tree(people, TreeModel(tree.tree_, tree.leaf_labels_, tree.pseudo_classes_, *words)), scaling


@pytest.fixture(scope="module", params=["german", "bins", "small"])
def case(request):
    data = {"small": small(), "bins": binned(small())}.get(request.param) or datasets.load("german")
    return data, *grown(data)


def marks(explained):
    people = explained.people
    shares = explained.sizes / explained.sizes.sum()
    return Marks(explained.answers, explained.model.pseudo, shares, people.classes, people.groups)


def test_every_node_has_a_row_of_its_own_between_those_of_its_branches(case):
    nodes = diagram(case[1])
    assert sorted(node.row for node in nodes) == list(range(len(nodes)))
    assert [node.leaf for node in sorted(nodes, key=lambda n: n.row) if node.leaf >= 0] == list(range(8))
    assert nodes[0].people == case[1].people.measured.sum()
    for place, node in enumerate(nodes):
        below = [child for child in nodes if child.parent == place]
        if node.leaf >= 0:
            assert not below
            assert node.words == case[1].rules[node.leaf]
            continue
        yes, no = sorted(below, key=lambda child: child.row)
        assert yes.row < node.row < no.row
        assert {child.depth for child in below} == {node.depth + 1}
        assert node.people == yes.people + no.people


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_leaves_are_marked_by_class_group_and_share(case, theme):
    explained = case[1]
    figure = tree_figure(diagram(explained), marks(explained), theme=theme)
    drawn = [point for trace in figure.data[2:] for point in zip(trace.customdata, trace.text, strict=True)]
    assert sorted(number for (number,), _ in drawn) == list(range(8))
    for (number,), text in drawn:
        assert f"<b>{number + 1}</b> {explained.people.classes[explained.answers[number]]}" in text
    assert {trace.type for trace in figure.data} == {"scatter"}
    assert tree_alt(diagram(explained), marks(explained)).startswith("A tree with 7 questions and 8 leaves:")


def test_nasty_names_stay_text():
    data = small()
    explained, _ = grown(data)
    wild = marks(explained)._replace(classes=("<script>a</script>", "<b>b</b>"))
    figure = tree_figure([n._replace(words="<i>x</i>") for n in diagram(explained)], wild)
    words = json.dumps([[list(t.text or ()), list(t.hovertext or ())] for t in figure.data])
    assert not any(tag in words for tag in ("<script>", "<i>", "<b>b"))


def test_the_file_decides_as_the_tree_does(case):
    """Walk through the JSON with rows in original units."""
    data, explained, scaling = case
    whole = json.loads(tree_file.dumps(explained, data, scaling, {"max_leaves": 8, "C": 0.3}))
    assert whole["parameters"] == {"max_leaves": 8, "C": 0.3}
    place = {name: j for j, name in enumerate(whole["features"])}
    people = 0
    for row, x in enumerate(data.X):
        node = whole["tree"]
        while "leaf" not in node:
            node = node["yes" if x[place[node["feature"]]] <= node["at_most"] else "no"]
        assert node["leaf"] - 1 == explained.nearest[row]
        assert node["decides"] == explained.people.classes[explained.decisions[row]]
        assert node["rule"] == explained.rules[node["leaf"] - 1]
        people += 1
    assert people == len(data.y)


def test_the_text_has_a_line_per_branch_in_original_units(case):
    data, explained, scaling = case
    lines = tree_file.to_text(explained, data, scaling).splitlines()
    assert sum("class:" in line for line in lines) == 8
    first = explained.model.tree
    f = int(first.feature[0])
    border = first.threshold[0] * scaling.span[f] + scaling.low[f]
    assert lines[0] == f"|--- {data.feature_names[f]} <= {border:.2f}"
    assert np.isfinite(border)


def test_questions_are_true_for_those_who_go_left(case):
    """A question about a number names its border: count who it is true of, in the readable columns."""
    data, explained, _ = case
    tree = explained.model.tree
    for node, words in explained.model.questions.items():
        block = next(b for b in data.blocks if b.start <= tree.feature[node] < b.stop)
        if block.kind == "number":
            column, border = words.rsplit(" at most ", 1)
            assert column == block.column
            left = explained.people.X[:, tree.feature[node]] <= tree.threshold[node]
            np.testing.assert_array_equal(data.X[:, block.start] <= float(border.replace(",", "")), left)
        else:
            assert words.startswith(block.bins_of or block.column)
