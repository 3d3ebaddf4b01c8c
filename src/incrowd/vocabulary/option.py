"""An option, declared once: its name, type, default, help, and which faces have it.

A group of options is a class. Where its options are arguments by themselves it is a ``TypedDict``, where the group is
one argument it is a frozen dataclass. Either way the annotation of an option carries an :class:`Option`, from which the
signatures and docstrings of functions (:func:`described`), the command line and the keys of recipes are made.
"""

# Annotations are read when a class is made, so modules that declare options do not postpone them.

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any, ForwardRef, NamedTuple, TypeVar

_HERE = "{options}"
_MODULE = re.compile(r"[\w.]+\.(?=\w)")
_Described = TypeVar("_Described", bound=Callable[..., Any])
_Group = TypeVar("_Group")
_Shown = TypeVar("_Shown")


class Kind(StrEnum):
    """What is written for an option where there is nothing but text: on the command line, on a page."""

    TEXT = "text"
    TEXTS = "several texts"
    CHOICE = "one of a few words"
    NAMES = "names of columns"
    NUMBER = "a number"
    NUMBERS = "numbers, with commas between"
    WHOLE = "a whole number"
    WHOLES = "several whole numbers"
    FLAG = "present or not"
    SWITCH = "on, off, or not set"
    YES_NO = "yes, no, or not set"
    FILE = "a file or a folder"
    FILES = "several files"
    SETS = "columns that are known together, and their k"
    SETTINGS = "parameters and their values"
    RENAMED = "new and old names of columns"
    HIERARCHIES = "columns and the files of their hierarchies, or a folder"
    CELLS = "cells: their rows and columns"


@dataclass(frozen=True)
class Absent:
    """That a face does not have an option, and why."""

    why: str


@dataclass(frozen=True)
class Option:
    """What every face knows of an option."""

    help: str  # one sentence, the same everywhere
    # kind, example: How it is written as text, and an example of that; the choices, separated by ``|``, if there are
    # a few
    kind: Kind = Kind.TEXT
    example: str = ""
    more: str = ""  # what a docstring or a page has room for, and the help of a command has not
    default: Any = None  # for an argument by itself; a dataclass has its own
    flags: tuple[str, ...] = ()  # on the command line, if it is not the name
    # command, recipe: Why the command line does not have it; the key of the recipe that says it, if it is not the
    # name, or why none
    command: Absent | None = None
    recipe: str | Absent = ""


class Declared(NamedTuple):
    """An option of a group: its name, its type as it is written, its default."""

    name: str
    type: str
    default: Any
    option: Option

    @property
    def flags(self) -> tuple[str, ...]:
        """What it is called on the command line."""
        return self.option.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def needed(self) -> bool:
        """Whether it must be said."""
        return self.default is inspect.Parameter.empty

    @property
    def key(self) -> str | None:
        """The key of the recipe that says it."""
        return None if isinstance(self.option.recipe, Absent) else self.option.recipe or self.name

    @property
    def parameter(self) -> inspect.Parameter:
        """It as an argument that is named."""
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=self.type)

    @property
    def docs(self) -> str:
        """Its part of a docstring."""
        return f"{self.name}\n    {self.option.help}{f' {self.option.more}' if self.option.more else ''}"


def options_of(group: type) -> tuple[Declared, ...]:
    """The options of a group, in their order."""
    own = {one.name: one.default for one in fields(group)} if is_dataclass(group) else None
    declared = []
    for name, annotation in group.__annotations__.items():
        [option] = [fact for fact in annotation.__metadata__ if isinstance(fact, Option)]
        default = option.default if own is None else own[name]
        default = inspect.Parameter.empty if default is MISSING else default
        declared.append(Declared(name, _words(annotation.__origin__), default, option))
    return tuple(declared)


def _words(annotation: Any) -> str:
    """A type as it is written, without the modules of its parts."""
    text = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else inspect.formatannotation(annotation)
    return _MODULE.sub("", text)


def part(group: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are for options of the group and say something."""
    return {one.name: values[one.name] for one in options_of(group) if values.get(one.name) is not None}


def filled(group: type, values: Mapping[str, object]) -> dict[str, Any]:
    """All options of the group: the values, and the defaults where there is none."""
    return {one.name: values.get(one.name, one.default) for one in options_of(group)}


def described(*groups: type, **arguments: type) -> Callable[[_Described], _Described]:
    """Let signature and docstring of a function have the options of groups in place of its ``**options``.

    In the docstring they stand in place of a line ``{options}``. Names that nobody knows are refused; ``arguments`` are
    groups that are one argument each, where a name may belong.
    """
    options = tuple(one for group in groups for one in options_of(group))

    def describe(function: _Described) -> _Described:
        known = inspect.signature(function)
        own = [one for one in known.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        names = {one.name: one.name for one in own} | {one.name: one.name for one in options}
        inside = {
            one.name: f"{name}={kind.__name__}({one.name}=…)"
            for name, kind in arguments.items()
            for one in options_of(kind)
        }
        strict = _strict(function, inside | names)
        shown = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
        shown += [*(one.parameter for one in options), *(one for one in own if one not in shown)]
        return _shown(strict, known.replace(parameters=shown), options)

    return describe


def described_group(group: type[_Group]) -> type[_Group]:
    """The dataclass of a group, with its options in its own signature and docstring."""
    options = options_of(group)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return _shown(group, inspect.Signature([one.parameter.replace(kind=kind) for one in options]), options)


def described_fields(*groups: type) -> Callable[[type[_Group]], type[_Group]]:
    """Let the docstring of a dataclass have those options of groups that are its fields."""
    options = [one for group in groups for one in options_of(group)]

    def describe(kind: type[_Group]) -> type[_Group]:
        names = inspect.signature(kind).parameters
        kind.__doc__ = documented(kind.__doc__, [one for one in options if one.name in names])
        return kind

    return describe


def _shown(thing: _Shown, signature: inspect.Signature, options: Iterable[Declared]) -> _Shown:
    thing.__signature__ = signature  # type: ignore[attr-defined]
    thing.__doc__ = documented(thing.__doc__, options)
    return thing


def documented(docstring: str | None, options: Iterable[Declared]) -> str | None:
    """The docstring with the options in place of the line that stands for them."""
    if docstring is None:  # Python was asked to leave docstrings out
        return None
    indent = next((line[: line.index(_HERE)] for line in docstring.splitlines() if _HERE in line), "")
    lines = [line for one in options for line in one.docs.splitlines()]
    return docstring.replace(f"{indent}{_HERE}", "\n".join(indent + line for line in lines))


def _strict(function: _Described, known: Mapping[str, str]) -> _Described:
    """The function, which refuses a name that it does not know, as Python does."""

    @functools.wraps(function)
    def strict(*args: Any, **named: Any) -> Any:
        for name in named:
            if known.get(name) != name:
                unknown = f"{function.__name__}() got an unexpected keyword argument {name!r}."
                raise TypeError(unknown + nearest(name, known))
        return function(*args, **named)

    return strict  # type: ignore[return-value]


def nearest(name: object, known: Mapping[str, str]) -> str:
    """A sentence with what was probably meant, or nothing; ``known`` are names, and how they are written."""
    likely = difflib.get_close_matches(str(name), known, n=1)
    return f" Did you mean {known[likely[0]]}?" if likely else ""
