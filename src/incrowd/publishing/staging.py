"""Atomic, crash-safe publication of one file.

A release is written into a private folder beside its target, verified there, flushed to disk and renamed.
Whenever the program is stopped, the target is the old file or the complete new one. What a killed run left
behind is swept by the next run for the same target. Two runs cannot write the same target at once.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from incrowd.errors import OutputError

_OPEN: set[Path] = set()  # the private folders of this process


def check_target(target: Path, inputs: tuple[Path, ...] = ()) -> None:
    """Raise unless a file may be written there.

    Links, pipes, devices and folders are refused, and so is the input itself.
    """
    if not target.parent.is_dir():
        raise OutputError(f"{target.name}: its folder does not exist. Make the folder first.")
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"{target.name} cannot be written: {error.strerror}.") from error
    if not stat.S_ISREG(mode):
        raise OutputError(
            f"{target.name} is a {_kind(mode)}, not an ordinary file. Name a new file or an ordinary one."
        )
    if any(path.exists() and path.samefile(target) for path in inputs):
        raise OutputError(f"{target.name} is the input itself. Write the release to another file.")


def _kind(mode: int) -> str:
    names = {stat.S_IFLNK: "link", stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    return names.get(stat.S_IFMT(mode), "device")


@contextlib.contextmanager
def staged(target: Path) -> Iterator[Path]:
    """Give a private path to write to; when the block ends well, the file appears at the target.

    If the block raises, the target is untouched and nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with staged(target) as path:
    ...     _ = path.write_text("hello")
    >>> target.read_text(), sorted(p.name for p in target.parent.iterdir())
    ('hello', ['note.txt'])
    """
    with private_folder(target) as folder:
        draft = folder / target.name
        yield draft
        try:
            _flush(draft)
            draft.replace(target)
            _flush(target.parent)
        except OSError as error:
            raise OutputError(f"{target.name} cannot be written: {error.strerror}.") from error


@contextlib.contextmanager
def staged_pair(target: Path, second: Path) -> Iterator[Path]:
    """The same for two files that belong together: give a private path for the first; the second is written beside it.

    The first stands for both: it goes away before the second is replaced, and appears when the second is in place. So
    whenever the program is stopped, where the first is, the second belongs to it.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with staged_pair(target, target.with_name("b.txt")) as path:
    ...     _ = path.write_text("a"), path.with_name("b.txt").write_text("b")
    >>> sorted(p.name for p in target.parent.iterdir())
    ['a.txt', 'b.txt']
    """
    with private_folder(target) as folder, private_folder(second):
        yield folder / target.name
        try:
            for name in (target.name, second.name):
                _flush(folder / name)
            target.unlink(missing_ok=True)
            (folder / second.name).replace(second)
            _flush(second.parent)
            try:
                (folder / target.name).replace(target)
            except OSError:
                second.unlink()
                raise
            _flush(target.parent)
        except OSError as error:
            raise OutputError(f"{target.name} cannot be written: {error.strerror}.") from error


@contextlib.contextmanager
def private_folder(target: Path) -> Iterator[Path]:
    """Give the private folder beside a target, empty and locked; it goes when the block ends."""
    check_target(target)
    folder = target.parent / f".{target.name}.incrowd"
    handle = _private_folder(folder)
    _OPEN.add(folder)
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
            _OPEN.discard(folder)
        finally:
            os.close(handle)


def abandon() -> None:
    """Remove what this process has written but not published, for a program that ends without unwinding."""
    for folder in tuple(_OPEN):
        shutil.rmtree(folder, ignore_errors=True)


def _private_folder(folder: Path) -> int:
    """Make (or take over and sweep) the folder, readable by its owner only, and lock it; gives the lock."""
    for _ in range(10):
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
        except OSError as error:
            if isinstance(error, FileNotFoundError | FileExistsError) and _may_come_and_go(folder):
                continue  # the run that held the lock has removed the folder just now
            raise OutputError(f"Beside {folder.name[1:-8]} nothing can be written: {error.strerror}.") from error
        if not _lock(handle):
            os.close(handle)
            raise OutputError(f"Another run is writing {folder.name[1:-8]}. Wait for it, or name another file.")
        if _is_still_there(folder, handle):
            _sweep(folder, handle)
            return handle
        os.close(handle)  # it has removed the folder meanwhile
    raise OutputError(f"The folder of {folder.name[1:-8]} is too busy. Try again.")


def _may_come_and_go(folder: Path) -> bool:
    """Nothing is there, or a folder: not a file or a link that stands in the way."""
    return folder.parent.is_dir() and (not os.path.lexists(folder) or (folder.is_dir() and not folder.is_symlink()))


def _is_still_there(folder: Path, handle: int) -> bool:
    try:
        return os.fstat(handle).st_ino == folder.lstat().st_ino
    except FileNotFoundError:
        return False


def _sweep(folder: Path, handle: int) -> None:
    """Remove what a killed run left in the folder, and keep others out of it."""
    try:
        os.fchmod(handle, 0o700)
        for leftover in folder.iterdir():
            shutil.rmtree(leftover) if leftover.is_dir() and not leftover.is_symlink() else leftover.unlink()
    except OSError as error:
        os.close(handle)
        raise OutputError(f"The leftovers in {folder.name} cannot be removed: {error.strerror}.") from error


def _lock(handle: int) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
