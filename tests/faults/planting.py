"""What a planted fault is, and how it is planted: a function or method of the program is replaced by a faulty one."""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from faults.people import Case

MEMORY, BLOCKS, SPARK = "memory", "blocks", "spark"
BOTH = (MEMORY, BLOCKS)
_SPARED = "incrowd.verification"  # what the faults are to be found by


@dataclass(frozen=True)
class Fault:
    """A mistake that somebody could make.

    Parameters
    ----------
    name, sentence
        What it is called, and what it does.
    place
        The part of the program it is in.
    targets
        For each engine what it replaces: ``module:function`` or ``module:Class.method``. A function is replaced
        wherever it is used; named in a module that only imports it, in that module alone.
    faulty
        Takes the original and its arguments.
    cases
        The releases it is run with.
    """

    name: str
    sentence: str
    place: str
    targets: dict[str, str]
    faulty: Callable[..., Any]
    cases: tuple[Case, ...]


FAULTS: list[Fault] = []


def plant(target: str | dict[str, str], engines: tuple[str, ...] = BOTH, **asked: Any) -> Callable[[Any], Any]:
    """Enter a fault in the catalogue; several values of something that is asked for make several releases.

    The faulty function is called with the original and its arguments. Its name and docstring are those of the fault.
    """
    targets = target if isinstance(target, dict) else dict.fromkeys(engines, target)
    listed = {name: value if isinstance(value, tuple) else (value,) for name, value in asked.items()}
    cases = tuple(
        Case(engine, **dict(zip(listed, values, strict=True)))
        for engine in targets
        for values in itertools.product(*listed.values())
    )

    def enter(faulty: Callable[..., Any]) -> Callable[..., Any]:
        name, place = faulty.__name__.replace("_", " "), faulty.__module__.rpartition(".")[2]
        FAULTS.append(Fault(name, (faulty.__doc__ or "").strip(), place, targets, faulty, cases))
        return faulty

    return enter


def as_if(faulty: Callable[..., Any], described: Callable[..., Any]) -> Callable[..., Any]:
    """A faulty function under the name, and with the words, of what describes it."""
    faulty.__name__, faulty.__doc__, faulty.__module__ = described.__name__, described.__doc__, described.__module__
    return faulty


@contextmanager
def planted(fault: Fault, engine: str) -> Iterator[list[int]]:
    """While the block runs, the program has the fault; gives a list that has an entry for each time it was met."""
    module_name, _, path = fault.targets[engine].partition(":")
    owner: Any = importlib.import_module(module_name)
    *inside, name = path.split(".")
    for part in inside:
        owner = getattr(owner, part)
    original, met = vars(owner)[name], list[int]()
    wrong = _faulty(fault, original, met)
    elsewhere = [] if inside or getattr(original, "__module__", "") != module_name else _users(original)
    setattr(owner, name, wrong)
    for module, used_as in elsewhere:
        setattr(module, used_as, wrong)
    try:
        yield met
    finally:
        setattr(owner, name, original)
        for module, used_as in _users(wrong):  # also those that were loaded meanwhile
            setattr(module, used_as, original)


def _users(function: Any) -> list[tuple[Any, str]]:
    """The modules of the program that use a function, and the name they have for it."""
    modules = [m for name, m in tuple(sys.modules.items()) if name.startswith("incrowd") and not _is_spared(name)]
    return [(module, name) for module in modules for name, value in tuple(vars(module).items()) if value is function]


def _is_spared(module: str) -> bool:
    return module == _SPARED or module.startswith(f"{_SPARED}.")


def _faulty(fault: Fault, original: Any, met: list[int]) -> Any:
    """The faulty function in the guise of the original: a function, or a static, class or cached one."""
    kind = type(original)
    inner = original.__func__ if isinstance(original, staticmethod | classmethod) else original
    inner = inner.fget if isinstance(inner, property) else inner

    @functools.wraps(inner)
    def wrong(*arguments: Any, **named: Any) -> Any:
        met.append(1)
        return fault.faulty(inner, *arguments, **named)

    return kind(wrong) if kind in (staticmethod, classmethod, property) else wrong
