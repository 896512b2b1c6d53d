"""Adult: who earns more than 50,000 dollars a year? (US census, 1994)"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairglvq.datasets.base import Dataset
from fairglvq.datasets.encoding import Binary, encode, without
from fairglvq.datasets.files import read_bundled

FILE = "adult.csv.gz"
SHA256 = "2f5d1c860323f914fd9d5d28540aa47649b9a70fda7733a0539b42a5cfda0999"
LABEL = "income-per-year"
PROTECTED = "sex"
BINARY = {"race": Binary("White", ("not White", "White")), "sex": Binary("Male", ("female", "male"))}
CATEGORIES = ("workclass", "education", "marital-status", "occupation", "relationship", "native-country")


def load(drop_group: bool = False, bins: int = 0) -> Dataset:
    """Load Adult as the paper encodes it: 45,222 x 98, the protected attribute sex among the features.

    ``drop_group=True`` leaves sex out of X (45,222 x 97). Rows with a missing value are dropped. The
    census' test rows come first, which the published folds need.

    ``bins`` also cuts every number into about as many bins.
    """
    table = pd.read_csv(read_bundled(FILE, SHA256)).drop(columns="split").dropna(ignore_index=True)
    dropped = [PROTECTED] if drop_group else []
    X, blocks = encode(table.drop(columns=[LABEL, *dropped]), binary=BINARY, categories=CATEGORIES, bins=bins)
    return Dataset(
        name="adult",
        title="Adult",
        X=X,
        y=(table[LABEL] == ">50K").to_numpy(np.int64),
        s=(table[PROTECTED] == "Male").to_numpy(np.int64),
        blocks=blocks,
        favourable=1,
        class_names={0: "≤ 50K", 1: "> 50K"},
        group_names={0: "female", 1: "male"},
        label_column=LABEL,
        group_column=PROTECTED,
        source="Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi.org/10.24432/C5XW20",
        licence="CC BY 4.0",
        caveats=(
            "The incomes are those of 1994: 50,000 dollars then bought about what 100,000 buy now.",
            "Race is merged into White and not White, as in the paper.",
            *without(dropped),
        ),
        readable=table,
    )
