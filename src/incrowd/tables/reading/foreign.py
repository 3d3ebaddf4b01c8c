"""Files that only another package can read: it converts them to Parquet, once, in a private place.

From there a file goes the way of all Parquet files, for us and for the verification. Whether the conversion is right
nobody checks, so it is told, with the package that did it.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from incrowd.errors import FileFormatError, Notice

if TYPE_CHECKING:
    from incrowd.plugins import Plugin

CONVERTED = "converted.parquet"


def converter_of(path: Path) -> Plugin | None:
    """What converts files with this ending, if some package does."""
    from incrowd.plugins import find_plugin

    return find_plugin("formats", path.suffix.lstrip(".").lower()) if path.suffix else None


def convert(path: Path, converter: Plugin, folder: Path) -> Path:
    """The file as Parquet, in a folder that only its owner can read."""
    to = folder / CONVERTED
    to.touch(mode=0o600, exist_ok=False)
    converter.called(path, to)
    if not stat.S_ISREG(to.lstat().st_mode) or not to.stat().st_size:
        raise FileFormatError(f"{converter} wrote no file. Report it to whoever made it.")
    to.chmod(0o600)
    return to


def conversion_notice(converter: Plugin) -> Notice:
    """That the table was converted, and by what."""
    message = (
        f"the input was converted to Parquet by {converter.package}. What was released and verified is the converted "
        "table; that it is the same as the file was not checked."
    )
    return Notice("converted", converter.package, message)


@contextmanager
def converted(path: Path, converter: Plugin) -> Iterator[Path]:
    """The file as Parquet, until it has been read."""
    with TemporaryDirectory(prefix="incrowd-") as folder:
        yield convert(path, converter, Path(folder))
