"""``incrowd hide``."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def incrowd(command, tmp_path):
    rng = np.random.default_rng(5)
    pain = rng.choice(["no", "some", "much"], 90)
    ill = np.where(rng.random(90) < 0.9, pain, "some")
    named = {"no": "healthy", "some": "cold", "much": "flu"}
    people = pl.DataFrame({"sex": rng.choice(["f", "m"], 90), "pain": pain, "ill": [named[each] for each in ill]})
    people.write_csv(tmp_path / "people.csv")

    return command


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_the_first_row_of_data_is_1_and_all_others_are_as_they_were(incrowd, tmp_path):
    status, out, err = incrowd("hide", "people.csv", "--cell", "1:ill", "--to", "out.csv", "--report", "out.html")
    assert (status, err) == (0, "")
    before, after = lines(tmp_path / "people.csv"), lines(tmp_path / "out.csv")
    assert after[1].endswith(",")
    assert after[:1] + after[2:] == before[:1] + before[2:]
    assert "1:ill: " in out
    assert "the confidential cell is not guessed by nb or id3" in out
    assert "compared with the table from the written file: 8 checks passed" in out
    assert out.splitlines()[-2:] == ["table   out.csv ", "report  out.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.html", "people.csv"]


def test_cells_from_a_list(incrowd, tmp_path):
    (tmp_path / "list.csv").write_text("row,column\n2,ill\n5,pain\n")
    status, out, _ = incrowd(
        "hide", "people.csv", "--cells", "list.csv", "--cell", "9:ill", "--to", "out.csv", "--json"
    )
    answer = json.loads(out)
    assert status == 0
    assert [(cell["row"], cell["column"]) for cell in answer["cells"]] == [(9, "ill"), (2, "ill"), (5, "pain")]
    assert answer["first_row"] == 1
    assert answer["files"] == {"table": "out.csv"}
    assert answer["verification"]["passed"] is True
    written = pl.read_csv(tmp_path / "out.csv")
    assert (written["ill"][1], written["pain"][4], written["ill"][8]) == (None, None, None)


def test_a_dry_run_writes_nothing(incrowd, tmp_path):
    status, out, _ = incrowd("hide", "people.csv", "--cell", "3:ill", "--method", "dropp", "--dry-run")
    assert status == 0
    assert out.splitlines()[-1] == "dry run  nothing was written"
    status, _, _ = incrowd("hide", "people.csv", "--cell", "3:ill", "--dry-run", "--to", "out.csv")
    assert status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_hierarchies_by_name_and_by_folder(incrowd, tmp_path):
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "ill.csv").write_text("healthy;healthy;*\ncold;unwell;*\nflu;unwell;*\n")
    people = pl.read_csv(tmp_path / "people.csv")
    row = people["ill"].to_list().index("flu") + 1
    words = (
        "hide",
        "people.csv",
        "--cell",
        f"{row}:ill",
        "--method",
        "dropp-g",
        "--adversaries",
        "nb-shared",
        "--json",
    )
    for given in (("--hierarchies", "h"), ("--hierarchy", "ill=h/ill.csv")):
        status, out, err = incrowd(*words, "--to", "out.csv", "--replace", *given)
        assert (status, err) == (0, "")
        assert json.loads(out)["cells"][0]["shows"] in (None, "unwell")
        assert json.loads(out)["bound"] is not None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cell", "1:ill"), "--to OUT"),
        (("--cell", "1:ill", "--dry-run", "--report", "r.html"), "Leave out --report"),
        (("--cell", "ill", "--to", "out.csv"), "row:column"),
        (("--cell", "-1:ill", "--to", "out.csv"), "row:column"),
        (("--cell", "0:ill", "--to", "out.csv"), "counted from 1 to 90"),
        (("--cell", "91:ill", "--to", "out.csv"), "counted from 1 to 90"),
        (("--cell", "1:il", "--to", "out.csv"), "There is no column 'il'"),
        (("--cells", "none.csv", "--to", "out.csv"), "cannot be read"),
        (("--cells", "people.csv", "--to", "out.csv"), "header row,column"),
        (("--to", "out.csv"), "No cell is named"),
        (("--cell", "1:ill", "--to", "people.csv"), "the input itself"),
        (("--cell", "1:ill", "--to", "out.csv", "--method", "magic"), "no method 'magic'"),
        (("--cell", "1:ill", "--to", "out.csv", "--adversaries", "eve"), "no adversary 'eve'"),
        (("--cell", "1:ill", "--to", "out.csv", "--hierarchy", "ill"), "column=file"),
    ],
)
def test_refusals(incrowd, tmp_path, words, said):
    status, out, err = incrowd("hide", "people.csv", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_cell_that_stands_for_missing_is_named_as_the_user_counts(incrowd, tmp_path):
    (tmp_path / "marks.csv").write_text("a,b\nx,1\n?,2\ny,1\nx,1\n")
    status, _, error = incrowd("hide", "marks.csv", "--cell", "2:a", "--dry-run")
    assert status == 2
    assert "Row 2 shows nothing in column 'a' already" in error


def test_a_line_of_the_list_that_is_no_cell(incrowd, tmp_path):
    (tmp_path / "list.csv").write_text("row,column\n2,ill\nxyzzy,pain\n")
    status, _, err = incrowd("hide", "people.csv", "--cells", "list.csv", "--to", "out.csv")
    assert status == 2
    assert "line 3" in err
    assert "xyzzy" not in err


def test_nearest_spares_a_row_and_lean_spares_a_cell(incrowd, tmp_path):
    (tmp_path / "alike.csv").write_text("a,b,ill\n" + 3 * "x,x,x\n" + 2 * "y,y,y\n" + 2 * "z,z,z\n")
    rows = ("x,y,y,y", "y,x,x,x", "y,x,y,x", "x,x,y,y", "y,y,y,y", "y,x,x,z")
    (tmp_path / "mixed.csv").write_text("\n".join(["a,b,c,ill", *rows, ""]))

    def hidden(*words):
        return json.loads(incrowd("hide", *words, "--dry-run", "--json")[1])

    dropp, hid3 = (("alike.csv", "--cell", "4:ill", "--method", "dropp"), ("mixed.csv", "--cell", "1:ill"))
    assert [hidden(*dropp, *more)["deleted"] for more in ((), ("--nearest",))] == [[4], []]
    spared = [len(hidden(*hid3, "--method", "hid3", *more)["side_effects"]) for more in ((), ("--lean",))]
    assert spared == [3, 2]
