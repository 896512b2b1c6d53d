"""Python scripts that compute numbers of the pages and of reports anew and print them.

A script begins with the lines that make ``data``: those of `load_dataset` or `load_table`. Then `sweep` goes through
strengths and folds, as the trade-off page does, and `model` trains one model, as the playground does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fairglvq.datasets import table
from fairglvq.report.templating import render

FIT_ARGUMENTS = {
    "FairGLVQ": ", sensitive_features=data.s[learn]",
    "FairTree": ", sensitive_features=data.s[learn]",
    "ParityLVQ": ", sensitive_features=data.s[learn], favourable=data.favourable",
}


def load_dataset(name: str, **knobs: Any) -> str:
    """The line that makes ``data`` of a data set that comes with the library."""
    return f"data = datasets.load({', '.join([repr(name), *_arguments(knobs)])})"


def load_table(plan: table.Plan, name: str, notes: Iterable[str] = ()) -> str:
    """The lines that make ``data`` of the file called ``name``, as the pages do; ``notes`` are those of reading it."""
    default = table.Plan()
    given = {f: getattr(plan, f) for f in plan.__dataclass_fields__ if getattr(plan, f) != getattr(default, f)}
    options: dict[str, Any] = {"most_rows": table.MOST_ROWS}
    if any("too many or too few values" in note for note in notes):
        options["skip_ragged"] = True
    return render(
        "load_table.py.j2",
        arguments=[f"Path({name!r}).read_bytes()", repr(name), *_arguments(options)],
        plan=_arguments(given | {"kinds": plan.kinds}),
        most_cells=table.MOST_CELLS,
    ).rstrip()


def sweep(
    load: str,
    sweeps: Mapping[str, Sequence[float]],
    *,
    folds: int = 5,
    seeds: Iterable[int] = (0,),
    params: Mapping[str, Any] | None = None,
    fold: int | None = None,
) -> str:
    """A script that prints the scores of methods at their strengths: means over folds, or the rows of one ``fold``.

    ``sweeps`` maps each method to its strengths, ``params`` are the estimators'.
    """
    return render(
        "sweep.py.j2",
        load=load,
        sweeps={repr(method): [float(value) for value in strengths] for method, strengths in sweeps.items()},
        folds=folds,
        seeds=[int(seed) for seed in seeds],
        arguments=_arguments(params or {}),
        fold=fold,
    )


def model(
    load: str, estimator: str, parameters: Mapping[str, Any], *, held_out: float, seed: int, projections: int = 0
) -> str:
    """A script that trains one model and prints its accuracy and gaps.

    ``held_out`` is the share of every class and group that is held out at random (``seed``); the numbers are about
    these people, or about everybody if it is 0. ``projections`` is the number of INP's projections before training.
    """
    return render(
        "model.py.j2",
        load=load,
        estimator=estimator,
        fit=FIT_ARGUMENTS.get(estimator, ""),
        arguments=_arguments(parameters),
        held_out=held_out,
        seed=seed,
        projections=projections,
    )


def _arguments(values: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as they stand in a script."""
    return [f"{name}={_plain(name, value)!r}" for name, value in values.items()]


def _plain(name: str, value: Any) -> Any:
    """A value whose repr is Python that makes it again."""
    if isinstance(value, Mapping):
        return {key: _plain(name, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(name, item) for item in value)
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | int | float | bool | None):
        raise ValueError(f"{name} is a {type(plain).__name__}, which a script cannot write down")
    return plain
