"""``incrowd compare``, and what it can name: learners and data sets."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.datasets.visits import make_visits
from support.waiting import PATIENCE, wait_until

FAST = ("--methods", "mondrian", "-k", "5,20", "--learners", "nb", "--protocol", "holdout", "--jobs", "1")


@pytest.fixture
def incrowd(command, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("INCROWD_DATA", raising=False)
    make_patients(300).write_csv(tmp_path / "patients.csv")

    return command


def test_a_table_is_compared_and_the_cost_told_first(incrowd):
    status, out, err = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST)
    assert status == 0, err
    assert re.search(r"^4 trials on 300 rows, about .* on 1 core \(tested on 33 % of the rows", err, re.MULTILINE)
    assert "4 of 4 trials" in err
    assert "Accuracy of naive Bayes, in per cent" in out
    assert "most frequent class" in out
    assert "For naive Bayes at k=5" in out


def test_the_measure_can_be_chosen(incrowd):
    status, out, err = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST, "--measure", "auc")
    assert status == 0, err
    assert "AUC of naive Bayes" in out
    assert "baseline: class shares" in out
    assert "guess" not in out
    status, _, err = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST, "--measure", "f1")
    assert (status, err) == (
        2,
        "incrowd: The measure must be one of accuracy, balanced-accuracy, auc, log-loss, person-accuracy.\n",
    )


@pytest.mark.slow
def test_rows_are_split_by_groups_and_by_time(incrowd):
    few = ("--methods", "mondrian", "-k", "5", "--learners", "nb", "--protocol", "3-fold", "--jobs", "1")
    asked = ("compare", "patients.csv", "--target", "readmitted", *few)
    status, out, err = incrowd(*asked, "--groups", "ward")
    assert status == 0, err
    assert "rows of the same ward stay in one part" in " ".join(out.split())
    status, out, err = incrowd(*asked, "--time", "admission_date", "--dry-run")
    assert status == 0, err
    assert "9 trials on 300 rows" in out
    assert "in the order of admission_date" in " ".join(out.split())
    status, _, err = incrowd(*asked, "--time", "sex")
    assert (status, err.splitlines()[-1]) == (
        2,
        "incrowd: Column 'sex' has neither dates nor numbers, so its rows have no order in time.",
    )


@pytest.mark.slow
def test_persons_are_split_and_the_split_by_rows_is_called_wrong(incrowd):
    make_visits(150).write_csv("visits.csv")
    few = ("--methods", "mondrian", "-k", "5", "--learners", "nb", "--protocol", "2-fold", "--jobs", "1")
    asked = ("compare", "visits.csv", "--target", "readmitted", *few)
    status, out, err = incrowd(*asked, "--person", "patient_id")
    assert status == 0, err
    assert "6 trials on 562 rows of 150 persons" in err
    assert "Mean accuracy over persons of naive Bayes, in per cent" in " ".join(out.split())
    assert "How wrong a split by rows is" in out
    assert re.search(r"naive Bayes +mondrian, k=5 +\d\d\.\d ±\d+\.\d +\d\d\.\d +[+-]\d+\.\d", out)
    assert "persons of patient_id stay in one part" in " ".join(out.split())
    status, out, _ = incrowd(*asked, "--person", "patient_id", "--json", "--measure", "person-accuracy")
    (table, release) = json.loads(out)["by_rows"]
    assert (table["method"], release["method"]) == ("unprotected", "mondrian")
    assert release["too_good_by"] == pytest.approx(release["by_rows_which_is_wrong"] - release["by_persons"])
    status, _, err = incrowd(*asked, "--person", "patient_id", "--groups", "ward")
    assert (status, "would be learned from and tested on" in err) == (2, True)


def test_results_go_to_a_folder(incrowd, tmp_path):
    status, out, err = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST, "--to", "out")
    assert status == 0, err
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"README.md", "index.html", "results.csv", "results.parquet", "trials.jsonl"}
    assert "index.html" in out
    assert pl.read_csv(tmp_path / "out" / "results.csv").height == 4
    before = (tmp_path / "out" / "trials.jsonl").read_text()
    status, again, _ = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST, "--to", "out")
    assert (status, again) == (0, out)
    assert (tmp_path / "out" / "trials.jsonl").read_text() == before


def test_machines_get_json(incrowd):
    status, out, err = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST, "--json")
    assert (status, err) == (0, "")
    data = json.loads(out)
    assert {result["method"] for result in data["results"]} == {"unprotected", "majority", "mondrian"}
    assert data["measured"]["feeding"].startswith("as recipients take it")
    assert data["recommendation"]


def test_the_first_run_says_why_it_takes_longer(incrowd, monkeypatch):
    monkeypatch.setattr("incrowd.cli.shared.kernels_are_compiled", lambda: False)
    monkeypatch.setitem(sys.modules, "numba", sys)
    _, _, err = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST)
    assert err.splitlines()[0] == "First run: compiling, up to half a minute."
    assert err.count("First run") == 1


def test_a_terminal_gets_a_bar(incrowd, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    status, out, err = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST)
    assert status == 0, err
    assert "4 of 4 trials" not in err
    assert "naive Bayes" in out


def test_a_dry_run_tells_the_cost_and_does_nothing(incrowd, tmp_path):
    status, out, _ = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST, "--dry-run", "--to", "out")
    assert status == 0
    assert out.startswith("4 trials on 300 rows, about ")
    assert not (tmp_path / "out").exists()
    status, out, _ = incrowd("compare", "patients.csv", "--target", "readmitted", *FAST, "--dry-run", "--json")
    assert json.loads(out)["trials"] == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "nothing"], "There is no column 'nothing'"),
        ([], "Name the class to predict"),
        (["--target", "readmitted", "--methods", "kaktus"], "Did you mean 'kactus'?"),
        (["--target", "readmitted", "--learners", "c46"], "Did you mean 'c45'?"),
        (["--target", "readmitted", "-k", "five"], "k must be a whole number"),
        (["--target", "readmitted", "--protocol", "often"], "A protocol is one of"),
        (["--target", "readmitted", "--protocol", "5x2", "--full"], "--full"),
        (["--target", "readmitted", "--feeding", "sets=eaten"], "Feeding"),
    ],
)
def test_bad_requests_are_one_line(incrowd, words, said):
    status, out, err = incrowd("compare", "patients.csv", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_data_sets_and_learners_are_listed(incrowd):
    status, out, _ = incrowd("datasets")
    assert status == 0
    assert len(out.splitlines()) == 15
    status, out, _ = incrowd("datasets", "pima")
    assert "citation" in out
    status, out, _ = incrowd("datasets", "--json")
    assert [entry["name"] for entry in json.loads(out)][:2] == ["adult", "german-credit"]
    assert incrowd("datasets", "pimma")[0] == 2
    status, out, _ = incrowd("learners")
    assert out.startswith("c45 ")


@pytest.mark.slow
def test_an_interrupted_run_leaves_finished_trials_and_no_process(tmp_path):
    make_patients(600).write_csv(tmp_path / "patients.csv")
    command = [sys.executable, "-c", "from incrowd.cli.main import main; main()", "compare", "patients.csv"]
    options = ["--target", "readmitted", "--learners", "nb", "--full", "--jobs", "2", "--to", "out"]
    package = str(Path(sys.modules["incrowd"].__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    process = subprocess.Popen(
        [*command, *options], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    kept = tmp_path / "out" / "trials.jsonl"
    wait_until(lambda: process.poll() is not None or (kept.exists() and kept.read_text().count("\n") > 5))
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Finished trials are kept in out" in err
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    lines = kept.read_text().splitlines()
    assert all(json.loads(line)["status"] == "done" for line in lines)
    assert not (tmp_path / "out" / "index.html").exists()
