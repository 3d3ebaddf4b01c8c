"""Atomic, crash-safe publication of files, one or several together.

A release is written into a private folder beside its target, verified there, flushed to disk and renamed.
Whenever the program is stopped, the target is the old file or the complete new one. What a killed run left
behind is swept by the next run for the same target. Two runs cannot write the same target at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from incrowd.drawing.wording import listed
from incrowd.errors import OutputError, VerificationError, named_option


# Drafts take the places of files, all of them or none: every change knows its way back.
class Exchange:
    """Renames that can be taken back, in the reverse order, for as long as the old files are kept."""

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


_OPEN: set[Path] = set()  # the private folders of this process
_RUNNING: list[Exchange] = []  # files that are being put in their places
_KEPT = "kept until all files are in place"
_LOCK = "held by a run"


def check_target(target: Path, inputs: tuple[Path, ...] = (), *, replace: bool = True) -> None:
    """Raise unless a file may be written there.

    Links, pipes, devices and folders are refused, and so is the input itself, and a file that may not be replaced.
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
    check_new(target, replace=replace)


def check_targets(what: str, targets: Sequence[Path | None], inputs: Sequence[Path | None], *, replace: bool) -> None:
    """Raise unless all the files may be written, each under a name of its own; ``what`` they are, for the message."""
    paths, read = ([path for path in some if path is not None] for some in (targets, inputs))
    for path in paths:
        check_target(path, tuple(read))
    if len({path.resolve() for path in paths}) < len(paths):
        raise OutputError(f"{what} need different file names.")
    check_new(*paths, replace=replace)


def check_new(*targets: Path | None, replace: bool) -> None:
    """Raise if files would be overwritten that nobody said may be replaced; all of them in one sentence."""
    old = [path.name for path in targets if path is not None and os.path.lexists(path)]
    if old and not replace:
        exist, others = ("exists", "another file") if len(old) == 1 else ("exist", "other files")
        raise OutputError(f"{listed(old)} {exist} already. Name {others}, or use {named_option(replace=True)}.")


