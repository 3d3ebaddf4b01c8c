"""Folders on any file system that Hadoop knows: local, HDFS, object stores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from incrowd.engines.spark.tasks import told
from incrowd.errors import OutputError


def listed_files(session: Any, folder: str) -> list[str]:
    """The files of a folder, without hidden ones."""
    with told():
        system, path = _place(session, folder)
        found = [status.getPath().toString() for status in system.listStatus(path)]
    return sorted(file for file in found if not file.rpartition("/")[2].startswith((".", "_")))


def make_folder(session: Any, folder: str) -> None:
    """Make a folder."""
    with told():
        system, path = _place(session, folder)
        if not system.mkdirs(path):
            raise OutputError(f"The folder {path.getName()} cannot be made.")


def check_free(session: Any, target: str) -> None:
    """Raise unless a folder may be made there."""
    with told():
        system, path = _place(session, target)
        if path.getParent() is None:
            raise OutputError("The release needs a folder of its own. Name a new one.")
        if system.exists(path):
            raise OutputError(f"{path.getName()} exists. Name a new folder for the release.")
        if not system.exists(path.getParent()):
            raise OutputError(f"{path.getName()}: its folder does not exist. Make the folder first.")


@contextmanager
def staged_folder(session: Any, target: str) -> Iterator[str]:
    """Give a folder to write to, hidden beside the target; when the block ends well, it appears at the target.

    If the block raises, nothing is left behind.
    """
    check_free(session, target)
    with told():
        system, path = _place(session, target)
        hidden = _path(session, path.getParent(), f".{path.getName()}.incrowd")
        if system.exists(hidden):
            raise OutputError(
                f"Another run is writing {path.getName()}, or was ended before it could tidy up. If none is, remove "
                f"the folder {hidden.getName()} beside it."
            )
        permission = session._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
        if not system.mkdirs(hidden, permission):
            raise OutputError(f"Beside {path.getName()} nothing can be written.")
    draft = _path(session, hidden, "release")
    try:
        yield draft.toString()
        with told():
            if system.exists(path) or not system.rename(draft, path):
                raise OutputError(f"{path.getName()} cannot be put in its place. Is there one now?")
    finally:
        with told():
            system.delete(hidden, True)


def _place(session: Any, folder: str) -> tuple[Any, Any]:
    """The file system of a folder, and its full path there."""
    path = session._jvm.org.apache.hadoop.fs.Path(folder)
    system = path.getFileSystem(session._jsc.hadoopConfiguration())
    return system, system.makeQualified(path)


def _path(session: Any, parent: Any, name: str) -> Any:
    return session._jvm.org.apache.hadoop.fs.Path(parent, name)
