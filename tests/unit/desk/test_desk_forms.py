"""Forms of the desk: what is written means what it means on the command line, and comes back as it was written."""

from __future__ import annotations

from typing import Any

import pytest

from incrowd.desk.forms import changed, command_words, declared, fields, read_form, text_of
from incrowd.desk.project import slug
from incrowd.desk.recipes import edited, recipe_text, with_roles_at_columns
from incrowd.tables.options import MethodOptions, Outputs, Promise, Reading, Run, What
from incrowd.tables.recipe import parse_recipe
from incrowd.vocabulary.option import Declared
from incrowd.vocabulary.persons import PersonOptions
from incrowd.vocabulary.plain_data import read_plain_yaml

GROUPS = [What, PersonOptions, Promise, MethodOptions, Outputs, Run, Reading]
SAID: dict[str, tuple[str, Any, list[str]]] = {
    "k": ("12", 12, ["-k12"]),
    "require": ("t=0.2 on ill\nk=5", ["t=0.2 on ill", "k=5"], ["--require=t=0.2 on ill", "--require=k=5"]),
    "known_together": (
        'age,"a, b":5',
        [{"columns": ["age", "a, b"], "k": 5}],
        ['--known-together=age,"a, b":5'],
    ),
    "class_sensitive": ("no", False, ["--class-sensitive=no"]),
    "keep_link": ("yes", True, ["--keep-link"]),
    "at_most": ("zip=2", {"zip": 2}, ["--at-most=zip=2"]),
    "apart": ("region=a,b|c", {"region": "a,b|c"}, ["--apart=region=a,b|c"]),
    "lose": ("2%", "2%", ["--lose=2%"]),
    "form": ("counts", "counts", ["--form=counts"]),
    "weights": ("age=3\nsex=0.5", {"age": 3, "sex": 0.5}, ["--weight=age=3", "--weight=sex=0.5"]),
    "parameters": ("numeric=mean", {"numeric": "mean"}, ["--set=numeric=mean"]),
    "delimiter": ("tab", "\t", ["--delimiter=tab"]),
    "missing": ("NA\n-9", ["NA", "-9"], ["--missing=NA", "--missing=-9"]),
    "header": ("no", False, ["--no-header"]),
    "names": ("age,sex", ["age", "sex"], ["--names=age,sex"]),
    "seed": ("7", 7, ["--seed=7"]),
    "repeats": ("name", ["name"], ["--repeats=name"]),
}


def option(name: str) -> Declared:
    return next(one for one in declared(GROUPS) if one.name == name)


@pytest.mark.parametrize("name", SAID)
def test_what_is_written_means_what_the_command_line_means(name: str) -> None:
    text, value, words = SAID[name]
    one = option(name)
    written = read_form([one], {name: [text]})
    assert (written.values[name], written.errors) == (value, {})
    assert command_words([one], written.texts) == words
    assert text_of(one, value) == text
    assert [field.text for field in fields([one], {name: value})] == [text]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k", "five"),
        ("form", "loud"),
        ("known_together", "age"),
        ("weights", "age"),
        ("sign", "/etc/hostname"),
        ("lose", "a\0"),
    ],
)
def test_what_is_wrong_stays_in_its_field(name: str, text: str) -> None:
    one = option(name)
    written = read_form([one], {name: [text]})
    [field] = fields([one], {}, written)
    assert field.text == text
    assert field.error


def test_what_a_form_leaves_empty_the_recipe_says_no_more() -> None:
    options = [option("k"), option("rarest")]
    assert changed({"k": 3, "rarest": 2, "lose": "1%"}, options, read_form(options, {"k": ["5"]})) == {
        "k": 5,
        "lose": "1%",
    }


