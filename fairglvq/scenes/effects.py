"""The effect of each setting in a trained scene, in one sentence."""

from __future__ import annotations

import math

import numpy as np

from fairglvq.lvq.activations import swish_slope
from fairglvq.scenes.leaves import Leaves
from fairglvq.scenes.scene import TITLES, Scene, final_scores, metric_of
from fairglvq.scenes.scoring import Score, nearest
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.squeeze import weights_in_words
from fairglvq.scenes.training import Training
from fairglvq.wording import count, gap, percent, points


def sentences(settings: Settings, scene: Scene) -> dict[str, str]:
    """A sentence per setting."""
    scores = final_scores(scene)
    n_learn = int((~scene.points.held_out).sum())
    found = {
        "prototypes": _prototypes(scene),
        "beta": _steepness(settings),
        "step": "Batches in order, scaled as in the published runs; GLVQ and FairGLVQ start from different prototypes."
        if settings.step == "published"
        else "Shuffled batches; the step does not depend on their size.",
        "held_out": f"{len(scene.points.y) - n_learn:,} points measure, {n_learn:,} train.",
        "bias": _data_gap(scene),
        "noise": f"GLVQ still gets {percent(scores['glvq'].accuracy)} right.",
        "projections": _removed(scene.trainings.get("inp")),
        "plane": "The plane changes what you see, not what is trained.",
    }
    if not settings.real:
        found["metric"] = _distances(settings, scene)
    if "paritylvq" in scores:
        found["max_gap"] = _gap_kept(settings, scores)
    stepwise = [key for key, training in scene.trainings.items() if training.frame_names is None]
    if stepwise:  # the last one is the one in question
        title, last = TITLES[stepwise[-1]], scene.trainings[stepwise[-1]]
        found["batch_size"] = _batches(settings, last, n_learn)
        found["learning_rate"] = _movement(title, last)
        found["epochs"] = _last_flip(last)
    with_c = [method for method in ("fairglvq", "fairtree") if method in scores]
    by_method = {method: _strength(settings, scene, scores, method) for method in with_c}
    if by_method:
        named = (f"{TITLES[method]}: {text[0].lower()}{text[1:]}" for method, text in by_method.items())
        found["C"] = " ".join(by_method.values() if len(by_method) == 1 else named)
    for training in scene.trainings.values():
        if training.leaves is not None:
            found["leaves"] = _leaves(settings, training.leaves)
    if "fairglvq" in scores:
        fair = scene.trainings["fairglvq"]
        by_steps = fair.frame_names is None
        found["alpha"] = _alpha(fair, n_learn) if by_steps else "Points without a rival do not pull here."
    return found


def warnings(scene: Scene) -> list[str]:
    """Problems in training, and what to do about them."""
    return [
        f"{TITLES[key]}'s prototypes flew off in epoch {training.epochs[-1]}, so its training stopped there; the last "
        "sound prototypes are shown. Lower C or the learning rate."
        for key, training in scene.trainings.items()
        if training.flew_off
    ]


def _strength(settings: Settings, scene: Scene, scores: dict[str, Score], method: str) -> str:
    if settings.C == 0:
        return "No fairness term: FairTree is a plain tree." if method == "fairtree" else _no_push(settings, scene)
    before, after = scores["glvq"], scores[method]
    if before.statistical_parity is None or after.statistical_parity is None:
        return f"Accuracy {_change(before.accuracy, after.accuracy)}%; no two groups to compare."
    found = _change(before.statistical_parity, after.statistical_parity)
    return f"Gap {found} points, accuracy {_change(before.accuracy, after.accuracy)}% vs GLVQ."


def _no_push(settings: Settings, scene: Scene) -> str:
    """With C = 0 FairGLVQ is GLVQ; where the two still differ, why."""
    if np.array_equal(scene.trainings["glvq"].prototypes[-1], scene.trainings["fairglvq"].prototypes[-1]):
        return "No fairness push: FairGLVQ is GLVQ."
    if settings.start:
        return "No fairness push: FairGLVQ differs from GLVQ only by the start that you chose."
    return "No fairness push: FairGLVQ differs from GLVQ only by its start, as in the published runs."


