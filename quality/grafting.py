"""A change of a module, put into the module that is loaded: functions keep their identity and get other code."""

from __future__ import annotations

import ast
import sys
import types
from functools import cached_property
from typing import Any

_KEPT = {
    "__dict__",
    "__weakref__",
    "__module__",
    "__doc__",
    "__annotations__",
    "__dataclass_fields__",
    "__match_args__",
}


class CannotGraftError(Exception):
    """The change is of a kind that only a new import brings about."""


def graft(name: str, tree: ast.Module) -> None:
    """Make a loaded module behave as the changed program does. Raises what running the program raises."""
    live = sys.modules[name]
    fresh = types.ModuleType(name)
    for dunder in ("__file__", "__package__", "__spec__", "__path__"):
        if dunder in vars(live):
            setattr(fresh, dunder, getattr(live, dunder))
    exec(compile(tree, str(live.__file__), "exec"), vars(fresh))
    for key, new in tuple(vars(fresh).items()):
        old = vars(live).get(key)
        if old is not new and not key.startswith("__"):
            _graft(live, key, old, new)


def _graft(live: types.ModuleType, key: str, old: Any, new: Any) -> None:
    if isinstance(new, type) and isinstance(old, type):
        if new.__module__ == live.__name__:
            _graft_class(old, new)
    elif callable(new) and callable(old) and hasattr(old, "__wrapped__"):
        _graft_function(old.__wrapped__, new.__wrapped__)
        if hasattr(old, "cache_clear"):
            old.cache_clear()
    elif isinstance(new, types.FunctionType) and isinstance(old, types.FunctionType):
        _graft_function(old, new)
    elif isinstance(new, dict) and isinstance(old, dict) and any(map(callable, new.values())):
        for each in new.keys() & old.keys():
            _graft(live, each, old[each], new[each])
    elif repr(new) != repr(old) and " at 0x" not in repr(new):
        _replace(live, key, old, new)


def _replace(live: types.ModuleType, key: str, old: Any, new: Any) -> None:
    """Another value of a constant, for all who have imported it."""
    setattr(live, key, new)
    for module in tuple(sys.modules.values()):
        if isinstance(module, types.ModuleType) and vars(module).get(key) is old:
            setattr(module, key, new)


def _graft_class(old: type, new: type) -> None:
    for key, fresh in tuple(vars(new).items()):
        there = vars(old).get(key)
        if key in _KEPT or there is fresh:
            continue
        pairs = _functions(there, fresh)
        for one, other in pairs:
            _graft_function(one, other)
        if isinstance(fresh, type) and isinstance(there, type):
            _graft_class(there, fresh)
        elif not pairs and not callable(fresh) and repr(fresh) != repr(there) and " at 0x" not in repr(fresh):
            try:
                setattr(old, key, fresh)
            except (AttributeError, TypeError):
                raise CannotGraftError(key) from None


def _functions(old: Any, new: Any) -> list[tuple[types.FunctionType, types.FunctionType]]:
    """The pairs of functions in a method, a property and the like."""
    pairs: list[tuple[Any, Any]]
    match new:
        case types.FunctionType():
            pairs = [(old, new)]
        case property():
            pairs = [(old.fget, new.fget), (old.fset, new.fset)]
        case staticmethod() | classmethod():
            pairs = [(old.__func__, new.__func__)]
        case cached_property():
            pairs = [(old.func, new.func)]
        case _:
            pairs = []
    functions = [(a, b) for a, b in pairs if isinstance(a, types.FunctionType) and isinstance(b, types.FunctionType)]
    return [(getattr(a, "__wrapped__", a), getattr(b, "__wrapped__", b)) for a, b in functions]


def _graft_function(old: types.FunctionType, new: types.FunctionType) -> None:
    if old.__code__.co_freevars != new.__code__.co_freevars:
        raise CannotGraftError(old.__qualname__)
    old.__code__ = new.__code__
    if repr(old.__defaults__) != repr(new.__defaults__):
        old.__defaults__ = new.__defaults__
    if repr(old.__kwdefaults__) != repr(new.__kwdefaults__):
        old.__kwdefaults__ = new.__kwdefaults__
    for mine, theirs in zip(old.__closure__ or (), new.__closure__ or (), strict=True):
        value = theirs.cell_contents
        if not callable(value) and repr(mine.cell_contents) != repr(value):
            mine.cell_contents = value
