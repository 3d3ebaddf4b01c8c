"""A certificate that is about to be published says what was asked for and what was counted, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from incrowd.certified.consistency import check_consistency
from incrowd.certified.statements import Standing
from incrowd.errors import VerificationError
from incrowd.report.certificate import schema
from incrowd.report.json_schema import faults
from incrowd.report.unchanged_facts import certified_unchanged
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.schema import Role

_TRANSFORMED = str(Role.QUASI_IDENTIFIER)


def check_issued(
    certificate: Mapping[str, Any], verdict: Verdict, requirement: Requirement, roles: Mapping[str, str]
) -> None:
    """Raise unless a certificate keeps its schema and states the verdict, the user's requirement and roles."""
    data = json.loads(json.dumps(certificate))
    wrong = "its schema" if any(faults(data, schema())) else next(_misstated(data, verdict, requirement, roles), None)
    if wrong is not None:
        raise VerificationError(f"The certificate does not state what was counted ({wrong}). Nothing was published.")


def check_written(certificate: Mapping[str, Any], path: Path) -> str:
    """Raise unless the file holds the certificate, all of it and nothing else; the SHA-256 of the file."""
    written = path.read_bytes()
    try:
        same = json.loads(written) == json.loads(json.dumps(certificate))
    except ValueError:
        same = False
    if not same:
        raise VerificationError(f"{path.name} does not hold the certificate that was checked. Nothing was published.")
    return hashlib.sha256(written).hexdigest()


def _misstated(
    data: dict[str, Any], verdict: Verdict, requirement: Requirement, roles: Mapping[str, str]
) -> Iterator[str]:
    rows, released = verdict.input_rows, verdict.sizes.rows
    counted = {"input": rows, "released": released, "left_out": None if rows is None else rows - released}
    expected = {
        "verification": json.loads(json.dumps(verdict.to_json())),
        "rows": counted,
        "requirement": json.loads(json.dumps(requirement.to_json())),
        "requirement_asked": str(requirement),
        "attributes": json.loads(json.dumps(dict(verdict.shown))) or "not counted",
        "unchanged_columns": json.loads(json.dumps(certified_unchanged(verdict.unchanged))),
    }
    yield from (name for name, value in expected.items() if data[name] != value)
    if {column["name"]: column["role"] for column in data["columns"]} != roles:
        yield "columns"
    if [column["name"] for column in data["released_columns"] if column["role"] == _TRANSFORMED] != list(verdict.shown):
        yield "released_columns"
    if any(column["name"].removeprefix("'") != column["from"].removeprefix("'") for column in _kept(data)):
        yield "released_columns"
    digest = data["output"].get("sha256")
    if digest is not None and digest != verdict.digests[0]:
        yield "output"
    yield from (one.name for one in check_consistency(data) if one.standing is not Standing.HOLDS)


def _kept(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The released columns that are not transformed: they have the names they had."""
    return [column for column in data["released_columns"] if column["role"] != _TRANSFORMED]
