"""Predicted numbers on the trade-off page: link, curve, and the pictures before and after."""

import json
from concurrent import futures

import apptest
import numpy as np
import pytest
from apptest import labelled

from fairglvq.experiments import regression
from fairglvq.tradeoff.numbers import TASKS
from pages.shared.tradeoff.numbers import LEAVES, STRONG, from_query, to_query
from pages.shared.visit import RegressionVisit


def visit(**query):
    at = apptest.visit("tradeoff", task="numbers", **query)
    return ready(at)


def ready(at):
    """Rerun whenever what is under way has ended, until nothing is."""
    while jobs := at.session_state["visit"].regression.jobs:
        assert not at.exception
        futures.wait([job.future for job in jobs.values()])
        at.run()
    assert not at.exception
    return at


def specs(at):
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def test_links_say_what_differs_and_are_read_back():
    assert to_query(from_query({})[0]) == {"task": "numbers"}
    for task in TASKS:
        found = RegressionVisit("numbers", task, "mutual_information", STRONG[-1], LEAVES[0])
        again, repairs = from_query(to_query(found))
        assert (again, repairs) == (found, [])
    broken, repairs = from_query({"data": "adult", "by": "mean_difference", "C": "9", "leaves": "x"})
    assert broken == from_query({})[0]
    assert len(repairs) == 4
    assert "“adult” is not possible here: communities" in repairs[0]


@pytest.mark.parametrize("task", ["student", "student_age"])
def test_curve_and_pair_are_those_of_the_library(task):
    at = visit(data=task, C="2", leaves="5")
    curve, before, after = specs(at)
    data = regression.load(task)
    grown = regression.spread(regression.evaluate(data, methods=(regression.TREE,), max_leaves=5))
    drawn = next(trace for trace in curve["data"] if trace["name"] == "FairTreeRegressor")
    assert len(curve["data"]) == 3
    np.testing.assert_allclose(numbers(drawn["y"]), 100 * grown["r2_mean"])
    for C, spec in ((0.0, before), (2.0, after)):
        predicted = regression.predictions(data, C, max_leaves=5)
        means = numbers(spec["data"][1]["y"])
        if data.groups:
            np.testing.assert_allclose(means, [predicted[data.s == g].mean() for g in (0, 1)])
        else:
            assert min(means) >= predicted.min()
    assert at.query_params["task"] == "numbers"


def numbers(array):
    if isinstance(array, dict):
        import base64

        return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).tolist()
    return array


def test_from_decisions_to_numbers_and_back():
    at = apptest.visit("tradeoff", data="german")
    ready(labelled(at.button_group, "What is predicted?").set_value("numbers").run())
    assert dict(at.query_params) == {"task": "numbers"}
    assert any("crime rate" in element.value for element in at.main.markdown)
    ready(labelled(at.selectbox, "What is predicted").set_value("student").run())
    assert at.session_state["visit"].regression.measure == "mean_difference"
    assert dict(at.query_params) == {"task": "numbers", "data": "student"}
    labelled(at.button_group, "What is predicted?").set_value("decisions").run()
    assert not at.exception
    assert at.session_state["visit"].curve.choice.dataset == "german"
    assert dict(at.query_params) == {"data": "german"}
