"""Scores on a stream: every point is decided by a model that has not seen it."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from fairglvq import GLVQ, FairGLVQ
from fairglvq.__main__ import main
from fairglvq.datasets.streams import stream
from fairglvq.experiments.streaming import memory, prequential
from fairglvq.fairness.metrics import statistical_parity_difference

KNOWN = {"classes": [0, 1], "groups": [0, 1]}


@pytest.mark.parametrize("make", [GLVQ, lambda: FairGLVQ(C=0.3, random_state=0), SGDClassifier])
def test_scores_are_those_of_each_batch_before_it_is_learned(make):
    """The same loop, written out."""
    model, own = make(), make()
    for one in (model, own):
        one.set_params(random_state=0)
    batches = list(stream(points=900, batch_size=100))
    history = list(prequential(model, batches, **KNOWN, every=300))
    assert [scores.seen for scores in history] == [300, 600, 900]
    decided, truths, groups = [], [], []
    for number, (X, y, s) in enumerate(batches):
        if number:
            decided.append(own.predict(X))
            truths.append(y)
            groups.append(s)
        if isinstance(own, FairGLVQ):
            own.partial_fit(X, y, sensitive_features=s, **KNOWN)
        else:
            own.partial_fit(X, y, classes=[0, 1])
    for scores, part in zip(history, (slice(0, 2), slice(2, 5), slice(5, 8)), strict=True):
        p, y, s = (np.concatenate(values[part]) for values in (decided, truths, groups))
        assert scores.decided == len(p)
        assert scores.accuracy == pytest.approx(np.mean(p == y), abs=1e-12)
        gap = statistical_parity_difference(p, sensitive_features=s, favourable=1)
        assert scores.statistical_parity == pytest.approx(gap, abs=1e-12)


def test_a_drift_is_felt_and_learned():
    model = GLVQ(5, learning_rate=0.3, random_state=0)
    history = list(prequential(model, stream(points=60_000, batch_size=200), **KNOWN, every=3_000))
    accuracy = np.array([scores.accuracy for scores in history])
    assert accuracy[9] > 0.97  # before
    assert accuracy[10] < accuracy[9] - 0.1
    assert accuracy[-1] > accuracy[10] + 0.1


def test_memory_is_measured_and_does_not_grow():
    before = memory()
    held = np.ones(10_000_000)
    assert memory() > before + 0.8 * held.nbytes / 1e6
    del held
    history = list(prequential(FairGLVQ(C=0.5, random_state=0), stream(points=300_000), **KNOWN, every=50_000))
    assert history[-1].memory < history[0].memory + 5


def test_command(capsys):
    assert main(["stream", "--points", "4000", "--batch", "100", "--drift", "groups", "--set", "n_prototypes=2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 22
    assert lines[0].split()[:3] == ["points", "accuracy", "gap"]
    assert lines[20].split()[0] == "4,000"
    assert 0.3 < float(lines[20].split()[1]) <= 1
    assert lines[-1].startswith("memory: ")
    assert main(["stream", "--points", "4000", "--set", "colour=red"]) == 2
