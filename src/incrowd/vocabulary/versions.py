"""What is installed here, as certificates, reports and results state it."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import cache
from importlib import metadata


@cache
def version(package: str) -> str:
    """The installed version of a package; its description is parsed once, which takes milliseconds.

    Examples
    --------
    >>> version("incrowd") == version("incrowd")
    True
    """
    return metadata.version(package)


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The installed version of each package, and of Python.

    Examples
    --------
    >>> list(versions(["numpy", "polars"]))
    ['numpy', 'polars', 'python']
    """
    return {name: version(name) for name in packages} | {"python": platform.python_version()}