def _change(before: float, after: float) -> str:
    return f"{points(before)} → {points(after)}"


def _alpha(fair: Training, n_learn: int) -> str:
    uses, updates = int(fair.alpha_uses[-1]), int(fair.epochs[-1]) * n_learn
    if uses == 0:
        return f"Not used in any of {updates:,} updates: no rival was ever missing."
    return f"Used in {uses:,} of {updates:,} updates ({percent(uses / updates)})."


def _distances(settings: Settings, scene: Scene) -> str:
    """How much the axes count for every model that has learned it, and what holds for the others."""
    metrics = {method: metric_of(settings, training) for method, training in scene.trainings.items()}
    axes = scene.points.axes
    sentences = [f"{TITLES[m]}: {weights_in_words(omega, axes)}." for m, omega in metrics.items() if omega is not None]
    if settings.metric == "euclidean":
        sentences.append(f"For {'the others' if sentences else 'all'}, {axes[0]} and {axes[1]} count alike.")
    elif "inp" in metrics:
        sentences.append("INP stays plain.")
    return " ".join(sentences)


def _prototypes(scene: Scene) -> str:
    """How many prototypes of the last method are nearest to any measured point."""
    method = [name for name, training in scene.trainings.items() if training.leaves is None][-1]
    training, points = scene.trainings[method], scene.points
    W = training.prototypes[-1]
    idle = len(W) - len(np.unique(nearest(training, points.X[points.measured], W)))
    if idle:
        return f"{len(W)} in all; {idle} of {TITLES[method]}'s decide for nobody."
    return f"{len(W)} in all, and {TITLES[method]} uses every one."


def _leaves(settings: Settings, tree: Leaves) -> str:
    grown = len(tree.last.leaves)
    if grown < settings.leaves:
        return f"The tree stopped at {count(grown, 'leaf', 'leaves')}: no other split would gain anything."
    return f"All {grown} are used."


def _gap_kept(settings: Settings, scores: dict[str, Score]) -> str:
    found = scores["paritylvq"].statistical_parity
    if found is None:
        return "No two groups to compare."
    where = "held-out people" if settings.held_out or settings.fold else "the people it was trained on"
    return f"On {where} the gap is {gap(found)}, at {percent(scores['paritylvq'].accuracy)} right."


def _batches(settings: Settings, fair: Training, n_learn: int) -> str:
    steps = math.ceil(n_learn / settings.batch_size)
    return f"{count(steps, 'step')} per epoch, {steps * int(fair.epochs[-1]):,} in all."


def _movement(title: str, fair: Training) -> str:
    if len(fair.epochs) < 2:
        return "Nothing moved yet."
    way = np.linalg.norm(fair.prototypes[-1] - fair.prototypes[-2], axis=1).max() / np.diff(fair.epochs)[-1]
    return f"At the end {title} still moves {way:.4f} per epoch (the plane is 1 wide)."


def _last_flip(fair: Training) -> str:
    flipped = np.flatnonzero(fair.flips)
    if not flipped.size:
        return "No pseudo-class changed in this run."
    return f"The last pseudo-class changed by epoch {fair.epochs[flipped[-1]]}."


def _steepness(settings: Settings) -> str:
    border, clear = float(swish_slope(0.0, settings.beta)), float(swish_slope(-0.5, settings.beta))
    return f"A point on the border pulls with {border:.2f}, a clearly right one with {clear:.2f}."


def _data_gap(scene: Scene) -> str:
    y, s = scene.points.y, scene.points.s
    rates = [float((y[s == g] == scene.points.favourable).mean()) for g in np.unique(s)]
    return f"In the data themselves the groups' favourable shares lie {gap(max(rates) - min(rates))} apart."


def _removed(inp: Training | None) -> str:
    if inp is None or inp.removed is None:
        return "Nothing was removed."
    return f"{len(inp.removed)} of {inp.prototypes.shape[2]} directions are gone."
