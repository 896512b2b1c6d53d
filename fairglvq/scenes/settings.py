"""One frozen `Settings` describes a scene completely: the data, the training and its start.

It is the cache key, the undo step and the content of a link. Controls, and the reading and writing of links, are made
from the names, ranges and words in `FIELDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fairglvq.datasets import DATASETS, Dataset
from fairglvq.wording import count

TABLE = "table"
"""The name of a visitor's own table among the data sets."""


class Point(NamedTuple):
    """A painted point: place in the plane, class and group."""

    x: float
    y: float
    label: int
    group: int


class Start(NamedTuple):
    """Prototypes placed by hand, in the model space of one panel, sorted by class."""

    panel: str
    prototypes: tuple[tuple[float, ...], ...]


class Fold(NamedTuple):
    """One fold of a cross-validation, split and started as `fairglvq.experiments.evaluation` does it."""

    folds: int
    fold: int
    seed: int

    @property
    def words(self) -> str:
        """Which one: "2 of 5, seed 0"."""
        return f"{self.fold + 1} of {self.folds}, seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class HowTrained:
    """How models are trained, for a picture or for a curve; ``prototypes`` counts per class."""

    prototypes: int = 4
    batch_size: int = 250
    alpha: float = 2.0
    # With 150 epochs as far as the estimators' 0.03 with 250, and the picture is there sooner.
    learning_rate: float = 0.05
    epochs: int = 150
    beta: float = 2.0
    step: str = "algorithm"
    leaves: int = 20
    bins: int = 0
    table: str = ""  # key of a visitor's own table

    def parameters(self, names: Iterable[str]) -> dict[str, Any]:
        """Fields of `PARAMETERS` as parameters of the estimators; the published runs took consecutive slices."""
        found = {PARAMETERS[name]: getattr(self, name) for name in names}
        return found | ({"shuffle": self.step == "algorithm"} if "step" in found else {})


PARAMETERS = {
    "prototypes": "n_prototypes",
    "batch_size": "batch_size",
    "alpha": "alpha",
    "learning_rate": "learning_rate",
    "epochs": "max_epochs",
    "beta": "beta",
    "step": "step",
    "leaves": "max_leaves",
}
"""What the estimators call the fields of training."""


@dataclass(frozen=True)
class Settings(HowTrained):
    """What is trained. The names are the estimators' where they have one."""

    dataset: str = "xor"
    beside: tuple[str, ...] = ("inp", "fairglvq")  # methods shown beside GLVQ
    C: float = 1.5
    max_gap: float = 0.05
    held_out: float = 0.2
    noise: float = 1.0
    bias: float = 1.0
    seed: int = 0
    metric: str = "euclidean"
    plane: str = "pca"
    projections: int = 1
    painted: tuple[Point, ...] = ()
    erased: tuple[int, ...] = ()
    start: Start | None = None
    fold: Fold | None = None

    @property
    def real(self) -> bool:
        """Whether the data are people and not drawn in the plane."""
        return self.dataset == TABLE or not DATASETS[self.dataset].synthetic

    @property
    def methods(self) -> tuple[str, ...]:
        """What is trained: GLVQ, with which the others are compared, and those beside it."""
        return ("glvq", *self.beside)

    def in_own_plane(self, method: str) -> bool:
        """Whether a method learns two directions and decides by them alone."""
        if method == "inp" and not self.real:  # of a drawn plane INP leaves one direction: no distance to learn
            return False
        return method == "paritylvq" or (method != "fairtree" and self.metric == "matrix")


@dataclass(frozen=True)
class Field:
    """One setting: its name in links, its label, its meaning and its allowed values.

    A field has either ``choices`` or a range from ``low`` to ``high`` in steps of ``step``.
    """

    query: str
    label: str
    help: str
    choices: tuple[Any, ...] = ()
    low: float = 0
    high: float = 0
    step: float = 0
    names: Mapping[Any, str] | None = None  # words for choices
    of: Callable[[Settings, str], bool] | None = None  # which methods depend on it; None: all
    when: Callable[[Settings], bool] | None = None  # beside which settings it is offered; None: all
    several: bool = False  # any of the choices, not just one
    share: bool = False  # a part of a whole, shown in per cent
    usual: float = 0  # upper end of the slider on drawn data, where the whole range would make it too coarse

    def concerns(self, settings: Settings, method: str) -> bool:
        """Whether a method depends on the setting."""
        return self.of is None or self.of(settings, method)

    def applies(self, settings: Settings) -> bool:
        """Whether the setting means anything beside the others."""
        offered = self.when is None or self.when(settings)
        return offered and any(self.concerns(settings, method) for method in settings.methods)

    def top(self, settings: Settings, value: float) -> float:
        """Upper end of the slider."""
        return self.high if settings.real or not self.usual or value > self.usual else self.usual

    def named(self, value: Any) -> str:
        """The word for a choice."""
        return str((self.names or {}).get(value, value))

    def worded(self, value: Any) -> str:
        """A value of the setting in words, also of several choices or a share."""
        if self.several:
            return ", ".join(map(self.named, value))
        return f"{value:.0%}" if self.share else self.named(value)


