"""A tree for others: as JSON with its questions in the columns and units of the data, and as text.

JSON of format 1: ``tree`` is a node. A split has ``question`` in words, ``feature`` (a name of ``features``),
``at_most`` (original units), and the nodes ``yes`` and ``no``: a row goes to ``yes`` where the feature is at most that.
A leaf has ``leaf`` (its number from 1), ``decides``, ``pseudo_class`` (the majority group of its training people),
``rule`` (all its conditions in words) and ``people`` (those who were measured there).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fairglvq.datasets.base import Dataset
from fairglvq.datasets.split import Scaling
from fairglvq.explain.leaves import ExplainedTree
from fairglvq.trees.structure import LEAF, Tree
from fairglvq.version import __version__

FORMAT, FORMAT_VERSION = "fairglvq-tree", 1


def dumps(explained: ExplainedTree, data: Dataset, scaling: Scaling, parameters: Mapping[str, Any]) -> str:
    """The tree as JSON; ``scaling`` made its features from those of the data."""
    people, tree = explained.people, _in_original_units(explained.model.tree, scaling)
    leaf_of = {int(node): leaf for leaf, node in enumerate(tree.leaves)}

    def content(node: int) -> dict[str, Any]:
        if node in leaf_of:
            leaf = leaf_of[node]
            return {
                "leaf": leaf + 1,
                "decides": people.classes[explained.answers[leaf]],
                "pseudo_class": people.groups[explained.model.pseudo[leaf]],
                "rule": explained.rules[leaf],
                "people": int(explained.sizes[leaf]),
            }
        return {
            "question": explained.model.questions[node],
            "feature": data.feature_names[tree.feature[node]],
            "at_most": float(tree.threshold[node]),
            "yes": content(int(tree.left[node])),
            "no": content(int(tree.right[node])),
        }

    whole = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "estimator": "FairTree",
        "parameters": dict(parameters),
        "classes": list(people.classes),
        "favourable": people.classes[people.favourable],
        "groups": list(people.groups),
        "features": list(data.feature_names),
        "data": {"title": data.title, "fingerprint": data.fingerprint},
        "tree": content(0),
    }
    return json.dumps(whole, allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def to_text(explained: ExplainedTree, data: Dataset, scaling: Scaling) -> str:
    """The tree as scikit-learn's export_text writes one, in original units."""
    tree = _in_original_units(explained.model.tree, scaling)
    names = [explained.people.classes[label] for label in explained.answers]
    return tree.text(data.feature_names, lambda leaf: f"class: {names[leaf]}", decimals=2) + "\n"


def _in_original_units(tree: Tree, scaling: Scaling) -> Tree:
    splits = tree.feature != LEAF
    threshold = np.array(tree.threshold)
    f = tree.feature[splits]
    threshold[splits] = threshold[splits] * scaling.span[f] + scaling.low[f]
    return replace(tree, threshold=threshold)
