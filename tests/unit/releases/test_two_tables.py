"""Persons and their events from two tables: the whole way, and what is refused."""

from __future__ import annotations

import json
import random
from collections import Counter

import polars as pl
import pytest

import incrowd
import incrowd.methods.histories.two_tables
from incrowd.errors import IncrowdError, VerificationError
from incrowd.tables.databases import Query
from incrowd.tables.options import Measuring, Outputs, Run

ASKED = {
    "quasi_identifiers": ["sex", "home", "ward", "day"],
    "key_column": "id",
    "order": "day",
    "k": 4,
    "run": Run(seed=5),
}


def tables(persons=90, seed=6):
    """Patients, a third of them without visits, and their visits."""
    chance, visits = random.Random(seed), []
    keys = [f"k{number * 7919 % 10007:05d}" for number in range(persons)]
    patients = pl.DataFrame(
        {
            "id": keys,
            "sex": [chance.choice("fm") for _ in keys],
            "home": [chance.choice("ABCD") for _ in keys],
            "note": [chance.choice(["calm", "tired"]) for _ in keys],
        }
    )
    for key in keys:
        day = chance.randrange(300)
        for _ in range(9 if key == keys[0] else chance.choice([0, 0, 1, 1, 2, 3, 5])):
            visits.append((key, chance.choice(["er", "gp", "icu"]), day, chance.choice(["low", "high"])))
            day += chance.randrange(1, 60)
    chance.shuffle(visits)
    frame = pl.DataFrame(visits, schema=["id", "ward", "day", "cost"], orient="row")
    return patients, frame.with_columns((pl.date(2021, 1, 1) + pl.duration(days=pl.col("day"))).alias("day"))


PATIENTS, VISITS = tables()


def joint(persons, events):
    """How many pseudonyms have each pair of static tuple and multiset of events."""
    own = {row[0]: [] for row in persons.rows()}
    for pseudonym, *cells in events.select("id", "ward", "day").rows():
        own[pseudonym].append(tuple(map(str, cells)))
    static = {row[0]: tuple(map(str, row[1:])) for row in persons.select("id", "sex", "home").rows()}
    return Counter((static[one], tuple(sorted(history))) for one, history in own.items())


@pytest.fixture(scope="module")
def made():
    return incrowd.release(PATIENTS, with_table=VISITS, **ASKED)


def test_k_pseudonyms_share_what_both_tables_tell(made):
    persons, events = made.table, made.events.table
    assert min(joint(persons, events).values()) >= 4
    assert persons.height == persons["id"].n_unique() == PATIENTS.height
    assert set(events["id"].to_list()) <= set(persons["id"].to_list())
    assert persons["id"].str.contains("^p[0-9a-f]{32}$").all()
    assert any(not history for _, history in joint(persons, events))  # persons without events are released, too


def test_columns_that_are_no_quasi_identifiers_stay_beside_their_person(made):
    assert made.table.columns == PATIENTS.columns
    assert made.events.table.columns == VISITS.columns
    assert Counter(made.table["note"].to_list()) == Counter(PATIENTS["note"].to_list())


def test_both_are_verified_together(made):
    checks = {check.name: check.finding for check in made.events.verdict.checks}
    assert checks["table of persons"].startswith(f"{PATIENTS.height} persons")
    assert made.verdict.passed
    assert made.events.verdict.passed


@pytest.mark.parametrize("count", [False, True])
def test_known_rows(count):
    known = incrowd.release(PATIENTS, with_table=VISITS, **ASKED, known_rows=1, count_known=count)
    assert known.plan.method == known.events.plan.method == "known-rows"
    assert known.verdict.passed
    assert known.events.verdict.passed


