"""The one door: a release, its certificate, and who signed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, IncrowdError, ParameterError
from incrowd.releases.certified.consistency import Certificate, check_consistency
from incrowd.releases.certified.recounting import RecountedRelease, recount_certificate
from incrowd.releases.certified.statements import (
    CertificateVerdict,
    Statement,
    StatementStanding,
    compared,
    consistent,
    left_open,
)
from incrowd.report.certificate import faults, schema, sha256_of
from incrowd.report.signature import PublicKey, is_signed_by, public_key
from incrowd.tables.databases.tables import on_disk, query_of
from incrowd.vocabulary.certificates import certificate_beside, read_certificate
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.resources import bytes_of

NEEDS_TABLE = "it needs the table that the release was made from"
UNCHECKED = "method, recipe, versions, cuts, notices, who is responsible"
ISSUERS_WORD = "stated by the issuer of the certificate; a signature binds it"
_NEED_TABLE = {
    "utility": "not measured",
    "risk": "not measured",
    "attacks": "not run",
    "earlier_releases": "not tracked",
    "accuracy": None,
}


def check_release(
    release: Any,
    certificate: Mapping[str, Any] | str | Path | None = None,
    *,
    signed_by: str | Path | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    memory: int | str | None = None,
) -> CertificateVerdict:
    """Hold a release next to its certificate: what of the certificate is true of it?

    The release is a file, a folder of Parquet files, a data frame, or a table of a database; beside a file its
    certificate is found by itself. ``signed_by`` is the public key of who must have signed it; ``hierarchies`` are for
    promises that are measured by them.
    """
    key = None if signed_by is None else public_key(signed_by)
    data = read_certificate(_beside(release) if certificate is None else certificate)
    name = _name(release)
    broken = list(faults(data, schema()))
    if broken:
        words = f"it breaks the format at {broken[0]}" + (f" and {len(broken) - 1} more" if broken[1:] else "")
        return CertificateVerdict(name, (Statement("format of the certificate", StatementStanding.FAILS, words),))
    statements = [
        Statement("format of the certificate", StatementStanding.HOLDS, f"version {data['incrowd_certificate']}")
    ]
    statements += _signature(data, key)
    limit = None if memory is None else bytes_of(memory)
    with _held(release, data, limit) as held:
        statements += [*_bytes(release, data, held), *check_consistency(data)]
        statements += _recounted(data, held, hierarchies or {}, failed=any(map(_fails, statements)))
    return CertificateVerdict(name, (*statements, *_unrecounted(data)))


def _recounted(
    data: Certificate, held: RecountedRelease, hierarchies: Mapping[str, Hierarchy], *, failed: bool
) -> Iterator[Statement]:
    """The recount; if it is impossible, that is told beside what has failed already."""
    try:
        yield from recount_certificate(data, held, hierarchies)
    except IncrowdError as error:
        if not failed:
            raise
        yield left_open("recount", str(error))


def _fails(statement: Statement) -> bool:
    return statement.standing is StatementStanding.FAILS


def _beside(release: Any) -> Path:
    if query_of(release) is not None or not isinstance(release, str | Path):
        raise ParameterError(
            "Name the certificate: only beside a file is it looked up automatically. Use --certificate."
        )
    return certificate_beside(Path(release))


def _name(release: Any) -> str:
    query = query_of(release)
    return str(query) if query else Path(release).name if isinstance(release, str | Path) else "The table"


@contextmanager
def _held(release: Any, data: Certificate, memory: int | None) -> Iterator[RecountedRelease]:
    """The release as it can be read: a file in the form that the certificate states."""
    output = data["output"]
    if query_of(release) is not None:
        with on_disk(release) as copy:
            yield RecountedRelease(copy, FileForm("parquet"), memory=memory)
        return
    if not isinstance(release, str | Path):
        yield RecountedRelease(release, FileForm("parquet"))
        return
    path = Path(release)
    if not path.exists():
        raise FileFormatError(f"{path.name} does not exist. Check the path.")
    stated = FileForm(**output["form"]) if output.get("sha256") else _named_form(path)
    yield RecountedRelease(
        path, stated, _groups(path, output["groups"]["file"]) if "groups" in output else None, memory
    )


def _groups(path: Path, name: str) -> Path:
    """The table of groups beside a release: by the name that the certificate states, or by that of the release."""
    stated = path.parent / Path(name).name
    return stated if stated.is_file() and stated != path else groups_path(path)


def _named_form(path: Path) -> FileForm:
    """The form of a file whose bytes the certificate does not know, by its name."""
    return FileForm("parquet") if path.is_dir() else FileForm.of(path)


def _signature(data: Certificate, key: PublicKey | None) -> Iterator[Statement]:
    signature = data.get("signature")
    if key is None:
        if signature is not None:
            words = f"name the key of who signs with --signed-by; the certificate names {signature['key_id']}"
            yield left_open("signature", words)
        return
    if signature is None:
        raise FileFormatError("The certificate is not signed, so whether that key signed it could not be determined.")
    yield consistent(
        "signature",
        is_signed_by(data, key),
        f"by the key {key.id}",
        f"it is not that of the key {key.id} over this certificate",
    )


def _bytes(release: Any, data: Certificate, held: RecountedRelease) -> Iterator[Statement]:
    """The hashes of the files."""
    output = data["output"]
    if not output.get("sha256") or not isinstance(release, str | Path) or query_of(release) is not None:
        yield left_open("SHA-256 of the release", "the certificate knows no bytes of this release")
        return
    if not Path(release).is_file():
        raise FileFormatError(f"{Path(release).name} is no file, and the certificate is about one.")
    yield compared("SHA-256 of the release", output["sha256"], sha256_of(Path(release)))
    if held.groups is None:
        return
    if not held.groups.is_file():
        raise FileFormatError(f"The table of groups, {held.groups.name}, does not lie beside the release.")
    yield compared("SHA-256 of the table of groups", output["groups"]["sha256"], sha256_of(held.groups))


def _unrecounted(data: Certificate) -> Iterator[Statement]:
    """What the certificate says and a release cannot confirm."""
    checks = data["verification"]["checks"]
    cells = [check for check in checks if check["name"].endswith((" faithful", " untouched", " recomputed"))]
    yield left_open("rows of the table", NEEDS_TABLE)
    if cells:
        yield left_open("cells follow from the table", f"{NEEDS_TABLE} ({len(cells)} columns)")
    if "pseudonyms" in data or "shifted_dates" in data:
        yield left_open("pseudonyms and shifted dates follow from the table", f"{NEEDS_TABLE} and the key")
    if not isinstance(data["unchanged_columns"], str):
        yield left_open("effective k", NEEDS_TABLE)
    if "persons" in data:
        yield left_open("persons of the table, and whose rows they are", NEEDS_TABLE)
    for name, nothing in _NEED_TABLE.items():
        if data.get(name, nothing) != nothing:
            yield left_open(name.replace("_", " "), NEEDS_TABLE)
    yield left_open(UNCHECKED, ISSUERS_WORD)
