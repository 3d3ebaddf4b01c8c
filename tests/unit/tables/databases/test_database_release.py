"""Releases from and to a real server, the whole way: read at one moment, verified as the server has it, then seen."""

import json
import os
import signal
import subprocess
import sys
from decimal import Decimal

import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.cli.main import app
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import FileFormatError, HeaderError, IncrowdError, OutputError, ParameterError, VerificationError
from incrowd.methods.catalog import METHODS
from incrowd.releases.job import Job, Targets
from incrowd.report.certificate import faults, schema
from incrowd.tables.databases import NewTable, Query
from incrowd.tables.databases.reading import read_query
from incrowd.tables.databases.tables import Address, in_memory, on_disk
from incrowd.tables.databases.writing import StagedTable, staged_table
from incrowd.tables.recipe import Recipe
from support.postgresql_server import HOST, USER, written_back

pytestmark = pytest.mark.slow  # whole releases from and to a server

CLINIC = "postgresql:///clinic"
PATIENTS, RELEASE = f"{CLINIC}?table=patients", f"{CLINIC}?table=release"
KNOWN = ["age", "sex", "postcode"]
ROLES = {"quasi_identifiers": KNOWN, "target": "readmitted", "k": 10}


def put(frame, address=PATIENTS):
    with staged_table(Address.parse(address)) as staged:
        staged.write([frame])
        written_back(staged).read_all()


def got(address=RELEASE):
    return read_query(Query.of(address))


@pytest.fixture
def patients(clinic, tmp_path, monkeypatch):
    """The server with a table of patients, and a working directory."""
    put(make_patients(1500))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return clinic


@pytest.fixture(params=["in memory", "in blocks"])
def held(request, monkeypatch):
    """Small tables go both ways."""
    monkeypatch.setattr("incrowd.rows.one_machine._CELLS", 0 if request.param == "in blocks" else 10**9)
    monkeypatch.setattr("incrowd.rows.blocks.held.block_rows", lambda *_: 400)
    return request.param


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "config")


def test_from_a_table_to_a_table(patients, held, tmp_path):
    told = []
    made = incrowd.release(PATIENTS, **ROLES, to=RELEASE, progress=told.append)
    assert patients.tables() == {"patients", "release"}
    assert names(tmp_path) == ["release.certificate.json"]
    assert made.table.equals(got())
    assert ("applying: 1,500 of 1,500 rows" in " ".join(told)) is (held == "in blocks")
    assert made.path is None
    assert sorted(got()["ward"]) == sorted(read_query(Query.of(PATIENTS))["ward"])
    told = json.loads((tmp_path / "release.certificate.json").read_text())
    assert told == made.certificate
    assert list(faults(told, schema())) == []
    assert told["output"] == {"database": "clinic", "table": "release"}
    assert [column["name"] for column in told["released_columns"]] == got().columns
    assert told["rows"]["released"] == got().height == 1500
    assert told["statement"].endswith("from the written table.")
    assert told["input_hmac_sha256"] is None
    assert (made.report.source, made.report.output) == (
        "table patients of the database clinic",
        "table release of the database clinic",
    )
    assert incrowd.verify(RELEASE, quasi_identifiers=KNOWN, k=10).passed
    assert not incrowd.verify(PATIENTS, quasi_identifiers=KNOWN, k=10).passed


def test_a_table_next_to_its_certificate(patients, held, tmp_path):
    made = incrowd.release(PATIENTS, **ROLES, to=RELEASE)
    verdict = incrowd.verify(RELEASE, certificate="release.certificate.json")
    assert verdict.passed, verdict
    assert "cells of age" in {one.name for one in verdict.statements if one.standing == "holds"}
    with pytest.raises(ParameterError, match="Name the certificate"):
        incrowd.verify(RELEASE)
    patients.sql("DELETE FROM release WHERE ctid IN (SELECT ctid FROM release LIMIT 1)")
    again = incrowd.verify(RELEASE, certificate=made.certificate)
    assert again.exit_status == 1
    assert "rows released" in {one.name for one in again.failed}


@pytest.mark.parametrize("to", ["out.csv", "out.parquet", None])
def test_from_a_query_to_a_file_or_a_frame(to, patients, held, tmp_path):
    query = Query.of(CLINIC, "SELECT age, sex, readmitted FROM patients WHERE age > 30")
    made = incrowd.release(query, quasi_identifiers=["age", "sex"], target="readmitted", k=10, to=to)
    (older,) = patients.sql("SELECT count(*) FROM patients WHERE age > 30")[0]
    assert made.table.height == older
    assert made.table.columns == ["age", "sex", "readmitted"]
    assert made.report.source == "a query of the database clinic"
    assert names(tmp_path) == ([to, f"{to}.certificate.json"] if to else [])
    assert patients.tables() == {"patients"}


