"""The page of a stream without a browser: play, pause, other choices, and its numbers."""

import apptest
import pytest
from apptest import labelled

from fairglvq.experiments.streaming import LiveStream
from fairglvq.figures import stream as figures


def live(at):
    return at.session_state["visit"].stream.live


def press(at, label):
    return labelled(at.button, label).click().run()


def test_points_arrive_while_it_plays_and_wait_while_it_does_not():
    at = apptest.visit("stream")
    assert [scores.seen for scores in live(at).history] == [1_000]
    assert any("Of its last 750 decisions" in one.value for one in at.main.markdown)  # the first 250 are learned only
    at.run()
    assert len(live(at).history) == 1
    press(at, "Play")
    at.run()
    assert [scores.seen for scores in live(at).history] == [1_000, 2_000, 3_000]
    press(at, "Pause")
    at.run()
    assert len(live(at).history) == 3
    last = live(at).history[-1]
    (words,) = [one.value for one in at.main.markdown if one.value.startswith("**3,000** of 40,000 people")]
    assert f"FairGLVQ (C = 1) got **{100 * last.accuracy:.1f}%** right" in words
    assert not at.exception
    press(at, "Start again")
    assert len(live(at).history) == 1
    labelled(at.button_group, "Half way changes").set_value("none").run()
    assert live(at).key == ("xor", "none", 1.0)
    assert live(at).change is None


def test_a_link_holds_the_choices():
    at = apptest.visit("stream", data="local", drift="groups", C="0.5")
    assert live(at).key == ("local", "groups", 0.5)
    assert dict(at.query_params) == {"data": "local", "drift": "groups", "C": "0.5"}
    labelled(at.button_group, "Data set").set_value("xor").run()
    assert dict(at.query_params) == {"drift": "groups", "C": "0.5"}
    at = apptest.visit("stream", data="adult", C="9", projector="1", strength="2")
    assert live(at).key == ("xor", "border", 1.0)
    (told,) = [one.value for one in at.main.markdown if one.value.startswith("**The link was repaired.**")]
    assert "data “adult” is not possible here: xor is used instead." in told
    assert "“strength” in the link is not known here and was left out." in told
    assert "projector" not in told
    press(at, "Dismiss")
    assert not any("repaired" in one.value for one in at.main.markdown)


def test_a_stream_ends_and_shows_what_the_change_did():
    """Everything moves half way: the scores fall at once, and come back because the model goes on learning."""
    run = LiveStream("xor", "border", 0.0, points=20_000)
    while not run.done:
        run.step()
    run.step()  # nothing is left
    assert [scores.seen for scores in run.history] == list(range(1_000, 20_001, 1_000))
    before, at_once, after = (run.history[i].accuracy for i in (9, 10, -1))
    assert at_once < before - 0.1
    assert after > at_once + 0.1
    figure = figures.stream_figure(run.history, points=run.points, change=run.change)
    assert [list(trace.y) for trace in figure.data] == [
        pytest.approx([100 * scores.accuracy for scores in run.history]),
        pytest.approx([100 * scores.statistical_parity for scores in run.history]),
    ]
    assert figure.layout.shapes[0].x0 == 10_000
    assert figures.stream_alt(run.history).startswith("Accuracy and statistical parity gap while 20,000 people arrived")
    assert figures.stream_alt([]).endswith("nobody has arrived yet.")
