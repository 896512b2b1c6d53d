"""Generalized Learning Vector Quantization (Sato & Yamada 1995) as a scikit-learn classifier."""

import math
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from fairglvq.fairness.deciding import decide_model
from fairglvq.labels import as_column, encode, positions, warn_about_groups
from fairglvq.lvq import auto_rate, learned_metric
from fairglvq.lvq.directions import first_metric
from fairglvq.lvq.initialisers import initial_prototypes
from fairglvq.lvq.projected import Projected, lift, moved_to_zero, one_thread
from fairglvq.lvq.prototype_classifier import (
    PrototypeClassifier,
    check_groups,
    refuse_large_values,
    warn_surplus_prototypes,
)
from fairglvq.lvq.schedules import Plateau, Timetable
from fairglvq.lvq.trainer import EXACT_VOTES, Recipe, Trainer, as_rows, compact

# A stream's counts are halved whenever they hold more points per prototype than this. Prototypes move, and points stay
# counted in the cell they were in; without halving, old counts would fix the pseudo-classes: on XOR with C = 2 or 3 the
# gap between the groups then grew to 0.4, from 0.25 without fairness. With halving, a stream ends where fit does.
VOTES_PER_PROTOTYPE = 100


def streams(model) -> bool:
    """Whether a model can learn from one mini-batch after the other."""
    if model.decide != "majority":
        raise AttributeError("partial_fit needs decide='majority': cells are decided fairly for all points at once")
    if model.metric != "euclidean":
        raise AttributeError("partial_fit needs metric='euclidean': a learned metric is trained on all points at once")
    return True


