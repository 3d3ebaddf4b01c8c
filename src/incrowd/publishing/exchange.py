"""Drafts take the places of files, all of them or none: every change knows its way back."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path


class Exchange:
    """Renames that can be taken back, in the reverse order, for as long as the old files are kept.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a").write_text("old"), (folder / "draft").write_text("new")
    >>> exchange = Exchange()
    >>> exchange.place(folder / "draft", folder / "a", folder / "kept")
    >>> exchange.undo()
    >>> (folder / "a").read_text(), len(list(folder.iterdir()))
    ('old', 1)
    """

    def __init__(self) -> None:
        self._ways_back: list[Callable[[], object]] = []

    def withdraw(self, target: Path, kept: Path) -> None:
        """Take the file away from its place, and keep it."""
        if target.exists():
            self._ways_back.append(lambda: kept.exists() and kept.replace(target))
            target.replace(kept)
            flush(target.parent)

    def place(self, draft: Path, target: Path, kept: Path) -> None:
        """Put the draft where the file is, or is to be; whoever looks sees the old one or the new one."""
        if target.exists():
            _keep(target, kept)
            self._ways_back.append(lambda: kept.exists() and kept.replace(target))
        else:
            self._ways_back.append(lambda: None if draft.exists() else target.unlink(missing_ok=True))
        draft.replace(target)
        flush(target.parent)

    def undo(self) -> None:
        """Everything as it was before; what the system refuses keeps nothing else from being put back."""
        while self._ways_back:
            try:
                self._ways_back.pop()()
            except OSError:
                continue


def _keep(target: Path, kept: Path) -> None:
    """A second name for the file as it is; a copy where the system or its files know no second names."""
    try:
        os.link(target, kept)
    except (AttributeError, OSError):
        shutil.copy2(target, kept)


def keep_mode(draft: Path, target: Path) -> None:
    """Let the draft be read and written by those who may read and write the file that is there, and by nobody else.

    A draft that was made private stays private. Where the file cannot stay in its group, its group loses its rights.
    """
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    new = draft.stat()
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if not new.st_mode & 0o077:
        mode &= 0o700
    if new.st_gid != old.st_gid:
        try:
            os.chown(draft, -1, old.st_gid)
        except OSError:
            mode &= ~0o070
    draft.chmod(mode)


def flush(path: Path) -> None:
    """Wait until the file, or the names in the folder, are on the disk; Windows opens no folders, and needs no wait."""
    is_posix = hasattr(os, "O_DIRECTORY")
    if path.is_dir() and not is_posix:
        return
    handle = os.open(path, os.O_RDONLY if is_posix else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