def test_files_appear_together(tmp_path):
    PATIENTS.write_csv(tmp_path / "patients.csv")
    VISITS.write_csv(tmp_path / "visits.csv")
    to = tmp_path / "out.csv"
    outputs = Outputs(report=tmp_path / "report.html")
    files = incrowd.release(
        tmp_path / "patients.csv", with_table=tmp_path / "visits.csv", to=to, outputs=outputs, **ASKED
    )
    names = {"out.csv", "out.csv.certificate.json", "out.visits.csv", "out.visits.csv.certificate.json", "report.html"}
    assert {path.name for path in tmp_path.iterdir()} == {"patients.csv", "visits.csv", *names}
    assert files.events.path == tmp_path / "out.visits.csv"
    assert min(joint(pl.read_csv(to), pl.read_csv(tmp_path / "out.visits.csv")).values()) >= 4
    for name in ("out.csv", "out.visits.csv"):
        certificate = json.loads((tmp_path / f"{name}.certificate.json").read_text(encoding="utf-8"))
        assert certificate["output"]["file"] == name
        assert certificate["verification"]["passed"]


def test_a_report_has_no_risk_of_one_table_alone(tmp_path):
    outputs = Outputs(report=tmp_path / "report.html")
    made = incrowd.release(PATIENTS, with_table=VISITS, **ASKED, to=tmp_path / "out.csv", outputs=outputs)
    assert made.report.risk is None
    assert made.events.report.risk is None
    assert "re-identification" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_none_appears_if_one_fails(tmp_path, monkeypatch):
    def lie(persons, randomness):  # two persons with one pseudonym
        return pl.Series(["p" + "0" * 32] * persons, dtype=pl.String)

    monkeypatch.setattr("incrowd.releases.two_tables.pseudonyms_of", lie)
    with pytest.raises(VerificationError):
        incrowd.release(PATIENTS, with_table=VISITS, to=tmp_path / "out.csv", **ASKED)
    assert not list(tmp_path.iterdir())


def test_a_row_beyond_the_shortest_history_is_refused(tmp_path, monkeypatch):
    """Planted: everybody keeps all events, as if numbers of rows told nothing."""
    from incrowd.methods.histories.rows_of_persons import Histories

    monkeypatch.setattr(Histories, "kept", lambda self, lengths: self.owners >= 0)
    with pytest.raises(IncrowdError):
        incrowd.release(PATIENTS, with_table=VISITS, to=tmp_path / "out.csv", **ASKED)
    assert not list(tmp_path.iterdir())


def test_what_is_static_alone_does_not_do(monkeypatch):
    """Planted: persons are grouped by their events, and what is static is shown as it is."""
    from incrowd.vocabulary.released_value import Shown

    real = incrowd.methods.histories.two_tables.common_forms

    def bare(column, *args, **kwargs):
        forms = real(column, *args, **kwargs)
        return [Shown("f")] * len(forms) if column.name == "sex" else forms

    monkeypatch.setattr("incrowd.methods.histories.two_tables.common_forms", bare)
    with pytest.raises(VerificationError):
        incrowd.release(PATIENTS, with_table=VISITS, **ASKED)


ORPHAN = pl.concat([VISITS, VISITS.head(1).with_columns(pl.lit("nobody").alias("id"))])


def test_events_of_nobody_known_are_refused_or_left_out():
    with pytest.raises(IncrowdError, match="1 event of 1 person whom the first table does not have"):
        incrowd.release(PATIENTS, with_table=ORPHAN, **ASKED)
    made = incrowd.release(PATIENTS, with_table=ORPHAN, orphans="drop", **ASKED)
    assert made.events.certificate["rows"]["input"] == ORPHAN.height
    assert "orphans" in {notice.code for notice in made.events.report.notices}
    assert made.events.verdict.sizes.persons.strangers == 1
    assert "1 of them as the table of persons does not have them" in str(made.events)
    assert made.verdict.sizes.persons.strangers == 0
    assert min(joint(made.table, made.events.table).values()) >= 4


