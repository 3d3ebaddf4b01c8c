"""Public names as Markdown: signature and docstring."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_LITERAL = re.compile(r"``([^`]+)``")
_LONGEST = 100


def describe(name: str, thing: Any) -> str:
    """The section of one public name.

    Examples
    --------
    >>> print(describe("floor", lambda number: number).splitlines()[0])
    ## floor
    """
    parts = [f"## {name}", f"```text\n{signature(name, thing)}\n```", *markdown(inspect.getdoc(thing) or "")]
    members = list(_members(thing))
    if members:
        parts.append("\n".join(members))
    return "\n\n".join(parts) + "\n"


def signature(name: str, thing: Any) -> str:
    """How the name is called; one argument per line if the line would be long.

    Examples
    --------
    >>> def area(width: float, height: float = 1.0) -> float: ...
    >>> signature("area", area)
    'area(width: float, height: float = 1.0) -> float'
    """
    if not callable(thing) or (isinstance(thing, type) and issubclass(thing, enum.Enum | Exception)):
        return name
    called = inspect.signature(thing)
    if isinstance(thing, type):
        called = called.replace(return_annotation=inspect.Signature.empty)
    shown = [parameter for parameter in called.parameters.values() if not parameter.name.startswith("_")]
    called = called.replace(parameters=[_plain(parameter) for parameter in shown])
    line = f"{name}{_unquoted(str(called))}"
    if len(line) <= _LONGEST:
        return line
    arguments = "".join(f"    {_unquoted(text)},\n" for text in _arguments(called))
    result = "" if called.return_annotation is inspect.Signature.empty else f" -> {called.return_annotation}"
    return f"{name}(\n{arguments}){_unquoted(result)}"


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """A default that is made anew for each call, or is a member of an enumeration, in words a reader knows."""
    default = parameter.default
    if isinstance(default, enum.Enum):
        return parameter.replace(default=_Words(f"{type(default).__name__}.{default.name}"))
    if repr(default) == "<factory>":
        return parameter.replace(default=_Words("{}"))
    return parameter


class _Words:
    """Something that prints as given."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __repr__(self) -> str:
        return self._words


def _arguments(called: inspect.Signature) -> Iterator[str]:
    """The arguments one by one, with the star before those that must be named."""
    starred = False
    for parameter in called.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield str(parameter)


def _unquoted(text: str) -> str:
    """Annotations are kept as text; show them without their quotes."""
    return re.sub(r"(: |-> )(['\"])(.*?)\2(?=( = |, |\)|$))", r"\1\3", text)


def markdown(doc: str) -> Iterator[str]:
    """A numpydoc docstring as paragraphs: definitions as lists, examples and drawings as text."""
    pieces = _SECTION.split(doc)
    yield from _prose(pieces[0])
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        yield f"**{title}**"
        if title == "Examples":
            yield f"```text\n{body.strip()}\n```"
        else:
            yield "\n".join(_definitions(body))


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; an indented one is a drawing and stays as it is."""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.startswith("    "):
            yield f"```text\n{inspect.cleandoc(paragraph)}\n```"
        elif paragraph.strip() != "::":
            yield _inline(paragraph.removesuffix("::"))


def _definitions(body: str) -> Iterator[str]:
    """``name`` and its indented meaning as list items."""
    for item in re.findall(r"^\S.*(?:\n(?:[ \t]+.*|(?=\n[ \t])))*", body.strip("\n"), re.MULTILINE):
        name, *meaning = item.splitlines()
        words = _inline(" ".join(line.strip() for line in meaning if line.strip()))
        yield f"- `{name.strip()}`: {words}" if words else f"- {_inline(name)}"


def _inline(text: str) -> str:
    """Cross-references and literals in Markdown."""
    text = _ROLE.sub(lambda match: f"`{match[1].rsplit('.', 1)[-1]}`", text)
    return _LITERAL.sub(r"`\1`", text)


def _members(thing: Any) -> Iterator[str]:
    """What a class offers: members of an enumeration, properties and methods, each with its first line."""
    if not isinstance(thing, type) or issubclass(thing, Exception):
        return
    if issubclass(thing, enum.Enum):
        yield from (f"- `{name}`: `{member.value}`" for name, member in thing.__members__.items())
        return
    for name, member in _own(thing):
        doc = inspect.getdoc(member)
        if doc:
            call = "" if isinstance(member, property | cached_property) else "()"
            yield f"- `.{name}{call}`: {_inline(doc.split(chr(10) * 2)[0].replace(chr(10), ' '))}"


def _own(thing: type) -> Iterator[tuple[str, Any]]:
    """Public members that incrowd defines, those of base classes first; a subclass wins."""
    members: dict[str, Any] = {}
    for base in reversed(thing.__mro__):
        if base.__module__.startswith("incrowd."):
            members |= {name: member for name, member in vars(base).items() if not name.startswith("_")}
    for name, member in members.items():
        if callable(member) or isinstance(member, property) or hasattr(member, "__get__"):
            yield name, member
