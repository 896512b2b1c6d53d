"""The tables that come with the project, read from the ``data`` folder and checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from pathlib import Path

DATA_VARIABLE = "FAIRGLVQ_DATA"


def data_folder() -> Path:
    """Where the bundled tables are: ``$FAIRGLVQ_DATA``, or ``data`` beside the package in a checkout."""
    return Path(os.environ.get(DATA_VARIABLE) or Path(__file__).resolve().parents[2] / "data")


def read_bundled(filename: str, sha256: str) -> io.BytesIO:
    """Return the unpacked content of the bundled ``filename``, whose packed bytes must have this ``sha256``."""
    path = data_folder() / filename
    try:
        packed = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{filename} is not in {path.parent}. The library installed alone brings no data: take the data folder of "
            f"the project's repository and set the environment variable {DATA_VARIABLE} to it."
        ) from None
    found = hashlib.sha256(packed).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path} is not the file this version was made for (sha256 {found}, expected {sha256}). "
            "Restore it from the project's repository."
        )
    return io.BytesIO(gzip.decompress(packed))