@pytest.mark.each(3)
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "numbers"])
def test_orphans_are_kept_with_a_row_without_values(kind, tmp_path):
    strange = PATIENTS["id"][::15].to_list()
    patients, visits = PATIENTS.filter(~pl.col("id").is_in(strange)), VISITS
    kept = VISITS.filter(pl.col("id").is_in(strange))["id"].n_unique()
    assert 0 < kept < len(strange)  # some have no visits: nobody knows of them
    tables = [patients, visits]
    if kind == "numbers":
        numbers = {key: place for place, key in enumerate(PATIENTS["id"])}
        tables = [one.with_columns(pl.col("id").replace_strict(numbers, return_dtype=pl.Int64)) for one in tables]
    elif kind != "frame":
        for name, one in (("patients", patients), ("visits", visits)):
            getattr(one, f"write_{kind}")(tmp_path / f"{name}.{kind}")
        tables = [tmp_path / f"{name}.{kind}" for name in ("patients", "visits")]
    made = incrowd.release(tables[0], with_table=tables[1], orphans="keep", **ASKED)
    assert made.table.height == patients.height + kept
    assert made.table["note"].null_count() == kept
    assert made.certificate["rows"] == {"input": patients.height + kept, "released": made.table.height, "left_out": 0}
    assert made.events.verdict.sizes.persons.strangers == 0
    assert f"{kept} persons of the second table have no row here" in "".join(map(str, made.report.notices))
    assert set(made.events.table["id"]) <= set(made.table["id"])
    assert min(joint(made.table, made.events.table).values()) >= 4


def test_orphans_whose_keys_are_of_another_kind_are_refused():
    numbers = PATIENTS.with_columns(pl.int_range(pl.len()).alias("id"))
    with pytest.raises(IncrowdError, match="are no Int64, as 'id' is in the first table"):
        incrowd.release(numbers, with_table=VISITS, orphans="keep", **ASKED)


REQUIRED = ["distinct-l=2 on note", "t=0.4 on cost", "alpha=0.9 on note, t=0.45 on cost"]


@pytest.mark.each(5)
@pytest.mark.parametrize("require", REQUIRED)
def test_more_than_k_is_required_of_either_table(require):
    made = incrowd.release(PATIENTS, with_table=VISITS, require=require, **ASKED)
    own, events = made.certificate["requirement_recounted"], made.events.certificate["requirement_recounted"]
    of_notes, of_costs = ("note" in require), ("cost" in require)
    assert (len(own), len(events)) == (1 + of_notes, 1 + of_costs)
    checks = {check.name: check for check in made.events.verdict.checks}
    assert checks["required of both"].passed
    assert sum(" of note" in name for name in checks) == of_notes  # counted in joint histories, too
    pairs = joint(made.table, made.events.table)
    assert min(pairs.values()) >= 4
    assert len(pairs) > 5


@pytest.mark.each(5)
@pytest.mark.parametrize("part", ["distinct-l=2", "entropy-l=1.5", "recursive-l=2 c=2", "alpha=0.8", "t=0.5", "beta=2"])
def test_where_no_event_can_be_kept_what_is_required_of_them_holds(part):
    patients = pl.DataFrame({"id": list("abcd"), "sex": list("mfmf")})
    visits = pl.DataFrame({"id": list("abb"), "ward": ["er", "gp", "gp"], "cost": ["low", "high", "low"]})
    asked = {"quasi_identifiers": ["sex", "ward"], "key_column": "id", "k": 3, "require": f"{part} on cost"}
    made = incrowd.release(patients, with_table=visits, **asked)
    assert made.events.table.is_empty()
    (finding,) = {check.finding for check in made.events.verdict.checks if " of cost" in check.name}
    assert finding == "no class has rows"


