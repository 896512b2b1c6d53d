"""COMPAS: who is arrested again within two years? (Broward County, Florida, 2013 and 2014)

ProPublica's file has no open licence and holds names and birth dates of real people. So no row of it comes with this
project: it is taken from a published package on first use, checked, and stripped to the columns below in memory; only
the stripped table is kept, in the user's cache.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import platformdirs

from fairglvq.datasets.base import Dataset
from fairglvq.datasets.encoding import Binary, encode, without

CACHE_VARIABLE = "FAIRGLVQ_CACHE"
WHEEL_VARIABLE = "FAIRGLVQ_COMPAS_WHEEL"

PIP = (sys.executable, "-m", "pip")
# The package is only read as a zip, never installed: it requires a pandas of 2018.
REQUIREMENT = "aif360==0.2.0"
WHEEL = "aif360-0.2.0-py3-none-any.whl"
WHEEL_BYTES = 23_415_172
WHEEL_SHA256 = "d007424b7ea24e7c12f9e35a4e784d92014116bf89c697ff7344e1e942435f05"
MEMBER = "aif360/data/raw/compas/compas-scores-two-years.csv"
MEMBER_SHA256 = "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
TABLE_SHA256 = "3b1cfdd7265b31d3492b255525cfca0930a6b0edd484ed362d4b59139555ec18"

LABEL = "two_year_recid"
PROTECTED = "race"
BINARY = {"sex": Binary("Female", ("male", "female")), "race": Binary("Caucasian", ("not Caucasian", "Caucasian"))}
CATEGORIES = ("age_cat", "c_charge_degree", "c_charge_desc")
FEATURES = (
    "sex", "age", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count",
    "c_charge_degree", "c_charge_desc",
)  # fmt: skip
SCREENED = "compas_screening_date"
FILTERS = ("days_b_screening_arrest", "is_recid", "score_text")

Progress = Callable[[int, int], None]


class FetchError(RuntimeError):
    """COMPAS could not be fetched; the message says why and how to do it by hand."""


def load(drop_group: bool = False, bins: int = 0) -> Dataset:
    """Load COMPAS as the paper encodes it: 6,167 x 401, the protected attribute race among the features.

    ``drop_group=True`` leaves race out of X (6,167 x 400). ProPublica's filter keeps people whose arrest lies within 30
    days of the screening; five more have no charge description. The label 1 means arrested again, so the favourable
    label is 0. Without a cached table this fetches it.

    ``bins`` also cuts every number into about as many bins.
    """
    table = _used(pd.read_csv(fetch()))[[*FEATURES, LABEL]].reset_index(drop=True)
    dropped = [PROTECTED] if drop_group else []
    X, blocks = encode(table.drop(columns=[LABEL, *dropped]), binary=BINARY, categories=CATEGORIES, bins=bins)
    return Dataset(
        name="compas",
        title="COMPAS",
        X=X,
        y=table[LABEL].to_numpy(np.int64),
        s=(table[PROTECTED] == "Caucasian").to_numpy(np.int64),
        blocks=blocks,
        favourable=0,
        class_names={0: "not arrested again", 1: "arrested again"},
        group_names={0: "not Caucasian", 1: "Caucasian"},
        label_column=LABEL,
        group_column="group",
        source="Larson, J., Mattu, S., Kirchner, L. & Angwin, J. (2016). How We Analyzed the COMPAS Recidivism "
        f"Algorithm. ProPublica; as carried by AIF360 ({REQUIREMENT})",
        licence="No open licence: fetched for your own use, not to be passed on",
        caveats=(
            "All 998 people of the raw file who were screened after 2014-04-01 are labelled as arrested again, because "
            "the others screened so late were left out (Barenstein 2019); 868 of them are among the 6,167. Kept to "
            "match the paper.",
            "An arrest is not an offence: the label also measures whom the police looked at.",
            "Six races are merged into Caucasian and not Caucasian, as in the paper.",
            *without(dropped),
        ),
        readable=table,
    )


def _used(table: pd.DataFrame) -> pd.DataFrame:
    """The people that the paper uses: ProPublica's filter, and nothing missing among the features."""
    kept = (
        table["days_b_screening_arrest"].between(-30, 30)
        & (table["is_recid"] != -1)
        & (table["c_charge_degree"] != "O")
        & (table["score_text"] != "N/A")
    )
    return table[kept].dropna(subset=[*FEATURES, LABEL])


def screening_dates(wheel: str | os.PathLike[str]) -> pd.Series:
    """When each of the people of `load` was screened, in the same order; dates are read from the wheel and not kept."""
    columns = [*FEATURES, LABEL, *FILTERS, SCREENED]
    table = _used(pd.read_csv(io.BytesIO(_raw(Path(wheel))), usecols=columns))
    return pd.to_datetime(table[SCREENED]).reset_index(drop=True)


