"""What a certificate says in one place must agree with what it says in another."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from incrowd.errors import IncrowdError, VerificationError
from incrowd.releases.certified.statements import Statement, StatementStanding, consistent
from incrowd.report.certificate import faults, schema, sha256_of_hierarchy, statement_of
from incrowd.report.person_facts import ALIKE, JOINT, KNOWN, UNLINKED, certified_counts, certified_persons, counted_in
from incrowd.report.unchanged_facts import certified_unchanged
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import Requirement, requirement_from_json
from incrowd.vocabulary.schema import KEYED, NOT_RELEASED, Role

Certificate = dict[str, Any]
_TRANSFORMED = str(Role.QUASI_IDENTIFIER)

_STATED = (Role.TARGET, Role.SENSITIVE, Role.PRIVATE, *KEYED)
_KEYED = {"pseudonyms": Role.PSEUDONYM, "shifted_dates": Role.SHIFTED}
_CHECKS = {Role.QUASI_IDENTIFIER: "faithful"} | dict.fromkeys(KEYED, "recomputed")
_PSEUDONYM_CHECKS = ("pseudonyms", "one to one", "no digests", "order")
_ROWS = re.compile(r"([0-9][0-9,]*) (?:released|left out)")


def requirement_of(certificate: Certificate) -> Requirement | None:
    """The requirement as it is stated; None if it cannot be understood."""
    try:
        return requirement_from_json(certificate["requirement"])
    except (IncrowdError, TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return None


def persons_of(certificate: Certificate) -> Persons | None:
    """Whose rows they are, as it is stated; None if every row is a person, or if it cannot be understood."""
    try:
        return certified_persons(certificate["persons"])
    except (IncrowdError, KeyError):
        return None


def check_consistency(certificate: Certificate) -> Iterator[Statement]:
    """A statement for each way in which a certificate could contradict itself."""
    yield _requirement(certificate)
    yield _columns(certificate)
    yield from _keyed(certificate)
    yield _verification(certificate)
    yield _rows(certificate)
    yield from _persons(certificate)
    yield _cells(certificate)
    yield _reading(certificate)
    yield _unchanged(certificate)
    yield _date(certificate)


def _requirement(certificate: Certificate) -> Statement:
    """The sentence, the words and the data say the same, and every promise of it was recounted."""
    requirement, words, counts = requirement_of(certificate), certificate["requirement_asked"], persons_of(certificate)
    sentences = [statement_of(words, written, counted_in(counts)) for written in ("file", "table", "files")]
    recounted = [one["promise"] for one in certificate["requirement_recounted"]]
    checks = {(one["name"], one["found"]) for one in certificate["verification"]["checks"]}
    agrees = (
        requirement is not None
        and str(requirement) == words
        and json.loads(json.dumps(requirement.to_json())) == certificate["requirement"]
        and certificate["statement"] in sentences
        and sorted(recounted) == sorted(requirement.promises)
        and {(one["promise"], one["found"]) for one in certificate["requirement_recounted"]} <= checks
    )
    return consistent(
        "statement",
        agrees,
        words,
        "its sentence, its requirement and the promises that were recounted are not the same",
    )


def _columns(certificate: Certificate) -> Statement:
    roles = {column["name"]: column["role"] for column in certificate["columns"]}
    released = certificate["released_columns"]
    agrees = all(roles.get(column["from"]) == column["role"] for column in released)
    persons = persons_of(certificate)
    linked = [persons.column] if persons is not None and persons.linked else []
    kept = [name for name, role in roles.items() if role not in NOT_RELEASED or name in linked]
    once = len(roles) == len(certificate["columns"])
    return consistent(
        "roles of the columns",
        agrees and once and kept == list(dict.fromkeys(column["from"] for column in released)),
        f"{len(released)} released of {len(roles)}",
        "the released columns are not those of the table without identifiers and dropped ones, in the same roles",
    )


def _keyed(certificate: Certificate) -> Iterator[Statement]:
    """What it says of pseudonyms and shifted dates is about the columns in these roles, all under one key."""
    roles = {column["name"]: column["role"] for column in certificate["columns"]}
    named = {part: [name for name, role in roles.items() if role == kind] for part, kind in _KEYED.items()}
    entries = {part: certificate[part] for part in _KEYED if part in certificate}
    if not entries and not any(named.values()):
        return
    agrees = (
        all(sorted(entries.get(part, {"columns": []})["columns"]) == sorted(names) for part, names in named.items())
        and len({entry["key"] for entry in entries.values()}) == 1
        and all(entry["by"] in roles for entry in entries.values() if "by" in entry)
    )
    words = f"{sum(map(len, named.values()))} under the key {next(iter(entries.values()))['key']}" if entries else ""
    yield consistent("columns made with a key", agrees, words, "its columns, their roles and its key do not agree")


def _verification(certificate: Certificate) -> Statement:
    verification = certificate["verification"]
    checks = [*verification["checks"], *certificate["requirement_recounted"]]
    names = {check["name"] for check in verification["checks"]}
    return consistent(
        "checks at the time of release",
        verification["passed"]
        and set(_expected_checks(certificate)) <= names
        and all(check["passed"] for check in checks),
        f"all {len(verification['checks'])} passed",
        "it states that a check failed, or that there was none",
    )


def _expected_checks(certificate: Certificate) -> Iterator[str]:
    """The checks of every release: of its columns, of its rows, and of the cells of each column."""
    yield from ("columns", "rows", *(["persons", "no column tells persons"] if "persons" in certificate else []))
    for column in certificate["released_columns"]:
        if column["role"] == Role.PERSON:
            yield from (f"{column['name']} {check}" for check in _PSEUDONYM_CHECKS)
            continue
        drawn = column["as"] == "counts" and certificate.get("counts", {}).get("are") == "drawn"
        yield f"{column['name']} {'drawn' if drawn else _CHECKS.get(column['role'], 'untouched')}"
        if column["role"] == Role.PSEUDONYM:
            yield f"{column['from']} pseudonyms"


def _rows(certificate: Certificate) -> Statement:
    rows, verification = certificate["rows"], certificate["verification"]
    bars = verification["class_size_histogram"]
    agrees = (
        rows["input"] == rows["released"] + rows["left_out"]
        and rows["released"] == verification["rows"] == sum(size * classes for size, classes in bars)
        and verification["classes"] == sum(classes for _, classes in bars)
        and verification["smallest_class"] == min((size for size, _ in bars), default=0)
        and _rows_sentence(certificate)
    )
    return consistent(
        "rows add up",
        agrees,
        f"{rows['input']:,} in the table, {rows['released']:,} released, {rows['left_out']:,} left out",
        "its numbers of rows and classes do not add up",
    )


def _persons(certificate: Certificate) -> Iterator[Statement]:
    """What it says of persons is about the column in that role, agrees with what was counted, and keeps the promise."""
    stated, roles = certificate.get("persons"), [one for one in certificate["columns"] if one["role"] == Role.PERSON]
    if stated is None and not roles:
        return
    agrees = False
    if stated is not None and persons_of(certificate) is not None:
        link, sizes = stated["link"], [size for size, _ in stated["histogram"]]
        agrees = (
            [one["name"] for one in roles] == [stated["column"]]
            and sizes == sorted(set(sizes))
            and stated["smallest"] == min(sizes, default=0)
            and stated["released"] == stated["input"] - stated["lost"] <= certificate["rows"]["released"]
            and stated["rows_lost"] == certificate["rows"]["left_out"]
            and stated["rows_without_person"] <= stated["rows_lost"]
            and stated["alike"] == ALIKE[link["kind"]]
            and ("known_rows" in link) == ("count_known" in link) == (link["kind"] == KNOWN)
            and link.get("joint", False) == any(one["name"] == JOINT for one in certificate["verification"]["checks"])
            and _keeps(certificate, sizes, link["kind"])
            and _persons_sentences(certificate)
        )
    words = "" if stated is None else f"{stated['released']:,} released of {stated['input']:,}"
    yield consistent("persons", agrees, words, "its numbers of persons contradict each other or the rest")


def _persons_sentences(certificate: Certificate) -> bool:
    """Whether the checks say that they counted what is stated of persons."""
    stated, rows = certificate["persons"], certificate["rows"]["released"]
    counted = f"{rows:,} rows of {stated['released']:,} persons; {stated['lost']:,} persons have no row"
    recounted = [one["found"] for one in certificate["requirement_recounted"]]
    return {"name": "persons", "passed": True, "found": counted} in certificate["verification"]["checks"] and any(
        words.endswith(f": {stated['smallest']:,} persons") for words in recounted
    )


def _keeps(certificate: Certificate, sizes: list[int], kind: str) -> bool:
    """Whether no class has fewer than k persons, and every person is in one, or has one history.

    Who has no event has a history, too, where the table of persons is released beside the events.
    """
    requirement, stated = requirement_of(certificate), certificate["persons"]
    columns = certificate["released_columns"]
    quasi = list(dict.fromkeys(one["from"] for one in columns if one["role"] == Role.QUASI_IDENTIFIER))
    known = [] if requirement is None else requirement.sets(quasi)
    lowest = min((one.k for one in known), default=1)
    persons = [size * number for size, number in stated["histogram"]]
    everybody, joint = sum(persons), stated["link"].get("joint", False)
    fit = stated["released"] <= everybody if joint or kind == KNOWN else stated["released"] == everybody
    if kind == UNLINKED:
        classes = sum(number for _, number in stated["histogram"])
        fit = (
            stated["released"] <= everybody <= certificate["rows"]["released"]
            and classes == certificate["verification"]["classes"]
        )
    return fit and (not sizes or sizes[0] >= lowest)


def _rows_sentence(certificate: Certificate) -> bool:
    """What the check of the rows says it counted is what the numbers say."""
    rows = certificate["rows"]
    sentences = [check["found"] for check in certificate["verification"]["checks"] if check["name"] == "rows"]
    counted = [tuple(int(number.replace(",", "")) for number in _ROWS.findall(words)) for words in sentences]
    return all(numbers in ((), (rows["released"], rows["left_out"])) for numbers in counted)


def _cells(certificate: Certificate) -> Statement:
    cells, shown = certificate["quasi_identifier_cells"], certificate["attributes"]
    if isinstance(cells, str) or isinstance(shown, str):
        return consistent("cells add up", cells == shown, "not counted", "only some of its cells were counted")
    rows, width = certificate["rows"], len(shown)
    agrees = (
        cells["input"] == rows["input"] * width
        and cells["released"] == rows["released"] * width
        and cells["empty"] == sum(forms.get("empty", 0) for forms in shown.values())
        and all(sum(forms.values()) == rows["released"] for forms in shown.values())
    )
    return consistent(
        "cells add up",
        agrees,
        f"{cells['empty']:,} of {cells['released']:,} are empty",
        "its numbers of cells do not add up",
    )


# What the cells of a column may be, as they are counted, in each form; values of a table may read like intervals.
_FORMS = {
    "values": {"single", "set", "interval"},
    "groups": {"single", "set", "interval"},
    "bins": {"interval", "set"},
    "levels": {"single"},
    "mean": {"single"},
    "midpoint": {"single"},
    "interval": {"interval", "single", "set"},
    "bounds": {"single"},
    "counts": {"counts"},
}


def _digest(tree: Any) -> str | None:
    """The SHA-256 of a hierarchy as plain data; None if it is none."""
    try:
        return sha256_of_hierarchy(Hierarchy.from_json(tree))
    except IncrowdError:
        return None


def _reading(certificate: Certificate) -> Statement:
    """How cells are read: of all quasi-identifiers, in forms that their counted cells and their columns have."""
    forms, shown = certificate["reading"]["columns"], certificate["attributes"]
    released = [column for column in certificate["released_columns"] if column["role"] == _TRANSFORMED]
    agrees = list(forms) == list(dict.fromkeys(column["from"] for column in released)) and all(
        (column["as"] == "counts") == (forms[column["from"]] == "counts")
        and (column["as"] in ("low end", "high end")) == (forms[column["from"]] == "bounds")
        and (isinstance(shown, str) or set(shown.get(column["name"], ())) - {"empty"} <= _FORMS[forms[column["from"]]])
        for column in released
    )
    joint = [name for names in certificate["reading"].get("joint", ()) for name in names]
    agrees = agrees and len(set(joint)) == len(joint) and all(forms.get(name) == "counts" for name in joint)
    trees = certificate["reading"].get("hierarchies", {})
    agrees = agrees and all(certificate["hierarchies"].get(name) == _digest(tree) for name, tree in trees.items())
    return consistent("reading", agrees, f"forms of {len(forms):,} columns", "the cells have other forms")


def _unchanged(certificate: Certificate) -> Statement:
    """Its counts of unchanged columns are about these rows, sets and columns, and agree with each other."""
    stated = certificate["unchanged_columns"]
    if isinstance(stated, str):
        return consistent("counts of unchanged columns add up", True, stated, "")
    try:
        agrees = certified_unchanged(UnchangedCounts.from_json(stated)) == stated and _is_about(certificate, stated)
    except (TypeError, ValueError, KeyError):
        agrees = False
    words = f"of {stated['rows']:,} {'rows' if 'persons' in certificate else 'people'}"
    return consistent("counts of unchanged columns add up", agrees, words, "they contradict each other or the rest")


def _is_about(certificate: Certificate, stated: dict[str, Any]) -> bool:
    """Whether counts of unchanged columns are about the columns, sets and rows of the certificate."""
    requirement, alone, sets = requirement_of(certificate), stated["alone"], stated["sets"]
    released = certificate["released_columns"]
    quasi = list(dict.fromkeys(one["from"] for one in released if one["role"] == Role.QUASI_IDENTIFIER))
    changed = (Role.QUASI_IDENTIFIER, Role.PERSON)
    called = {one["name"]: one["role"] for one in released if one["role"] not in changed}
    known = [] if requirement is None else requirement.sets(quasi)
    below = [one["people_below_k"] for one in sets]
    return (
        [(one["columns"], one["k"]) for one in sets] == [(list(one.names), one.k) for one in known]
        and all((one["effective_k"] < one["k"]) == (one["people_below_k"] > 0) for one in sets)
        and max(below) <= stated["people_below_k"] <= sum(below)
        and stated["rows"] == certificate["rows"]["released"]
        and stated["given_back"] <= stated["hidden_cells"] <= stated["rows"] * len(quasi)
        and alone["not_called_private"] <= alone["not_private"] <= alone["without_class"]
        and alone["without_class"] <= alone["with_class"] <= stated["rows"]
        and alone["roles"] == {name: role if role in _STATED else "other" for name, role in called.items()}
    )


def _date(certificate: Certificate) -> Statement:
    counts = certificate["made"]
    try:
        datetime.datetime.fromisoformat(counts)
    except ValueError:
        return consistent("made", False, "", "there is no such day")
    return consistent("made", True, counts, "")


# A certificate that is about to be published says what was asked for and what was counted, and nothing else.
def check_issued(
    certificate: Mapping[str, Any],
    verdict: Verdict,
    requirement: Requirement,
    roles: Mapping[str, str],
    sign: Path | None = None,
    keyed: Mapping[str, Any] | None = None,
    persons: Persons | None = None,
) -> None:
    """Raise unless a certificate keeps its schema, states the verdict, the user's requirement and roles, and is signed.

    ``sign`` is the private key that the user named, if any; ``keyed`` what must be stated of columns that a key makes;
    ``persons`` whose rows they are.
    """
    data = json.loads(json.dumps(certificate))
    wrong = "its schema" if any(faults(data, schema())) else next(_misstated(data, verdict, requirement, roles), None)
    stated = None if persons is None else certified_counts(persons, verdict)
    if wrong is None and (data.get("persons") != stated or (stated is None) != (persons is None)):
        wrong = "persons"
    if wrong is None and any(data.get(part) != (keyed or {}).get(part) for part in (*_KEYED, "counts")):
        wrong = "counts, or columns made with a key"
    if wrong is not None:
        raise VerificationError(f"The certificate does not state what was counted ({wrong}). Nothing was published.")
    if sign is not None:
        from incrowd.report.signature import PublicKey, is_signed_by, private_key

        if not is_signed_by(data, PublicKey.of(private_key(sign))):
            raise VerificationError("The certificate is not signed as requested. Nothing was published.")


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
    yield from (one.name for one in check_consistency(data) if one.standing is not StatementStanding.HOLDS)


def _kept(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The released columns that are not transformed: they have the names they had."""
    return [column for column in data["released_columns"] if column["role"] != _TRANSFORMED]