def test_what_the_first_table_must_keep_is_counted_in_joint_histories(monkeypatch):
    """Planted: what is required of persons is judged in their own table alone, where classes are larger."""
    from incrowd.methods.histories.two_tables import _BothBeyond

    asked = {**ASKED, "require": "t=0.2 on note"}
    assert incrowd.release(PATIENTS, with_table=VISITS, **asked).verdict.passed
    monkeypatch.setattr(_BothBeyond, "failing", lambda self, shown: [])
    monkeypatch.setattr(_BothBeyond, "grouped", _by_k)
    with pytest.raises(VerificationError, match="closeness of note"):
        incrowd.release(PATIENTS, with_table=VISITS, **asked)


def _by_k(self, kept):
    from incrowd.methods.histories.two_tables import _joined
    from incrowd.methods.histories.whole_histories import by_summaries

    return by_summaries(*_joined(self.persons, self.table, self.schema, self.histories), kept, ASKED["k"])


@pytest.mark.parametrize(
    ("static", "events", "more", "told"),
    [
        (pl.concat([PATIENTS, PATIENTS.head(2)]), VISITS, {}, "2 rows of it repeat a 'id'"),
        (
            PATIENTS.with_columns(pl.when(pl.col("id") > "k09").then(None).otherwise("id").alias("id")),
            VISITS,
            {},
            "no '",
        ),
        (PATIENTS, VISITS.with_columns(pl.lit(None, pl.String).alias("id")), {}, "events have no 'id'"),
        (PATIENTS.rename({"id": "nr"}), VISITS, {}, "In the first table: There is no column 'id'"),
        (PATIENTS, VISITS.rename({"id": "nr"}), {}, "In the second table: There is no column 'id'"),
        (PATIENTS, VISITS.rename({"cost": "sex"}), {}, "Both tables have a column 'sex'"),
        (PATIENTS, VISITS, {"quasi_identifiers": ["sex", "word"]}, "no column 'word'"),
        (
            PATIENTS,
            VISITS,
            {"quasi_identifiers": ["sex"], "order": None},
            r"No quasi-identifier of the second table is named: .* data suggest: ward, day(, cost)?\.",
        ),
        (PATIENTS, VISITS, {"quasi_identifiers": ["ward"]}, r"of the first table is named: .* suggest: sex, home"),
        (PATIENTS, VISITS, {"missing_persons": "drop"}, "missing_persons is about one table"),
        (PATIENTS, VISITS, {"missing_persons": "together"}, "missing_persons is about one table"),
        (PATIENTS, VISITS, {"order": "home"}, "not in the second table"),
        (PATIENTS, VISITS, {"key_column": None}, "Which column of both tables"),
        (PATIENTS, VISITS, {"orphans": "hide"}, "refuse, drop, keep"),
        (PATIENTS, VISITS, {"require": "distinct-l=2 on cost", "known_rows": 1}, "nothing beyond it yet"),
        (PATIENTS, VISITS, {"require": "distinct-l=2 on word"}, "no column 'word'"),
        (PATIENTS, VISITS.rename({"cost": "note"}), {"require": "distinct-l=2 on note"}, "Both tables have a column"),
        (PATIENTS, VISITS, {"require": "distinct-l=9 on note"}, "impossible"),
        (PATIENTS, VISITS, {"known_together": [(["sex", "home"], 4)]}, "Ask for one k"),
        (PATIENTS, VISITS, {"outputs": Outputs(plan="plan.json")}, "no file holds both"),
        (PATIENTS, VISITS, {"to": "postgresql:///clinic?table=out"}, "Write files"),
        (PATIENTS, VISITS, {"measuring": Measuring(risk=True)}, "measured on one table"),
        (PATIENTS, VISITS, {"method": "mondrian"}, "Name no method"),
        (PATIENTS, VISITS, {"k": 200}, "impossible"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str | dict) else "",
)
def test_what_two_tables_cannot_be_is_refused(static, events, more, told):
    with pytest.raises(IncrowdError, match=told):
        incrowd.release(static, with_table=events, **{**ASKED, **more})


@pytest.mark.parametrize("options", [{"key_column": "id"}, {"orphans": "drop"}])
def test_one_table_has_neither_key_nor_orphans(options):
    with pytest.raises(IncrowdError, match="second table"):
        incrowd.release(PATIENTS, quasi_identifiers=["sex"], **options)


def test_spelling_is_compared_over_both_tables():
    events = VISITS.with_columns(
        pl.when(pl.col("id") == VISITS["id"][0]).then(pl.col("id").str.to_uppercase()).otherwise("id")
    )
    events = events.rename({"id": "key"}) if "id" not in events.columns else events
    with pytest.raises(IncrowdError, match="differ from another only in case"):
        incrowd.release(PATIENTS, with_table=events, **ASKED)
    made = incrowd.release(PATIENTS, with_table=events, person_ids="normalised", **ASKED)
    assert made.events.verdict.passed


def test_both_from_one_database_file(tmp_path):
    import duckdb

    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        for name, frame in (("patients", PATIENTS), ("visits", VISITS)):
            connection.register("frame", frame.to_arrow())
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
    made = incrowd.release(
        Query.of(f"{file}?table=patients"), with_table=f"{file}?table=visits", to=tmp_path / "out.csv", **ASKED
    )
    assert made.events.path == tmp_path / "out.visits.csv"
    assert min(joint(pl.read_csv(made.path), pl.read_csv(made.events.path)).values()) >= 4


@pytest.mark.slow
def test_an_unchanged_column_of_events_that_gives_back_what_persons_hide_is_refused(tmp_path):
    """Each table alone gives nothing back; by the pseudonym the year of birth in the events is that of the person."""
    patients, events = tables(persons=200)
    years = {key: 1940 + place % 60 for place, key in enumerate(patients["id"])}
    patients = patients.with_columns(born=pl.col("id").replace_strict(years))
    copied = events.with_columns(yob=pl.col("id").replace_strict(years))
    asked = {**ASKED, "quasi_identifiers": ["sex", "born", "ward"], "order": None, "drop": ["home", "day"]}
    incrowd.release(patients, with_table=events, **asked)
    with pytest.raises(VerificationError, match="yob gives back born"):
        incrowd.release(patients, with_table=copied, to=tmp_path / "out.csv", **asked)
    assert not list(tmp_path.iterdir())
    despite = incrowd.release(patients, with_table=copied, despite_unchanged=True, **asked)
    for certificate in (despite.certificate, despite.events.certificate):
        assert certificate["unchanged_columns"]["effective_k"] < 4
        assert certificate["unchanged_columns"]["published_despite"]


def test_an_unchanged_column_of_persons_that_gives_back_how_many_events_there_were_is_refused():
    patients, events = tables(persons=200)
    numbers = dict.fromkeys(patients["id"], 0) | dict(events.group_by("id").len().rows())
    patients = patients.with_columns(visits=pl.col("id").replace_strict(numbers))
    asked = {**ASKED, "quasi_identifiers": ["sex", "ward"], "order": None, "drop": ["home", "day"]}
    with pytest.raises(VerificationError, match="visits gives back the number of rows"):
        incrowd.release(patients, with_table=events, **asked)


def test_who_is_alone_by_both_tables_is_refused():
    patients, events = tables(persons=200)
    asked = {**ASKED, "quasi_identifiers": ["sex", "ward"], "order": None, "drop": ["home", "day"], "alone_at_most": 0}
    with pytest.raises(VerificationError, match="alone by unchanged"):
        incrowd.release(patients, with_table=events, **asked)


def test_an_unchanged_date_of_events_is_refused_where_days_are_shown():
    patients, events = tables(persons=300)
    dated = events.with_columns(left=pl.col("day") + pl.duration(days=1))
    with pytest.raises(VerificationError, match=r"left gives back day as a date[.]"):
        incrowd.release(patients, with_table=dated, **ASKED)