def cache_file() -> Path:
    """Where the stripped table is kept: in ``$FAIRGLVQ_CACHE`` or the user's cache folder."""
    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("fairglvq")) / "compas.csv"


def is_cached() -> bool:
    """Whether the stripped table is at hand and undamaged, so that ``load`` needs no network."""
    try:
        return _sha256(cache_file().read_bytes()) == TABLE_SHA256
    except FileNotFoundError:
        return False


def fetch(progress: Progress | None = None, *, wheel: str | os.PathLike[str] | None = None) -> Path:
    """Put the stripped table into the cache and return its path; an undamaged cache is left as it is.

    ``progress(done_bytes, total_bytes)`` is called during the download; an exception it raises ends the download.
    ``wheel`` (or ``$FAIRGLVQ_COMPAS_WHEEL``) is a wheel downloaded elsewhere, to be used instead of the network.
    """
    if is_cached():
        return cache_file()
    given = wheel or os.environ.get(WHEEL_VARIABLE)
    if given:
        table = _stripped(Path(given))
    else:
        with _private_folder() as folder:
            table = _stripped(_download(folder, progress))
    path = cache_file()
    _write_atomically(path, table)
    return path


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder only this user can read, in memory where possible, removed at the end: the wheel holds names."""
    memory = Path("/dev/shm")
    # pip keeps two copies for a moment; small containers have little shared memory.
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 3 * WHEEL_BYTES
    with tempfile.TemporaryDirectory(prefix="fairglvq-", dir=memory if roomy else None) as folder:
        yield Path(folder)


def _download(folder: Path, progress: Progress | None) -> Path:
    """Download the wheel into ``folder`` by pip, which uses the user's registry and proxy."""
    command = [*PIP, "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input", "--quiet", "--retries", "1", "--timeout", "30"]
    command += ["--dest", str(folder), REQUIREMENT]
    # pip's own temporary files hold the wheel too.
    environment = os.environ | {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    pip = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with pip:
        try:
            while True:
                try:
                    _, complaint = pip.communicate(timeout=0.1)
                    break
                except subprocess.TimeoutExpired:
                    if progress:
                        progress(min(_size(folder), WHEEL_BYTES), WHEEL_BYTES)
        finally:
            pip.kill()  # does nothing if pip has ended by itself
    wheel = folder / WHEEL
    if pip.returncode != 0 or not wheel.exists():
        errors = [line for line in complaint.splitlines() if line.strip()]
        raise FetchError(_by_hand(f"pip could not download it ({errors[-1] if errors else 'it gave no reason'})."))
    if progress:
        progress(WHEEL_BYTES, WHEEL_BYTES)
    return wheel


def _size(folder: Path) -> int:
    """The bytes of all files under ``folder``, which pip moves and deletes meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def _raw(wheel: Path) -> bytes:
    """The table inside ``wheel``, checked; it never leaves the memory."""
    try:
        packed = wheel.read_bytes()
    except OSError as error:
        raise FetchError(_by_hand(f"{wheel} could not be read ({error.strerror}).")) from error
    if _sha256(packed) != WHEEL_SHA256:
        raise FetchError(_by_hand(f"{wheel.name} is damaged or another file (its sha256 is {_sha256(packed)})."))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        raw = archive.read(MEMBER)
    if _sha256(raw) != MEMBER_SHA256:
        raise FetchError(_by_hand(f"The table inside {wheel.name} is not the expected one."))
    return raw


def _stripped(wheel: Path) -> bytes:
    """The table inside ``wheel`` as CSV with nothing but the allowed columns."""
    # Read as text and written as text: the bytes, hence the checksum, do not depend on the version of pandas.
    raw = io.BytesIO(_raw(wheel))
    table = pd.read_csv(raw, usecols=[*FEATURES, LABEL, *FILTERS], dtype=str, keep_default_na=False)
    stripped = table.to_csv(index=False, lineterminator="\n").encode()
    if _sha256(stripped) != TABLE_SHA256:
        raise FetchError(_by_hand("Stripping the table gave another result than it should; please report this."))
    return stripped


def _write_atomically(path: Path, content: bytes) -> None:
    """Write to a neighbouring file and rename it, so that no reader gets half a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _by_hand(reason: str) -> str:
    """The message of a ``FetchError``: what went wrong, and the way that needs no network here."""
    return (
        f"COMPAS is not on this computer and could not be fetched: {reason}\n"
        "By hand: on a computer with network access, run\n"
        f"    pip download --no-deps --only-binary :all: {REQUIREMENT}\n"
        f"bring {WHEEL} (sha256 {WHEEL_SHA256}) here and import it with\n"
        "    python -m fairglvq fetch compas --wheel PATH\n"
        f"or fairglvq.datasets.compas.fetch(wheel=PATH), or set {WHEEL_VARIABLE} to its path. "
        "Delete the wheel afterwards: it holds names and birth dates."
    )
