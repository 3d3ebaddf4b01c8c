"""The login is in the environment and nowhere else: not in a file, on the screen, in a log or in an error."""

import json
import logging
import os
import pty
import subprocess
import sys
import traceback

import pytest

import incrowd
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import IncrowdError
from incrowd.tables.databases.tables import Address
from incrowd.tables.databases.writing import staged_table
from support.postgresql_server import HOST, PASSWORD, USER, clinic, server, written_back

__all__ = ["clinic", "server"]
pytestmark = pytest.mark.slow  # every case is a process of its own
QUERY, VALUE = "canary-query-5d2e", "canary-value-c07b"
CANARIES = [word.encode() for word in (USER, PASSWORD, HOST, QUERY, VALUE, "canary", "locked", "scram")]
COMMAND = [sys.executable, "-c", "from incrowd.cli.main import main; main()"]
ROLES = ["-q", "age,sex,postcode", "--target", "readmitted", "-k", "10", "--class-sensitive", "no"]
SELECT = f"SELECT * FROM patients WHERE sex <> '{QUERY}'"


def found(content):
    return [canary for canary in CANARIES if canary in content]


@pytest.fixture
def patients(clinic, tmp_path, monkeypatch):
    """A login with a password, made of canaries; the working directory is empty."""
    with staged_table(Address.parse("postgresql:///clinic?table=patients")) as staged:
        staged.write([make_patients(1500)])
        written_back(staged).read_all()
    clinic.sql("GRANT ALL ON SCHEMA public TO locked")
    clinic.sql("GRANT SELECT ON patients TO locked")
    monkeypatch.setenv("PGUSER", "locked")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("PGAPPNAME", "canary-program")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("INCROWD_DEBUG", "1")
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return clinic


def run(*words):
    """Run the command in a process of its own, on a terminal: its status and all that it says."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "300"}
    said = b""
    with subprocess.Popen([*COMMAND, *words], stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        while part := _part(ours):
            said += part
    os.close(ours)
    return process.returncode, said


def _part(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nobody writes to it any more
        return b""


def test_a_release_from_and_to_the_server_tells_nothing(patients, tmp_path):
    papers = ["--plan", "plan.json", "--report", "report.html"]
    address = f"postgresql://locked@/clinic?host={patients.socket}&table=release"
    status, said = run("release", "postgresql:///clinic", "--query", SELECT, "--to", address, *ROLES, *papers)
    assert status == 0, said
    assert b"table release of the database clinic" in said
    assert found(said) == []
    written = {path.name: path.read_bytes() for path in (tmp_path / "folder").rglob("*")}
    assert sorted(written) == ["plan.json", "release.certificate.json", "report.html"]
    for name, content in written.items():
        assert found(content) == [], name
    assert b"a query of the database clinic" in written["report.html"]
    assert json.loads(written["release.certificate.json"])["output"]["table"] == "release"
    assert patients.sql("SELECT count(*) FROM release") == [(1500,)]

    reader = f"postgresql://locked@/clinic?host={patients.socket}&table=release"
    for words in (("verify", reader, *ROLES[:2], *ROLES[4:6]), ("inspect", reader), ("inspect", reader, "--json")):
        status, said = run(*words)
        assert status == 0, said
        assert found(said) == []


TO = ("--to", "postgresql:///clinic?table=release")
FAILURES = {
    "a wrong password": (("release", "postgresql:///clinic?table=patients", *TO), {"PGPASSWORD": f"{PASSWORD}-wrong"}),
    "a strange user": (("release", "postgresql:///clinic?table=patients", *TO), {"PGUSER": f"{USER}-nobody"}),
    "nobody at home": (("release", "postgresql:///clinic?table=patients", *TO), {"PGHOST": f"/{HOST}"}),
    "no such table": (("release", "postgresql:///clinic", "--table", f"{VALUE}", "--to", "out.csv"), {}),
    "broken SQL": (("release", "postgresql:///clinic", "--query", f"SELEC '{QUERY}'", *TO), {}),
    "a cast of a value": (
        ("release", "postgresql:///clinic", "--query", f"SELECT ('{VALUE}' || age)::int AS age FROM patients", *TO),
        {},
    ),
    "a password in the address": (("release", f"postgresql://locked:{PASSWORD}@/clinic?table=patients", *TO), {}),
    "a password in the target": (
        ("release", "postgresql:///clinic?table=patients", "--to", f"postgresql://locked:{PASSWORD}@/clinic?table=t"),
        {},
    ),
    "an option with a value": (("release", f"postgresql:///clinic?table=patients&options={VALUE}", *TO), {}),
    "a command for files": (
        ("hide", f"postgresql://locked:{PASSWORD}@/clinic?table=t", "--cell", "1:age", "--to", "o.csv"),
        {},
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_tells_nothing(failure, patients, tmp_path, monkeypatch):
    words, environment = FAILURES[failure]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    status, said = run(*words, *(ROLES if words[0] == "release" else ()))
    if failure == "no such table":
        said = said.replace(b"table " + VALUE.encode(), b"")  # names of tables may be told
    assert status == 2, said
    assert b"incrowd: " in said
    assert b"Traceback" not in said
    assert found(said) == []
    assert list((tmp_path / "folder").iterdir()) == []
    assert patients.tables() == {"patients"}


def test_logs_and_traces_of_python_tell_nothing(patients, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    incrowd.release(
        "postgresql:///clinic?table=patients",
        quasi_identifiers=["age", "sex"],
        target="readmitted",
        to="postgresql:///clinic?table=release",
    )
    monkeypatch.setenv("PGPASSWORD", f"{PASSWORD}-wrong")
    with pytest.raises(IncrowdError) as told:
        incrowd.verify("postgresql:///clinic?table=release", quasi_identifiers=["age"], k=2)
    shown = "".join(traceback.format_exception(told.value))
    assert found(shown.encode()) == []
    assert found((caplog.text + "".join(capfd.readouterr())).encode()) == []