def _synthetic(settings: Settings) -> bool:
    return not settings.real


def _prototypes(settings: Settings, method: str) -> bool:
    return method != "fairtree"


def _stepwise(settings: Settings, method: str) -> bool:
    """Whether a method is trained step by step, as Algorithm 1 does; own planes come from a line search."""
    return method != "fairtree" and not settings.in_own_plane(method)


def _only(*methods: str) -> Callable[[Settings, str], bool]:
    return lambda settings, method: method in methods


def points_of(gap: float) -> str:
    """A gap in percentage points: "7.5 points"."""
    return count(round(100 * gap, 3), "point")


GAPS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
"""Largest gaps allowed that can be chosen; also the pictures of ParityLVQ's film."""

FIELDS: dict[str, Field] = {
    "dataset": Field(
        "data",
        "Data set",
        "Drawn in the plane, or real people in many dimensions.",
        choices=tuple(DATASETS),
        names={name: entry.title for name, entry in DATASETS.items()} | {TABLE: "Your table"},
    ),
    "beside": Field(
        "beside",
        "Beside GLVQ",
        "INP removes the group before training, FairGLVQ pushes against what tells groups apart, ParityLVQ keeps to a "
        "gap that you name. FairTree asks one question after another; of many dimensions it has no picture here, but "
        "leaves on the prototypes page.",
        choices=("inp", "fairglvq", "paritylvq", "fairtree"),
        names={"inp": "INP", "fairglvq": "FairGLVQ", "paritylvq": "ParityLVQ", "fairtree": "FairTree"},
        several=True,
    ),
    "C": Field(
        "C",
        "Fairness strength C",
        "How strongly prototypes are pushed away from places where one group sits together, and splits of a tree kept "
        "from parting the groups. 0 is plain GLVQ, or a plain tree.",
        low=0.0,
        high=15.0,
        step=0.05,
        usual=5.0,
        of=_only("fairglvq", "fairtree"),
    ),
    "max_gap": Field(
        "gap",
        "Largest gap allowed",
        "ParityLVQ looks for the most accurate prototypes whose groups get the favourable decision about equally "
        "often: in 100 people, they differ by at most so many.",
        choices=GAPS,
        names={gap: points_of(gap) for gap in GAPS},
        of=_only("paritylvq"),
    ),
    "prototypes": Field(
        "k",
        "Prototypes per class",
        "Each prototype decides for the points closest to it; more prototypes draw finer borders.",
        low=1,
        high=20,
        step=1,
        usual=10,
        of=_prototypes,
    ),
    "leaves": Field(
        "leaves",
        "Leaves of the tree",
        "A tree splits one of its rectangles after another, the best split first, until there are so many.",
        low=2,
        high=100,
        step=1,
        usual=30,
        of=_only("fairtree"),
    ),
    "batch_size": Field(
        "batch",
        "Batch size",
        "Points looked at before every step. Pseudo-classes are voted on anew after each step.",
        choices=(10, 25, 50, 100, 200, 250, 500, 1000, 2500),
        of=_stepwise,
    ),
    "alpha": Field(
        "alpha",
        "Missing rival alpha",
        "Where no prototype has a point's group as pseudo-class, or none another, one alpha times as far is assumed.",
        choices=(1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 8.0),
        of=_only("fairglvq"),
    ),
    "learning_rate": Field(
        "eta",
        "Learning rate η",
        "How far a prototype moves per step.",
        choices=(0.001, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3),
        of=_stepwise,
    ),
    "epochs": Field(
        "epochs",
        "Epochs",
        "How many times training goes through all points.",
        choices=(10, 20, 30, 50, 75, 100, 150, 200, 250, 350, 500),
        of=_stepwise,
    ),
    "beta": Field(
        "beta",
        "Steepness β",
        "Steepness of the swish function: how much a doubtful point counts against a clear one.",
        low=0.5,
        high=10.0,
        step=0.5,
        of=lambda settings, method: method not in ("paritylvq", "fairtree"),
    ),
    "step": Field(
        "step",
        "Step rule",
        "Algorithm 1 as printed, with shuffled batches; or as in the published runs: another scale, batches in order.",
        choices=("algorithm", "published"),
        names={"algorithm": "Algorithm 1", "published": "Published"},
        of=_stepwise,
    ),
    "projections": Field(
        "inp",
        "Directions INP removes",
        "How often a linear model looks for the group and loses the direction it used.",
        choices=(0, 1, 2, 5, 10, 20, 35, 50, 75, 85, 90, 95, 100, 200, 300, 365, 380),
        of=_only("inp"),
        when=lambda settings: settings.real,
    ),
    "metric": Field(
        "metric",
        "Distance",
        "Plain: every column counts alike, as in the paper. Learned: each model finds out how much each direction "
        "counts. Of real people it keeps two directions, and the picture shows exactly these; with the plain distance "
        "it is a slice. On drawn data INP stays plain: of the plane it leaves one direction.",
        choices=("matrix", "euclidean"),
        names={"matrix": "Learned", "euclidean": "Plain"},
        of=_prototypes,
    ),
    "bins": Field(
        "bins",
        "Numbers also as ranges",
        "Every number also enters as 0/1 columns, one per range, for all methods alike: straight borders can then "
        "bend. The paper has no ranges.",
        choices=(0, 8, 32),
        names={0: "No", 8: "8 ranges", 32: "32 ranges"},
        when=lambda settings: settings.real and settings.dataset != TABLE,
    ),
    "plane": Field(
        "plane",
        "Plane shown",
        "Which two of the many dimensions the pictures show.",
        choices=("pca", "prototypes"),
        names={"pca": "Widest spread", "prototypes": "Two prototypes"},
        when=lambda settings: settings.real and settings.metric == "euclidean",
    ),
    "held_out": Field(
        "test",
        "Share held out",
        "Points kept out of training; all numbers are measured on them.",
        low=0.0,
        high=0.5,
        step=0.05,
        share=True,
    ),
    "noise": Field(
        "noise",
        "Noise",
        "How wide the clouds are; 1 is the original.",
        low=0.0,
        high=3.0,
        step=0.1,
        when=_synthetic,
    ),
    "bias": Field(
        "bias",
        "Bias",
        "How strongly the group is tied to place and label: 1 is the original, 0 is not at all.",
        low=0.0,
        high=1.0,
        step=0.05,
        when=_synthetic,
    ),
    "seed": Field("seed", "Seed", "Of the data, the split, the start and the order.", low=0, high=9999, step=1),
}

