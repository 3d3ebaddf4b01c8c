"""Where data sets lie on this machine: the user's folder, and the cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from incrowd.errors import InputError

FOLDER_VARIABLE = "INCROWD_DATA"


def data_folder(folder: Path | None = None) -> Path | None:
    """The user's folder: the one named, else that of ``INCROWD_DATA``; None where there is neither."""
    if folder is None and not os.environ.get(FOLDER_VARIABLE):
        return None
    named = folder if folder is not None else Path(os.environ[FOLDER_VARIABLE])
    named = named.expanduser()
    if not named.is_dir():
        said = "The data folder" if folder is not None else f"The folder that {FOLDER_VARIABLE} names"
        raise InputError(f"{said} does not exist: {named}. Name a folder that holds the CSV files.")
    return named


def cache_folder() -> Path:
    """Where fetched data sets are kept; the folder need not exist yet.

    ``XDG_CACHE_HOME`` is respected, on Windows ``LOCALAPPDATA``.
    """
    named = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None)
    home = Path(named).expanduser() if named else Path.home() / ".cache"
    return home / "incrowd" / "datasets"
