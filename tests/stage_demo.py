"""A tiny app around the stage, for its tests and for looking at it: `PYTHONPATH=. streamlit run tests/stage_demo.py`.

Training is a plain NumPy version of the method, so that the component can be tested without the library.
"""

import json
from functools import partial

import numpy as np
import streamlit as st

from fairglvq.grammar import stage_grammar
from pages.shared import callbacks  # noqa: F401
from pages.shared.playground import stage
from pages.shared.session import read_view

EPOCHS = 60
FILM = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


def xor(n=1600, seed=0):
    rng = np.random.default_rng(seed)
    corner = np.arange(n) % 4
    X = np.column_stack([corner // 2, corner % 2]) + rng.normal(0, 0.15, (n, 2))
    s = np.isin(corner, (1, 2)).astype(int)
    y = np.where(corner % 2 == 1, X[:, 0] < 1.1, X[:, 0] > 1.1).astype(int)
    return X, y, s, (rng.random(n) < 0.3).astype(np.uint8)


def squared_distances(X, W):
    return np.maximum((X * X).sum(1)[:, None] - 2 * X @ W.T + (W * W).sum(1), 1e-12)


def descent(X, labels, W, prototype_labels, beta=2.0):
    """Minus the mean gradient of swish(mu), and the mean of swish(mu)."""
    D = squared_distances(X, W)
    same = labels[:, None] == prototype_labels[None, :]
    if same.all(axis=1).any() or not same.any(axis=1).all():
        return np.zeros_like(W), 0.0
    rows = np.arange(len(X))
    plus, minus = np.where(same, D, np.inf).argmin(1), np.where(same, np.inf, D).argmin(1)
    d_plus, d_minus = D[rows, plus], D[rows, minus]
    total = d_plus + d_minus
    mu = (d_plus - d_minus) / total
    sigmoid = 1 / (1 + np.exp(-beta * mu))
    slope = sigmoid + beta * mu * sigmoid * (1 - sigmoid)
    pull = np.zeros_like(D)
    pull[rows, plus] += slope * d_minus / total**2
    pull[rows, minus] -= slope * d_plus / total**2
    return 2 * (pull.T @ X - pull.sum(0)[:, None] * W) / len(X), float((mu * sigmoid).mean())


def vote(X, s, W, before):
    votes = np.zeros((len(W), 2), int)
    np.add.at(votes, (squared_distances(X, W).argmin(1), s), 1)
    return np.where(votes.sum(1) > 0, votes.argmax(1), before)


@st.cache_data(show_spinner=False)
def train(X, y, s, W, labels, C, epochs=EPOCHS, seed=1):
    """Arrays of one panel of the stage."""
    rng = np.random.default_rng(seed)
    pseudo = vote(X, s, W, np.zeros(len(W), int))
    out = {name: [] for name in ("prototypes", "pseudo", "pull_class", "pull_fair", "cost_class", "cost_fair", "flips")}
    flips = 0
    for _ in range(epochs + 1):
        to_class, cost_class = descent(X, y, W, labels)
        to_group, cost_fair = descent(X, s, W, pseudo)
        for name, value in zip(
            out, (W, pseudo, to_class, -C * to_group, cost_class, cost_fair if C else 0.0, flips), strict=True
        ):
            out[name].append(value)
        for batch in np.array_split(rng.permutation(len(X)), 4):
            W = W + 0.12 * (descent(X[batch], y[batch], W, labels)[0] - C * descent(X[batch], s[batch], W, pseudo)[0])
        now = vote(X, s, W, pseudo)
        flips = int((now != pseudo).sum())
        pseudo = now
    types = ("f8", "u1", "f4", "f4", "f4", "f4", "u2")
    return {name: np.asarray(values, dtype) for (name, values), dtype in zip(out.items(), types, strict=True)}


def make_scene(C, seed=0, start=None, painted=()):
    X, y, s, held_out = xor(seed=seed)
    if painted:
        extra = np.array(painted)
        X = np.vstack([X, extra[:, :2]])
        y, s = np.append(y, extra[:, 2].astype(int)), np.append(s, extra[:, 3].astype(int))
        held_out = np.append(held_out, np.zeros(len(extra), np.uint8))
    learn = held_out == 0
    labels = np.repeat([0, 1], 4)
    rng = np.random.default_rng(3)
    W = X[learn][rng.choice(learn.sum(), 8, replace=False)]
    removed = X[s == 1].mean(0) - X[s == 0].mean(0) + (0.3, -0.8)
    removed = removed / np.linalg.norm(removed)
    kept = np.array([-removed[1], removed[0]])
    A, centre = np.outer(kept, kept), X.mean(0)
    b = centre - A @ centre
    runs = {
        "glvq": train(X[learn], y[learn], s[learn], W, labels, 0.0),
        "inp": train(X[learn] @ A.T + b, y[learn], s[learn], W @ A.T + b, labels, 0.0),
        "fairglvq": train(X[learn], y[learn], s[learn], W if start is None else np.array(start), labels, C),
    }
    film = [train(X[learn], y[learn], s[learn], W, labels, c) for c in FILM] if start is None and not painted else None
    arrays = {"points": X, "y": y.astype("u1"), "s": s.astype("u1"), "held_out": held_out}
    arrays |= {f"{key}.{name}": array for key, run in runs.items() for name, array in run.items()}
    if film:
        arrays |= {
            f"film.fairglvq.{name}": np.stack([run[name][-1] for run in film]) for name in ("prototypes", "pseudo")
        }
    low, high = X.min(0), X.max(0)
    plain = {"labels": labels.tolist(), "strength": None, "knob": None, "map": None, "line": None}
    projection = {"A": A.tolist(), "b": b.tolist()}
    line = {"origin": centre.tolist(), "kept": kept.tolist(), "removed": removed.tolist()}
    meta = {
        "revision": f"C{C}-seed{seed}-{hash((start or (), painted)) & 0xFFFF:x}",
        "keep_position": start is None,
        "autoplay": start is not None,
        "dataset": "xor",
        "classes": ["rejected", "admitted"],
        "groups": ["A", "B"],
        "favourable": 1,
        "axes": ["x1", "x2"],
        "slice": None,
        "bounds": [*low.tolist(), *high.tolist()],
        "epochs": list(range(EPOCHS + 1)),
        "grammar": stage_grammar(2, 2),
        "painted": len(painted),
        "panels": [
            plain | {"key": "glvq", "title": "GLVQ", "note": "no fairness term"},
            plain
            | {"key": "inp", "title": "INP + GLVQ", "note": "forgets one direction", "map": projection, "line": line},
            plain
            | {"key": "fairglvq", "title": "FairGLVQ", "note": "pushes against what tells groups apart"}
            | {"strength": C, "knob": "C"},
        ],
        "filmed": ["fairglvq"],
        "films": {"fairglvq": {"revision": f"seed{seed}", "values": FILM, "knob": "C"}} if film else {},
    }
    return meta, arrays


scene = st.cache_data(show_spinner=False)(make_scene)


def keep_view(key):
    """Streamlit drops a component that is not drawn; its view is kept, but not for a visit that starts over."""
    if key == stage_key():
        st.session_state.view = st.session_state[key]["view"]


def stage_key():
    return f"stage{st.session_state.visit}"


def start_over(visit):
    """What a new visitor finds, without loading Streamlit again (seconds for every test)."""
    for key in list(st.session_state):
        del st.session_state[key]
    st.session_state.visit = visit


def main():
    # Streamlit takes tests/pages for pages of this app and would list them beside the stage.
    st.set_page_config(page_title="Stage", layout="wide", initial_sidebar_state="collapsed")
    state = st.session_state
    state.setdefault("visit", 0)
    state.setdefault("gestures", [])
    state.setdefault("C", 0.75)
    state.setdefault("start", None)
    state.setdefault("painted", ())
    state.setdefault("view", read_view(st.query_params.get("view")))
    result = state.get(stage_key()) or {}
    reply = None
    state.setdefault("acknowledged", 0)
    for gesture in stage.gestures_after(state.acknowledged, result):
        state.gestures.append(gesture)
        if gesture["kind"] == "drag":
            reply = {"token": gesture["token"], "panel": gesture["panel"], "message": "Checked by Python."}
            reply |= {"counts": [30, 10, 10, 30, 40, 0, 20, 20], "changed": [0] * 8, "pseudo": gesture["pseudo"]}
        elif gesture["kind"] == "continue":
            state.start = tuple(map(tuple, gesture["model"]["places"]))
        elif gesture["kind"] == "paint":
            state.painted += tuple(map(tuple, gesture["added"]))
        elif gesture["kind"] == "strength":
            state.C = gesture["value"]
        elif gesture["kind"] == "undo":
            state.start, state.painted = None, ()
        state.acknowledged = gesture["serial"]
    st.slider("How fair", 0.0, 2.0, step=0.25, key="C")
    meta, arrays = scene(state.C, start=state.start, painted=state.painted)
    visit = {
        "reply": reply,
        "view": state.view,
        "acknowledged": state.acknowledged,
        "can_undo": bool(state.start or state.painted),
    }
    if st.toggle("Stage", value=True):
        stage.mount(
            stage.pack(meta | visit, arrays),
            key=stage_key(),
            on_gestures=lambda: None,  # Streamlit delivers only values that have a callback
            on_view=partial(keep_view, stage_key()),
        )
    if st.button("Rerun"):
        st.caption("Ran again")
    st.button("Start over", on_click=start_over, args=(state.visit + 1,))
    st.code(json.dumps([g["kind"] for g in state.gestures]), language=None)
    st.code(json.dumps(state.view), language=None)
    st.code(json.dumps(state.gestures[-1] if state.gestures else None), language=None)


if __name__ == "__main__":
    main()