def test_from_a_file_to_a_table(patients, held, tmp_path):
    make_patients(800).write_parquet("patients.parquet")
    made = incrowd.release("patients.parquet", **ROLES, to=f"{CLINIC}?table=public.release")
    assert got().height == 800
    assert made.certificate["output"]["table"] == "public.release"
    assert made.certificate["input_hmac_sha256"]
    assert names(tmp_path) == ["patients.parquet", "public.release.certificate.json"]


@pytest.mark.slow
def test_every_kind_of_method_reaches_a_table(patients):
    """A server sees cells and no method: one of those that write the same kinds of cells is enough."""
    kinds = {(e.numeric, e.generalizes, e.by_value, e.counts): e.name for e in METHODS.values()}
    assert len(kinds) > 3
    for method in kinds.values():
        made = incrowd.release(
            PATIENTS,
            **ROLES,
            method=method,
            to=NewTable.of(RELEASE, replace=True),
            outputs=incrowd.Outputs(certificate="certificate.json"),
        )
        assert made.verdict.passed
        assert incrowd.verify(RELEASE, quasi_identifiers=_shown(made), k=10).passed


def _shown(made):
    return [column.name for column in made.plan.written if column.source in KNOWN]


def test_every_type_passes_the_verification_on_its_way_back(clinic, held, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    rows = 60
    frame = pl.DataFrame(
        {
            "age": [20 + i % 12 for i in range(rows)],
            "exact": pl.Series([Decimal(i % 7) / 4 for i in range(rows)], dtype=pl.Decimal(20, 2)),
            "born": pl.Series([i % 9 * 1000 for i in range(rows)]).cast(pl.Date),
            "long": pl.Series([2**63 + i for i in range(rows)], dtype=pl.UInt64),
            "byte": pl.Series([i % 200 for i in range(rows)], dtype=pl.UInt8),
            "float": pl.Series([i / 7 for i in range(rows)], dtype=pl.Float32),
            "other": pl.Series([Decimal(i) / 8 for i in range(rows)], dtype=pl.Decimal(20, 3)),
            "moment": pl.Series([i * 10**9 for i in range(rows)]).cast(pl.Datetime("us", "UTC")),
            "clock": pl.Series([i * 10**9 for i in range(rows)]).cast(pl.Time),
            "level": pl.Series(["low", "high", None] * 20, dtype=pl.Enum(["low", "high"])),
            "text": ["=1+1", "", "é'\"\\\t\n,"] * 20,
            "truth": [True, None, False] * 20,
            "ill": ["y", "n"] * 30,
        }
    )
    frame.write_parquet("all.parquet")
    made = incrowd.release("all.parquet", quasi_identifiers=["age", "exact", "born"], target="ill", k=5, to=RELEASE)
    assert made.verdict.passed
    assert sorted(got()["other"]) == sorted(str(value) for value in frame["other"])
    again = incrowd.release(
        RELEASE, quasi_identifiers=["age", "exact", "born"], target="ill", k=5, to=f"{CLINIC}?table=again"
    )
    assert again.verdict.passed


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {0} SET sex = 'x' WHERE ctid = '(0,1)'",
        "DELETE FROM {0} WHERE ctid = '(0,1)'",
        "UPDATE {0} SET readmitted = NULL WHERE ctid = '(0,3)'",
        "INSERT INTO {0} SELECT * FROM {0} LIMIT 1",
    ],
)
def test_what_the_server_has_changed_is_noticed_and_nothing_appears(change, patients, held, tmp_path, monkeypatch):
    """A rule or a bug of the server is simulated by a change in the same transaction."""
    save = StagedTable.save

    def changed(staged, path):
        staged._session.do(change.format(staged._hidden.sql))
        return save(staged, path)

    monkeypatch.setattr(StagedTable, "save", changed)
    with pytest.raises(VerificationError, match="was not published"):
        incrowd.release(PATIENTS, **ROLES, to=RELEASE)
    assert patients.tables() == {"patients"}
    assert names(tmp_path) == []


def test_an_old_table_is_kept_or_replaced(patients, tmp_path):
    put(pl.DataFrame({"old": [1]}), RELEASE)
    (tmp_path / "release.certificate.json").write_text("old")
    with pytest.raises(OutputError, match="exists already"):
        incrowd.release(PATIENTS, **ROLES, to=RELEASE)
    assert got().columns == ["old"]
    assert (tmp_path / "release.certificate.json").read_text() == "old"
    incrowd.release(PATIENTS, **ROLES, to=NewTable.of(RELEASE, replace=True))
    assert got().height == 1500
    assert json.loads((tmp_path / "release.certificate.json").read_text())["rows"]["released"] == 1500


