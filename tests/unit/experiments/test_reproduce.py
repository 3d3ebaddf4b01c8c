"""Experiments of papers, run again: what is run, how it stands beside what was printed, and what is written."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from experiments.reproduce.command import EXPERIMENTS, find_experiment, reproduce
from experiments.reproduce.experiment import J48, LOGISTIC, Case, Experiment, Part, Point, Table, Verdict
from experiments.reproduce.kactus import INDUCERS, KACTUS, WEKA
from experiments.reproduce.preparing import Options, chosen_learners, prepare
from experiments.reproduce.running import run
from incrowd.comparisons.datasets.catalog import DATASETS
from incrowd.comparisons.protocol import FiveByTwo
from incrowd.comparisons.trial import Laboratory
from incrowd.errors import IncrowdError, ParameterError
from support.tic_tac_toe import as_csv, endgames

BOARDS = Table("tic-tac-toe", discretize="before")
SMALL = Experiment(
    name="small",
    title="Small: two parts of Table 2",
    paper="Nobody: a made-up paper",
    parts=(
        Part("2", "Table 2: one table", "kactus_table2", "none", at_same_k=False, by_label=True),
        Part("3", "Table 3: rivals", None, "kACTUS", rankings=(("Mondrian", "kACTUS"),)),
    ),
    cases=(
        Case("2", "TTT", "none", "unprotected", BOARDS, (1,), (1,), ("c45", "nb")),
        Case("2", "TTT", "kACTUS", "kactus", BOARDS, (5, 30), (30,), ("c45", "nb")),
        Case("3", "all", "kACTUS", "kactus", BOARDS, (5, 30), (30,), ("c45", "nb")),
        Case("3", "all", "Mondrian", "mondrian", BOARDS, (5, 30), (30,), ("c45", "nb")),
        Case("3", "all", "kADET", "kadet", BOARDS, (5, 30), (30,), ("c45",)),
    ),
    protocol=FiveByTwo(5),
    quick_protocol=FiveByTwo(1),
    quick_rows=400,
    inducers=INDUCERS,
    weka=WEKA,
    points=(
        Point("there is something", lambda found: Verdict(bool(found.values), f"{len(found.values)} values")),
        Point("there is nothing", lambda found: Verdict(not found.values, "some"), "no <word>"),
        Point("who knows", lambda _found: None),
    ),
    doubts={("2", "TTT", "C4.5", "kACTUS", 30): "made up"},
    unknown=("Everything.",),
    notes=("Made up: `a < b`.",),
)


@pytest.fixture(autouse=True)
def own_key(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "tic_tac_toe.csv").write_text(as_csv(DATASETS["tic-tac-toe"].columns, endgames()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def full(data):
    return run(prepare(SMALL, Options(jobs=1), data))


@pytest.fixture
def runs(monkeypatch):
    """The trials that are run in this process, without those that are only timed."""
    seen = []
    really = Laboratory.run

    def noted(self, trial):
        if isinstance(self.setup.protocol, FiveByTwo):
            seen.append(trial)
        return really(self, trial)

    monkeypatch.setattr(Laboratory, "run", noted)
    return seen


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "small", SMALL)


def invoke(*words):
    app = typer.Typer()
    app.command()(reproduce)
    return CliRunner().invoke(app, [str(word) for word in words])


def figures(found):
    return [(cell.place, cell.folds, cell.flag, cell.status) for cell in found.cells]


def test_every_trial_is_asked_for_once(data):
    prepared = prepare(SMALL, Options(), data)
    (bench,) = prepared.benches
    names = [trial.name for trial in bench.trials]
    assert len(names) == len(set(names)) == 10 * (1 + 2 + 2 + 2)
    assert {trial.learners for trial in bench.trials if trial.choice.method != "kadet"} == {("c45", "nb")}
    quick = prepare(SMALL, Options(quick=True), data)
    assert (quick.trials, quick.benches[0].rows) == (2 * 4, 400)


@pytest.mark.slow
def test_cells_stand_beside_what_was_printed(full):
    cells = {cell.place: cell for cell in full.cells}
    assert len(cells) == 2 + 4 + 4 + 4 + 2
    plain = cells["2", "TTT", "C4.5", "none", 1]
    assert (plain.printed.mean, plain.printed.sd) == (81.20, 1.56)
    assert plain.difference == pytest.approx(sum(plain.folds.values()) / 10 - 81.20)
    assert len(plain.folds) == 10
    assert cells["2", "TTT", "Naive Bayes", "kACTUS", 5].printed.mean == 62.63
    assert cells["2", "TTT", "C4.5", "kACTUS", 30].doubt == "made up"
    assert cells["3", "all", "C4.5", "kADET", 5].printed is None
    assert cells["3", "all", "C4.5", "kADET", 5].results[0].learner == "kadet"
    assert cells["3", "all", "C4.5", "kACTUS", 5].folds == cells["2", "TTT", "C4.5", "kACTUS", 5].folds


@pytest.mark.slow
def test_points_are_judged_on_ours_and_on_what_was_printed(full):
    first, second, third = full.judged
    assert (first.standing, first.ours.figures, first.paper) == ("met", "16 values", "so: 5 values")
    assert (second.standing, second.paper) == ("missed", "no <word>")
    assert (third.standing, third.paper) == ("not measured", "in tables that were not run")


def test_only_full_runs_have_marks(full, data):
    assert any(cell.flag for cell in full.cells)
    quick = run(prepare(SMALL, Options(quick=True, jobs=1), data))
    assert {cell.flag for cell in quick.cells} == {""}
    assert "Marks of significance are the paper's only" in quick.markdown()
    assert "This was a quick run" in quick.markdown()
    assert "This was a quick run" not in full.markdown()


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_stopped(data, full, tmp_path, monkeypatch):
    really, left = Laboratory.run, [9]

    def some(self, trial):
        if isinstance(self.setup.protocol, FiveByTwo):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
        return really(self, trial)

    monkeypatch.setattr(Laboratory, "run", some)
    with pytest.raises(KeyboardInterrupt):
        run(prepare(SMALL, Options(jobs=1), data), tmp_path)
    monkeypatch.setattr(Laboratory, "run", really)
    told = []
    found = run(prepare(SMALL, Options(jobs=1), data), tmp_path, announce=lambda trials, _seconds: told.append(trials))
    assert told == [70 - 9]
    assert figures(found) == figures(full)


def test_a_finished_run_is_only_written_again(data, tmp_path, runs):
    options = Options(quick=True, jobs=1)
    first = run(prepare(SMALL, options, data), tmp_path)
    done = len(runs)
    steps = []
    again = run(prepare(SMALL, options, data), tmp_path, steps.append)
    assert (done, len(runs)) == (8, 8)
    assert figures(first) == figures(again)
    assert not any(step.what.startswith("timing") for step in steps)
    assert (steps[-1].done, steps[-1].total) == (8, 8)


def test_more_parts_run_only_what_is_new(data, tmp_path, runs):
    run(prepare(SMALL, Options(quick=True, parts=("2",), jobs=1), data), tmp_path)
    before = len(runs)
    assert (tmp_path / "README.md").read_text(encoding="utf-8").startswith("# Reproduction of Small: Table 2\n")
    run(prepare(SMALL, Options(quick=True, jobs=1), data), tmp_path)
    assert before == 4
    assert {trial.choice.method for trial in runs[before:]} == {"mondrian", "kadet"}


@pytest.mark.slow
def test_nothing_depends_on_the_number_of_processes(data):
    one, two = (run(prepare(SMALL, Options(quick=True, jobs=jobs), data)) for jobs in (1, 2))
    assert figures(one) == figures(two)


def test_learners_can_be_left_out_and_replaced(data):
    options = Options(quick=True, learners=("nb",), jobs=1)
    prepared = prepare(SMALL, options, data)
    assert {learner for case in prepared.cases for learner in prepared.learners(case)} == {"nb"}
    assert not [case for case in prepared.cases if case.algorithm == "kADET"]
    rules = Options(learners=("rules", "c45"))
    assert chosen_learners(SMALL, rules, ("c45", "part", "nb")) == ("c45", "rules")
    assert chosen_learners(SMALL, rules, (J48, "part")) == (J48, "rules")  # the paper's parameters stay
    logistic = Options(learners=("logistic", "weka-j48"))
    assert chosen_learners(SMALL, logistic, (J48, LOGISTIC)) == ("weka-j48", LOGISTIC)
    weka = prepare(SMALL, Options(quick=True, weka=True), data)
    assert weka.learners(weka.cases[0]) == ("weka-j48", "weka-nb")
    with pytest.raises(ParameterError, match="has no results for 'forest'"):
        prepare(SMALL, Options(learners=("forest",)), data)
    with pytest.raises(ParameterError, match="--weka chooses the learners"):
        Options(learners=("nb",), weka=True)
    with pytest.raises(ParameterError, match="at least 1"):
        Options(jobs=0)


def test_what_cannot_be_done_is_told_and_not_raised(data):
    impossible = replace(SMALL, cases=(replace(SMALL.cases[1], ks=(5, 5000)), SMALL.cases[0]))
    found = run(prepare(impossible, Options(parts=("2",), learners=("nb",), jobs=1), data))
    cell = next(cell for cell in found.cells if cell.k == 5000)
    assert (cell.mean, cell.sd, cell.difference) == (None, None, None)
    assert cell.status.startswith("impossible")
    assert "## What could not be done" in found.markdown()


def test_pages_are_written_with_their_plots_and_tell_everything(full, tmp_path):
    full.save(tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    plots = re.findall(r"\]\((plots/[^)]+)\)", text)
    assert len(plots) == len(set(plots)) == 1 + 1 + 2
    for plot in plots:
        drawn = ElementTree.fromstring((tmp_path / plot).read_text(encoding="utf-8"))
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert "prefers-color-scheme: dark" in drawn.find("{http://www.w3.org/2000/svg}style").text
    for heading in ("How far from the paper", "Table 2: one table", "How it was measured", "Printed numbers not to be"):
        assert f"## {heading}" in text
    assert "`python -m experiments reproduce small`" in text
    assert "| there is nothing | **missed** | some | no \\<word\\> |" in text
    assert "- Made up: `a < b`." in text
    assert re.search(r"\| \d+\.\d\d[*\\]* / \(70\.30\\\*\) \|", text)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert html.count("<svg") == 4
    assert "<code>a &lt; b</code>" in html
    assert "<script" not in html
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/\S+", "", html)
    assert (tmp_path / "results.csv").read_text(encoding="utf-8").count("\n") == 1 + 10 * 16


def test_parts_and_experiments_that_do_not_exist_are_refused():
    assert find_experiment("iac") is EXPERIMENTS["iac"]
    with pytest.raises(ParameterError, match="Did you mean 'kactus'"):
        find_experiment("kaktus")
    with pytest.raises(ParameterError, match="It has: 2, 3, 4, 5"):
        KACTUS.chosen_parts(["7"])


def test_the_command_runs_writes_and_answers_0_though_numbers_differ(data, tmp_path, known):
    done = invoke(
        "small", "--quick", "--data", data, "--to", tmp_path / "out", "--page", tmp_path / "p.md", "--jobs", 1
    )
    assert done.exit_code == 0, done.output
    assert "met          there is something" in done.stdout
    assert "8 trials, about" in done.stderr
    assert (tmp_path / "p.md").read_text(encoding="utf-8").startswith("# Reproduction of Small")
    assert list((tmp_path / "plots").iterdir())
    told = invoke("small", "--quick", "--data", data, "--to", tmp_path / "out", "--jobs", 1, "--json")
    answer = json.loads(told.stdout)
    assert answer["command"] == "python -m experiments reproduce small --quick"
    assert [point["ours"] for point in answer["points"]] == ["met", "missed", "not measured"]
    assert len(answer["cells"]) == 2 + 2 + 2 + 2 + 1


def test_the_command_tells_what_it_would_cost(data, tmp_path, known, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("small", "--quick", "--parts", "2", "--data", data, "--jobs", 1, "--dry-run", "--json")
    assert json.loads(done.stdout).keys() == {"trials", "seconds", "cores"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kaktus"], "no experiment"),
        (["kactus", "--parts", "9"], "no part"),
        (["iac", "--learners", "knn"], "no results"),
    ],
)
def test_the_command_refuses_what_it_does_not_know(words, message):
    done = invoke(*words, "--quick")
    assert isinstance(done.exception, IncrowdError)
    assert message in str(done.exception)


def test_missing_data_is_the_data_sets_own_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.delenv("INCROWD_DATA", raising=False)
    done = invoke("iac", "--quick", "--to", tmp_path / "out")
    assert isinstance(done.exception, IncrowdError)
    assert "INCROWD_DATA" in str(done.exception)
    assert not (tmp_path / "out").exists()
