"""What tests of explanations share."""

import pytest
from models import fitted, held, small

from fairglvq import datasets, explain


@pytest.fixture(scope="module", params=["small", "three classes", "three groups", "german", "nobody held out"])
def case(request):
    """(people, model, explained) on several kinds of data."""
    data = {
        "small": small(),
        "three classes": small(n_classes=3, seed=1),
        "three groups": small(n_groups=3, seed=2),
        "nobody held out": small(seed=3),
    }.get(request.param) or datasets.load("german")
    held_out = None if request.param == "nobody held out" else held(len(data.y))
    people, model = fitted(data, held_out=held_out)
    return people, model, explain.explain(people, model)
