"""A release next to its certificate: what holds, what fails and is named, what cannot be told."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import FileFormatError, IncrowdError, ParameterError, VerificationError
from incrowd.methods.catalog import METHODS
from incrowd.releases.certified.checking import UNCHECKED, check_release
from incrowd.releases.certified.statements import CertificateVerdict, StatementStanding
from incrowd.releases.recount import verify
from incrowd.report.certificate import faults, schema
from incrowd.report.signature import make_key, signed
from incrowd.tables.options import Outputs
from incrowd.vocabulary.hierarchy import Hierarchy

ROWS = 241
KEPT: dict[str, Path] = {}
FORMS = ["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "arff"]
ROLES = {"quasi_identifiers": ["age", "job"], "target": "ill", "identifiers": ["person"], "class_sensitive": False}


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def people(**names: str) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "person": [f"p{i}" for i in range(ROWS)],
            "age": [20 + (i * 7) % 41 for i in range(ROWS)],
            "job": [f"j{(i * i) % 6}" if i < ROWS - 3 else "rare" for i in range(ROWS)],
            "secret": [f"s{i % 4}" if i else "s9" for i in range(ROWS)],
            "ill": ["y" if i >= ROWS - 3 or (i * 7 % 41 > 18) ^ (i * i % 6 in (1, 3)) else "n" for i in range(ROWS)],
        }
    )
    return frame.rename(names)


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory):
    """Every release is made once, and copied for those who ask for it again."""
    KEPT.clear()
    KEPT[""] = tmp_path_factory.mktemp("kept")


def made(to: str = "out.csv", **asked: object) -> Path:
    """A release of the people in a file."""
    key = f"{to} {asked}"
    if key not in KEPT:
        people().write_csv("people.csv")
        release("people.csv", **(ROLES | {"k": 5} | asked), to=to)
        KEPT[key] = shutil.copytree(Path.cwd(), KEPT[""] / str(len(KEPT)))
    shutil.copytree(KEPT[key], Path.cwd(), dirs_exist_ok=True)
    return Path(to)


def certified(path: Path) -> dict:
    return json.loads(Path(f"{path}.certificate.json").read_text())


def standings(verdict: CertificateVerdict) -> dict[str, str]:
    return {one.name: str(one.standing) for one in verdict.statements}


def failed(verdict: CertificateVerdict) -> set[str]:
    return {one.name for one in verdict.failed}


@pytest.mark.each(5)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_recounted_with_nothing_typed_again(form):
    verdict = verify(made(f"out.{form}"))
    assert isinstance(verdict, CertificateVerdict)
    assert verdict.passed, verdict
    found = standings(verdict)
    assert {name for name, standing in found.items() if standing == StatementStanding.OPEN} == {
        "rows of the table",
        "cells follow from the table",
        "effective k",
        "utility",
        UNCHECKED,
    }
    holding = {"SHA-256 of the release", "columns", "5-anonymity", "rows released", "smallest group"}
    assert holding | {"sizes of the groups", "cells of age", "cells of job", "statement"} <= set(found)


@pytest.mark.each(4)
@pytest.mark.parametrize("method", list(METHODS))
def test_every_method(method):
    verdict = verify(made(method=method))
    assert verdict.passed, verdict
    assert list(faults(certified(Path("out.csv")), schema())) == []


@pytest.mark.each(3)
@pytest.mark.parametrize("form", ["counts", "pair"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_release_forms(form, ending):
    verdict = verify(made(f"out.{ending}", form=form, method="mondrian"))
    assert verdict.passed, verdict
    assert ("SHA-256 of the table of groups" in standings(verdict)) is (form == "pair")


def test_the_numbers_are_those_of_the_verdict():
    """kACTUS loses rows; the certificate says how many were counted, in all its places."""
    path = made(method="kactus", k=7)
    data = certified(path)
    rows = data["rows"]
    assert rows["input"] == ROWS == rows["released"] + rows["left_out"]
    assert rows["left_out"] > 0
    assert rows["released"] == pl.read_csv(path).height == data["verification"]["rows"]
    [told] = [check["found"] for check in data["verification"]["checks"] if check["name"] == "rows"]
    assert told == f"{rows['released']} released, {rows['left_out']} left out"
    empty = pl.read_csv(path).select(pl.col("age", "job").null_count()).row(0, named=True)
    assert {name: forms.get("empty", 0) for name, forms in data["attributes"].items()} == empty
    assert data["quasi_identifier_cells"] == {
        "input": 2 * ROWS,
        "released": 2 * rows["released"],
        "empty": sum(empty.values()),
    }


def test_two_columns_of_an_interval():
    verdict = verify(made(method="mondrian", parameters={"numeric": "bounds"}))
    assert verdict.passed, verdict
    ends = [column["as"] for column in certified(Path("out.csv"))["released_columns"] if column["from"] == "age"]
    assert ends == ["low end", "high end"]


def test_columns_that_are_written_under_another_name():
    people(age="=age", secret="-secret").write_csv("people.csv")
    asked = ROLES | {"quasi_identifiers": ["=age", "job"]}
    release("people.csv", **asked, require="k=4, distinct-l=2 on -secret", method="mondrian", to="out.csv")
    verdict = verify("out.csv")
    assert verdict.passed, verdict
    assert standings(verdict)["distinct 2-diversity of -secret"] == "holds"


REQUIREMENTS = [
    "distinct-l=2 on secret",
    "entropy-l=1.5 on secret",
    "recursive-l=2 c=3 on secret",
    "t=0.6 on secret",
    "t=0.9 on age2",
    "alpha=0.9 on secret",
    "beta=3 on secret",
]


@pytest.mark.each(3)
@pytest.mark.parametrize("asked", REQUIREMENTS)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_promises_beyond_k(asked, ending):
    people().with_columns(age2=pl.Series(range(ROWS)) % 9).write_csv("people.csv")
    release("people.csv", **ROLES, require=f"k=5, {asked}", method="mondrian", to=f"out.{ending}")
    verdict = verify(f"out.{ending}")
    assert verdict.passed, verdict
    promise = certified(Path(f"out.{ending}"))["requirement_recounted"][1]["promise"]
    assert standings(verdict)[promise] == "holds"


def test_a_promise_beyond_k_that_is_broken():
    path = made("out.csv", require="k=5, distinct-l=2 on secret", method="mondrian")
    frame = pl.read_csv(path, infer_schema=False).with_columns(secret=pl.lit("s1"))
    frame.write_csv(path)
    assert {"distinct 2-diversity of secret", "SHA-256 of the release"} <= failed(verify(path))


def test_sets_of_columns_known_together():
    path = made(known_together=[(["age"], 12), (["age", "job"], 4)], k=None, method="tdr", quasi_identifiers=None)
    verdict = verify(path)
    assert verdict.passed, verdict
    assert {"12-anonymity of age", "4-anonymity of age, job"} <= set(standings(verdict))


def test_what_needs_a_hierarchy_is_not_passed_over():
    tree = Hierarchy("secret", ("*", "low", "high", "s0", "s1", "s2", "s3", "s9"), (-1, 0, 0, 1, 1, 2, 2, 2))
    made(require="k=5, t=0.6 on secret", method="mondrian", hierarchies={"secret": tree})
    verdict = verify("out.csv")
    assert verdict.exit_status == 2
    assert not verdict.passed
    assert [one.name for one in verdict.undecided] == ["0.6-closeness of secret"]
    assert "could not be determined" in str(verdict)
    assert verify("out.csv", hierarchies={"secret": tree}).passed
    other = Hierarchy("secret", ("*", "s0", "s1", "s2", "s3", "s9"), (-1, 0, 0, 0, 0, 0))
    assert verify("out.csv", hierarchies={"secret": other}).exit_status == 2


def test_what_needs_a_population_is_not_passed_over():
    pl.concat([people()] * 3).write_csv("everybody.csv")
    made(require="k=5, k-map=6", method="mondrian", population="everybody.csv")
    verdict = verify("out.csv")
    assert verdict.exit_status == 2
    assert "6-map" in {one.name for one in verdict.undecided}


def test_a_frame_next_to_its_certificate():
    handed = release(people(), **ROLES, k=5)
    assert verify(handed.table, certificate=handed.certificate).passed
    verdict = verify(handed.table.head(-1), certificate=handed.certificate)
    assert "rows released" in failed(verdict)


# a release that was changed


def rewritten(path: Path, change) -> None:
    change(pl.read_csv(path, infer_schema=False)).write_csv(path)


CHANGES = {
    "a row more": (lambda frame: pl.concat([frame, frame.head(1)]), {"rows released", "sizes of the groups"}),
    "a row less": (lambda frame: frame.head(-1), {"rows released", "sizes of the groups"}),
    "rows in another order": (lambda frame: frame.reverse(), set()),
    "columns in another order": (lambda frame: frame.select(reversed(frame.columns)), {"columns"}),
    "a column more": (lambda frame: frame.with_columns(person=pl.lit("p")), {"columns"}),
    "a column less": (lambda frame: frame.drop("secret"), {"columns"}),
    "a cell": (
        lambda frame: frame.with_columns(job=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("j9")).otherwise("job")),
        {"5-anonymity", "smallest group", "groups of rows that look alike", "sizes of the groups"},
    ),
    "an untouched cell": (
        lambda frame: frame.with_columns(ill=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("z")).otherwise("ill")),
        set(),
    ),
    "all cells empty": (lambda frame: frame.with_columns(job=pl.lit(None, pl.String)), {"cells of job"}),
}


@pytest.mark.parametrize(("change", "fails"), CHANGES.values(), ids=CHANGES)
def test_a_release_that_was_changed(change, fails):
    path = made()
    rewritten(path, change)
    verdict = verify(path)
    assert verdict.exit_status == 1
    assert fails | {"SHA-256 of the release"} <= failed(verdict)


def test_a_line_of_comment_appended_to_a_release():
    path = made()
    with path.open("a") as file:
        file.write("# everything is fine,,,\n")
    verdict = verify(path)
    assert verdict.exit_status == 1
    assert {"SHA-256 of the release", "rows released", "5-anonymity"} <= failed(verdict)


def test_bytes_that_are_no_table_any_more():
    path = made()
    path.write_bytes(path.read_bytes() + b'"')
    verdict = verify(path)
    assert failed(verdict) == {"SHA-256 of the release"}
    assert standings(verdict)["recount"] == StatementStanding.OPEN


def test_the_table_of_groups_is_bound_too():
    path = made(form="pair", method="mondrian")
    groups = Path("out.groups.csv")
    groups.write_text(groups.read_text().replace("j1", "j2", 1))
    assert "SHA-256 of the table of groups" in failed(verify(path))
    groups.unlink()
    with pytest.raises(FileFormatError, match=r"out\.groups\.csv"):
        verify(path)


# a certificate that was changed


def tampered(change) -> CertificateVerdict:
    """What is said of a release whose certificate was changed."""
    path = made(method="kactus", k=7)
    data = certified(path)
    change(data)
    return check_release(path, data)


def put(*steps, value):
    def change(data) -> None:
        place = data
        for step in steps[:-1]:
            place = place[step]
        old = place[steps[-1]]
        place[steps[-1]] = value(old) if callable(value) else value

    return change


UNCHANGED = "counts of unchanged columns add up"
TAMPERED = {
    "nothing left out": (put("rows", "left_out", value=0), {"rows add up"}),
    "more rows": (put("rows", "released", value=ROWS), {"rows add up", "rows released"}),
    "another number in the check of the rows": (
        lambda data: [
            check.update(found="239 released, 2 left out")
            for check in data["verification"]["checks"]
            if check["name"] == "rows"
        ],
        {"rows add up"},
    ),
    "smaller k": (put("requirement", "k", value=3), {"statement"}),
    "larger k in words": (put("requirement_asked", value="70-anonymity"), {"statement"}),
    "larger k everywhere": (
        lambda data: [
            put("requirement", "k", value=70)(data),
            put("requirement_asked", value="70-anonymity")(data),
            put("statement", value=lambda old: old.replace("7-", "70-"))(data),
            put("requirement_recounted", 0, "promise", value="70-anonymity")(data),
            put("verification", "checks", 1, "name", value="70-anonymity")(data),
        ],
        {"70-anonymity"},
    ),
    "another sentence": (put("statement", value="The release is anonymous."), {"statement"}),
    "a longer sentence": (put("statement", value=lambda old: f"{old} Nobody can be found in it."), {"statement"}),
    "a requirement with more in it": (put("requirement", value=lambda old: {**old, "l": 3}), {"statement"}),
    "a promise that was recounted twice": (put("requirement_recounted", value=lambda old: old * 2), {"statement"}),
    "a column twice": (put("columns", value=lambda old: [*old, old[-1]]), {"roles of the columns"}),
    "cells that were not compared": (
        put("verification", "checks", value=lambda old: [one for one in old if one["name"] != "secret untouched"]),
        {"checks at the time of release"},
    ),
    "a larger effective k": (put("unchanged_columns", "effective_k", value=99), {UNCHANGED}),
    "more people than there are": (put("unchanged_columns", "rows", value=10**400), {UNCHANGED}),
    "sets of other columns": (put("unchanged_columns", "sets", 0, "columns", value=["age"]), {UNCHANGED}),
    "published despite nothing": (put("unchanged_columns", "published_despite", value="It is sound."), {UNCHANGED}),
    "a sensitive column called the class": (
        put("unchanged_columns", "alone", "roles", "secret", value="target"),
        {UNCHANGED},
    ),
    "nobody alone": (
        lambda data: [
            put("unchanged_columns", "alone", name, value=0)(data)
            for name in ("not_called_private", "not_private", "without_class", "with_class")
        ],
        {"alone by unchanged columns, with class"},
    ),
    "a promise that was not recounted": (put("requirement_recounted", value=[]), {"statement"}),
    "a check that failed": (put("verification", "checks", 0, "passed", value=False), {"checks at the time of release"}),
    "not passed": (put("verification", "passed", value=False), {"checks at the time of release"}),
    "smallest class": (put("verification", "smallest_class", value=99), {"rows add up", "smallest group"}),
    "number of classes": (
        put("verification", "classes", value=99),
        {"rows add up", "groups of rows that look alike"},
    ),
    "a bar of the histogram": (
        put("verification", "class_size_histogram", 0, value=[1, 1]),
        {"rows add up", "sizes of the groups"},
    ),
    "a quasi-identifier forgotten": (
        lambda data: [
            put("released_columns", 1, "role", value="other")(data),
            put("columns", 2, "role", value="other")(data),
        ],
        {"cells of the quasi-identifiers", "groups of rows that look alike"},
    ),
    "a role": (put("released_columns", 1, "role", value="sensitive"), {"roles of the columns"}),
    "an identifier": (put("columns", 0, "role", value="other"), {"roles of the columns"}),
    "another order": (put("released_columns", value=lambda old: old[::-1]), {"columns"}),
    "cells": (put("attributes", "job", value={"single": 1}), {"cells of job", "cells add up"}),
    "empty cells": (put("quasi_identifier_cells", "empty", value=lambda old: old + 1), {"cells add up"}),
    "a day": (put("made", value="2020-99-99T00:00:00"), {"made"}),
    "the hash": (put("output", "sha256", value="0" * 64), {"SHA-256 of the release"}),
    "the format": (put("rows", value={"input": 1}), {"format of the certificate"}),
    "a field more": (lambda data: data.update(seed=17), {"format of the certificate"}),
}


@pytest.mark.each(3)
@pytest.mark.parametrize(("change", "fails"), TAMPERED.values(), ids=TAMPERED)
def test_a_certificate_that_was_changed(change, fails):
    verdict = tampered(change)
    assert verdict.exit_status == 1
    assert fails <= failed(verdict)
    assert all(name in str(verdict).splitlines()[-1] for name in fails)


def test_every_single_field_is_told_or_bound_or_open(tmp_path):
    """Fields that nobody can check from the release are named as such, or they are words of no promise."""
    data = certified(made())
    free = {"responsible", "recipe_sha256", "input_hmac_sha256", "versions", "method", "notices", "public_cuts"}
    free |= {"class_sensitive", "preset", "hierarchies", "utility", "risk", "attacks", "earlier_releases"}
    for name in set(data) - free:
        changed = copy.deepcopy(data)
        changed[name] = {"is": "k-anonymity", "k": 1} if name == "requirement" else None
        assert check_release(Path("out.csv"), changed).exit_status == 1 if name != "incrowd_certificate" else True, name


@pytest.mark.parametrize("other", [{"kind": "parquet"}, {"delimiter": ";"}, {"compression": "gzip"}])
def test_another_form_is_stated_than_the_file_has(other):
    """The bytes are those of the certificate, so nothing that it states is broken; but nothing can be told."""
    with pytest.raises(FileFormatError) as refused:
        tampered(lambda data: data["output"]["form"].update(other))
    assert refused.value.exit_status == 2


@pytest.mark.parametrize(
    "fault", [lambda data, key: data, lambda data, key: {**signed(data, key), "responsible": "somebody else"}]
)
def test_a_certificate_that_was_not_signed_as_asked_is_not_published(fault, tmp_path, monkeypatch):
    key, _ = make_key(tmp_path / "office.key")
    monkeypatch.setattr("incrowd.report.signature.signed", fault)
    with pytest.raises(VerificationError, match="not signed"):
        made(outputs=Outputs(sign=key))
    assert not Path("out.csv").exists()


# certificates that are none


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "17",
        '"x"',
        "{}",
        '{"incrowd_model": 1}',
        '{"incrowd_certificate": 2}',
        '{"incrowd_certificate": 5, "incrowd_certificate": 5}',
        '{"incrowd_certificate": NaN}',
        '{"incrowd_certificate": ' + "9" * 10_000 + "}",
        "[" * 100_000,
        "\udcff",
    ],
)
def test_what_is_no_certificate(text):
    made()
    Path("c.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(IncrowdError) as refused:
        verify("out.csv", certificate="c.json")
    assert refused.value.exit_status == 2


def test_no_certificate_at_all():
    people().write_csv("people.csv")
    with pytest.raises(ParameterError, match=r"no certificate people\.csv\.certificate\.json"):
        verify("people.csv")
    with pytest.raises(ParameterError):
        verify(people())


def test_no_release_at_all():
    made()
    Path("out.csv").unlink()
    with pytest.raises(FileFormatError, match="does not exist"):
        verify("out.csv")


def test_columns_and_certificate_are_not_both_said():
    path = made()
    with pytest.raises(ParameterError, match="leave out everything else"):
        verify(path, certificate=certified(path), k=5)


def test_a_release_that_lies_elsewhere():
    path = made("a[1].csv")
    made("a1.csv", k=9)
    path.rename("b.csv")
    assert verify("b.csv", certificate="a[1].csv.certificate.json").passed
    assert not verify("a1.csv", certificate="a[1].csv.certificate.json").passed
    assert verify("a1.csv").passed
