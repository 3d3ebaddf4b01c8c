"""Whole comparisons: defaults, resuming, processes, what is written and what is not."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from incrowd.comparisons import choices
from incrowd.comparisons import run as comparing
from incrowd.comparisons.choices import METHODS, default_methods, possible_ks
from incrowd.comparisons.comparison import FILE
from incrowd.comparisons.datasets.catalog import find_dataset
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.feeding import Feeding
from incrowd.comparisons.protocol import FiveByTwo, FixedSplit, KFold
from incrowd.comparisons.run import Question, Step, compare, prepare
from incrowd.comparisons.subject import find_table, read_subject, understand_table
from incrowd.comparisons.trial import Laboratory
from incrowd.comparisons.workers import STARTUP, Cost
from incrowd.errors import HeaderError, IncrowdError, InputError, OutputError, ParameterError
from incrowd.tables.hierarchies.intervals import from_edges
from incrowd.vocabulary.preferences import Preferences

FEW = {"methods": ["mondrian", "kactus"], "ks": [5, 20], "learners": ["nb", "c45"]}


@pytest.fixture(autouse=True)
def own_key(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture(scope="module")
def patients():
    return make_patients(400)


@pytest.fixture
def runs(monkeypatch):
    """The trials that are really run in this process."""
    seen = []
    run = Laboratory.run
    monkeypatch.setattr(Laboratory, "run", lambda self, trial: seen.append(trial) or run(self, trial))
    return seen


def figures(found):
    return found.results.drop("release_seconds", "learn_seconds").rows()


def ask(table, protocol=None, **said):
    protocol = protocol or FiveByTwo(1)
    return compare(table, **{"target": "readmitted", "protocol": protocol, "jobs": 1, **FEW, **said})


def test_all_methods_are_compared_on_the_same_rows_by_the_same_learners(patients):
    found = ask(patients)
    by_trial = found.results.group_by("method", "k", "learner").len()
    assert set(by_trial["len"]) == {2}
    assert set(by_trial.select("method", "k", "learner").rows()) == {
        ("majority", 1, "majority"),
        *(("unprotected", 1, learner) for learner in ("nb", "c45")),
        *((method, k, learner) for method in FEW["methods"] for k in FEW["ks"] for learner in ("nb", "c45")),  # type: ignore[attr-defined]
    }
    sizes = found.results.group_by("repetition", "fold").agg(pl.col("train_rows", "test_rows").n_unique())
    assert set(sizes["train_rows"]) == set(sizes["test_rows"]) == {1}


@pytest.mark.slow
def test_no_result_depends_on_the_number_of_processes(patients):
    assert figures(ask(patients)) == figures(ask(patients, jobs=2))


def test_an_interrupted_comparison_goes_on_where_it_stopped(patients, tmp_path, monkeypatch):
    whole = ask(patients, to=tmp_path / "whole")
    run, left = Laboratory.run, [5]

    def some(self, trial):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return run(self, trial)

    monkeypatch.setattr(Laboratory, "run", some)
    with pytest.raises(KeyboardInterrupt):
        ask(patients, to=tmp_path / "half")
    assert not (tmp_path / "half" / "index.html").exists()
    left[0] = 100
    resumed = ask(patients, to=tmp_path / "half")
    assert 100 - left[0] == 12 - 5
    assert figures(resumed) == figures(whole)


def test_a_line_that_was_cut_off_is_run_again(patients, tmp_path, runs):
    whole = ask(patients, to=tmp_path)
    kept = tmp_path / FILE
    kept.write_text(kept.read_text()[:-40])
    del runs[:]
    assert figures(ask(patients, to=tmp_path)) == figures(whole)
    assert [trial.learners for trial in runs] == [("c45",)]
    assert all(json.loads(line) for line in kept.read_text().splitlines())
    assert len(kept.read_text().splitlines()) == whole.results.height


@pytest.mark.slow
def test_more_learners_and_repetitions_run_only_what_is_new(patients, tmp_path, runs):
    ask(patients, to=tmp_path)
    del runs[:]
    ask(patients, to=tmp_path)
    assert runs == []
    ask(patients, to=tmp_path, learners=["nb", "c45", "logistic"])
    assert {trial.learners for trial in runs} == {("logistic",)}
    del runs[:]
    ask(patients, to=tmp_path, protocol=FiveByTwo(2))
    assert {trial.repetition for trial in runs} == {1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [{"seed": 2}, {"feeding": Feeding(sets="draw")}, {"discretize": "train"}, {"protocol": KFold(2)}]
)
def test_what_changes_results_makes_other_trials(patients, tmp_path, runs, change):
    ask(patients, to=tmp_path)
    del runs[:]
    ask(patients, to=tmp_path, **change)
    assert len(runs) == 12


def test_limits_are_those_of_all_releases(patients, tmp_path, runs):
    found = ask(patients, methods=["mondrian", "tdr"], learners=["nb"], ks=[10], apart={"sex": "*"}, to=tmp_path)
    assert set(found.results["status"]) == {"done"}
    assert set(found.results["limits"]) == {'{"apart": {"sex": "each value"}}'}
    del runs[:]
    ask(patients, methods=["mondrian", "tdr"], learners=["nb"], ks=[10], to=tmp_path)
    assert len(runs) == 4  # the table itself and the baseline are what they were
    subject = understand_table(patients, target="readmitted")
    assert default_methods(subject.schema, preferences=Preferences(apart={"sex": "*"})) == (
        "tdr",
        "infogain-mondrian",
        "mondrian",
    )


@pytest.mark.slow
def test_another_table_is_not_taken_for_the_first(patients, tmp_path, runs):
    ask(patients, to=tmp_path)
    del runs[:]
    ages = patients["age"].to_list()
    ask(patients.with_columns(pl.Series("age", [ages[0] + 1, *ages[1:]])), to=tmp_path)
    assert len(runs) == 12


def test_two_runs_cannot_write_to_one_folder(patients, tmp_path, monkeypatch):
    run = Laboratory.run

    def nested(self, trial):
        monkeypatch.setattr(Laboratory, "run", run)
        with pytest.raises(OutputError, match="Another run"):
            ask(patients, to=tmp_path)
        return run(self, trial)

    monkeypatch.setattr(Laboratory, "run", nested)
    assert ask(patients, to=tmp_path).results.height == 22


def test_a_folder_that_cannot_be_is_refused(patients, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        ask(patients, to=tmp_path / "file")


def test_no_value_of_the_table_is_written(tmp_path):
    rng = np.random.default_rng(1)
    secret = [f"canary-{i}" for i in range(4)]
    frame = pl.DataFrame(
        {
            "word": rng.choice(secret[:3], 200),
            "number": 987_000 + rng.integers(0, 9, 200),
            "ill": rng.choice(["canary-yes", "canary-no"], 200),
        }
    )
    found = ask(frame, target="ill", to=tmp_path, ks=[5, 150])
    written = "".join(
        path.read_text(errors="replace") for path in tmp_path.iterdir() if path.is_file() and path.suffix != ".parquet"
    )
    assert "impossible: " in written
    assert "canary" not in written
    assert not re.search("98700[0-9]", written)
    assert "canary" not in (tmp_path / "results.parquet").read_bytes().decode("latin-1")
    assert {path.name for path in tmp_path.iterdir()} >= {"README.md", "index.html", "results.csv", FILE}
    assert pl.read_parquet(tmp_path / "results.parquet").equals(found.results)
    assert "±" in found.markdown()


def test_names_of_columns_and_tables_are_text_on_the_pages(tmp_path):
    rng = np.random.default_rng(1)
    evil = "<script>alert(1)</script>"
    columns = {
        evil: rng.choice(["a", "b"], 100),
        "`**x**`|": rng.integers(0, 9, 100),
        "ill": rng.choice(["y", "n"], 100),
    }
    pl.DataFrame(columns).write_csv(tmp_path / "_a*b.csv")
    found = ask(tmp_path / "_a*b.csv", target="ill", ks=[5])
    assert "<script" not in found.page()
    assert "&lt;script&gt;" in found.page()
    assert "default-src 'none'" in found.page()
    assert "<script>" not in found.markdown().replace("\\<", "")
    assert "\\_a\\*b.csv" in found.markdown()


@pytest.mark.slow
def test_nothing_but_a_target_is_needed(patients, monkeypatch):
    monkeypatch.setattr(comparing, "BUDGET", 0.0)
    monkeypatch.setattr(choices, "KS", (5, 1000))
    steps = []
    found = compare(patients, target="readmitted", jobs=1, progress=steps.append)
    assert found.summary.methods == METHODS
    assert found.summary.ks == (5,)  # there are not so many people for the other
    assert found.summary.learners == comparing.LEARNERS
    assert "patient_id" not in found.quasi_identifiers
    assert "diagnosis_group" in found.free
    assert any(notice.code == "drafted" for notice in found.notices)
    assert str(found.recommendation) in repr(found)
    assert "For C4.5 at k=5 use " in repr(found) or "For C4.5 at k=5 no release is shown" in repr(found)
    assert steps[0] == Step("reading")
    last = steps[-1]
    assert last.done == last.total == len({r.method + str((r.k, r.repetition, r.fold)) for r in found.runs})
    assert last.left == 0
    done = [step.done for step in steps if step.total]
    assert done == sorted(done)


def test_how_often_is_decided_by_what_it_costs(patients, monkeypatch):
    subject = understand_table(patients, target="readmitted")
    question = Question(["mondrian"], [5], ["nb"], jobs=1)
    assert prepare(subject, question, lambda _: None).laboratory.setup.protocol == FiveByTwo(5, stratified=True)
    monkeypatch.setattr(comparing, "BUDGET", 0.0)
    assert prepare(subject, question, lambda _: None).laboratory.setup.protocol == FiveByTwo(1, stratified=True)
    fixed = replace(question, protocol=FixedSplit())
    assert prepare(subject, fixed, lambda _: None).laboratory.setup.protocol == FixedSplit()


def test_small_work_is_done_in_one_process(patients, monkeypatch):
    subject = understand_table(patients, target="readmitted")
    quick = Cost(dict.fromkeys(("unprotected", "majority", "mondrian"), (STARTUP / 100, 0.0)))
    monkeypatch.setattr("incrowd.comparisons.run.measure_cost", lambda *_: quick)
    assert prepare(subject, Question(["mondrian"], [5], ["nb"]), lambda _: None).jobs == 1
    assert prepare(subject, Question(["mondrian"], [5], ["nb"], jobs=2), lambda _: None).jobs == 2


def test_the_usual_k_fit_the_rows():
    assert [possible_ks(rows) for rows in (200, 199, 9, 3)] == [(5, 20, 100), (5, 20), (4,), (2,)]


def test_counts_are_compared_beside_plain_values_unless_limits_forbid_them(patients):
    schema = understand_table(patients, target="readmitted").schema
    assert {"blend", "kactus-plus(form='counts')", "infogain-mondrian(form='counts')"} <= {*default_methods(schema)}
    limited = default_methods(schema, preferences=Preferences(at_most={"age": 1}))
    assert limited
    assert not any("counts" in name for name in limited)


def test_hierarchies_bring_their_method(patients):
    assert "iack" not in default_methods(understand_table(patients, target="readmitted").schema)
    ages = from_edges("age", [20, 40, 60], [40])
    subject = understand_table(patients, target="readmitted", hierarchies={"age": ages})
    assert "iack" in default_methods(subject.schema)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"methods": ["kaktus"]}, ParameterError),
        ({"learners": ["c46"]}, ParameterError),
        ({"learners": []}, ParameterError),
        ({"ks": [0]}, ParameterError),
        ({"jobs": 0}, ParameterError),
        ({"target": "nothing"}, InputError),
        ({"target": None}, ParameterError),
        ({"quasi_identifiers": ["nothing"]}, HeaderError),
        ({"discretize": "after"}, ParameterError),
        ({"methods": ["kactus"], "at_most": {"age": 1}}, ParameterError),
        ({"methods": ["kadet"], "weights": {"age": 3}}, ParameterError),
        ({"methods": ["mondrian(form='counts')"], "apart": {"sex": "*"}}, ParameterError),
    ],
)
def test_bad_questions_are_refused_before_any_work(patients, runs, said, error):
    with pytest.raises(error):
        ask(patients, **said)
    assert runs == []


def test_a_name_that_is_no_file_and_no_data_set_is_explained():
    with pytest.raises(IncrowdError, match="adult"):
        ask("adlut")
    with pytest.raises(IncrowdError, match="is not a file"):
        ask("nowhere.csv")


@pytest.mark.slow
def test_what_is_known_of_a_data_set_is_used(tmp_path, monkeypatch):
    rows = [[f"0{i % 3}", str(i % 7), str(i), "12"[i % 2]] for i in range(60)]
    file = tmp_path / "known.csv"
    file.write_text("\n".join(map(",".join, [["size", "colour", "number", "class"], *rows])))
    known = replace(
        find_dataset("car"),
        name="known",
        attributes=("size", "colour", "number"),
        numeric=("size",),
        identifiers=("number",),
        attribute_sets={"1/2": ("size",)},
    )
    monkeypatch.setattr("incrowd.comparisons.subject.find_dataset", {"known": known}.__getitem__)
    monkeypatch.setattr("incrowd.comparisons.subject.load", lambda name, folder, tell: file)
    found = ask("known", target=None)
    assert (found.name, found.target, found.quasi_identifiers) == ("known", "class", ("size", "colour"))
    assert ask("known", target=None, quasi_identifiers=["1/2"]).quasi_identifiers == ("size",)
    assert ask("known", target=None, quasi_identifiers=["colour"]).quasi_identifiers == ("colour",)
    subject = read_subject(find_table("known", None, print), target=None, quasi_identifiers=None)
    assert [column.type.is_numeric for column in subject.schema.columns] == [True, False, False]


@pytest.mark.slow
def test_only_some_rows_may_be_used(patients):
    found = ask(patients, rows=100)
    assert found.rows == 100
    assert "rows: 100 of 400 rows, drawn at random, are used." in map(str, found.notices)
    complete = ask(patients, complete=True)
    kept = patients.drop("patient_id").drop_nulls().height
    assert complete.rows == kept < 400


def test_a_process_that_dies_is_told(patients, tmp_path, monkeypatch):
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o700)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(IncrowdError, match="ended unexpectedly"):
        ask(patients, jobs=2)


def test_an_option_that_a_comparison_has_not_is_refused_with_the_likely_one():
    with pytest.raises(ParameterError, match=r"no option 'k'. Did you mean 'ks'\?"):
        compare(make_patients(50), target="readmitted", k=[10])  # type: ignore[call-arg]
