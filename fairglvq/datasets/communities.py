"""Communities and Crime: how many violent crimes per head? (US communities, 1990 and 1995)"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairglvq.datasets.encoding import encode, without
from fairglvq.datasets.files import read_bundled
from fairglvq.datasets.regression import RegressionDataset

FILE = "communities_crime.csv.gz"
SHA256 = "25b6fb38952841141e2119cecfb0ff4e1b8ab0a51adb97a7fbf4b26dee9019e8"
TARGET = "ViolentCrimesPerPop"
PROTECTED = "racepctblack"
NOT_PREDICTIVE = ["state", "county", "community", "communityname", "fold"]
MOSTLY_MISSING = 0.5


def load(drop_group: bool = False) -> RegressionDataset:
    """Load Communities and Crime: 1,993 x 100, protected is the share of Black people, a number.

    ``drop_group=True`` leaves it out of X (1,993 x 99).

    Columns that name a place are not features. The 22 columns on police are known for 319 of 1,994 communities and
    left out; so is the one community with another missing value.
    """
    raw = pd.read_csv(read_bundled(FILE, SHA256))
    table = raw.drop(columns=NOT_PREDICTIVE)
    table = table.loc[:, table.isna().mean() < MOSTLY_MISSING].dropna()
    frame = raw.loc[table.index, ["state", "communityname", *table.columns]].reset_index(drop=True)
    dropped = [PROTECTED] if drop_group else []
    X, blocks = encode(table.drop(columns=[TARGET, *dropped]), binary={}, categories=())
    return RegressionDataset(
        name="communities",
        title="Communities and Crime",
        X=X,
        y=table[TARGET].to_numpy(np.float64),
        s=table[PROTECTED].to_numpy(np.float64),
        blocks=blocks,
        favourable="low",
        target_column=TARGET,
        protected_column=PROTECTED,
        group_names=None,
        source="Redmond, M. (2002). Communities and Crime. UCI Machine Learning Repository. doi.org/10.24432/C53W3X",
        licence="CC BY 4.0",
        frame=frame,
        caveats=(
            "All numbers were brought to 0 to 1 by the source, each by itself; extreme ones were set to 0 and 1.",
            "A row is a community, not a person: nothing here says who committed a crime.",
            "Crimes are those that the police recorded in 1995; the census is that of 1990.",
            *without(dropped),
        ),
    )
