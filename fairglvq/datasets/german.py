"""German Credit: is this person a good credit risk? (a German bank, 1973 to 1975)"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairglvq.datasets.base import Dataset
from fairglvq.datasets.encoding import Binary, encode, without
from fairglvq.datasets.files import read_bundled

FILE = "german_credit.csv.gz"
SHA256 = "f13e430db6cdaaf1280c7a67cc3dad4f8665f15bd62b87cdab3476b09adbed1c"
LABEL = "credit"
PROTECTED = "age"
OLDER_FROM = 25
BINARY = {"telephone": Binary("yes", ("none", "yes")), "foreign_worker": Binary("yes", ("no", "yes"))}
CATEGORIES = (
    "status", "credit_history", "purpose", "savings", "employment", "personal_status", "other_debtors", "property",
    "other_installment_plans", "housing", "job",
)  # fmt: skip


def load(drop_group: bool = False, bins: int = 0) -> Dataset:
    """Load German Credit: 1,000 x 59, protected are the people under 25.

    ``drop_group=True`` leaves the age out of X (1,000 x 58).

    Not in the paper, but encoded in its style: numbers as they are, categories one-hot, and the protected attribute
    kept among the features (here as the age in years). The file's sex column is left out of X: it repeats what
    personal_status says, and that is unreliable.

    ``bins`` also cuts every number into about as many bins.
    """
    table = pd.read_csv(read_bundled(FILE, SHA256))
    dropped = [PROTECTED] if drop_group else []
    X, blocks = encode(table.drop(columns=[LABEL, "sex", *dropped]), binary=BINARY, categories=CATEGORIES, bins=bins)
    return Dataset(
        name="german",
        title="German Credit",
        X=X,
        y=(table[LABEL] == "good").to_numpy(np.int64),
        s=(table[PROTECTED] >= OLDER_FROM).to_numpy(np.int64),
        blocks=blocks,
        favourable=1,
        class_names={0: "bad", 1: "good"},
        group_names={0: f"under {OLDER_FROM}", 1: f"{OLDER_FROM} or older"},
        label_column=LABEL,
        group_column="age group",
        source="Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. "
        "doi.org/10.24432/C5NC77",
        licence="CC BY 4.0",
        caveats=(
            "Its sex field is unreliable: there is not one single woman among 1,000 people. Age is protected instead.",
            "The public description of several columns is known to be wrong (Grömping 2019): trust no single category.",
            "Bad risks were sampled more often than they occur: 300 of 1,000 is not the bank's rate of default.",
            *without(dropped),
        ),
        readable=table,
    )
