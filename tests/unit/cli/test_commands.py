"""The command line: what it prints, what it returns, what it never says."""

from __future__ import annotations

import csv
import json
import signal
import stat

import polars as pl
import pytest

from incrowd.cli.shared import enough_memory
from incrowd.errors import InputError, describe_failure


@pytest.fixture
def incrowd(command, tmp_path):
    people = pl.DataFrame(
        {
            "person": range(200),
            "age": [20 + i % 40 for i in range(200)],
            "sex": ["f" if i % 3 else "m" for i in range(200)],
            "ill": ["y" if i % 5 else "n" for i in range(200)],
        }
    )
    people.write_csv(tmp_path / "people.csv")

    return command


RELEASE = ("release", "people.csv", "-q", "age,sex", "--target", "ill", "--class-sensitive", "no", "-k", "5")


def test_a_release_and_everything_beside_it(incrowd, tmp_path):
    status, out, err = incrowd(
        *RELEASE, "--to", "out.csv", "--plan", "plan.json", "--report", "report.html", "--identifiers", "person"
    )
    assert (status, err) == (0, "")
    assert "out.csv" in out
    assert "5-anonymity" in out
    files = ["out.csv", "out.csv.certificate.json", "plan.json", "report.html"]
    assert all((tmp_path / name).stat().st_size for name in files)
    assert stat.S_IMODE((tmp_path / "plan.json").stat().st_mode) == 0o600
    assert next(csv.reader((tmp_path / "out.csv").open())) == ["age", "sex", "ill"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*files, "people.csv", "config"])


def test_json_is_all_that_is_printed(incrowd):
    status, out, err = incrowd(*RELEASE, "--to", "out.parquet", "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert answer["certificate"]["verification"]["passed"] is True
    assert answer["files"]["release"] == "out.parquet"


def test_verify_tells_by_its_status(incrowd):
    assert incrowd("verify", "people.csv", "-k", "1", "-q", "age,sex")[0] == 0
    status, out, _ = incrowd("verify", "people.csv", "-k", "50", "-q", "age,sex")
    assert status == 1
    assert out.startswith("FAILED  50-anonymity")
    status, out, _ = incrowd("verify", "people.csv", "-k", "50", "-q", "age,sex", "--json")
    assert status == 1
    assert json.loads(out)["passed"] is False
    assert incrowd("verify", "nowhere.csv", "-k", "5", "-q", "age")[0] == 2
    assert incrowd("verify", "people.csv", "-k", "5")[0] == 2
    assert incrowd("verify", "people.csv", "-k", "5", "-q", "height")[0] == 2


def test_a_plan_is_explained_and_a_tree_is_drawn(incrowd):
    incrowd(*RELEASE, "--to", "out.csv", "--plan", "plan.parquet")
    status, out, _ = incrowd("explain", "plan.parquet", "--tree")
    assert status == 0
    assert "keeps 5-anonymity by putting" in out
    status, out, _ = incrowd("explain", "plan.parquet", "--json")
    assert json.loads(out)["requirement"] == {"is": "k-anonymity", "k": 5}
    status, _, err = incrowd("explain", "people.csv")
    assert status == 2
    assert "not a plan" in err


def test_inspect_drafts_a_recipe_that_releases(incrowd, tmp_path):
    status, out, _ = incrowd("inspect", "people.csv", "--target", "ill", "--recipe", "recipe.yaml")
    assert status == 0
    assert "people.csv: 200 rows, 4 columns" in out
    status, _, err = incrowd("release", "people.csv", "--recipe", "recipe.yaml", "--to", "out.csv")
    assert (status, "--class-sensitive yes or no" in err) == (2, True)  # nobody has said it yet
    drafted = (tmp_path / "recipe.yaml").read_text()
    (tmp_path / "recipe.yaml").write_text(drafted.replace("class_sensitive:", "class_sensitive: no"))
    assert incrowd("release", "people.csv", "--recipe", "recipe.yaml", "--to", "out.csv")[0] == 0
    status, out, _ = incrowd("inspect", "people.csv", "--json")
    assert {column["name"]: column["role"] for column in json.loads(out)["columns"]}["person"] == "identifier"
    status, _, err = incrowd("inspect", "people.csv", "--recipe", "people.csv")
    assert status == 2
    assert "is the input itself" in err


def test_inspect_proposes_whose_rows_they_are(incrowd, tmp_path):
    rows = [(f"P{i % 40}", f"N{i % 30}", 20 + i % 9, "yn"[i % 2]) for i in range(200)]
    visits = "\n".join(["patient_id,name,age,ill", *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "visits.csv").write_text(visits)
    status, out, _ = incrowd("inspect", "visits.csv", "--target", "ill")
    assert status == 0
    assert "whose row it is (40 persons, 5.0 rows each)" in out
    assert "  incrowd release visits.csv --person patient_id -q age --target ill -k 10 --to OUT.csv" in out
    roles = {one["name"]: one for one in json.loads(incrowd("inspect", "visits.csv", "--json")[1])["columns"]}
    assert roles["patient_id"]["role"] == "person"
    assert roles["patient_id"]["reason"].endswith("40 values have 5.0 rows each on average: whose row it is?")
    assert roles["name"]["role"] == "identifier"
    status, out, _ = incrowd("inspect", "visits.csv", "--target", "ill", "--recipe", "recipe.yaml")
    assert "  incrowd release visits.csv --recipe recipe.yaml --person patient_id --to OUT.csv" in out
    assert "role: person," in (tmp_path / "recipe.yaml").read_text()


def test_methods_are_listed(incrowd):
    status, out, _ = incrowd("methods")
    assert status == 0
    assert "kactus-plus" in out
    assert {method["name"] for method in json.loads(incrowd("methods", "--json")[1])} >= {"kactus", "kactus-plus"}
    assert incrowd("--version")[1].startswith("incrowd ")


def test_an_error_is_one_line_without_a_trace(incrowd):
    status, out, err = incrowd(*RELEASE[:-1], "500", "--to", "out.csv")
    assert (status, out) == (2, "")
    assert err == "incrowd: k=500 is impossible: the table has 200 rows. Choose k of at most 200, or add rows.\n"


def test_an_unexpected_failure_does_not_quote_the_table(incrowd, monkeypatch):
    def explode(*_, **__):
        raise RuntimeError("the cell SECRET")

    monkeypatch.setattr("incrowd.api.release", explode)
    status, out, err = incrowd(*RELEASE, "--to", "out.csv")
    assert status == 2
    assert "SECRET" not in out + err
    assert "unexpected RuntimeError" in err


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError("SECRET"), "not enough memory"),
        (OSError(28, "No space left on device", "SECRET"), "No space left on device"),
        (OSError("SECRET"), "the system refused: OSError"),
        (KeyError("SECRET"), "unexpected KeyError at ?"),
    ],
)
def test_failures_are_described_without_their_message(error, told):
    assert told in describe_failure(error)
    assert "SECRET" not in describe_failure(error)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_signal_is_an_exit_status(incrowd, monkeypatch, number, hidden):
    """Also where a library turns the interrupt into an error of its own."""
    handlers = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)

    def stopped(*_, **__):
        try:
            handlers[number](number, None)
        except BaseException:
            if not hidden:
                raise
            raise RuntimeError("Query interrupted") from None

    monkeypatch.setattr("incrowd.api.release", stopped)
    status, _, err = incrowd(*RELEASE, "--to", "out.csv")
    assert status == 128 + number
    assert err == "incrowd: interrupted; no half-written file is left\n"


