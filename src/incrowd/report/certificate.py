"""The certificate of a release: what was asked, what was recounted, and from which bytes.

It may be published with the release. It holds no raw value, no plain hash of the input (small tables could be
guessed from one) and no seed. The input is tied to it by an HMAC under a key that stays with the owner.

Of the table itself only totals are told: not the sizes of its classes, not which columns single people out, and not
the ends of number lines that one row alone reaches.

A validator for the part of JSON schema (draft 2020-12) that the certificate's schema uses; no more.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import math
import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import OutputError
from incrowd.methods.catalog import MethodOrName, find_method
from incrowd.plan.release_plan import ReleasePlan
from incrowd.report.person_facts import certified_counts, counted_in
from incrowd.report.unchanged_facts import certified_unchanged
from incrowd.vocabulary.certificates import VERSION, versions
from incrowd.vocabulary.column_rules import Keying
from incrowd.vocabulary.hierarchy import Hierarchy

if TYPE_CHECKING:
    from incrowd.report.facts import Facts
    from incrowd.risk.assessment import Risk


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


KEY_BYTES = 32
_PACKAGES = ("incrowd", "polars", "duckdb", "numpy", "numba", "pyarrow")


def statement_of(requirement: str, written: str = "file", counted: str = "") -> str:
    """The promise in one sentence; ``counted`` says what it counts, if not rows.

    Examples
    --------
    >>> statement_of("10-anonymity")
    'The release satisfies 10-anonymity, recounted independently from the written file.'
    """
    return f"The release satisfies {requirement}{counted}, recounted independently from the written {written}."


def certificate(
    facts: Facts,
    *,
    output: Mapping[str, Any],
    columns: Sequence[Mapping[str, str]],
    requirement: Mapping[str, Any],
    recipe_sha256: str | None,
    input_hmac: str | None,
) -> dict[str, Any]:
    """The certificate as plain data. What it says of rows and cells is what the verdict counted.

    So that the release can be recounted with nothing typed again: ``output`` is its ``file`` with ``sha256`` and
    ``form``, of a release of two tables also that of ``groups``, or the ``database`` and ``table``; ``columns`` are the
    released ones in their order, each with its ``name``, the column of the table it is ``from``, its ``role``, and
    ``as`` what it is written: ``value``, ``counts``, ``low end`` or ``high end``.
    """
    data: dict[str, Any] = {
        "incrowd_certificate": VERSION,
        "statement": statement_of(facts.requirement, facts.written, counted_in(facts.persons))
        if facts.verdict.passed
        else "The release was not verified.",
        "made": facts.when.isoformat(timespec="seconds"),
        "responsible": facts.responsible,
        "output": dict(output),
        "recipe_sha256": recipe_sha256,
        "input_hmac_sha256": input_hmac,
        "versions": versions(_PACKAGES),
        "columns": [{"name": c.name, "role": str(c.role), "type": str(c.type)} for c in facts.schema.columns],
        "released_columns": [dict(column) for column in columns],
        "requirement": dict(requirement),
        "requirement_asked": facts.requirement,
        "requirement_recounted": [
            {"promise": check.name, "passed": check.passed, "found": check.finding}
            for check in facts.verdict.checks
            if check.name in (facts.promises or (facts.requirement,))
        ],
        "class_sensitive": {True: "yes", False: "no", None: "not said"}[facts.class_sensitive],
        "preset": facts.preset,
        "coarsened": dict(facts.coarsened),
        "limits": dict(facts.limits),
        **facts.keyed,
        "method": {"name": facts.method, "parameters": facts.parameters}
        | ({"package": facts.method_package} if facts.method_package else {})
        | ({"chosen": facts.chosen} if facts.chosen else {}),
        "verification": facts.verdict.to_json(),
        "rows": _rows(facts),
        **({} if facts.persons is None else {"persons": certified_counts(facts.persons, facts.verdict)}),
        "quasi_identifier_cells": _cells(facts),
        "attributes": {name: dict(forms) for name, forms in facts.verdict.shown.items()} or "not counted",
        "hierarchies": {
            c.name: sha256_of_hierarchy(c.hierarchy) for c in facts.schema.columns if c.hierarchy is not None
        },
        "reading": dict(facts.reading),
        "public_cuts": {name: list(cuts) for name, cuts in facts.cuts.items()},
        "notices": [{"code": notice.code, "where": notice.where} for notice in facts.notices],
        "utility": "not measured" if facts.utility is None else facts.utility.to_json(),
        "risk": "not measured" if facts.risk is None else certified_risk(facts.risk),
        "attacks": "not run" if facts.attacks is None else facts.attacks.to_json(),
        "unchanged_columns": certified_unchanged(facts.unchanged),
        "earlier_releases": "not tracked" if facts.earlier is None else facts.earlier.to_json(),
    }
    if facts.accuracy is not None:
        data["accuracy"] = {
            "before": round(facts.accuracy.before, 6),
            "after": round(facts.accuracy.after, 6),
            "majority": round(facts.accuracy.majority, 6),
            "learner": f"C4.5 decision tree, held-out {'rows' if facts.accuracy.persons is None else 'persons'}",
        }
    return data


def reading_of(plan: ReleasePlan, method: MethodOrName, *, hierarchies: bool = False) -> dict[str, Any]:
    """The form of each released attribute, and how new rows are seen in the words of the release.

    With ``hierarchies``, which are public then, also which value belongs to which group.

    New rows are seen "by value" where a value looks the same in every row; "by box" where what is shown depends on the
    whole row; "as they are" where a release has the values of the table, or counts of them, and only fewer. ``joint``
    has the attributes that are counted together.
    """
    if plan.recode is not None:
        seen = "by value"
    else:
        seen = "by box" if find_method(method).generalizes and not plan.counted else "as they are"
    reading: dict[str, Any] = {"new_rows": seen, "columns": {name: plan.shown_as(name) for name in plan.names}}
    if plan.joint:
        reading["joint"] = [list(joint.names) for joint in plan.joint]
    if hierarchies:
        trees = {name: plan.schema[name].hierarchy for name in plan.names}
        reading["hierarchies"] = {name: tree.to_json() for name, tree in trees.items() if tree is not None}
    return reading


def _rows(facts: Facts) -> dict[str, int]:
    released = facts.verdict.sizes.rows
    return {"input": facts.rows, "released": released, "left_out": facts.rows - released}


def _cells(facts: Facts) -> dict[str, int] | str:
    """The cells of the released quasi-identifiers: as many rows as the input has, those released, those empty."""
    shown = facts.verdict.shown
    if not shown:
        return "not counted"
    return {
        "input": facts.rows * len(shown),
        "released": facts.verdict.sizes.rows * len(shown),
        "empty": sum(facts.verdict.suppressed.values()),
    }


def certified_keying(keying: Keying, key: str) -> dict[str, Any]:
    """The entries about columns that a key makes; ``key`` is what the key is called.

    Examples
    --------
    >>> certified_keying(Keying(Path("key.txt"), ("patient",)), "b7a248b26d37fe47")["pseudonyms"]["protection"]
    'none of their own'
    """
    what, entries = {"key": key, "protection": "none of their own"}, dict[str, Any]()
    if keying.pseudonyms:
        entries["pseudonyms"] = {"columns": [*keying.pseudonyms], "algorithm": "HMAC-SHA-256, 128 bits", **what}
    if keying.shifted:
        shifts = {"columns": [*keying.shifted], "by": keying.by, "days": keying.days, "algorithm": "HMAC-SHA-256"}
        entries["shifted_dates"] = {**shifts, **what}
    return entries


def certified_draws(redraw: int, key: str | None, bins: str, *, by_class: bool = False) -> dict[str, Any]:
    """The entry about counts: exact, or drawn by a key, which is told apart from others by what it is called.

    Examples
    --------
    >>> certified_draws(0, None, "fine")
    {'counts': {'are': 'exact', 'bins': 'fine'}}
    """
    drawn = {"are": "drawn", "redraw": redraw, "algorithm": "HMAC-SHA-256, SHAKE-256", "key": key}
    return {
        "counts": {**(drawn if redraw else {"are": "exact"}), "bins": bins, **({"by_class": True} if by_class else {})}
    }


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) that every certificate of this version keeps."""
    text = files("incrowd.report").joinpath("certificate.schema.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def sha256_of_hierarchy(hierarchy: Hierarchy) -> str:
    """The SHA-256 of a hierarchy, however its file is written."""
    text = json.dumps(hierarchy.to_json(), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hmac_of(path: Path, key: bytes) -> str:
    """The HMAC-SHA-256 of a file's bytes under the owner's key; of a folder, over those of its files in their order."""
    if path.is_dir():
        inside = sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
        return hmac.digest(key, "".join(hmac_of(file, key) for file in inside).encode(), "sha256").hex()
    digest = hmac.new(key, digestmod="sha256")
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def owner_key(name: str = "certificate.key") -> bytes:
    """A key of the owner: made at first use, kept in the user's configuration folder, readable by the owner only."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "incrowd"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The folder {folder} for the key {name} cannot be made: {error.strerror}. "
            "Let XDG_CONFIG_HOME name a folder that you can write to and keep."
        ) from None
    return kept_key(folder / name)


def _make_key(path: Path) -> None:
    """Put a new key in its place as a whole, readable by its owner only; unless another run was first."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            getattr(os, "link", os.rename)(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)


def kept_key(path: Path) -> bytes:
    """The secret key in a file that only its owner can read; made at first use."""
    try:
        if not path.exists():
            _make_key(path)
        key = path.read_bytes()
    except OSError as error:
        raise OutputError(
            f"The key {path.name} in {path.parent} cannot be read or made: {error.strerror}. "
            "Put it back from a copy, or let yourself read and write there."
        ) from None
    if len(key) != KEY_BYTES:
        raise OutputError(
            f"The key {path.name} in {path.parent} is damaged. Put it back from a copy, or remove it to begin "
            "with a new one."
        )
    return key


def certified_risk(risk: Risk) -> dict[str, Any]:
    """Attackers, uniques and the three risks of WP216, before and after; the Safe Harbor checklist of the release."""
    after = risk.after
    return {
        "before": _figures(risk),
        "after": "not measured" if after is None else _figures(after),
        "safe_harbor": "not measured" if after is None else [_item(item.to_json()) for item in after.safe_harbor],
    }


def _figures(risk: Risk) -> dict[str, Any]:
    data: dict[str, Any] = risk.to_json()
    kept = (
        "rows",
        *(["persons"] if "persons" in data else []),
        "population",
        "prosecutor",
        "journalist",
        "marketer",
        "uniques",
        "wp216",
    )
    figures: dict[str, Any] = plain({name: data[name] for name in kept})
    return figures


def _item(item: dict[str, Any]) -> dict[str, Any]:
    columns = [finding["column"] for finding in item["found"]]
    return {"item": item["item"], "identifier": item["identifier"], "standing": item["standing"], "columns": columns}


def plain(data: Any) -> Any:
    """The same with six digits after the point, enough for anybody; what is no finite number is null."""
    if isinstance(data, dict):
        return {name: plain(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    if isinstance(data, float):
        return round(float(data), 6) if math.isfinite(data) else None
    return data
