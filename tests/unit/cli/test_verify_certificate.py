"""``incrowd verify`` with a certificate, ``incrowd keys``, ``incrowd release --sign``: what they print and return."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from incrowd.cli.main import app, main


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    rows = range(200)
    pl.DataFrame(
        {
            "age": [20 + i % 40 for i in rows],
            "sex": ["fm"[i % 3 == 0] for i in rows],
            "ill": ["ny"[i % 2] for i in rows],
        }
    ).write_csv("people.csv")


def run(*words: str):
    return CliRunner().invoke(app, list(words))


def status(monkeypatch, *words: str) -> int:
    """The exit status of the whole program."""
    monkeypatch.setattr("sys.argv", ["incrowd", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def made(*more: str, to: str = "out.csv") -> None:
    words = [
        "release",
        "people.csv",
        "--to",
        to,
        "-q",
        "age,sex",
        "--target",
        "ill",
        "-k",
        "5",
        "--class-sensitive",
        "no",
    ]
    done = run(*words, *more)
    assert done.exit_code == 0, done.output


def test_one_command_and_no_column_typed_again():
    made()
    done = run("verify", "out.csv")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert "holds          5-anonymity: smallest of" in done.stdout
    assert lines[-1] == "out.csv is what its certificate says: every statement that can be recounted from it holds."
    assert all(line.startswith(("holds ", "not recounted ")) for line in lines[:-1])


def test_for_machines():
    made()
    data = json.loads(run("verify", "out.csv", "--json").stdout)
    assert data["outcome"] == "holds"
    assert {one["standing"] for one in data["statements"]} == {"holds", "not recounted"}
    with Path("out.csv").open("a") as file:
        file.write("# a remark,,\n")
    done = run("verify", "out.csv", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["outcome"] == "does not hold"


def test_a_line_beginning_with_a_hash_is_a_row():
    Path("t.csv").write_text("age,sex\n" + "30,f\n" * 50 + "41,m\n" * 50 + "#N/A,x\n")
    done = run("verify", "t.csv", "-q", "age,sex", "-k", "5")
    assert done.exit_code == 1
    assert "1 rows are in 1 classes below 5" in done.stdout


def test_the_file_that_is_named_is_the_one_that_is_judged():
    Path("a[1].csv").write_text("age,sex\n30,f\n")
    Path("a1.csv").write_text("age,sex\n" + "30,f\n" * 50)
    assert run("verify", "a[1].csv", "-q", "age,sex", "-k", "5").exit_code == 1


def test_certificate_elsewhere_and_a_changed_byte():
    made("--certificate", "c.json")
    assert run("verify", "out.csv", "--certificate", "c.json").exit_code == 0
    data = Path("out.csv").read_bytes()
    Path("out.csv").write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
    done = run("verify", "out.csv", "--certificate", "c.json")
    assert done.exit_code == 1
    assert "does not hold  SHA-256 of the release" in done.stdout


@pytest.mark.each(3)
@pytest.mark.parametrize(
    "words",
    [
        ["people.csv"],
        ["nobody.csv"],
        ["out.csv", "--certificate", "nobody.json"],
        ["out.csv", "--certificate", "people.csv"],
        ["out.csv", "--certificate", "out.csv.certificate.json", "-k", "5", "-q", "age"],
        ["out.csv", "--signed-by", "nobody"],
        ["out.csv", "--signed-by", "office"],
        ["out.csv", "--delimiter", ";"],
    ],
)
def test_what_cannot_be_determined(words, monkeypatch, capsys):
    made()
    run("keys", "make", "office")
    assert status(monkeypatch, "verify", *words) == 2
    told = capsys.readouterr().err
    assert told.startswith("incrowd: ")
    assert told.count("\n") == 1


def test_signed_releases():
    assert run("keys", "make", "office").exit_code == 0
    assert run("keys", "make", "other.key").exit_code == 0
    made("--sign", "office")
    assert "name the key of who signs with --signed-by" in run("verify", "out.csv").stdout
    done = run("verify", "out.csv", "--signed-by", "office")
    assert done.exit_code == 0, done.output
    assert "holds          signature: by the key" in done.stdout
    done = run("verify", "out.csv", "--signed-by", "other.pub")
    assert done.exit_code == 1
    assert "does not hold  signature" in done.stdout
    path = Path("out.csv.certificate.json")
    path.write_text(path.read_text().replace('"responsible": null', '"responsible": "me"'))
    assert run("verify", "out.csv", "--signed-by", "office").exit_code == 1
    assert run("verify", "out.csv").exit_code == 0  # without a key nobody can tell


def test_a_release_is_signed_after_it_was_looked_at():
    made()
    for name in ("office", "other.key"):
        run("keys", "make", name)
    path, before = Path("out.csv.certificate.json"), Path("out.csv.certificate.json").read_bytes()
    rows = Path("out.csv").read_bytes()
    Path("out.csv").write_bytes(rows.replace(b"\n", b"\n\n", 1))
    assert run("keys", "sign", "office", "out.csv").exit_code != 0
    Path("out.csv").write_bytes(rows)
    path.write_text(before.decode().replace('"released": ', '"released": 1', 1))
    assert run("keys", "sign", "office", "out.csv").exit_code != 0  # a count that is not true is not signed
    assert "signature" not in json.loads(path.read_text())
    path.write_bytes(before)
    done = run("keys", "sign", "office", "out.csv")
    assert done.exit_code == 0, done.output
    assert "is what its certificate says" in done.stdout
    assert run("verify", "out.csv", "--signed-by", "office").exit_code == 0
    assert {**json.loads(before), "signature": 0} == {**json.loads(path.read_text()), "signature": 0}
    assert run("keys", "sign", "other.key", "out.csv").exit_code != 0  # once
    assert run("verify", "out.csv", "--signed-by", "office").exit_code == 0


def test_a_key_that_is_none_stops_the_release_before_any_work():
    Path("a.key").write_text("x")
    Path("a.key").chmod(0o600)
    words = ["release", "people.csv", "--to", "out.csv", "-q", "age", "--target", "ill", "--class-sensitive", "no"]
    assert run(*words, "--sign", "a.key").exit_code != 0
    assert not Path("out.csv").exists()


def test_keys_are_shown():
    assert "no key yet" in run("keys", "show").stdout
    told = json.loads(run("keys", "make", "office", "--json").stdout)
    run("keys", "make", "sub.key")
    [one] = json.loads(run("keys", "show", "--json").stdout)
    assert one == {"key": "office", "key_id": told["key_id"], "public_key": told["public_key"]}
    shown = run("keys", "show", "sub.key").stdout
    assert "key id" in shown
    assert told["key_id"] not in shown
    assert "PRIVATE" not in run("keys", "show").stdout


def test_the_help_says_what_the_status_means():
    told = " ".join(run("verify", "--help").stdout.replace("│", " ").split())
    assert "2: it could not be determined" in told
