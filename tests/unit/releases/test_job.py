"""What may be asked of a release."""

import weakref
from dataclasses import replace

import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import ParameterError
from incrowd.releases import pipeline
from incrowd.rows import one_machine
from incrowd.tables.options import Measuring, Run
from incrowd.tables.recipe import Recipe
from incrowd.verification.verdict import Verdict


@pytest.mark.parametrize("people", [-1, True])
def test_a_number_of_people_is_whole_and_not_negative(people):
    with pytest.raises(ParameterError, match="whole number of people"):
        Recipe(alone_at_most=people)
    assert Recipe(alone_at_most=0).alone_at_most == 0


def test_a_bound_on_people_alone_needs_them_counted(monkeypatch):
    proven = Verdict.proven
    monkeypatch.setattr(Verdict, "proven", lambda verdict, what: replace(proven(verdict, what), unchanged=None))
    people = pl.DataFrame({"age": [30, 41] * 20, "sex": ["f", "m"] * 20, "ill": ["no", "yes"] * 20})
    columns = {"quasi_identifiers": ["age"], "target": "ill", "class_sensitive": False, "k": 5}
    with pytest.raises(ParameterError, match="not counted who is alone by unchanged columns"):
        release(people, **columns, alone_at_most=0)


def test_a_column_that_a_recipe_calls_other_is_sensitive_where_something_is_required_of_it():
    table = pl.DataFrame({"age": [30, 41] * 20, "part": ["a", "b", "c", "a"] * 10, "ill": ["no", "yes"] * 20})
    roles = {"age": "quasi-identifier", "part": "other", "ill": "target"}
    recipe = Recipe(
        k=5, columns={name: {"role": role} for name, role in roles.items()}, require=["distinct-l=2 on part"]
    )
    certificate = release(table, recipe=recipe, class_sensitive=False).certificate
    assert {column["name"]: column["role"] for column in certificate["columns"]}["part"] == "sensitive"


@pytest.mark.parametrize(
    ("asked", "where", "size", "said"),
    [
        ({"form": "counts"}, pipeline, "_OF_A_COUNT", "To recount counts"),
        ({"measuring": Measuring(risk=True)}, one_machine, "_OF_A_CELL", "measured on all rows at once"),
        ({"measuring": Measuring(attacks=True)}, one_machine, "_OF_A_CELL", "measured on all rows at once"),
    ],
)
def test_what_takes_all_rows_at_once_is_refused_where_they_do_not_fit(monkeypatch, asked, where, size, said):
    people = pl.DataFrame({"age": [30, 41] * 20, "ill": ["no", "yes"] * 20})
    known = {"quasi_identifiers": ["age"], "target": "ill", "class_sensitive": False, "k": 5, "method": "kactus"}
    monkeypatch.setattr(where, size, 10**8)
    with pytest.raises(ParameterError, match=rf"{said}.* Use --memory [0-9.]+GB"):
        release(people, **known, **asked, run=Run(memory="1GB"))


@pytest.mark.parametrize("in_blocks", [False, True])
def test_rows_are_let_go_before_the_release_is_verified(tmp_path, monkeypatch, in_blocks):
    people = pl.DataFrame({"age": [30, 41] * 20, "sex": ["f", "m"] * 20, "ill": ["no", "yes"] * 20})
    people.write_parquet(tmp_path / "people.parquet")
    known, gone = [], []
    decide, verify = pipeline.decide, pipeline.verify

    def decided(*arguments):
        plan, population = decide(*arguments)
        known.append(weakref.ref(population))
        return plan, population

    def verified(*arguments):
        gone.append(known[0]() is None)
        return verify(*arguments)

    monkeypatch.setattr(pipeline, "MANY", 0)
    monkeypatch.setattr(pipeline, "decide", decided)
    monkeypatch.setattr(pipeline, "verify", verified)
    monkeypatch.setattr(pipeline, "in_blocks", lambda *_: in_blocks)
    release(tmp_path / "people.parquet", quasi_identifiers=["age", "sex"], target="ill", class_sensitive=False, k=5)
    assert gone == [True]
