"""Ways to make the same people look like others: each is caught: a counted no (1) or "could not be determined" (2)."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import IncrowdError
from incrowd.releases.ledger.book import HEAD
from incrowd.tables.options import Book

pytestmark = pytest.mark.slow  # two releases or more for every case

ROWS = 240
ROLES = {"quasi_identifiers": ["age", "job", "town"], "target": "ill", "class_sensitive": False, "k": 5}
OTHER = {"method": "mondrian", "k": 6}


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def people():
    return pl.DataFrame(
        {
            "number": [f"P-{i:04d}" for i in range(ROWS)],
            "age": [20 + (i * 7) % 41 for i in range(ROWS)],
            "job": [f"Job {(i * i) % 6}" for i in range(ROWS)],
            "town": [f"t{(i * 11) % 7}" for i in range(ROWS)],
            "ill": ["y" if (i * 7) % 41 > 20 or (i % 6 in (2, 4) and i % 5) else "n" for i in range(ROWS)],
        }
    )


def more(table):
    fresh = table.head(20).with_columns(pl.Series("number", [f"N-{i}" for i in range(20)]), age=pl.lit(99))
    return pl.concat([table, fresh], how="vertical_relaxed")


BY_NUMBER = {
    "sorted": (lambda t: t.sort("town", "age"), {}),
    "a constant column": (lambda t: t.with_columns(country=pl.lit("x")), {}),
    "columns reversed": (lambda t: t.select(reversed(t.columns)), {}),
    "a row removed": (lambda t: t.head(ROWS - 1), {}),
    "half of the rows": (lambda t: t.head(ROWS // 2), {}),
    "rows added": (more, {}),
    "other quasi-identifiers": (lambda t: t, {"quasi_identifiers": ["age", "job"]}),
    "the identifier renamed": (lambda t: t.rename({"number": "nr"}), {"identifiers": ["nr"]}),
    "case and spaces": (lambda t: t.with_columns(pl.col("number").str.to_lowercase() + " "), {}),
    "everything aged and moved": (lambda t: t.with_columns(age=pl.col("age") + 3, town=pl.lit("z")), {}),
}


@pytest.mark.parametrize("way", BY_NUMBER)
def test_people_with_an_identifier_are_known_again(way, tmp_path):
    change, asked = BY_NUMBER[way]
    release(people(), ledger=tmp_path / "book", identifiers=["number"], **ROLES)
    asked = {**ROLES, "identifiers": ["number"], **OTHER, **asked}
    with pytest.raises(IncrowdError, match="Together with 1 earlier release, ") as told:
        release(change(people()), ledger=tmp_path / "book", **asked)
    assert told.value.exit_status == 1


def numbers_as_text(table):
    return table.with_columns(pl.col("age").cast(pl.Float64).cast(pl.String), pl.col("job").str.to_uppercase())


BY_ROWS = {
    "sorted": (lambda t: t.sort("town"), {}, 1),
    "a constant column": (lambda t: t.with_columns(country=pl.lit("x")), {}, 1),
    "columns reversed": (lambda t: t.select(reversed(t.columns)), {}, 1),
    "a row removed": (lambda t: t.head(ROWS - 1), {}, 1),
    "rows added": (lambda t: more(t.with_columns(number=pl.lit(""))).drop("number"), {}, 1),
    "other formats and case": (numbers_as_text, {}, 1),
    "a year older": (lambda t: t.with_columns(age=pl.col("age") + 1), {}, 1),
    "ten years younger": (lambda t: t.with_columns(age=pl.col("age") - 10), {}, 1),
    "a column renamed": (lambda t: t.rename({"town": "city"}), {"quasi_identifiers": ["age", "job", "city"]}, 2),
    "a column gone": (lambda t: t.drop("town"), {"quasi_identifiers": ["age", "job"]}, 2),
    "all moved to new towns": (lambda t: t.with_columns(town=pl.lit("z")), {}, 2),
}


@pytest.mark.parametrize("way", BY_ROWS)
def test_people_without_an_identifier_are_known_again(way, tmp_path):
    change, asked, status = BY_ROWS[way]
    table = people().drop("number")
    release(table, ledger=tmp_path / "book", **ROLES)
    with pytest.raises(IncrowdError) as told:
        release(change(table), ledger=tmp_path / "book", **{**ROLES, **OTHER, **asked})
    assert told.value.exit_status == status
    assert ("Together" if status == 1 else "could not be determined") in str(told.value)


def test_mass_renumbering_must_be_said(tmp_path):
    asked = {**ROLES, "identifiers": ["number"], "ledger": tmp_path / "book"}
    release(people(), **asked)
    anew = people().with_columns(pl.Series("number", [f"N-{i}" for i in range(ROWS)]))
    with pytest.raises(IncrowdError, match="numbered anew") as told:
        release(anew, **asked)
    assert told.value.exit_status == 2
    assert release(anew, **asked | {"ledger": Book(tmp_path / "book", other_people=[0])}).certificate[
        "earlier_releases"
    ]["said"]


def test_dropping_the_identifier_leaves_the_rows(tmp_path):
    release(people(), ledger=tmp_path / "book", identifiers=["number"], **ROLES)
    with pytest.raises(IncrowdError, match="Together"):
        release(people().drop("number"), ledger=tmp_path / "book", **{**ROLES, **OTHER})


@pytest.mark.parametrize("gone", ["000000.entry", "000001.entry", HEAD, "ledger.key"])
def test_nothing_of_the_book_can_be_removed(gone, tmp_path):
    asked = {**ROLES, "identifiers": ["number"], "ledger": tmp_path / "book"}
    release(people(), **asked)
    release(people(), **asked)
    (tmp_path / "book" / gone).unlink()
    with pytest.raises(IncrowdError) as told:
        release(people(), **asked)
    assert told.value.exit_status == 2


def test_other_people_pass_without_a_word(tmp_path):
    asked = {**ROLES, "identifiers": ["number"], "ledger": tmp_path / "book"}
    release(people(), **asked)
    others = people().with_columns(
        pl.Series("number", [f"Q-{i}" for i in range(ROWS)]), age=pl.col("age") + 30, town=pl.col("town") + "x"
    )
    found = release(others, **asked, method="mondrian").certificate["earlier_releases"]
    assert [(one["by"], one["relation"], one["shared"]) for one in found["compared"]] == [("identifier", "none", 0)]
    assert found["k"] is None


@pytest.mark.parametrize("method", ["kactus", "kactus-plus", "mondrian", "tdr", "blend"])
@pytest.mark.parametrize("numbered", [True, False])
def test_the_same_request_gets_the_same_groups_in_any_order_of_rows(method, numbered, tmp_path):
    table = people()
    roles = {"identifiers": ["number"]} if numbered else {"sensitive": ["number"]}
    asked = {**ROLES, **roles, "method": method, "ledger": tmp_path / "book"}
    release(table, **asked)
    for other in (table.reverse(), table.sort("job", "age").with_columns(country=pl.lit("x"))):
        assert release(other, **asked).certificate["earlier_releases"]["same_groups"]