class GLVQ(PrototypeClassifier):
    """Nearest-prototype classifier whose prototypes minimise the sum of Φ(μ(x)).

    μ(x) = (d+ - d-) / (d+ + d-), with the squared Euclidean distances to the closest prototype of the point's class and
    to the closest of another class; Φ is the ``activation``. Distances mix all features: scale them to [0, 1] first
    (MinMaxScaler), as the paper does.

    Parameters
    ----------
    n_prototypes : int, default=5
        Prototypes per class.
    learning_rate : "auto" or float, default="auto"
        Step size η of Algorithm 1. "auto" sets it from the data, so that neither their scale nor the number of
        prototypes matters, and lowers it when the cost stays (:mod:`fairglvq.lvq.auto_rate`). A number is η as it is,
        from the first step to the last. With ``step="published"``, "auto" is 0.03. ``partial_fit`` takes a quarter of
        the automatic rate throughout, from distances of the first 5,000 points of the stream.
    max_epochs, batch_size : int, default=250
        Passes over the data, at most, and points per step. With "auto", training may end sooner, and an epoch has at
        least 4 steps: fewer than 4 batches are made smaller, so that also small data get up to 1,000 steps.
    tol, n_iter_no_change : float and int, default=1e-5 and 5
        With "auto", the rate is divided by 4 when the cost has fallen by no more than ``tol`` in so many epochs; the
        third time, training ends. The cost of an epoch is the mean of Φ(μ), of each point before the step that it
        takes part in. FairGLVQ with C > 0 has no such cost: there the rate is lowered after 80 and 90 % of
        ``max_epochs``, all of which are made.
    activation : {"swish", "sigmoid", "identity"}, default="swish"
        Φ; ``beta`` is its steepness.
    init : {"class-kmeans", "shared-kmeans", "random"} or array (P, d), default="class-kmeans"
        Where prototypes start; an array is taken class by class. With C = 0 a learned metric
        takes "shared-kmeans" for "class-kmeans".
    step : {"algorithm", "published"}, default="algorithm"
        Algorithm 1 with the exact gradient, or the scaling of the paper's published runs.
    shuffle : bool, default=True
        False takes consecutive slices as mini-batches, in the same order every epoch.
    random_state : int, Generator, RandomState or None
        Seed of starts, order and draws.
    record_every : "auto", int or None, default="auto"
        Epochs between two entries of ``history_``. An entry takes about as long as an epoch, because it measures the
        whole training set. "auto": a twentieth of ``max_epochs``, but at least 5, which adds at most about a quarter to
        the training time; 1 about doubles it; None keeps no history.

    metric : {"euclidean", "diagonal", "matrix"}, default="euclidean"
        Distances |x - w|², or |Ω(x - w)|² with a learned Ω: a weight per feature (GRLVQ) or a matrix (GMLVQ). A
        learned metric is trained by L-BFGS on all points: ``max_epochs`` are its steps; ``learning_rate``,
        ``batch_size``, ``step``, ``shuffle`` and ``record_every`` play no part.
    rank : int or None, default=None
        Rows of a matrix Ω; None: as many as features. Fewer start from directions that predict the label and, if
        given, the group (logistic regression). Beyond rank 2, with several prototypes per class and at least 50 points
        per column, they start from columns on whose ranges the label depends (a tree finds them).

    decide : {"majority", "fair"}, default="majority"
        Every cell answers with the class of its prototype, which training moves to where that class is the majority;
        or, after training, all cells together answer as accurately as they can with a gap in favourable decisions of
        at most ``max_gap`` on the training set (:mod:`fairglvq.fairness.deciding`). Needs ``sensitive_features``.
    max_gap : float, default=0.05
        The gap allowed by ``decide="fair"``.

    Attributes
    ----------
    prototypes_ : ndarray (P, d), class by class
        With a learned metric: of all points with the image that decides, the closest to the mean of the cell.
    omega_, relevances_ : ndarray (r, d) and (d,), or None
        Ω, and the diagonal of ΩᵀΩ with sum 1.
    prototype_labels_, cell_labels_ : ndarray (P,)
        The classes that prototypes were trained for, and what their cells answer: with ``decide="fair"`` maybe others.
    decision_ : Decision or None
        Accuracy, gap and bound of ``decide="fair"`` on the training set.
    pseudo_classes_ : ndarray (P,) or None
        Majority group of each prototype's cell; None when trained without ``sensitive_features``. While ``fit`` trains
        on more than 100,000 points, each is counted where it was when it was last learned; at the end, where it is.
    votes_ : ndarray (P, classes, groups)
        Points in each cell, which pseudo-classes are voted from; in a stream, running counts. Zeros without
        ``sensitive_features``; not there with a learned metric.
    typical_distance_ : tuple of float and int
        Mean of (d+ + d-) / 2 over the first points of a stream, and how many they were: the unit of automatic steps.
    classes_, groups_ : ndarray
        ``groups_`` is None without ``sensitive_features``.
    n_alpha_uses_ : int
        Updates in which a missing rival was simulated with ``alpha``.
    n_epochs_ : int
    history_ : list of Snapshot
        Start, every ``record_every`` epochs, and end: prototypes, pseudo-classes, costs, pulls, accuracy and parity.

    Warns
    -----
    ConvergenceWarning
        If prototypes flew off and training stopped early; with ``learning_rate="auto"`` (and C = 0) also if the cost
        rose, or still fell fast at ``max_epochs``.
    UserWarning
        If a class has fewer distinct points than prototypes, or if there are too many groups to be fair between.
    """

    def __init__(
        self,
        n_prototypes=5,
        *,
        learning_rate="auto",
        max_epochs=250,
        batch_size=250,
        activation="swish",
        beta=2.0,
        init="class-kmeans",
        step="algorithm",
        shuffle=True,
        random_state=None,
        record_every="auto",
        metric="euclidean",
        rank=None,
        tol=1e-5,
        n_iter_no_change=5,
        decide="majority",
        max_gap=0.05,
    ):
        self.n_prototypes = n_prototypes
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.activation = activation
        self.beta = beta
        self.init = init
        self.step = step
        self.shuffle = shuffle
        self.random_state = random_state
        self.record_every = record_every
        self.metric = metric
        self.rank = rank
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.decide = decide
        self.max_gap = max_gap

    def fit(self, X, y, *, sensitive_features=None, favourable=None):
        """Train on X (n, d) with class labels y (n,).

        The protected group of each point, and the label that people want (None: the last one of two classes), only
        matter with ``decide="fair"``: training does not use them.
        """
        self._check_parameters()
        self._need_groups_to_decide(sensitive_features)
        self._fit(X, y, None)
        return self._decide_cells(X, y, sensitive_features, favourable)

    @available_if(streams)
    def partial_fit(self, X, y, *, classes=None):
        """Learn from one more mini-batch; ``classes`` lists all classes and is needed at the first call."""
        self._check_parameters()
        return self._partial_fit(X, y, None, classes, None)

    # -- training ---------------------------------------------------------------------------------------------------

    def _need_groups_to_decide(self, s):
        if self.decide == "fair" and s is None:
            raise ValueError(
                f"{type(self).__name__} with decide='fair' needs the protected group of every point: "
                "fit(X, y, sensitive_features=s)"
            )

    def _decide_cells(self, X, y, s, favourable):
        """Set the answers of the trained prototypes' cells as ``decide`` says."""
        self.decision_ = None
        if self.decide == "fair":
            known = {"sensitive_features": s, "favourable": favourable, "max_gap": self.max_gap}
            self.decision_ = decide_model(self, X, y, **known)[1]
            self._decided_labels = self.classes_[self.decision_.answers]
        return self

    def _fit(self, X, y, s):
        X, y = self._check_points(X, y, reset=True)
        classes, codes = encode(y)
        self._set_classes(classes)
        group_codes = self._set_groups(s, X.shape[0])
        warn_surplus_prototypes(X, codes, self.classes_, self.n_prototypes)
        if self.groups_ is not None:
            warn_about_groups(self.groups_, group_codes, len(self.prototype_labels_))
        rng = np.random.default_rng(self._seed())
        if self.metric != "euclidean":
            with one_thread():
                return self._fit_metric(X, codes, group_codes, rng)
        self._set_metric(None)
        W = self._start(X, codes, rng)
        recipe, schedule = self._plan(X, codes, W)
        trainer = Trainer(
            as_rows(X), codes, group_codes, W, self._prototype_codes(), recipe, rng, n_groups=self._n_groups(),
            lazy_votes=recipe.C == 0 and len(codes) > EXACT_VOTES,
        )  # fmt: skip
        every = self._record_interval()
        if every:
            trainer.run(0, every)
        if self.max_epochs:
            trainer.run(self.max_epochs, every, schedule)
        if not every:
            trainer.count_votes()
        self.history_: list = [self._decode(snapshot) for snapshot in trainer.history]
        self._set_prototypes(trainer.prototypes.W, trainer.prototypes.pseudo)
        self.n_epochs_, self.n_alpha_uses_ = trainer.epoch, trainer.alpha_uses
        self._stream_rng, self.votes_ = rng, trainer.cells.counts  # where partial_fit would go on
        if trainer.flew_off:
            _warn_flew_off(
                f"in epoch {trainer.epoch}: training stopped early"
                if trainer.steps
                else "in the first step: the model is its start and has learned nothing"
            )
        elif schedule and schedule.problem:
            warnings.warn(f"{schedule.problem}.", ConvergenceWarning, stacklevel=3)
        return self

    def _fit_metric(self, X, codes, group_codes, rng):
        unit = _largest_span(X)
        X, shift = moved_to_zero(compact(X))
        X, targets = X / unit, [codes] if group_codes is None else [codes, group_codes]
        omega, images = first_metric(X, targets, self.metric, self.rank, rng, bends=self.n_prototypes > 1)
        recipe = self._recipe()
        given: str | np.ndarray
        if isinstance(self.init, str):  # without a push, a line search may not part classes that start together
            given = "class-kmeans" if self.init == "shared-kmeans" and not recipe.C else self.init
        else:
            W = initial_prototypes(self.init, X, codes, self.n_prototypes, len(self.classes_), rng)
            given = Projected(omega, images, np.zeros(0)).project((W - shift) / unit)
        V = initial_prototypes(given, images, codes, self.n_prototypes, len(self.classes_), rng)
        start = Projected(omega, V, np.zeros(len(V)))
        terms = learned_metric.Terms(codes, self._prototype_codes(), group_codes)
        taken = learned_metric.train(X, start, terms, recipe, self.max_epochs, rng)
        last = taken[-1]
        omega = last.model.omega if last.model.omega.ndim == 2 else np.diag(last.model.omega)
        W = lift(X, last.model.cells(last.model.project(X)), omega, last.model.V)
        self._set_metric(omega / unit)
        self._set_prototypes(W * unit + shift, last.pseudo_classes)
        models = [entry.model._replace(omega=entry.model.omega / unit).moved(shift) for entry in taken]
        self.history_ = [self._decode(entry)._replace(model=m) for entry, m in zip(taken, models, strict=True)]
        self.n_epochs_, self.n_alpha_uses_ = last.epoch, 0
        return self

    def _partial_fit(self, X, y, s, classes, groups):
        first = not hasattr(self, "prototypes_") or self.omega_ is not None
        X, y = self._check_points(X, y, reset=first)
        if first:
            if classes is None:
                raise ValueError("classes is needed at the first call of partial_fit: it names every class to come")
            self._set_classes(_distinct(classes, "classes"))
            self._stream_rng = np.random.default_rng(self._seed())
            self._set_metric(None)
            self.n_alpha_uses_ = self.n_epochs_ = 0
            self.history_ = []
        elif classes is not None and _differ(classes, self.classes_, "classes"):
            raise ValueError(f"classes={classes!r} differ from those of the first call: {self.classes_!r}")
        codes = positions(y, self.classes_, "class")
        group_codes = self._set_stream_groups(s, groups, X.shape[0], first)
        if first and self.groups_ is not None:
            warn_about_groups(self.groups_, None, len(self.prototype_labels_))
        rng = self._stream_rng
        if first:
            W = self._start(X, codes, rng)
            self._set_prototypes(W, np.zeros(len(W), np.int64))
            self.votes_ = np.zeros((len(W), len(self.classes_), self._n_groups()), np.int64)
            self.typical_distance_ = 0.0, 0
        if self.votes_.sum() > VOTES_PER_PROTOTYPE * len(self.votes_):
            self.votes_ //= 2
        recipe = self._recipe()._replace(batch_size=X.shape[0], shuffle=False)
        if self._automatic:
            if self.typical_distance_[1] < auto_rate.SAMPLE:
                self._see_distances(X, codes, self.prototypes_)
            recipe = recipe._replace(learning_rate=self._rate(auto_rate.STREAM_RATE, len(codes)))
        trainer = Trainer(
            as_rows(X),
            codes,
            group_codes,
            self.prototypes_,
            self._prototype_codes(),
            recipe,
            rng,
            n_groups=self._n_groups(),
            pseudo=self._pseudo_codes(),
            running_votes=self.votes_,
        )
        made = trainer.run(1)
        self._set_prototypes(trainer.prototypes.W, trainer.prototypes.pseudo)
        self.n_alpha_uses_ += trainer.alpha_uses
        self.n_epochs_ += 1
        if not made:
            _warn_flew_off("in this batch, which was skipped")
        return self

    def _start(self, X, codes, rng) -> np.ndarray:
        W = initial_prototypes(self.init, X, codes, self.n_prototypes, len(self.classes_), rng)
        refuse_large_values(W, "init")
        return W

    def _recipe(self) -> Recipe:
        shared = {name: getattr(self, name) for name in Recipe._fields if hasattr(self, name)}
        if self.learning_rate == "auto":  # to come from the data; with the published step the recipe's own
            del shared["learning_rate"]
        return Recipe(**shared)

    def _plan(self, X, codes, W) -> tuple[Recipe, Timetable | Plateau | None]:
        """How ``fit`` trains: the recipe of the first step, and what changes its rate."""
        recipe, self.typical_distance_ = self._recipe(), (0.0, 0)
        if not self._automatic:
            return recipe, None
        self._see_distances(X, codes, W)
        batch_size = min(self.batch_size, math.ceil(len(codes) / auto_rate.STEPS_PER_EPOCH))
        recipe = recipe._replace(learning_rate=self._rate(auto_rate.RATE, batch_size), batch_size=batch_size)
        if recipe.C:
            return recipe, Timetable(self.max_epochs)
        return recipe, Plateau(self.tol, self.n_iter_no_change)

    @property
    def _automatic(self) -> bool:
        return self.learning_rate == "auto" and self.step == "algorithm"

    def _see_distances(self, X, codes, W) -> None:
        """Take these points into the mean of typical distances, kept with the number of points behind it."""
        known, rows = self.typical_distance_
        found, total = auto_rate.typical_distance(X, codes, W, self._prototype_codes()), rows + len(codes)
        self.typical_distance_ = known + (found - known) * len(codes) / total, total

    def _rate(self, rate: float, batch_size: int) -> float:
        return rate * min(len(self.prototype_labels_), batch_size) * self.typical_distance_[0]

    # -- checks and labels ------------------------------------------------------------------------------------------

    def _set_stream_groups(self, s, groups, n, first):
        if first:
            self.groups_ = None if groups is None else _distinct(groups, "groups")
        elif groups is not None and _differ(groups, self.groups_, "groups"):
            raise ValueError(f"groups={groups!r} differ from those of the first call: {self.groups_!r}")
        if s is None:
            return None
        if self.groups_ is None:
            raise ValueError("groups is needed at the first call of partial_fit: it names every group to come")
        return positions(check_groups(s, n), self.groups_, "group")

    def _set_prototypes(self, W, pseudo):
        self.prototypes_, self._decided_labels = W, None
        self.pseudo_classes_ = None if self.groups_ is None else self.groups_[pseudo]

    def _pseudo_codes(self):
        if self.groups_ is None or self.pseudo_classes_ is None:
            return None
        return positions(self.pseudo_classes_, self.groups_, "group")

    def _n_groups(self):
        return 1 if self.groups_ is None else len(self.groups_)

    def _record_interval(self) -> int:
        if self.record_every is None:
            return 0
        if self.record_every != "auto":
            return self.record_every
        return max(5, math.ceil(self.max_epochs / 20))

    def _decode(self, snapshot):
        """A snapshot with the names of groups for their codes."""
        if snapshot.pseudo_classes is None or self.groups_ is None:
            return snapshot
        return snapshot._replace(pseudo_classes=self.groups_[snapshot.pseudo_classes])


def _largest_span(X) -> float:
    """How wide the widest feature is; rounded, so that features scaled to [0, 1] are exactly 1 wide."""
    spans = X.max(axis=0) - X.min(axis=0)
    return float(f"{spans.max():.9g}") or 1.0


def _warn_flew_off(when):
    warnings.warn(
        f"Prototypes were about to fly off {when}. Lower C or learning_rate, or scale the features to [0, 1].",
        ConvergenceWarning,
        stacklevel=4,
    )


def _distinct(labels, name) -> np.ndarray:
    """The different labels, sorted."""
    return encode(as_column(labels, name))[0]


def _differ(labels, known, name) -> bool:
    return known is None or set(as_column(labels, name).tolist()) != set(known.tolist())
