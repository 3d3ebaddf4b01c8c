"""Certificates as files: where they lie, and how they are read.

What is installed here, as certificates, reports and results state it.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, ParameterError


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


VERSION = 5
LARGEST = 100_000_000  # bytes: a file beyond is no certificate, and is not read into memory
SUFFIX = ".certificate.json"


def certificate_beside(release: Path) -> Path:
    """Where the certificate of a release lies if nothing else is said.

    Examples
    --------
    >>> certificate_beside(Path("release.csv.gz")).name
    'release.csv.gz.certificate.json'
    """
    return release.with_name(release.name + SUFFIX)


def read_certificate(certificate: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """A certificate as plain data; raises if it is none, or of another version."""
    if isinstance(certificate, Mapping):
        data: Any = json.loads(json.dumps(certificate))
        name = "The certificate"
    else:
        path = Path(certificate)
        data, name = _parsed(path), path.name
    if not isinstance(data, dict) or "incrowd_certificate" not in data:
        raise FileFormatError(f"{name} is no certificate of a release.")
    if data["incrowd_certificate"] != VERSION:
        raise FileFormatError(
            f"{name} is of another version of the format than {VERSION}, which this incrowd checks. Recount the file "
            "with -k and --quasi-identifiers, or use the incrowd that the certificate names."
        )
    return data


def _parsed(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            raise FileFormatError(f"{path.name} is too large for a certificate.")
        return json.loads(path.read_bytes(), object_pairs_hook=_once, parse_constant=_refuse)
    except FileNotFoundError:
        raise ParameterError(
            f"There is no certificate {path.name}. Name it with --certificate; or, to recount a table that has none, "
            "say what it must keep: -k and --quasi-identifiers."
        ) from None
    except OSError as error:
        raise FileFormatError(f"{path.name} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path.name} is no JSON file, or a damaged one.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object each of whose names stands there once: readers differ in which of two they believe."""
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a name stands there twice")
    return data


def _refuse(_constant: str) -> Any:
    raise ValueError("no number of JSON")
