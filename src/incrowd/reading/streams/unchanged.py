"""Notice a file that changes between two passes over it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from incrowd.errors import FileFormatError


@dataclass(frozen=True)
class Stamp:
    """What a file looked like when it was opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("age")
    ...     stamp = Stamp.of(file)
    ...     stamp.check()
    ...     _ = file.write_text("age,sex")
    ...     stamp.check()
    Traceback (most recent call last):
    ...
    incrowd.errors.FileFormatError: 'people.csv' changed while it was read. Start again when it is at rest.
    """

    path: Path
    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The present look of a file."""
        found = path.stat()
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    @property
    def holds(self) -> bool:
        """Whether the file is what it was."""
        try:
            return Stamp.of(self.path) == self
        except OSError:
            return False

    def check(self) -> None:
        """Refuse to go on if the file is not what it was."""
        if not self.holds:
            raise changed(self.path)


def check_all(stamps: Iterable[Stamp]) -> None:
    """Refuse to go on if any of the files is not what it was."""
    for stamp in stamps:
        stamp.check()


def changed(path: Path) -> FileFormatError:
    """The error for a file that is not what it was."""
    return FileFormatError(f"{path.name!r} changed while it was read. Start again when it is at rest.")