KNOBS = {"fairglvq": "C", "paritylvq": "max_gap", "fairtree": "C"}
"""The field that is a method's strength, which its film goes through."""

MAIN = ("dataset", "beside", "C", "max_gap", "prototypes", "leaves", "alpha", "batch_size")
"""Settings that are always visible; the others are behind "More"."""

_DRAWN = Settings()
_REAL = Settings(step="published", metric="matrix", beside=("fairglvq", "paritylvq"))
DEFAULTS = {
    "xor": _DRAWN,
    "local": replace(_DRAWN, dataset="local", C=1.0),
    "three_classes": replace(_DRAWN, dataset="three_classes"),
    "three_groups": replace(_DRAWN, dataset="three_groups", C=2.0),
    "adult": replace(_REAL, dataset="adult", C=1.0, bins=8, prototypes=3, batch_size=1000, epochs=30),
    "compas": replace(_REAL, dataset="compas", C=1.0, prototypes=3, batch_size=200, epochs=50),
    "german": replace(_REAL, dataset="german", C=1.5, prototypes=4, batch_size=100, epochs=100),
    TABLE: replace(_REAL, dataset=TABLE, C=1.0, prototypes=4, batch_size=100, epochs=50),
}
"""Settings that each data set starts with: strong enough to see the effect, trained within a second or, on real data,
seconds.

A link holds only what differs from these.
"""


@dataclass(frozen=True)
class Preset:
    """Settings of an instructive picture, and what to look at in it."""

    title: str
    story: str
    settings: Settings


