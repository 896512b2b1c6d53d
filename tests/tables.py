"""A small table of people, as a visitor would upload it."""

import numpy as np
import pandas as pd


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], n)
    male = sex == "male"
    return pd.DataFrame(
        {
            "sex": sex,
            "height": (np.where(male, 178.0, 165.0) + rng.normal(0, 6, n)).round(1),
            "town": rng.choice(["Bonn", "Ulm", "Kiel"], n),
            "age": rng.integers(18, 70, n),
            "hired": np.where(rng.random(n) < np.where(male, 0.7, 0.4), "yes", "no"),
        }
    )


def csv(frame):
    return frame.to_csv(index=False).encode()
