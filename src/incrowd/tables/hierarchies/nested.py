"""Nested trees in YAML or JSON: groups are keys, values are list items, or keys with nothing below."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import yaml

from incrowd.errors import FileFormatError
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy, Leaves

Tree = list[tuple[str, Any]]
"""Labels with what is below them: a tree again, or an empty list. Unlike a dictionary, it keeps repeated keys."""


def parse_yaml(text: str, name: str) -> Hierarchy:
    """Read a tree in YAML. Every label is text as it is written, also ``no`` and ``1.0``.

    Examples
    --------
    >>> parse_yaml("tree: {Secondary: [9th, 10th], University: }", "education").labels
    ('*', 'Secondary', '9th', '10th', 'University')
    """
    try:
        if any(isinstance(event, yaml.events.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise FileFormatError(f"Hierarchy {name!r} uses YAML aliases (*name). Write every label out.")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return _hierarchy(_of_yaml(root), name)
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" near line {line + 1}"
        raise FileFormatError(f"Hierarchy {name!r} is not YAML{where}. Check indentation and quotes.") from None
    except RecursionError:
        raise FileFormatError(f"Hierarchy {name!r} is nested too deeply to be read.") from None


def parse_json(text: str, name: str) -> Hierarchy:
    """Read a tree in JSON."""
    try:
        data = json.loads(text, object_pairs_hook=_Pairs, parse_int=str, parse_float=str, parse_constant=str)
        return _hierarchy(_of_json(data), name)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"Hierarchy {name!r} is not JSON: see line {error.lineno}.") from None
    except RecursionError:
        raise FileFormatError(f"Hierarchy {name!r} is nested too deeply to be read.") from None


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, repeated keys included."""


def _of_yaml(node: Any) -> Tree:
    if isinstance(node, yaml.MappingNode):
        return [(_text(key), _of_yaml(value)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        items = [[(item.value, [])] if isinstance(item, yaml.ScalarNode) else _of_yaml(item) for item in node.value]
        return [branch for item in items for branch in item]
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return []
    return [(str(node.value), [])]


def _text(node: Any) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise FileFormatError(f"Near line {node.start_mark.line + 1}, a label is not a plain text.")
    return str(node.value)


def _of_json(data: Any) -> Tree:
    if isinstance(data, _Pairs):
        return [(key, _of_json(value)) for key, value in data]
    if isinstance(data, list):
        return [branch for item in data for branch in _of_json(item)]
    if isinstance(data, bool):
        raise FileFormatError("true and false are no labels in JSON. Write them in quotes.")
    return [] if data is None else [(str(data), [])]


def _hierarchy(document: Tree, name: str) -> Hierarchy:
    """The document's ``tree``, with its ``name`` and kind of ``leaves``, if they are given."""
    parts = dict(document)
    if "tree" not in parts or len(parts) < len(document) or not set(parts) <= {"name", "leaves", "tree"}:
        raise FileFormatError(
            f"Hierarchy {name!r}: a nested hierarchy has a tree, and may have a name and leaves "
            f"({', '.join(Leaves)}); nothing else, and nothing twice."
        )
    title = _only(parts.get("name"), name, name)
    kind = _only(parts.get("leaves"), Leaves.VALUES, name)
    if kind not in list(Leaves):
        raise FileFormatError(f"Hierarchy {name!r}: leaves must be one of {', '.join(Leaves)}.")
    labels, parents = [ROOT], [-1]
    waiting = [(0, parts["tree"])]
    while waiting:
        parent, branches = waiting.pop()
        for label, below in branches:
            labels.append(label)
            parents.append(parent)
            waiting.append((len(labels) - 1, below))
    sound = Hierarchy(name, tuple(labels), tuple(parents), Leaves(kind))  # a message would quote its name
    return replace(sound, name=title)


def _only(branches: Tree | None, otherwise: str, name: str) -> str:
    if branches is None:
        return otherwise
    if len(branches) != 1 or branches[0][1]:
        raise FileFormatError(f"Hierarchy {name!r}: name and leaves are single words.")
    return branches[0][0]


def to_nested(hierarchy: Hierarchy) -> dict[str, Any]:
    """The hierarchy as nested plain data."""
    below: list[Any] = [None] * len(hierarchy)
    for node in range(len(hierarchy) - 1, -1, -1):
        children = hierarchy.children(node)
        if any(below[child] for child in children):
            below[node] = {hierarchy.labels[child]: below[child] for child in children}
        elif children:
            below[node] = [hierarchy.labels[child] for child in children]
    return {"name": hierarchy.name, "leaves": str(hierarchy.kind), "tree": below[0]}


def format_yaml(hierarchy: Hierarchy) -> str:
    """Write a tree in YAML.

    Examples
    --------
    >>> print(format_yaml(Hierarchy.from_paths("sex", [["f", "*"], ["m", "*"]])), end="")
    name: sex
    leaves: values
    tree:
    - f
    - m
    """
    return str(yaml.dump(to_nested(hierarchy), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


class _Dumper(yaml.SafeDumper):
    """Writes a text with signs that cannot be seen, such as odd line ends, in quotes and escaped."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _represent)


def format_json(hierarchy: Hierarchy) -> str:
    """Write a tree in JSON."""
    return json.dumps(to_nested(hierarchy), ensure_ascii=False, indent=2) + "\n"
