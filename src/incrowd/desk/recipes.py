"""The text of recipes: what the desk writes, and how it changes what somebody wrote by hand.

Only the lines of settings that change are written anew: comments, order and everything else stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from incrowd.tables.options import recipe_keys
from incrowd.vocabulary.plain_data import read_plain_yaml
from incrowd.vocabulary.schema import Role

PROPOSED = "# The roles of columns are proposals: nobody has decided on them yet."  # goes with the decision
_SHORT = {
    "drop": Role.DROP,
    "private": Role.PRIVATE,
    "pseudonyms": Role.PSEUDONYM,
    "shift_dates": Role.SHIFTED,
}
"""Settings of a recipe that are short for roles of columns."""


def with_roles_at_columns(data: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a recipe, with the roles of its short lists at the columns themselves."""
    columns = {name: dict(settings or {}) for name, settings in (data.get("columns") or {}).items()}
    for key, role in _SHORT.items():
        for name in data.get(key) or ():
            columns.setdefault(name, {})["role"] = str(role)
    return {**{key: value for key, value in data.items() if key not in _SHORT}, "columns": columns}


def recipe_text(data: Mapping[str, Any]) -> str:
    """A recipe as YAML: a line for each column, then the settings in their order.

    Examples
    --------
    >>> print(recipe_text({"k": 5, "columns": {"age": {"role": "quasi-identifier"}}}), end="")
    # What is released, and how: incrowd release FILE --recipe THIS --to OUT
    columns:
      "age": {"role": "quasi-identifier"}
    k: 5
    """
    lines = ["# What is released, and how: incrowd release FILE --recipe THIS --to OUT"]
    keys = [*recipe_keys(), *(key for key in data if key not in recipe_keys())]
    lines += _columns(data.get("columns"))
    lines += [f"{key}: {_flow(data[key])}" for key in keys if key != "columns" and data.get(key) is not None]
    return "\n".join(lines) + "\n"


def edited(text: str, data: Mapping[str, Any]) -> str:
    """The text of a recipe, changed so that it says this; comments and all lines that need no change are kept.

    Examples
    --------
    >>> print(edited("# Agreed with Ann\\nk: 5  # for now\\nrarest: 3\\n", {"k": 7, "columns": {}}), end="")
    # Agreed with Ann
    k: 7  # for now
    """
    wanted = {key: value for key, value in data.items() if value is not None}
    try:
        new = _edited(text, wanted)
        if _meaning(new) == _meaning(recipe_text(wanted)):
            return new
    except (ValueError, yaml.YAMLError, LookupError):
        pass
    comments = [line for line in text.splitlines() if line.lstrip().startswith("#") and line != PROPOSED]
    return "\n".join([*comments, recipe_text(wanted)])  # settings of a recipe in one line, or the like


def _meaning(text: str) -> dict[str, Any]:
    meaning = with_roles_at_columns(read_plain_yaml(text, "The recipe") or {})
    return {key: value for key, value in meaning.items() if value is not None}


def _edited(text: str, wanted: Mapping[str, Any]) -> str:
    old = read_plain_yaml(text, "The recipe") or {}
    before, after = with_roles_at_columns(old)["columns"], wanted.get("columns") or {}
    moved = {
        key for key in _SHORT if any(before.get(name) != after.get(name) for name in old.get(key) or ())
    }  # short lists that say it no more
    stays = {name for key in _SHORT if key not in moved for name in old.get(key) or ()}
    own = {name: one for name, one in after.items() if name in (old.get("columns") or {}) or name not in stays}
    own = {
        name: one if one != before.get(name) or name not in stays else old["columns"][name] for name, one in own.items()
    }
    settings = {**wanted, **{key: old[key] for key in _SHORT if key in old and key not in moved}, "columns": own}
    lines = text.splitlines()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    present = root.value if isinstance(root, yaml.MappingNode) else []
    for key, node in reversed(present):
        if key.value == "columns" and isinstance(node, yaml.MappingNode) and not node.flow_style and own:
            _edit_columns(lines, node, old["columns"], own)
        elif key.value not in settings or (key.value == "columns" and not own):
            del lines[key.start_mark.line : _end(lines, node)]
        elif settings[key.value] != old[key.value]:
            new = _columns(own) if key.value == "columns" else [f"{key.value}: {_flow(settings[key.value])}"]
            _replace(lines, key, node, new)
    there = {key.value for key, _ in present}
    for name in (key for key in settings if key not in there):
        lines += _columns(own) if name == "columns" else [f"{name}: {_flow(settings[name])}"]
    return "\n".join(lines) + "\n"


def _edit_columns(lines: list[str], node: yaml.MappingNode, old: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """The same for the columns, each in its line or lines."""
    indent = " " * node.value[0][0].start_mark.column
    end = _end(lines, node)
    there = {key.value for key, _ in node.value}
    lines[end:end] = [f"{indent}{_flow(name)}: {_flow(one)}" for name, one in own.items() if name not in there]
    for key, settings in reversed(node.value):
        if key.value not in own:
            del lines[key.start_mark.line : _end(lines, settings)]
        elif (old[key.value] or {}) != own[key.value]:
            _replace(lines, key, settings, [f"{indent}{_flow(key.value)}: {_flow(own[key.value])}"])


def _replace(lines: list[str], key: yaml.Node, node: yaml.Node, new: list[str]) -> None:
    """New lines for a setting; a comment behind its first line stays there."""
    first, end = key.start_mark.line, _end(lines, node)
    behind = lines[first][node.end_mark.column :] if node.end_mark.line == first else ""
    comment = f"  {behind.strip()}" if behind.strip().startswith("#") else ""
    lines[first:end] = [f"{new[0]}{comment}", *new[1:]]


def _end(lines: list[str], node: yaml.Node) -> int:
    """The line after the last one of a value, comments below it left out."""
    end = node.end_mark.line + (node.end_mark.column > 0)
    while end > node.start_mark.line + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _columns(columns: Mapping[str, Any] | None) -> list[str]:
    lines = [f"  {_flow(name)}: {_flow(settings)}" for name, settings in (columns or {}).items()]
    return ["columns:", *lines] if lines else []


def _flow(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)
