"""FairGLVQ: fairness in prototype-based classification (Störck et al. 2024).

Names are imported when first used: scikit-learn takes two seconds to load, and the data sets alone do not need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .version import __version__

if TYPE_CHECKING:
    from . import datasets, evaluation, metrics
    from .fair_glvq import FairGLVQ
    from .glvq import GLVQ
    from .projection import NullSpaceProjection

__all__ = ["GLVQ", "FairGLVQ", "NullSpaceProjection", "__version__", "datasets", "evaluation", "metrics"]

_HOME = {"GLVQ": "glvq", "FairGLVQ": "fair_glvq", "NullSpaceProjection": "projection"}


def __getattr__(name: str):
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
