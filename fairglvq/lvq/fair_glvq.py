"""FairGLVQ (Störck et al. 2024): GLVQ whose prototypes also keep the protected group hard to predict."""

from sklearn.utils.metaestimators import available_if

from fairglvq.lvq.glvq import GLVQ, streams


class FairGLVQ(GLVQ):
    """Nearest-prototype classifier that trades accuracy for fairness between groups.

    Minimises the sum of Φ(μ_class(x)) - C Φ(μ_fair(x)). μ_class is GLVQ's relative distance difference; μ_fair is the
    same with pseudo-classes in place of classes: the pseudo-class of a prototype is the majority group among the
    training points that are nearest to it, voted anew after every mini-batch. C = 0 is GLVQ.

    Parameters
    ----------
    C : float, default=1.0
        Strength of the fairness term. With C > 0, ``fit`` needs ``sensitive_features``.
    alpha : float, default=2.0
        Simulated distance ratio where no prototype has a point's own, or another, pseudo-class; μ_fair is then
        (alpha - 1) / (alpha + 1).
    init : default="shared-kmeans"
        As in GLVQ; the default puts one prototype per class at each centre of all points.

    The other parameters and the attributes are those of :class:`GLVQ`.
    """

    def __init__(
        self,
        n_prototypes=5,
        *,
        C=1.0,
        alpha=2.0,
        learning_rate="auto",
        max_epochs=250,
        batch_size=250,
        activation="swish",
        beta=2.0,
        init="shared-kmeans",
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
        super().__init__(
            n_prototypes,
            learning_rate=learning_rate,
            max_epochs=max_epochs,
            batch_size=batch_size,
            activation=activation,
            beta=beta,
            init=init,
            step=step,
            shuffle=shuffle,
            random_state=random_state,
            record_every=record_every,
            metric=metric,
            rank=rank,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            decide=decide,
            max_gap=max_gap,
        )
        self.C = C
        self.alpha = alpha

    def fit(self, X, y, *, sensitive_features=None, favourable=None):
        """Train on X (n, d), class labels y (n,) and the protected group of each point.

        ``favourable`` is the label that people want, for ``decide="fair"``; None takes the last one of two classes.
        """
        self._check_before(sensitive_features)
        self._need_groups_to_decide(sensitive_features)
        self._fit(X, y, sensitive_features)
        return self._decide_cells(X, y, sensitive_features, favourable)

    @available_if(streams)
    def partial_fit(self, X, y, *, sensitive_features=None, classes=None, groups=None):
        """Learn from one more mini-batch in constant memory; votes are running counts, which are halved at times.

        ``classes`` and ``groups`` list all labels and are needed at the first call.
        """
        self._check_before(sensitive_features)
        return self._partial_fit(X, y, sensitive_features, classes, groups)

    def _check_before(self, s):
        self._check_parameters()
        if self.C > 0 and s is None:
            raise ValueError(
                f"FairGLVQ with C={self.C} needs the protected group of every point: "
                "fit(X, y, sensitive_features=s). With C=0 it is plain GLVQ and needs none."
            )

    def _set_groups(self, s, n):
        codes = super()._set_groups(s, n)
        self._need_two_groups()
        return codes

    def _set_stream_groups(self, s, groups, n, first):
        codes = super()._set_stream_groups(s, groups, n, first)
        self._need_two_groups()
        return codes

    def _need_two_groups(self):
        if self.C > 0 and self.groups_ is not None and len(self.groups_) < 2:
            raise ValueError(
                f"With C={self.C} two groups or more are needed to be fair between; "
                f"there is only {self.groups_.tolist()}"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.C > 0  # fairness costs accuracy
        return tags