def test_a_recipe_that_is_written_is_read_back() -> None:
    names = ['"quoted"', "zip, code", "a: b", "# not a comment", "ünï", "\u2028", "{x}", "- y", "null", "1"]
    data = {
        "columns": {name: {"role": "quasi-identifier", "type": "categorical"} for name in names},
        "k": 7,
        "require": ["t=0.2 on ill"],
        "reading": {"delimiter": "\t", "missing": ["NA", "?"]},
        "class_sensitive": False,
    }
    text = recipe_text(data)
    assert read_plain_yaml(text, "it") == data
    assert parse_recipe(text, "it.yaml").k == 7


def test_short_lists_become_roles() -> None:
    data = with_roles_at_columns({"columns": {"a": {"type": "text"}}, "drop": ["a"], "private": ["b"], "k": 3})
    assert data == {"columns": {"a": {"type": "text", "role": "drop"}, "b": {"role": "private"}}, "k": 3}


@pytest.mark.parametrize(("name", "made"), [("Año 1.csv", "a-o-1-csv"), ("..", "table"), ("A" * 99, "a" * 40)])
def test_names_of_files_are_plain(name: str, made: str) -> None:
    assert slug(name) == made


BY_HAND = """\
# Agreed with the ethics board on 3 May
incrowd_recipe: 1
columns:
  # what neighbours know
  age:  {role: quasi-identifier, type: integer}   # in years
  sex:  {role: quasi-identifier}
  ward:
    role: private
    # codes of 2019
    type: categorical
  ill:  {role: target}
drop: [name]   # nobody needs it
k: 10  # at least
# more than that loses too much

require:
  - t=0.2 on ill   # see the minutes
class_sensitive: yes
"""


def test_comments_of_a_recipe_stay() -> None:
    """What changes is written anew, line by line; all else stays as somebody wrote it."""
    data = with_roles_at_columns(read_plain_yaml(BY_HAND, "it"))
    assert edited(BY_HAND, data) == BY_HAND
    later = {**data, "k": 7, "method": "mondrian", "reading": {"delimiter": ";"}}
    later["columns"] = {**data["columns"], "sex": {"role": "drop"}, "new": {"role": "private"}}
    text = edited(BY_HAND, later)
    assert set(BY_HAND.splitlines()) - set(text.splitlines()) == {
        "  sex:  {role: quasi-identifier}",
        "k: 10  # at least",
    }
    assert "k: 7  # at least" in text
    assert with_roles_at_columns(read_plain_yaml(text, "it")) == later


@pytest.mark.parametrize(
    "change",
    [
        {"require": None},
        {"require": ["t=0.1 on ill"], "class_sensitive": False},
        {"columns": {"age": {"role": "quasi-identifier"}}},
        {"columns": {}},
        {"k": None, "rarest": 5},
    ],
)
@pytest.mark.parametrize(
    "text",
    [BY_HAND, BY_HAND.replace("\n", "\r\n"), "{k: 5, columns: {ill: {role: target}}}  # all in one\n", "# empty\n", ""],
)
def test_an_edited_recipe_says_what_was_decided(text: str, change: dict[str, Any]) -> None:
    wanted = {**with_roles_at_columns(read_plain_yaml(text, "it") or {}), **change}
    new = edited(text, wanted)
    said = with_roles_at_columns(read_plain_yaml(new, "it") or {})
    assert said == {key: value for key, value in wanted.items() if value is not None}
    assert not [line for line in text.splitlines() if line.startswith("#") and line not in new]
    assert edited(new, wanted) == new


def test_a_column_of_a_short_list_that_gets_another_role_leaves_the_list() -> None:
    text = "columns:\n  age: {type: integer}\ndrop: [name, city]  # not needed\nprivate: [ward]  # ours\n"
    data = with_roles_at_columns(read_plain_yaml(text, "it"))
    data["columns"]["city"] = {"role": "quasi-identifier"}
    new = edited(text, data)
    assert "private: [ward]  # ours" in new
    assert with_roles_at_columns(read_plain_yaml(new, "it")) == data
