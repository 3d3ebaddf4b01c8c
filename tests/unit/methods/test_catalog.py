"""The list of methods, and what they can be asked for."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ParameterError, SchemaError
from incrowd.methods.catalog import METHODS, find_method, make_method
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.forms import RELEASE_FORMS
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_frozen_and_describes_itself(name):
    method = make_method(name, {})
    assert method.name == name
    assert set(method.parameters()) == {field.name for field in fields(method)}
    assert method == make_method(name, {})
    with pytest.raises(FrozenInstanceError):
        method.numeric = "mean"  # type: ignore[attr-defined]
    entry = find_method(name)
    assert entry.summary
    assert entry.paper


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"numerical": "mean"}, "has no parameter 'numerical'. It has:"),
        ({"numeric": "median"}, "numeric must be one of|has no parameter 'numeric'"),
        ({"name": "x"}, "has no parameter 'name'"),
        ({5: 5}, "has no parameter 5"),
    ],
)
def test_unknown_parameters_are_refused(name, parameters, told):
    with pytest.raises(ParameterError, match=told):
        make_method(name, parameters)


@pytest.mark.parametrize("asked", ["kaktus", "KACTUS", "", "ola"])
def test_unknown_methods_are_refused_with_a_list(asked):
    with pytest.raises(ParameterError, match=r"There is no method .*Methods: kactus, kactus-plus"):
        find_method(asked)


def test_a_slip_gets_a_suggestion():
    with pytest.raises(ParameterError, match="Did you mean 'kactus-plus'"):
        find_method("kactus-pluss")


@pytest.mark.parametrize("name", [name for name, entry in METHODS.items() if "missing" in entry.parameters])
def test_missing_values_are_handled_in_known_ways(name):
    with pytest.raises(ParameterError, match="missing must be one of"):
        make_method(name, {"missing": "drop"})


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_look_at_the_class_need_a_target(name):
    column = EncodedColumn("a", ColumnType.CATEGORICAL, np.zeros(4, np.int32), pl.Series(["x"]))
    schema = Schema((Column("a", Role.QUASI_IDENTIFIER),))
    population = EmbeddedEngine().population(EncodedTable.of([column]), schema, SeededRandomness(1))
    if METHODS[name].needs_target:
        with pytest.raises(SchemaError, match=r"needs a target: .* or choose mondrian, which needs none"):
            make_method(name, {}).decide(population, KAnonymity(2), SeededRandomness(1))
    else:
        assert make_method(name, {}).decide(population, KAnonymity(2), SeededRandomness(1))


@pytest.mark.parametrize("name", METHODS)
def test_an_entry_is_true_of_its_method(name):
    entry = METHODS[name]
    assert entry.module.startswith("incrowd.methods.")
    assert set(entry.forms) <= set(RELEASE_FORMS)
    assert entry.parameters == {field.name: field.default for field in fields(make_method(name, {}))}
    assert bool(entry.numeric) == ("numeric" in entry.parameters)
    for numeric in entry.numeric:
        assert make_method(name, {"numeric": numeric}).parameters()["numeric"] == numeric
