"""``incrowd hierarchy`` on files."""

import json

import pytest
from typer.testing import CliRunner

from incrowd.cli.main import app
from incrowd.errors import FileFormatError, HeaderError, OutputError, ParameterError, ValuesError
from incrowd.tables.hierarchies.read import read_hierarchy


@pytest.fixture
def table(tmp_path):
    lines = [
        f"{20 + row % 40},{['cook', 'nurse', 'judge', 'clerk'][row % 4]},{'yn'[row % 4 > 1]}" for row in range(200)
    ]
    file = tmp_path / "people.csv"
    file.write_text("age,job,class\n" + "\n".join(lines) + "\n")
    return file


def call(*words, raises=None):
    done = CliRunner().invoke(app, ["hierarchy", *map(str, words)])
    if raises:
        assert isinstance(done.exception, raises), done.output
        assert done.exception.exit_status == 2
        return str(done.exception)
    assert done.exit_code == 0, f"{done.output}{done.exception!r}"
    return done.stdout


def test_draft_prints_the_compact_form(table):
    assert (
        call("draft", table, "--column", "age", "--edges", "30,40")
        == "age [numbers]: (-inf, 30], (30, 40], (40, inf)\n"
    )


@pytest.mark.parametrize("kind", ["intervals", "prefix", "ordered", "drafted"])
def test_draft_writes_what_check_and_show_read(table, tmp_path, kind):
    to = tmp_path / "age.csv"
    told = call("draft", table, "--column", "age", "--target", "class", "--kind", kind, "--to", to)
    assert "Written to" in told
    assert "Every value of the column has a leaf." in call("check", to, "--against", table)
    assert call("show", to).count("\n1  * (") == 1
    assert read_hierarchy(to).covers(20)


def test_json_is_for_machines(table, tmp_path):
    to = tmp_path / "job.yaml"
    drafted = json.loads(call("draft", table, "--column", "job", "--target", "class", "--to", to, "--json"))
    assert drafted["levels"] == [1, 2, 4]
    assert set(drafted["hierarchy"]["labels"]) == {
        "*",
        "{clerk, judge}",
        "{cook, nurse}",
        "cook",
        "nurse",
        "judge",
        "clerk",
    }
    checked = json.loads(call("check", to, "--against", table, "--column", "job", "--json"))
    assert checked == {"name": "job", "leaves": 4, "of": "values", "levels": [1, 2, 4], "notices": []}
    assert json.loads(call("show", to, "--json")) == drafted["hierarchy"]


def test_notices_are_told(table, tmp_path):
    (tmp_path / "job.txt").write_text("job\n  work: cook, nurse, judge\n  clerk, poet\n")
    told = call("check", tmp_path / "job.txt", "--against", table)
    assert "note: job: 2 of 5 branches end before level 3" in told
    assert "note: job: 1 of 5 leaves have no value" in told
    assert "there was no table" in call("check", tmp_path / "job.txt")


def test_refusals_name_no_value(table, tmp_path):
    (tmp_path / "job.txt").write_text("job: cook, nurse, clerk\n")
    told = call("check", tmp_path / "job.txt", "--against", table, raises=ValuesError)
    assert "1 of 4 distinct values of column 'job' (50 rows)" in told
    assert "judge" not in told
    call("check", tmp_path / "job.txt", "--against", table, "--column", "none", raises=HeaderError)
    call("check", tmp_path / "job.txt", "--column", "job", raises=ParameterError)
    call("draft", table, "--column", "age", "--edges", "a,b", raises=ParameterError)
    call("draft", table, "--column", "age", "--kind", "odd", raises=ParameterError)
    call("draft", table, "--column", "age", "--to", table, raises=OutputError)
    call("draft", table, "--column", "age", "--to", tmp_path / "age.odd", raises=OutputError)
    call("show", tmp_path / "none.txt", raises=FileFormatError)
    assert not (tmp_path / "age.odd").exists()


def test_dates_may_have_edges_too(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("born,class\n2023-05-01,a\n2024-05-01,b\n2024-05-01,b\n2024-05-01,a\n")
    told = call("draft", file, "--column", "born", "--edges", "2023-12-31")
    assert told == "born [dates]: (-inf, 2023-12-31], (2023-12-31, inf)\n"
    assert call("draft", file, "--column", "born", "--kind", "date").startswith("born [dates]\n  2020s\n")