PRESETS: dict[str, Preset] = {
    "xor": Preset(
        "Paper: XOR",
        "The paper's XOR, trained as published. GLVQ cuts off the right edge of both rows, along the towns; FairGLVQ "
        "gives these people up and decides by savings, for everyone alike. As in the paper, FairGLVQ starts from other "
        "prototypes than GLVQ: with C = 0 the two still differ.",
        Settings(dataset="xor", C=1.25, learning_rate=0.005, epochs=250, step="published"),
    ),
    "local": Preset(
        "Paper: Local",
        "The paper's Local, trained as published. Only the upper problem is tied to the town. FairGLVQ answers it "
        "with a constant and keeps the right-hand one; which constant is chance: try New seed. As in the paper, "
        "FairGLVQ starts from other prototypes than GLVQ: with C = 0 the two still differ.",
        Settings(dataset="local", C=1.5, prototypes=5, learning_rate=0.005, epochs=250, step="published"),
    ),
    "alpha": Preset(
        "Alpha at work",
        "One prototype per class is too few to represent every town: often a person has no rival prototype, and "
        "FairGLVQ assumes one alpha times as far away. Change alpha and the picture changes.",
        Settings(dataset="local", C=1.0, prototypes=1),
    ),
    "strong": Preset(
        "C too strong",
        "When the fairness term outweighs the class term, the gap closes because classes are no longer separated: "
        "half of all decisions are wrong. Switch on Forces, play, then turn C down to 2.",
        Settings(dataset="three_groups", C=5.0),
    ),
    "inp": Preset(
        "Where INP fails",
        "INP may only take one straight direction out of the plane. Here the town is tied to one corner, so INP loses "
        "half of all decisions; FairGLVQ bends only the cells that matter. Fold the plane to see what INP sees.",
        Settings(dataset="local", C=1.0),
    ),
    "groups": Preset(
        "Three groups",
        "Three towns of equal income meet three different bars, and the widest gap counts. INP has to remove a "
        "direction per town: nothing of the plane is left.",
        Settings(dataset="three_groups", C=2.0),
    ),
    "classes": Preset(
        "Three classes",
        "Rejected, waiting list or admitted: only people of one town ever wait. FairGLVQ moves the border "
        "in the middle and leaves the others where they are.",
        Settings(dataset="three_classes", C=1.5),
    ),
}


def nearest_allowed(field: Field, number: float) -> Any:
    """The allowed value nearest to a number. Sliders go in steps, but a curve has models between them."""
    if field.choices:
        return min(field.choices, key=lambda choice: abs(choice - number))
    value = min(max(number, field.low), field.high)
    return round(value) if isinstance(field.step, int) else float(value)


def in_words(settings: Settings) -> dict[str, str]:
    """Every setting that means something here, by its label, and what was done by hand."""
    found = {
        field.label: field.worded(getattr(settings, name)) for name, field in FIELDS.items() if field.applies(settings)
    }
    if settings.fold:
        found["Test fold"] = settings.fold.words
    hand = (
        (len(settings.painted), "points painted"),
        (len(settings.erased), "points erased"),
        (len(settings.start.prototypes) if settings.start else 0, "prototypes placed before training"),
    )
    done = [f"{what}: {n}" for n, what in hand if n]
    return found | ({"By hand": ", ".join(done)} if done else {})


def shape_of(dataset: str) -> tuple[int, int]:
    """Numbers of classes and groups, without loading the data."""
    return 3 if dataset == "three_classes" else 2, 3 if dataset == "three_groups" else 2


def preset_of(settings: Settings) -> str | None:
    """The preset that these settings are, whatever the seed."""
    for name, preset in PRESETS.items():
        if replace(settings, seed=preset.settings.seed) == preset.settings:
            return name
    return None


# What a change resets: painted points belong to one data set, erased rows and prototypes placed by hand to one draw of
# it.
_FORGETS: dict[str, dict[str, Any]] = {
    "dataset": {"painted": (), "erased": (), "start": None, "fold": None, "table": ""},
    "seed": {"erased": (), "start": None, "fold": None},
    "noise": {"start": None},
    "held_out": {"start": None, "fold": None},
    "prototypes": {"start": None},
    "projections": {"start": None},
    "metric": {"start": None},
    "beside": {"start": None},
}


def with_changes(settings: Settings, **changes: Any) -> Settings:
    """The settings with some changed, and those that become meaningless set back."""
    real = {name: value for name, value in changes.items() if getattr(settings, name) != value}
    forgotten: dict[str, Any] = {}
    for name in real:
        forgotten |= _FORGETS.get(name, {})
    if "dataset" in real:
        own = DEFAULTS[real["dataset"]]
        forgotten["C"] = own.C
        if settings.real or own.real:
            # Training settings of drawn data do not suit real data, nor the other way round.
            of_kind = ("prototypes", "batch_size", "learning_rate", "epochs", "step", "metric", "bins", "beside")
            forgotten |= {name: getattr(own, name) for name in of_kind}
    return replace(settings, **(forgotten | real))


def for_table(key: str, data: Dataset) -> Settings:
    """What a visitor's own table starts with: some 40 steps per epoch, and no more prototypes than points.

    With batches of fewer than 100 people steps vary so much that FairGLVQ loses accuracy without a smaller gap.
    """
    smallest = min(int((data.y == label).sum()) for label in data.class_names)
    batch_size = nearest_allowed(FIELDS["batch_size"], max(100, len(data.y) / 40))
    prototypes = max(1, min(DEFAULTS[TABLE].prototypes, smallest // 5))
    return replace(DEFAULTS[TABLE], table=key, batch_size=batch_size, prototypes=prototypes)