def test_a_limit_on_memory_is_told_before_any_work(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_bytes(b"x" * 1000)
    monkeypatch.setattr("incrowd.cli.shared._address_space", lambda: 1 << 30)
    with pytest.raises(InputError, match=r"a limit leaves 1,024 MB of address space.*Raise the limit"):
        enough_memory(path)
    monkeypatch.setattr("incrowd.cli.shared._address_space", lambda: 1 << 40)
    assert enough_memory(path) == path
    monkeypatch.setattr("incrowd.cli.shared._address_space", lambda: None)
    assert enough_memory(path) == path


@pytest.mark.each(5)
@pytest.mark.parametrize("method", ["tdr", "tds", "iack", "iacc", "mondrian", "infogain-mondrian"])
def test_generalizing_methods_with_hierarchies(incrowd, tmp_path, method):
    ages = "age [numbers]\n  young: (0, 30], (30, 40]\n  old: (40, 50], (50, 99]\n"
    (tmp_path / "age.txt").write_text(ages)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "sex.csv").write_text("f;*\nm;*\n")
    asked = ("--method", method, "--hierarchy", "age=age.txt", "--hierarchies", "folder", "--plan", "plan.json")
    status, _, err = incrowd(*RELEASE, *asked, "--report", "report.html", "--to", "out.csv")
    assert status == 0, err
    assert {None, "f", "m"} >= set(pl.read_csv(tmp_path / "out.csv")["sex"])
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert set(certificate["hierarchies"]) == {"age", "sex"}
    assert certificate["verification"]["passed"]
    status, out, _ = incrowd("explain", "plan.json")
    assert status == 0
    assert out.startswith(f"{method} keeps 5-anonymity")
    status, out, _ = incrowd("transform", "plan.json", "people.csv", "--to", "shown.csv")
    assert status == 0
    assert pl.read_csv(tmp_path / "shown.csv").height == 200


def test_sets_of_columns_known_together(incrowd, tmp_path):
    sets = ("--known-together", "age,sex:2", "--known-together", "sex:50")
    asked = ("release", "people.csv", "--target", "ill", "--method", "tdr", *sets, "--to", "out.csv")
    asked += ("--class-sensitive", "no")
    status, _, err = incrowd(*asked)
    assert status == 0, err
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    names = [check["name"] for check in certificate["verification"]["checks"]]
    assert names[1:3] == ["2-anonymity of age, sex", "50-anonymity of sex"]
    status, out, _ = incrowd("verify", "out.csv", *sets)
    assert (status, out.count("passed")) == (0, 2)
    status, out, _ = incrowd("verify", "people.csv", "--known-together", "person,sex:2")
    assert (status, out.startswith("FAILED")) == (1, True)
    for wrong in ("age", "age:x", ":5"):
        status, _, err = incrowd("verify", "out.csv", "--known-together", wrong)
        assert status == 2
        assert err.startswith("incrowd: ")
    status, _, err = incrowd(*RELEASE, "--hierarchy", "age", "--to", "o.csv")
    assert (status, "column=file" in err) == (2, True)
    (tmp_path / "age.txt").write_text("age: (0, 50], (50, 99]")
    status, _, err = incrowd(*RELEASE, "--method", "tdr", "--hierarchy", "age=age.txt", "--to", "o.csv")
    assert (status, "say so in the file, as in 'age [numbers]'" in err) == (2, True)
    status, _, err = incrowd(*RELEASE, "--hierarchies", "nowhere", "--to", "o.csv")
    assert (status, "not a folder" in err) == (2, True)
