"""JSON that a program wrote and YAML that people write by hand: plain values, and nothing that could surprise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from incrowd.errors import ParameterError


# JSON that was written by a program and may have been damaged, or made to harm, since.
def read_plain_json(text: str | bytes) -> Any:
    """The data of a JSON document; raises ValueError if it is none, has a key twice, or is nested too deeply.

    Examples
    --------
    >>> read_plain_json('{"k": [5, null]}')
    {'k': [5, None]}
    >>> read_plain_json('{"k": 5, "k": 2}')
    Traceback (most recent call last):
    ...
    ValueError: a key is there twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a key is there twice")
    return data


# YAML that people write by hand: settings, lists and plain values, and nothing that could surprise.
DEEPEST = 40
"""Levels of nesting; nobody writes more by hand, and recursion would end before a thousand."""
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


def read_plain_yaml(text: str, what: str) -> Any:
    """The data of a YAML document; dates stay text. What is ambiguous or made to harm is refused, with its line.

    ``text``: the document. Aliases, tags, deep nesting and a setting that is there twice are refused. ``what``: what it
    is, for messages.

    Examples
    --------
    >>> read_plain_yaml("{k: 5, since: 2020-01-31}", "The recipe")
    {'k': 5, 'since': '2020-01-31'}
    >>> read_plain_yaml("k: 5" + chr(10) + "k: 2", "The recipe")
    Traceback (most recent call last):
    ...
    incrowd.errors.ParameterError: The recipe, line 2: this setting is there twice. Keep one.
    """
    try:
        _check_events(text, what)
        return yaml.load(text, _Loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ParameterError(f"{what}, line {line}: it has a character that YAML does not allow.") from None
    except yaml.YAMLError as error:
        mark, trouble = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"{what}, line {mark.line + 1}" if mark else what
        sentence = trouble if trouble in _TROUBLES else "it is not valid YAML. Check indentation and quotes"
        raise ParameterError(f"{where}: {sentence}.") from None
    except RecursionError:
        raise ParameterError(f"{what} is nested too deeply to be read.") from None


_TWICE = "this setting is there twice. Keep one"
_UNREADABLE = "a value cannot be read. Put text in quotes"
_TROUBLES = (_TWICE, _UNREADABLE)


def _check_events(text: str, what: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise ParameterError(f"{what}, line {line}: aliases (*name) are not read. Write it out.")
        if getattr(event, "tag", None) not in (None, "!"):
            raise ParameterError(f"{what}, line {line}: tags (!name) are not read. Write plain values.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ParameterError(f"{what}, line {line}: it is nested too deeply to be read.")


class _Loader(yaml.SafeLoader):
    """Keeps dates as they are written, and refuses what the plain loader passes over or stumbles upon."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else None
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, _TWICE, key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, ArithmeticError):  # 100,000 digits, or 1__, which looks like a number
            raise yaml.constructor.ConstructorError(None, None, _UNREADABLE, node.start_mark) from None


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