def test_what_is_read_is_not_replaced(patients):
    with pytest.raises(OutputError, match="is what is read"):
        incrowd.release(PATIENTS, **ROLES, to=NewTable.of(PATIENTS, replace=True))
    query = Query.of(CLINIC, "SELECT * FROM (SELECT * FROM patients) AS p")
    with pytest.raises(OutputError, match="is what is read"):
        incrowd.release(query, **ROLES, to=NewTable.of(PATIENTS, replace=True))
    assert got(PATIENTS).height == 1500


def test_the_certificate_goes_where_it_is_told(patients, tmp_path):
    (tmp_path / "papers").mkdir()
    incrowd.release(PATIENTS, **ROLES, to=RELEASE, outputs=incrowd.Outputs(certificate="papers/a.json"))
    assert names(tmp_path) == ["papers"]
    incrowd.release(PATIENTS, **ROLES, to="out.csv", outputs=incrowd.Outputs(certificate="papers/b.json"))
    assert names(tmp_path) == ["out.csv", "papers"]
    assert names(tmp_path / "papers") == ["a.json", "b.json"]
    with pytest.raises(OutputError, match="different file names"):
        incrowd.release(PATIENTS, **ROLES, to=RELEASE, outputs=incrowd.Outputs(certificate="x.json", plan="x.json"))


@pytest.mark.parametrize(
    ("table", "file"),
    [
        ("release", "release.certificate.json"),
        ("a.b", "a.b.certificate.json"),
        ('"../b"', "___b.certificate.json"),
        ('".."', "__.certificate.json"),
        ("a/b c", "a_b_c.certificate.json"),
    ],
)
def test_a_certificate_is_named_after_its_table_and_stays_in_the_folder(table, file):
    assert str(Targets.at(NewTable(Address.parse(CLINIC).at(table))).certificate) == file


def test_an_address_is_no_path():
    for given in (PATIENTS, Query.of(PATIENTS)):
        job = Job(given, Recipe())
        assert job.path is None
        assert str(job.query) == "table patients of the database clinic"
    assert Targets.at(RELEASE).release is None
    assert str(Job("people.csv", Recipe()).path) == "people.csv"
    with pytest.raises(ParameterError, match="which table to write"):
        Targets.at(CLINIC)
    with pytest.raises(ParameterError, match="what to read"):
        incrowd.release(CLINIC, **ROLES)


def test_other_readers_take_addresses_or_say_no(patients):
    assert incrowd.inspect(PATIENTS, target="readmitted")["age"].type == "integer"
    plan = incrowd.release(PATIENTS, **ROLES).plan
    assert incrowd.transform(plan, PATIENTS).height == 1500
    with on_disk(PATIENTS) as path:
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert pl.read_parquet(path).equals(in_memory(PATIENTS))
    assert not path.exists()
    with pytest.raises(FileFormatError, match="address of a database") as told:
        incrowd.hide_cells("postgresql://ann:s3cret@/clinic?table=t", [(0, "age")])
    assert "s3cret" not in str(told.value)


def test_the_rows_are_of_one_moment_and_the_scratch_folder_is_private(patients, held, tmp_path, monkeypatch):
    from incrowd.tables.databases import reading

    seen = []

    def fetched(query, folder, progress):
        path = fetch(query, folder, progress)
        patients.sql("DELETE FROM patients")
        seen.extend(
            (path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777, path.absolute().is_relative_to(tmp_path))
        )
        return path

    fetch = reading.fetch_query
    monkeypatch.setattr(reading, "fetch_query", fetched)
    told = []
    made = incrowd.release(PATIENTS, **ROLES, to=RELEASE, progress=told.append)
    assert made.table.height == 1500
    assert seen == [0o700, 0o600, True]
    assert names(tmp_path) == ["release.certificate.json"]
    assert "reading: 1,500 rows" in told
    assert told.index("copying to the database") < len(told) - 1 - told[::-1].index("verifying")


_KILLED = """
import os, signal
import incrowd
from incrowd.tables.databases.writing import StagedTable

save = StagedTable.save
def killed(staged, path):
    save(staged, path)
    os.kill(os.getpid(), signal.SIGKILL)
StagedTable.save = killed
incrowd.release("postgresql:///clinic?table=patients", quasi_identifiers=["age", "sex", "postcode"],
                target="readmitted", k=10, to="postgresql:///clinic?table=release")
"""


