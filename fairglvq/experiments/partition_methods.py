"""Methods that decide by leaves of a tree, and methods whose cells are decided fairly after training."""

from dataclasses import dataclass

from fairglvq.experiments.method import BoundedGap, Method

OF_TREE = frozenset({"criterion", "max_leaves", "min_samples_leaf"})


@dataclass(frozen=True)
class Trees(Method):
    """FairTree with a strength C; 20 leaves where a sweep sets no number."""

    family: str = "trees"
    knob: str | None = "C"
    strengths: tuple[float, ...] = (0, 0.25, 0.5, 1, 2, 4)
    parameters: frozenset[str] = OF_TREE

    def fit(self, fold, prepared, strength, params):
        """FairTree on this fold."""
        from fairglvq.trees.fair_tree import FairTree

        return FairTree(**params, C=float(strength)).fit(fold.X, fold.y, sensitive_features=fold.s)


@dataclass(frozen=True)
class Decided(BoundedGap):
    """The cells of another method at one strength C, with answers whose training gap is at most 1 - parity."""

    cells: Method = Trees("", "")
    C: float = 1.0

    def prepare(self, fold, strengths, params):
        """The cells, which are the same for every gap."""
        return self.cells.fit(fold, self.cells.prepare(fold, [self.C], params), self.C, params)

    def fit(self, fold, model, strength, params):
        """The most accurate answers of these cells within the gap."""
        from sklearn.frozen import FrozenEstimator

        from fairglvq.fairness.decided import FairlyDecided

        decided = FairlyDecided(FrozenEstimator(model), max_gap=self.max_gap(strength))
        return decided.fit(fold.X, fold.y, sensitive_features=fold.s, favourable=fold.favourable)