def _kind(mode: int) -> str:
    names = {stat.S_IFLNK: "link", stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    return names.get(stat.S_IFMT(mode), "device")


@contextlib.contextmanager
def staged(target: Path, *, replace: bool = True) -> Iterator[Path]:
    """Give a private path to write to; when the block ends well, the file appears at the target.

    If the block raises, the target is untouched and nothing is left behind. A file that was there gives its mode to
    the new one: who could not read it before cannot read it afterwards. ``replace``: whether it may be replaced.
    """
    with staged_together(target, replace=replace) as drafts:
        yield drafts[target]


class Drafts(dict[Path, Path]):
    """Targets and the private paths of their drafts; and what drafts must still be when they take their places."""

    def __init__(self, paths: Mapping[Path, Path] | tuple[()] = ()) -> None:
        super().__init__(paths)
        self._digests: dict[Path, str] = {}

    def keep(self, *drafts: Path, digests: Sequence[str]) -> None:
        """Let nothing appear unless these drafts have these SHA-256 when they are flushed to the disk."""
        self._digests.update(zip(drafts, digests, strict=False))

    def check(self, draft: Path) -> None:
        """Refuse a draft that is not what it was."""
        expected = self._digests.get(draft)
        if expected is None:
            return
        with draft.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise VerificationError(f"{draft.name} changed after it was verified. Nothing was published.")


@contextlib.contextmanager
def staged_together(
    target: Path,
    beside: Sequence[Path] = (),
    *,
    groups: Path | None = None,
    certificate: Path | None = None,
    replace: bool = True,
) -> Iterator[Drafts]:
    """Give a private path for each of several files; when the block ends well they appear, all of them or none.

    If the block raises, or one of the files cannot be written, every target is as it was before. The block must write
    every file. The drafts of files of one folder lie in one private folder, that of the first of them.

    Whenever the program is killed, every file is the old one or the complete new one, and what stands side by side
    belongs together: an old certificate goes away before anything changes and the new one appears last, so where a
    certificate is, everything else is; a target that has groups (the second table of two) goes away before they are
    replaced. Where files may not be replaced, one that is there when the others are to appear keeps all of them away.
    """
    order = [path for path in (*beside, groups, target, certificate) if path is not None]
    if len({path.resolve() for path in order}) < len(order):
        raise OutputError("Two of the files to be written have the same name. Name different files.")
    with contextlib.ExitStack() as stack:
        folders = {path: stack.enter_context(private_folder(path)) for path in dict.fromkeys((target, *order))}
        homes: dict[Path, Path] = {}
        for path, folder in folders.items():
            homes.setdefault(path.parent.resolve(), folder)
        drafts = Drafts({path: homes[path.parent.resolve()] / path.name for path in order})
        yield drafts
        check_new(*order, replace=replace)
        first = [certificate] if groups is None else [certificate, target]
        _exchange(order, drafts, folders, [path for path in first if path is not None])


@contextlib.contextmanager
def staged_files(
    target: Path | None,
    beside: Sequence[Path | None] = (),
    *,
    groups: Path | None = None,
    certificate: Path | None = None,
    replace: bool = True,
    otherwise: str,
) -> Iterator[tuple[Path, Drafts]]:
    """Give a private path for the target, and the drafts of all files that are wanted; ``None`` is not.

    Without a target the path ends in ``otherwise`` and nothing appears there: it lies in the private folder of another
    file, or in a temporary one.
    """
    others = [path for path in beside if path is not None]
    first = target or certificate or next(iter(others), None)
    if first is None:
        with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
            yield Path(folder) / otherwise, Drafts()
        return
    others = [path for path in others if path != first]
    certificate = certificate if target else None
    with staged_together(first, others, groups=groups, certificate=certificate, replace=replace) as drafts:
        yield drafts[target] if target else drafts[first].with_name(otherwise), drafts


def _exchange(order: list[Path], drafts: Drafts, folders: dict[Path, Path], first: list[Path]) -> None:
    """Put the drafts in their places in this order, when some files have gone away first; or leave all as it was."""
    exchange = Exchange()
    _RUNNING.append(exchange)
    path = order[0]
    try:
        for path in order:
            keep_mode(drafts[path], path)
            flush(drafts[path])
            drafts.check(drafts[path])
        for path in first:
            exchange.withdraw(path, folders[path] / _KEPT)
        for path in order:
            exchange.place(drafts[path], path, folders[path] / _KEPT)
    except OSError as error:
        exchange.undo()
        raise OutputError(f"{path.name} cannot be written: {error.strerror}.") from error
    except BaseException:
        exchange.undo()
        raise
    finally:
        _RUNNING.remove(exchange)


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
            left = _is_still_there(folder, handle)
            os.close(handle)
            if left:  # else it is gone, and a folder of that name is another run's
                with contextlib.suppress(OSError):
                    folder.rmdir()


def abandon() -> None:
    """Remove what this process has written but not published, for a program that ends without unwinding."""
    for exchange in tuple(_RUNNING):
        exchange.undo()
    for folder in tuple(_OPEN):
        shutil.rmtree(folder, ignore_errors=True)


def _private_folder(folder: Path) -> int:
    """Make (or take over and sweep) the folder, readable by its owner only, and lock it; gives the lock."""
    for _ in range(10):
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            handle = lock(folder)
        except BlockingIOError:
            raise OutputError(
                f"Another run is writing {folder.name[1:-8]}. Wait for it, or name another file."
            ) from None
        except OSError as error:
            if isinstance(error, FileNotFoundError | FileExistsError) and _may_come_and_go(folder):
                continue  # the run that held the lock has removed the folder just now
            raise OutputError(f"Nothing can be written beside {folder.name[1:-8]}: {error.strerror}.") from error
        if _is_still_there(folder, handle):
            _sweep(folder, handle)
            return handle
        os.close(handle)  # it has removed the folder meanwhile
    raise OutputError(f"The folder of {folder.name[1:-8]} is too busy. Try again.")


def _may_come_and_go(folder: Path) -> bool:
    """Nothing is there, or a folder: not a file or a link that stands in the way."""
    return folder.parent.is_dir() and (not os.path.lexists(folder) or (folder.is_dir() and not folder.is_symlink()))


def _is_still_there(folder: Path, handle: int) -> bool:
    held = os.fstat(handle)
    try:
        return held.st_ino == (folder if stat.S_ISDIR(held.st_mode) else folder / _LOCK).lstat().st_ino
    except FileNotFoundError:
        return False


def _sweep(folder: Path, handle: int) -> None:
    """Remove what a killed run left in the folder, and keep others out of it."""
    try:
        if hasattr(os, "fchmod"):
            os.fchmod(handle, 0o700)
        for leftover in folder.iterdir():
            if leftover.name == _LOCK:
                continue
            shutil.rmtree(leftover) if leftover.is_dir() and not leftover.is_symlink() else leftover.unlink()
    except OSError as error:
        os.close(handle)
        raise OutputError(f"The leftovers in {folder.name} cannot be removed: {error.strerror}.") from error


def sweep_abandoned(folder: Path) -> None:
    """Remove the private folders in this one, and below it, that killed runs left; a run that goes on keeps its own."""
    for left in [path for path in folder.rglob(".*.incrowd") if path.is_dir() and not path.is_symlink()]:
        with contextlib.suppress(OSError):
            handle = lock(left)
            shutil.rmtree(left, ignore_errors=True)
            os.close(handle)


def lock(folder: Path) -> int:
    """Lock the folder, and give what holds the lock; BlockingIOError if another run has it."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return _lock_by_file(folder / _LOCK)
    handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _lock_by_file(path: Path) -> int:
    """On Windows: a file that only one run can make, and that the system removes when that run closes it or dies."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_TEMPORARY", 0))
    except FileExistsError:
        raise BlockingIOError from None
