"""Every promise for a table in blocks: kept, counted by hand in the written file, and refused when it is broken."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import support.oracle_requirements as oracle
from incrowd.api import release
from incrowd.errors import ParameterError, VerificationError
from incrowd.methods.judging import Judge
from incrowd.releases import pipeline
from incrowd.rows.blocks import drafting, held
from incrowd.rows.memory import drafting as settling
from incrowd.tables.options import Measuring, Outputs, Run

ROWS, BLOCK, K = 900, 320, 4
QUASI_IDENTIFIERS = ["age", "sex", "job"]
ASKED = {
    "quasi_identifiers": QUASI_IDENTIFIERS,
    "target": "ill",
    "class_sensitive": False,
    "k": K,
    "method": "mondrian",
    "drop": ["patient"],
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(held, "block_rows", lambda *_: BLOCK)


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": np.sort(draw.integers(18, 90, ROWS)),
            "sex": draw.choice(["f", "m"], ROWS),
            "job": draw.choice(["cook", "nurse", "smith", None], ROWS, p=[0.5, 0.3, 0.1, 0.1]).tolist(),
            "diagnosis": draw.choice(["a", "b", "c", "d"], ROWS, p=[0.4, 0.3, 0.2, 0.1]),
            "income": draw.integers(0, 9, ROWS),
            "patient": [f"p{person}" for person in draw.integers(0, ROWS // 2, ROWS)],
            "ill": draw.choice(["n", "y"], ROWS),
        }
    )


@pytest.fixture
def folder(table, tmp_path):
    """A folder of files is always worked on in blocks."""
    (tmp_path / "parts").mkdir()
    for part in range(3):
        table[part * ROWS // 3 : (part + 1) * ROWS // 3].write_parquet(tmp_path / "parts" / f"{part}.parquet")
    return tmp_path / "parts"


def stated(**asked):
    return {name: value for name, value in {**ASKED, **asked}.items() if value is not None}


def made(folder, **asked):
    return release(folder, to=folder.parent / "out.parquet", outputs=Outputs(replace=True), **stated(**asked))


def counts(values, of):
    own = Counter(values)
    return [own[value] for value in of]


KEPT = {
    "distinct-l=3 on diagnosis": ("diagnosis", lambda g, w: oracle.distinct(g, w, 3)),
    "entropy-l=2 on diagnosis": ("diagnosis", lambda g, w: oracle.entropy(g, w, Fraction(2))),
    "recursive-l=2 c=2 on diagnosis": ("diagnosis", lambda g, w: oracle.recursive(g, w, Fraction(2), 2)),
    "alpha=0.6 on diagnosis": ("diagnosis", lambda g, w: oracle.confidence(g, w, Fraction(3, 5))),
    "beta=1.5 on diagnosis": ("diagnosis", lambda g, w: oracle.likeness(g, w, Fraction(3, 2))),
    "delta-disclosure=1 on diagnosis": ("diagnosis", lambda g, w: oracle.disclosure(g, w, Fraction(1))),
    "t=0.2 on income": ("income", lambda g, w: oracle.ordered_distance(g, w) <= Fraction(1, 5)),
}


@pytest.mark.each(3)
@pytest.mark.parametrize("required", KEPT)
def test_what_is_required_of_a_column_holds_in_every_class(folder, table, required):
    name, keeps = KEPT[required]
    done = made(folder, require=required)
    written, values = pl.read_parquet(folder.parent / "out.parquet"), sorted(table[name].unique())
    whole = counts(table[name], values)
    classes = written.group_by(QUASI_IDENTIFIERS).agg(name)[name].to_list()
    assert len(classes) > 2
    assert all(len(one) >= K and keeps(counts(one, values), whole) for one in classes)
    checks, parts = {check.name: check.passed for check in done.verdict.checks}, done.plan.requirement.on_columns
    assert [checks[str(part)] for part in parts] == [True]


def test_a_class_that_breaks_it_is_refused(folder, monkeypatch):
    monkeypatch.setattr(Judge, "holds", lambda self, evidence: evidence[:, 0] >= K)
    with pytest.raises(VerificationError, match="entropy"):
        made(folder, require="entropy-l=3.5 on diagnosis")
    assert not (folder.parent / "out.parquet").exists()


def test_what_is_required_of_a_population(folder, table, monkeypatch):
    table.select(QUASI_IDENTIFIERS).write_parquet(folder.parent / "people.parquet")
    asked = {"require": "k-map=9", "population": folder.parent / "people.parquet"}
    done = made(folder, **asked)
    assert {check.name: check.passed for check in done.verdict.checks}["9-map"]
    assert "(None, None, None)" in str(pl.read_parquet(folder.parent / "out.parquet").select(QUASI_IDENTIFIERS).rows())
    monkeypatch.setattr(pipeline, "fitted", lambda steps, *_: steps)
    with pytest.raises(VerificationError, match="9-map"):
        made(folder, **asked)


def test_no_cell_names_what_few_have(folder, table, monkeypatch):
    few = {value for value, people in Counter(table["job"]).items() if people < 120}
    assert few
    done = made(folder, rarest=120, method="kactus")
    named = set(pl.read_parquet(folder.parent / "out.parquet")["job"].drop_nulls().str.split("|").explode())
    assert not named & few
    assert any(check.name.startswith("names only") for check in done.verdict.checks)
    monkeypatch.setattr(settling, "without_rare_names", lambda plan, *_: plan)
    with pytest.raises(VerificationError, match="names only what 120"):
        made(folder, rarest=120, method="mondrian")


def test_rows_of_persons_keep_what_is_required_of_them(folder, table):
    done = made(folder, person="patient", drop=None, require="distinct-l=2 on diagnosis")
    assert done.verdict.sizes.persons.smallest >= K
    assert done.verdict.sizes.persons.persons == table["patient"].n_unique()


@pytest.mark.each(2)
@pytest.mark.parametrize("require", [None, "t=0.3 on income"])
def test_blend_parts_rows_at_random(folder, require, monkeypatch):
    from incrowd.methods.blending import blend

    monkeypatch.setattr(blend, "PART_ROWS", 200)
    monkeypatch.setattr(blend, "LEAST_GROUPS", 10)
    done = made(folder, method="blend", require=require)
    assert ("rows were dealt at random to parts of about" in str(done.plan.reasons)) is True
    assert done.verdict.sizes.smallest >= K
    assert len(done.plan.groups) > 8


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"person": "patient", "drop": None, "rarest": 5}, "A table with rare values of persons"),
        ({"measuring": Measuring(attacks=["homogeneity"])}, "A table that is attacked"),
        ({"ledger": "ledger"}, "A table with a ledger"),
        ({"person": "patient", "drop": None, "keep_link": True, "method": None}, "persons who can be followed"),
        ({"form": "pair"}, "A release of two tables"),
    ],
)
def test_what_looks_at_all_rows_reads_a_folder_whole_or_names_the_memory(folder, tmp_path, monkeypatch, asked, said):
    monkeypatch.chdir(tmp_path)
    assert made(folder, **asked).verdict.passed
    monkeypatch.setattr("incrowd.rows.one_machine._OF_A_CELL", 10**9)
    with pytest.raises(ParameterError, match=f"{said} is worked on as a whole, which needs about .*GB of memory"):
        made(folder, **asked, run=Run(memory="4GB"))


@pytest.mark.each(2)
@pytest.mark.parametrize("persons", [{}, {"person": "patient", "drop": None}])
def test_risk_is_that_of_the_table_in_memory(folder, table, persons):
    asked = stated(measuring=Measuring(risk=True), **persons)
    done, whole = release(folder, to=folder.parent / "out.parquet", **asked), release(table, **asked)
    mine, other = done.report.risk, whole.report.risk
    assert mine.classes == other.classes
    assert mine.to_json()["wp216"] == other.to_json()["wp216"]
    assert mine.after.prosecutor.maximum <= Fraction(1, K)


def test_blocks_are_several(folder, monkeypatch):
    heights = []
    seen = drafting.Drafting.marked
    monkeypatch.setattr(drafting.Drafting, "marked", lambda *given: heights.append(given[2].height) or seen(*given))
    made(folder)
    assert len(heights) == -(-ROWS // BLOCK)
