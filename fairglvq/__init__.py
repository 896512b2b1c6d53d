"""FairGLVQ: fairness in prototype-based classification (Störck et al. 2024).

Names are imported when first used: scikit-learn takes two seconds to load, and the data sets alone do not need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fairglvq.version import __version__

if TYPE_CHECKING:
    from fairglvq import datasets
    from fairglvq.experiments import evaluation
    from fairglvq.fairness import limit, metrics
    from fairglvq.fairness.decided import FairlyDecided
    from fairglvq.fairness.projection import NullSpaceProjection
    from fairglvq.lvq.fair_glvq import FairGLVQ
    from fairglvq.lvq.glvq import GLVQ
    from fairglvq.lvq.parity_lvq import ParityLVQ
    from fairglvq.trees.fair_tree import FairTree
    from fairglvq.trees.fair_tree_regressor import FairTreeRegressor

_CLASSES = {
    "GLVQ": "lvq.glvq",
    "FairGLVQ": "lvq.fair_glvq",
    "ParityLVQ": "lvq.parity_lvq",
    "FairlyDecided": "fairness.decided",
    "FairTree": "trees.fair_tree",
    "FairTreeRegressor": "trees.fair_tree_regressor",
    "NullSpaceProjection": "fairness.projection",
}
_MODULES = {
    "datasets": "datasets",
    "evaluation": "experiments.evaluation",
    "limit": "fairness.limit",
    "metrics": "fairness.metrics",
}

__all__ = [
    "GLVQ", "FairGLVQ", "FairTree", "FairTreeRegressor", "FairlyDecided", "NullSpaceProjection", "ParityLVQ",
    "__version__", "datasets", "evaluation", "limit", "metrics",
]  # fmt: skip


def __getattr__(name: str):
    if name in _CLASSES:
        return getattr(import_module(f"{__name__}.{_CLASSES[name]}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