@pytest.mark.slow
def test_a_killed_run_leaves_no_table_and_is_swept_by_the_next(patients, tmp_path):
    done = subprocess.run([sys.executable, "-c", _KILLED], env=os.environ, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert patients.tables() == {"patients"}
    assert names(tmp_path) == [".release.certificate.json.incrowd"]
    assert (tmp_path / ".release.certificate.json.incrowd").stat().st_mode & 0o777 == 0o700
    incrowd.release(PATIENTS, **ROLES, to=RELEASE)
    assert names(tmp_path) == ["release.certificate.json"]
    assert patients.tables() == {"patients", "release"}


def test_two_runs_for_one_table(patients, monkeypatch):
    save = StagedTable.save

    def meanwhile(staged, path):
        monkeypatch.setattr(StagedTable, "save", save)
        with pytest.raises(OutputError, match="Another run is writing"):
            incrowd.release(PATIENTS, **ROLES, to=RELEASE, outputs=incrowd.Outputs(certificate="other.json"))
        with pytest.raises(OutputError, match="Another run is writing"):
            incrowd.release(PATIENTS, **ROLES, to=RELEASE)
        return save(staged, path)

    monkeypatch.setattr(StagedTable, "save", meanwhile)
    incrowd.release(PATIENTS, **ROLES, to=RELEASE)
    assert got().height == 1500


def test_nothing_of_the_login_is_in_what_is_given_back(patients):
    address = f"postgresql://{USER}@/clinic?host={patients.socket}"
    made = incrowd.release(f"{address}&table=patients", **ROLES, to=f"{address}&table=release")
    for shown in (repr(made), made._repr_html_(), json.dumps(made.certificate), repr(made.report), repr(made.plan)):
        assert USER not in shown
        assert HOST not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["people.csv", "--table", "t", "--to", "out.csv"], "need a database"),
        (["people.csv", "--query", "SELECT 1", "--to", "out.csv"], "need a database"),
        ([CLINIC, "--to", "out.csv"], "State what to read from the database"),
        ([PATIENTS, "--query", "SELECT 1", "--to", "out.csv"], "not both"),
        ([CLINIC, "--table", "t", "--query", "SELECT 1", "--to", "out.csv"], "not both"),
        ([PATIENTS, "--to", CLINIC], "which table to write"),
    ],
)
def test_options_that_do_not_fit_together(words, message):
    outcome = CliRunner().invoke(app, ["release", *words, "-q", "age", "--target", "ill", "--class-sensitive", "no"])
    assert isinstance(outcome.exception, ParameterError)
    assert message in str(outcome.exception)


def test_the_command_line_from_a_table_to_a_table(patients, tmp_path):
    roles = ["-q", ",".join(KNOWN), "--target", "readmitted", "-k", "10", "--class-sensitive", "no"]
    words = ["release", CLINIC, "--table", "patients", "--to", RELEASE, *roles, "--json"]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["files"] == {
        "release": "table release of the database clinic",
        "certificate": "release.certificate.json",
    }
    assert isinstance(CliRunner().invoke(app, words).exception, OutputError)
    assert CliRunner().invoke(app, [*words, "--replace", "--certificate", "c.json"]).exit_code == 0
    assert names(tmp_path) == ["c.json", "release.certificate.json"]
    counted = CliRunner().invoke(app, ["verify", RELEASE, *roles[:2], *roles[4:6]])
    assert counted.exit_code == 0, counted.output
    assert CliRunner().invoke(app, ["verify", PATIENTS, *roles[:2], *roles[4:6]]).exit_code == 1
    shown = CliRunner().invoke(app, ["inspect", RELEASE, "--json"])
    assert json.loads(shown.stdout)["file"] == "table release of the database clinic"


@pytest.mark.parametrize("method", ["kactus-plus", "blend"])
def test_a_recipient_learns_from_a_release_in_a_database(patients, method):
    """From the table and the certificate that was handed over, as from a file; another table is refused."""
    from sklearn.tree import DecisionTreeClassifier

    incrowd.release(PATIENTS, **ROLES, method=method, to=RELEASE)
    incrowd.release(PATIENTS, **ROLES, method=method, to="release.csv")
    new = make_patients(50, seed=2).to_pandas()
    from_table, from_file = (
        incrowd.open_release(address, certificate=f"{name}.certificate.json")
        for address, name in ((RELEASE, "release"), ("release.csv", "release.csv"))
    )
    for received in (from_table, from_file):
        assert len(received.X) == 1500
        assert set(received.classifier(DecisionTreeClassifier()).predict(new)) <= {"no", "yes"}
    assert from_table.describe().lines == from_file.describe().lines
    with pytest.raises(HeaderError, match="columns of the release"):
        incrowd.open_release(PATIENTS, certificate="release.certificate.json")
    patients.sql("DELETE FROM release WHERE ctid IN (SELECT ctid FROM release LIMIT 1)")
    with pytest.raises(IncrowdError, match="rows"):
        incrowd.open_release(RELEASE, certificate="release.certificate.json")
