"""The tables that come with the project, read from the ``data`` folder and checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from pathlib import Path

DATA_VARIABLE = "FAIRGLVQ_DATA"


def data_folder() -> Path:
    """Where the bundled tables are: ``$FAIRGLVQ_DATA``, else inside an installed package or beside it in a checkout."""
    chosen = os.environ.get(DATA_VARIABLE)
    if chosen:
        return Path(chosen)
    package = Path(__file__).resolve().parents[1]
    installed = package / "data"
    return installed if installed.is_dir() else package.parent / "data"


def bundled(filename: str) -> Path:
    """The path of a bundled file; where it is missing, the error says what to do."""
    path = data_folder() / filename
    if not path.is_file():
        raise FileNotFoundError(
            f"{filename} is not in {path.parent}. Take the data folder of the project's repository and set the "
            f"environment variable {DATA_VARIABLE} to it."
        )
    return path


def read_bundled(filename: str, sha256: str) -> io.BytesIO:
    """Return the unpacked content of the bundled ``filename``, whose packed bytes must have this ``sha256``."""
    path = bundled(filename)
    packed = path.read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path} is not the file this version was made for (sha256 {found}, expected {sha256}). "
            "Restore it from the project's repository."
        )
    return io.BytesIO(gzip.decompress(packed))
