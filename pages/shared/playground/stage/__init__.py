"""The stage: one canvas component that plays, scrubs and edits trained prototype models in the browser.

``pack`` makes a scene out of a description and arrays, ``mount`` shows it. The scene's fields are described in
``js/scene.js`` and in the docstring of `pack`; finished gestures come back through ``mount``'s result.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from pages.shared.playground.stage.sources import FOLDER, bundle, markup, stylesheet

__all__ = ["DTYPES", "FOLDER", "bundle", "gestures_after", "markup", "mount", "pack", "stylesheet"]
DTYPES = ("f8", "f4", "u1", "u2", "u4", "i4")


def pack(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """One blob of a JSON description and arrays, as `js/unpack.js` reads it.

    Layout: little-endian uint32 header length; JSON ``{"meta": ..., "arrays": {name: [dtype, shape, offset]}}``, padded
    with spaces so that the body starts at a multiple of 8; the arrays, each padded to 8 bytes.
    """
    table: dict[str, tuple[str, list[int], int]] = {}
    body: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        dtype = array.dtype.str[1:]
        if dtype not in DTYPES:
            raise ValueError(f"array {name!r} has dtype {array.dtype}; the stage reads {', '.join(DTYPES)}")
        content = np.ascontiguousarray(array, dtype=f"<{dtype}").tobytes()
        table[name] = (dtype, list(array.shape), offset)
        padding = -len(content) % 8
        body.append(content + bytes(padding))
        offset += len(content) + padding
    text = json.dumps({"meta": meta, "arrays": table}, separators=(",", ":"), allow_nan=False).encode()
    header = text + b" " * (-(4 + len(text)) % 8)
    return b"".join([struct.pack("<I", len(header)), header, *body])


def gestures_after(acknowledged: int, sent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Gestures in the stage's value after the one with the serial number ``acknowledged``, in their order.

    Of several waiting messages Streamlit keeps the newest value only. So the stage repeats all gestures that its scene
    does not acknowledge.
    """
    return [gesture for gesture in sent.get("gestures") or [] if gesture["serial"] > acknowledged]


def mount(blob: bytes, *, key: str, on_gestures: Callable[[], None], on_view: Callable[[], None]) -> Any:
    """Show a packed scene. The result has ``gestures`` (for one run; see `gestures_after`) and ``view`` (kept).

    Kinds of gestures: ``drag``, ``continue``, ``paint``, ``strength``, ``undo``, and ``facts``: on a slice, a request
    for facts about a selected prototype or point, which go into the scene's description as ``facts``. With the same
    ``key`` the component stays where it is; a new ``revision`` in the scene changes the picture in place.
    """
    return _component()(key=key, data=blob, on_gestures_change=on_gestures, on_view_change=on_view)


@cache
def _component() -> Any:
    """The component, declared once per process."""
    import streamlit as st  # here: a stage in a file needs no server

    return st.components.v2.component("fairglvq_stage", html=markup(), css=stylesheet(), js=_loader(bundle()))


def _loader(code: str) -> str:
    """The same module compressed: Streamlit sends a component's code again with every change of its data."""
    packed = base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode()
    return f"""
const packed = Uint8Array.from(atob("{packed}"), (letter) => letter.charCodeAt(0));
const code = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const url = URL.createObjectURL(new Blob([await new Response(code).text()], {{ type: "text/javascript" }}));
export default (await import(url)).default;
"""
