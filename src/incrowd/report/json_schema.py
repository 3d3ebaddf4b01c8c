"""A validator for the part of JSON schema (draft 2020-12) that the certificate's schema uses; no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
REMARKS = {"$schema", "$defs", "title", "description"}
KNOWN = REMARKS | {
    "$ref", "anyOf", "const", "enum", "type", "pattern", "minimum", "maximum", "items", "minItems", "maxItems",
    "properties", "required", "additionalProperties",
}  # fmt: skip


def faults(data: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, at: str = "$") -> Iterator[str]:
    """Where the data breaks the schema; a keyword that this validator does not know is an error, not a pass.

    Examples
    --------
    >>> list(faults({"k": 0}, {"properties": {"k": {"type": "integer", "minimum": 1}}}))
    ['$.k: out of bounds']
    """
    root = root or schema
    if not set(schema) <= KNOWN:
        raise NotImplementedError(f"keywords of JSON schema that are not known here: {sorted(set(schema) - KNOWN)}")
    if "$ref" in schema:
        yield from faults(data, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    if "anyOf" in schema and all(any(True for _ in faults(data, one, root, at)) for one in schema["anyOf"]):
        yield f"{at}: none of the alternatives"
    if "const" in schema and not _same(data, schema["const"]):
        yield f"{at}: not {schema['const']!r}"
    if "enum" in schema and not any(_same(data, one) for one in schema["enum"]):
        yield f"{at}: not one of {schema['enum']}"
    if "type" in schema and not _is(data, schema["type"]):
        yield f"{at}: not of type {schema['type']}"
        return
    yield from _of_scalars(data, schema, at)
    yield from _of_lists(data, schema, root, at)
    yield from _of_objects(data, schema, root, at)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _is(data: Any, kinds: str | list[str]) -> bool:
    wanted = [kinds] if isinstance(kinds, str) else kinds
    return any(isinstance(data, KINDS[kind]) and (kind == "boolean" or not isinstance(data, bool)) for kind in wanted)


def _of_scalars(data: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
    pattern = re.sub(r"\$$", r"\\Z", schema.get("pattern", ""))  # Python's $ lets a line break follow
    if isinstance(data, str) and not re.search(pattern, data):
        yield f"{at}: does not match"
    if isinstance(data, int | float) and not schema.get("minimum", data) <= data <= schema.get("maximum", data):
        yield f"{at}: out of bounds"


def _of_lists(data: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    if not isinstance(data, list):
        return
    if not schema.get("minItems", 0) <= len(data) <= schema.get("maxItems", len(data)):
        yield f"{at}: {len(data)} items"
    for place, item in enumerate(data):
        yield from faults(item, schema.get("items", {}), root, f"{at}[{place}]")


def _of_objects(data: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    if not isinstance(data, dict):
        return
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from (f"{at}: {name} is missing" for name in schema.get("required", ()) if name not in data)
    for name, value in data.items():
        if name in known:
            yield from faults(value, known[name], root, f"{at}.{name}")
        elif others is False:
            yield f"{at}: {name} is not known"
        elif isinstance(others, dict):
            yield from faults(value, others, root, f"{at}.{name}")
