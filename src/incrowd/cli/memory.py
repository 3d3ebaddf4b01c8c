"""Refuse, before any work, what cannot fit into the address space that the system grants."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from incrowd.errors import InputError

_File = TypeVar("_File", str, Path)

_LIBRARIES = 4 << 30
_OF_A_CORE = 64 << 20
_OF_A_BYTE = 30


def enough_memory(file: _File) -> _File:
    """Give the file back if a limit on the address space (``ulimit -v``) leaves room for reading it.

    The libraries below end the process when they get no memory, so this is asked before they are loaded. A table of a
    database is read in pieces, so only they count for it.

    Examples
    --------
    >>> enough_memory(Path("people.csv")).name
    'people.csv'
    """
    limit = _address_space()
    size = Path(file).stat().st_size if Path(file).is_file() else 0
    needed = _LIBRARIES + _OF_A_CORE * (os.cpu_count() or 1) + _OF_A_BYTE * size
    if limit is not None and limit < needed:
        raise InputError(
            f"There is not enough memory: a limit leaves {limit >> 20:,} MB of address space, and this table needs "
            f"about {needed >> 20:,} MB. Raise the limit (ulimit -v)."
        )
    return file


def _address_space() -> int | None:
    """The limit in bytes; None if there is none, or no such notion on this system."""
    try:
        import resource
    except ModuleNotFoundError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
