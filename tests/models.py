"""Small data sets with fitted models, and distances by plain loops, for tests of explanations and reports."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairglvq import GLVQ, FairGLVQ, NullSpaceProjection
from fairglvq.datasets import Block, Dataset
from fairglvq.datasets.encoding import encode
from fairglvq.explain import PrototypeModel
from fairglvq.explain.people import population
from fairglvq.explain.view import make_view
from fairglvq.scenes import scene
from fairglvq.scenes.points import load_points
from fairglvq.scenes.sources import dataset_of
from fairglvq.scenes.training import train_part


def small(n=240, seed=0, n_classes=2, n_groups=2):
    """A made-up data set with every kind of column: two numbers (one whole), a yes or no, a category."""
    rng = np.random.default_rng(seed)
    years, amount = rng.integers(18, 70, n), rng.normal(3.0, 1.5, n)
    member, town = rng.integers(0, 2, n), rng.integers(0, 3, n)
    X = np.column_stack([years, amount, member, np.eye(3)[town]])
    s = rng.integers(0, n_groups, n)
    y = np.digitize(amount + 0.05 * years + s + rng.normal(0, 1, n), np.linspace(4, 8, n_classes + 1)[1:-1])
    blocks = (
        Block("years", 0, 1, "number"),
        Block("amount", 1, 2, "number"),
        Block("member", 2, 3, "binary", ("no", "yes")),
        Block("town", 3, 6, "category", ("Aa", "Bb", "Cc")),
    )
    return Dataset(
        name="small", title="Small", X=X, y=y, s=s, blocks=blocks, favourable=n_classes - 1,
        class_names={c: f"class {c}" for c in range(n_classes)}, group_names={g: f"group {g}" for g in range(n_groups)},
        label_column="label", group_column="group", source="", licence="",
    )  # fmt: skip


def trained_view(settings):
    """The models that these settings train, explained."""
    points = load_points(settings)
    trained = {method: train_part(settings, points, method, lambda share: None) for method in settings.methods}
    return make_view(settings, dataset_of(settings), scene.compose(settings, points, trained))


def binned(data, bins=4):
    """The same with its numbers in bins, too."""
    numbers = [block for block in data.blocks if block.kind == "number"]
    X, blocks = encode(
        pd.DataFrame({block.column: data.X[:, block.start] for block in numbers}), binary={}, categories=(), bins=bins
    )
    added, d = [block for block in blocks if block.bins_of], data.X.shape[1] - len(numbers)
    moved = [replace(block, start=block.start + d, stop=block.stop + d) for block in added]
    return replace(data, X=np.hstack([data.X, X[:, len(numbers) :]]), blocks=(*data.blocks, *moved))


def held(n, every=4):
    return np.arange(n) % every == 0


def fitted(data, k=4, C=1.0, seed=0, held_out=None):
    """A FairGLVQ model trained by the estimator on the scaled training part."""
    people = population(data, held_out)
    learn = ~people.measured if held_out is not None else people.measured
    fair = FairGLVQ(k, C=C, learning_rate=0.03, max_epochs=20, batch_size=50, random_state=seed)
    fair.fit(people.X[learn], people.y[learn], sensitive_features=people.s[learn])
    return people, PrototypeModel(fair.prototypes_, fair.prototype_labels_, fair.pseudo_classes_)


def after_inp(data, projections, held_out=None, k=3, epochs=5):
    """People, a GLVQ model trained on what INP leaves of them, and the directions that INP removed."""
    people = population(data, held_out)
    learn = ~people.measured if held_out is not None else people.measured
    inp = NullSpaceProjection(projections, random_state=0).fit(people.X[learn], sensitive_features=people.s[learn])
    left = inp.transform(people.X)
    low, span = left[learn].min(axis=0), np.ptp(left[learn], axis=0)
    span[span <= 1e-12] = 1.0
    plain = GLVQ(k, learning_rate=0.03, max_epochs=epochs, random_state=0).fit(
        ((left - low) / span)[learn], people.y[learn]
    )
    matrix = np.where(np.abs(inp.projection_) < 1e-12, 0.0, inp.projection_) / span[:, None]  # nothing but rounding
    model = PrototypeModel(plain.prototypes_, plain.prototype_labels_, np.zeros(2 * k, int), matrix, -low / span)
    return people, model, inp.directions_


def squared(a, b):
    return sum((u - v) ** 2 for u, v in zip(a.tolist(), b.tolist(), strict=True))


def ranking(x, W):
    """Prototypes from near to far, by a plain loop."""
    return sorted(range(len(W)), key=lambda p: squared(x, W[p]))


def vars_of(data):
    return {name: getattr(data, name) for name in data.__dataclass_fields__}
