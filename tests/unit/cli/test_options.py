"""What the text of an option means."""

from __future__ import annotations

import pytest

from incrowd.cli.options import names, value_of
from incrowd.errors import ParameterError
from incrowd.tables.options import RELEASE
from incrowd.vocabulary.option import Kind, options_of
from incrowd.vocabulary.persons import PersonColumn

OPTIONS = {one.name: one for groups in RELEASE.values() for group in groups for one in options_of(group)}


def written(name, text):
    return value_of(OPTIONS[name], text)


def test_names_are_parted_at_commas_outside_quotes():
    assert written("quasi_identifiers", None) is None
    assert names("") == []
    assert names(' age , "zip, code",') == ["age", "zip, code"]
    assert names('"say ""hi""",b') == ['say "hi"', "b"]
    assert names('"a\nb",c') == ["a\nb", "c"]
    with pytest.raises(ParameterError, match="in double quotes"):
        written("quasi_identifiers", "a\nb,c")


def test_parameters_are_read_as_yaml_without_its_dangers():
    assert written("parameters", []) is None
    settings = ["a=1", "b=true", "c=x y", "d=0.5", "e="]
    assert written("parameters", settings) == {"a": 1, "b": True, "c": "x y", "d": 0.5, "e": None}
    for setting in ("a=[1", "a=!!python/object/apply:os.system [x]", "a=: :", "a"):
        with pytest.raises(ParameterError):
            written("parameters", [setting])


@pytest.mark.parametrize("text", ["2.5", "", "five", "nan", "1e3"])
def test_whole_numbers_are_whole(text):
    assert written("k", "7") == 7
    with pytest.raises(ParameterError, match="-k must be a whole number"):
        written("k", text)


def test_columns_that_are_known_together_have_their_k():
    assert written("known_together", ["a,b:5", '"c:d":3']) == [(["a", "b"], 5), (["c:d"], 3)]
    for text in ("a,b", "a:few", "a:"):
        with pytest.raises(ParameterError, match="--known-together age,sex:5"):
            written("known_together", [text])


@pytest.mark.parametrize("text", ["age", "=age", "years="])
def test_a_renamed_column_has_two_names(text):
    assert written("same_columns", ["years = age"]) == {"years": "age"}
    with pytest.raises(ParameterError, match="--same-column age_years=age"):
        written("same_columns", [text])


def test_hierarchies_are_those_of_a_folder_and_those_named_beside_it(tmp_path):
    for name in ("age", "job"):
        (tmp_path / f"{name}.csv").write_text("a;*\nb;*\n")
    assert written("hierarchies", ["age=a=b.txt"]) == {"age": "a=b.txt"}
    found = written("hierarchies", [str(tmp_path), "age=other.txt"])
    assert (set(found), found["age"]) == ({"age", "job"}, "other.txt")


def test_a_tab_has_a_name():
    assert {written("delimiter", text) for text in ("tab", "\\t", "\t")} == {"\t"}
    assert written("encoding", "tab") == "tab"


def test_every_kind_can_be_written():
    from incrowd.cli.options import _WRITTEN

    assert set(_WRITTEN) == set(Kind)


def test_commands_that_release_nothing_do_not_speak_of_a_release():
    measuring = {one.name: one.option.help for one in options_of(PersonColumn)}
    assert measuring["person"] == "The column that says whose row it is: persons are counted then, not rows."
    assert "Not released." in OPTIONS["person"].option.help
    for name in ("person_ids", "missing_persons"):
        assert measuring[name] == OPTIONS[name].option.help
    assert list(measuring) == ["person", "person_ids", "missing_persons"]
    assert "or of persons if you name them" in OPTIONS["k"].option.help
    assert "held-out rows or persons" in OPTIONS["accuracy"].option.help
