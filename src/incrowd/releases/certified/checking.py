"""The one door: a release, its certificate and who signed it; what the release itself can confirm is recounted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, IncrowdError, ParameterError
from incrowd.releases.certified.consistency import Certificate, check_consistency, persons_of, requirement_of
from incrowd.releases.certified.statements import (
    CertificateVerdict,
    Statement,
    StatementStanding,
    compared,
    consistent,
    left_open,
)
from incrowd.report.certificate import faults, schema, sha256_of, sha256_of_hierarchy
from incrowd.report.signature import PublicKey, is_signed_by, public_key
from incrowd.tables.databases.tables import on_disk, query_of
from incrowd.tables.reading.read import read
from incrowd.verification.requirements import Further
from incrowd.verification.restated import Stated, recount_stated, recount_stated_table
from incrowd.verification.unchanged_counts import Alone
from incrowd.verification.verdict import Check, PersonCounts, Verdict
from incrowd.vocabulary.certificates import certificate_beside, read_certificate
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import Columnwise, Requirement
from incrowd.vocabulary.requirements.closeness import TCloseness
from incrowd.vocabulary.resources import Resources, bytes_of
from incrowd.vocabulary.schema import ColumnType, Role
from incrowd.vocabulary.views import COLUMN_CHECKS

# Promises beyond k, as far as a certificate says enough to recount them.
ORDER = "it needs the order of the values, which the certificate does not state"
HIERARCHY = "it needs the hierarchy of the column: name its folder with --hierarchies"
OTHER_HIERARCHY = "this hierarchy is not the one of the certificate"
PERSONS = "persons cannot be counted, for whose rows they are is not in the release"
PSEUDONYMS = "by its pseudonyms; that each person has one needs the table that the release was made from"
BESIDE = "they were counted together with the table of persons that is released beside it"
POPULATION = "it needs the table of the population: recount it with --require and --population"


@dataclass(frozen=True)
class Sought:
    """The promises beyond k: those that can be recounted, and statements about those that cannot."""

    parts: tuple[Further, ...] = ()
    unknown: tuple[Statement, ...] = ()

    @classmethod
    def of(
        cls, certificate: Mapping[str, Any], requirement: Requirement, hierarchies: Mapping[str, Hierarchy]
    ) -> Sought:
        """Those of a certificate; ``hierarchies`` are known by the names of columns of the table.

        In a release a missing value is an empty cell, and no word. Where the order of a column matters it is asked for
        elsewhere; for all else it does not.
        """
        if len(requirement.parts) == 1:
            return cls()
        written = {column["from"]: column["name"] for column in certificate["released_columns"]}
        types = {column["name"]: ColumnType(column["type"]) for column in certificate["columns"]}
        target = next((column["name"] for column in certificate["columns"] if column["role"] == "target"), None)
        parts: list[Further] = []
        unknown = [left_open(str(part), POPULATION, promised=True) for part in requirement.on_population]
        for part in requirement.on_columns:
            source = part.on or target
            if source not in written or source not in types:
                unknown.append(left_open(str(part), "the release has no such column", promised=True))
                continue
            assert source is not None
            hierarchy, kind = hierarchies.get(source), types[source]
            missing = _missing(part, kind, certificate["hierarchies"].get(source), hierarchy)
            if missing:
                unknown.append(left_open(str(part), missing, promised=True))
            else:
                plain = ColumnType.CATEGORICAL if kind is ColumnType.ORDERED else kind
                tree = hierarchy if isinstance(part, TCloseness) else None
                parts.append(Further(part, written[source], plain, (), tree))
        return cls(tuple(parts), tuple(unknown))


def _missing(part: Columnwise, kind: ColumnType, digest: str | None, hierarchy: Hierarchy | None) -> str | None:
    """What a distance needs and the certificate does not tell."""
    if not isinstance(part, TCloseness) or part.distance == "equal":
        return None
    if part.distance == "hierarchical" or (part.distance is None and digest is not None):
        if hierarchy is None:
            return HIERARCHY
        return None if sha256_of_hierarchy(hierarchy) == digest else OTHER_HIERARCHY
    return ORDER if kind is ColumnType.ORDERED else None


QUASI_IDENTIFIER = "quasi-identifier"


@dataclass(frozen=True, eq=False)
class RecountedRelease:
    """A release at hand: a file in a form, perhaps with its table of groups, or a data frame."""

    table: Any
    form: FileForm
    groups: Path | None = None
    memory: int | None = None

    def recount(self, stated: Stated) -> Verdict:
        """What it has of what is stated."""
        if not isinstance(self.table, Path):
            return recount_stated_table(self.read().frame.to_arrow(), stated)
        with tempfile.TemporaryDirectory(prefix="incrowd-") as scratch:
            resources = Resources(self.memory, scratch=Path(scratch))
            return recount_stated(self.table, self.form, stated, resources, self.groups)

    def read(self) -> Any:
        """Its cells, for what needs their types."""
        delimiter = self.form.delimiter if self.form.kind == "csv" and isinstance(self.table, Path) else None
        return read(self.table, delimiter=delimiter, missing=[], header=True)


def recount_certificate(
    certificate: Certificate, held: RecountedRelease, hierarchies: Mapping[str, Hierarchy]
) -> Iterator[Statement]:
    """What became of every statement about columns, rows, classes, promises and cells."""
    requirement = requirement_of(certificate)
    if requirement is None:
        raise FileFormatError("The certificate states a requirement that this incrowd does not know. Update it.")
    released = certificate["released_columns"]
    quasi = [column for column in released if column["role"] == QUASI_IDENTIFIER]
    sets = requirement.sets(list(dict.fromkeys(column["from"] for column in quasi)))
    sought = Sought.of(certificate, requirement, hierarchies)
    persons = persons_of(certificate)
    followed = next((column["name"] for column in released if column["role"] == Role.PERSON), None)
    if persons is not None and followed is None:
        unknown = (*sought.unknown, *(left_open(str(one.part), PERSONS, promised=True) for one in sought.parts))
        sought = Sought((), unknown)
    stated = Stated(
        columns=[column["name"] for column in released],
        promises=[
            (promise, [column["name"] for column in quasi if column["from"] in one.names], one.k)
            for promise, one in zip(requirement.promises, sets, strict=False)
        ],
        quasi_identifiers=[column["name"] for column in quasi],
        counts=[column["name"] for column in quasi if column["as"] == "counts"],
        further=sought.parts,
        unchanged=_roles(certificate),
        pseudonyms=[column["name"] for column in released if column["role"] == Role.PSEUDONYM],
        persons=persons,
        followed=followed,
    )
    verdict = held.recount(stated)
    yield from _compared(certificate, verdict, len(stated.promises))
    yield from sought.unknown


def _compared(certificate: Certificate, verdict: Verdict, sizes: int) -> Iterator[Statement]:
    columns, *checks = verdict.checks
    others = "its names, or their order, are others"
    yield consistent("columns", columns.passed, columns.finding, f"{columns.finding}: {others}")
    if not columns.passed:
        return
    stated = {one["promise"]: one["found"] for one in certificate["requirement_recounted"]}
    kinds = (Role.PSEUDONYM, Role.PERSON)
    formed = {f"{one['name']} pseudonyms" for one in certificate["released_columns"] if one["role"] in kinds}
    beside = [check for check in checks if check.name == "groups" or check.name in formed]
    promised = [check for check in checks if check not in beside]
    for check in beside:
        yield consistent(check.name, check.passed, check.finding, check.finding)
    persons = persons_of(certificate)
    for place, check in enumerate(promised):
        if persons is None:
            yield _promise(check, stated.get(check.name) if place < sizes else None)
        else:
            alone = persons.linked and not certificate["persons"]["link"].get("joint")
            yield _necessary(check, stated.get(check.name) if alone else None, by_pseudonyms=persons.linked)
    yield from _persons(certificate, verdict.sizes.persons)
    verification = certificate["verification"]
    yield compared("rows released", certificate["rows"]["released"], verdict.sizes.rows)
    yield compared("groups of rows that look alike", verification["classes"], verdict.sizes.classes)
    yield compared("smallest group", verification["smallest_class"], verdict.sizes.smallest)
    same = [list(bar) for bar in verdict.sizes.histogram] == verification["class_size_histogram"]
    words = f"{len(verdict.sizes.histogram):,} sizes"
    yield consistent("sizes of the groups", same, words, f"the release has groups of other sizes ({words})")
    yield from _cells(certificate, verdict)
    if persons is None:
        yield from _alone(certificate, verdict.alone)
    elif verdict.alone is not None:
        yield left_open("alone by unchanged columns", PERSONS)


def _roles(certificate: Certificate) -> dict[str, str]:
    """The columns that are released as they came, and what they are called; none if nothing is stated of them."""
    stated = certificate["unchanged_columns"]
    return {} if isinstance(stated, str) else stated["alone"]["roles"]


def _alone(certificate: Certificate, counted: Alone | None) -> Iterator[Statement]:
    """People who are alone by unchanged columns: no more than stated. Formats with types may have merged spellings."""
    if counted is None:
        return
    stated = certificate["unchanged_columns"]["alone"]
    for name in ("without_class", "with_class", "not_private", "not_called_private"):
        people = getattr(counted, name)
        words = f"{stated[name]:,} stated, {people:,} counted"
        yield consistent(f"alone by unchanged columns, {name.replace('_', ' ')}", people <= stated[name], words, words)


def _promise(check: Check, stated: str | None) -> Statement:
    """A promise fails if it is broken; of sizes, also if it is kept by other classes than those stated."""
    if not check.passed:
        return Statement(check.name, StatementStanding.FAILS, check.finding, promised=True)
    return compared(check.name, check.finding if stated is None else stated, check.finding, promised=True)


def _necessary(check: Check, stated: str | None, *, by_pseudonyms: bool) -> Statement:
    """A promise that counts persons: a release can break what is necessary for it, and never show that it is kept."""
    if not check.passed:
        return Statement(check.name, StatementStanding.FAILS, check.finding, promised=True)
    if not by_pseudonyms:
        return left_open(check.name, f"{check.finding}, which is necessary; {PERSONS}", promised=True)
    same = compared(check.name, check.finding if stated is None else stated, check.finding, promised=True)
    if same.standing is StatementStanding.FAILS:
        return same
    return left_open(check.name, f"{check.finding}, {PSEUDONYMS}", promised=True)


def _persons(certificate: Certificate, counts: PersonCounts | None) -> Iterator[Statement]:
    """What is stated of persons next to what their pseudonyms show."""
    if counts is None:
        return
    stated = certificate["persons"]
    yield compared("persons released, by pseudonyms", stated["released"], counts.persons)
    if stated["link"].get("joint"):
        yield left_open(f"persons of {stated['alike']}", BESIDE)
    else:
        yield compared(f"fewest persons of {stated['alike']}, by pseudonyms", stated["smallest"], counts.smallest)
        same = [list(bar) for bar in counts.histogram] == stated["histogram"]
        words = f"{len(counts.histogram):,} numbers of persons"
        yield consistent(f"persons of {stated['alike']}", same, words, f"the release has other numbers ({words})")
    share = round(counts.largest_share, 6)
    yield compared("largest share of one person in a group, by pseudonyms", stated["largest_share"], share)


def _cells(certificate: Certificate, verdict: Verdict) -> Iterator[Statement]:
    shown = certificate["attributes"]
    if isinstance(shown, str):
        yield left_open("cells of the quasi-identifiers", "the certificate does not state them")
        return
    if list(shown) != list(verdict.shown) and set(shown) != set(verdict.shown):
        yield consistent("cells of the quasi-identifiers", False, "", "they are stated of other columns")
        return
    for name, forms in verdict.shown.items():
        yield compared(f"cells of {name}", shown[name], dict(forms))


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
        failed = any(statement.standing is StatementStanding.FAILS for statement in statements)
        statements += _recounted(data, held, hierarchies or {}, failed=failed)
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
    cells = [check for check in checks if check["name"].endswith(tuple(f" {kind}" for kind in COLUMN_CHECKS))]
    yield left_open("rows of the table", NEEDS_TABLE)
    if cells:
        yield left_open("cells follow from the table", f"{NEEDS_TABLE} ({len(cells)} columns)")
    if "pseudonyms" in data or "shifted_dates" in data:
        yield left_open("pseudonyms and shifted dates follow from the table", f"{NEEDS_TABLE} and the key")
    if data.get("counts", {}).get("are") == "drawn":
        yield left_open("counts are drawn from the table", f"{NEEDS_TABLE} and the key")
    if not isinstance(data["unchanged_columns"], str):
        yield left_open("effective k", NEEDS_TABLE)
    if "persons" in data:
        yield left_open("persons of the table, and whose rows they are", NEEDS_TABLE)
    for name, nothing in _NEED_TABLE.items():
        if data.get(name, nothing) != nothing:
            yield left_open(name.replace("_", " "), NEEDS_TABLE)
    yield left_open(UNCHECKED, ISSUERS_WORD)
