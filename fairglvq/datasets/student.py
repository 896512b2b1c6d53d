"""Student performance: which final grade in Portuguese? (two schools in Portugal, 2005 to 2006)"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from fairglvq.datasets.encoding import Binary, encode, without
from fairglvq.datasets.files import read_bundled
from fairglvq.datasets.regression import RegressionDataset

FILE = "student_por.csv.gz"
SHA256 = "229cfc498f2f2f3c912f25ddef84b26362652facd3e393939eb6fe734fcbf0da"
TARGET = "G3"
EARLIER = ["G1", "G2"]
PROTECTED = ("sex", "age")
YES_NO = ("schoolsup", "famsup", "paid", "activities", "nursery", "higher", "internet", "romantic")
BINARY = {
    "school": Binary("MS", ("Gabriel Pereira", "Mousinho da Silveira")),
    "sex": Binary("M", ("female", "male")),
    "address": Binary("U", ("rural", "urban")),
    "famsize": Binary("GT3", ("up to 3", "more than 3")),
    "Pstatus": Binary("T", ("apart", "together")),
} | {column: Binary("yes", ("no", "yes")) for column in YES_NO}
CATEGORIES = ("Mjob", "Fjob", "reason", "guardian")


def load(
    protected: Literal["sex", "age"] = "sex", drop_group: bool = False, earlier_grades: bool = False
) -> RegressionDataset:
    """Load Student performance: 649 x 43, target is the final grade from 0 to 20.

    ``protected`` is the sex, a group, or the age, a number; ``drop_group=True`` leaves it out of X.
    ``earlier_grades=True`` adds the grades of the first two terms, which all but give the final one.
    """
    if protected not in PROTECTED:
        raise ValueError(f"protected must be one of {', '.join(map(repr, PROTECTED))}; got {protected!r}")
    table = pd.read_csv(read_bundled(FILE, SHA256))
    dropped = [protected] if drop_group else []
    features = table.drop(columns=[TARGET, *dropped, *([] if earlier_grades else EARLIER)])
    X, blocks = encode(features, binary=BINARY, categories=CATEGORIES)
    by_sex = protected == "sex"
    return RegressionDataset(
        name="student",
        title="Student performance",
        X=X,
        y=table[TARGET].to_numpy(np.float64),
        s=(table["sex"] == "M").to_numpy(np.int64) if by_sex else table["age"].to_numpy(np.float64),
        blocks=blocks,
        favourable="high",
        target_column=TARGET,
        protected_column=protected,
        group_names={0: "female", 1: "male"} if by_sex else None,
        source="Cortez, P. & Silva, A. (2008). Student Performance. UCI Machine Learning Repository. "
        "doi.org/10.24432/C5TG7T",
        licence="CC BY 4.0",
        frame=table,
        caveats=(
            "15 of 649 students have the grade 0: some of them left the course rather than failed it.",
            *without(dropped),
        ),
    )
