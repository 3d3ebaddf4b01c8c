"""Recipes: read as asked, or refused with the setting's name."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.errors import HeaderError, ParameterError, SchemaError
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import Recipe, read_recipe, with_hierarchies, with_roles
from incrowd.tables.roles import draft_recipe
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import KnownSet, KnownTogether
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

FULL = """
columns:
  age: {role: quasi-identifier, type: integer}
  size: {role: quasi-identifier, type: ordered, order: [S, M, 3]}
  ill: {role: target}
  name: {role: identifier}
k: 7
method: kactus-plus
parameters: {numeric: mean}
reading: {delimiter: ";", encoding: latin-1, missing: ["NA", "-9"]}
repeats: [name]
"""


def write(tmp_path, text):
    path = tmp_path / "recipe.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_setting_is_read(tmp_path):
    recipe = read_recipe(write(tmp_path, FULL))
    assert (recipe.k, recipe.method, recipe.parameters) == (7, "kactus-plus", {"numeric": "mean"})
    assert recipe.reading == {"delimiter": ";", "encoding": "latin-1", "missing": ["NA", "-9"]}
    assert recipe.repeats == ["name"]
    draft = Schema(tuple(Column(name) for name in ("age", "size", "ill", "name", "zip")))
    schema = recipe.schema(draft)
    assert schema.quasi_identifiers == ("age", "size")
    assert schema["size"].order == ("S", "M", "3")
    assert schema["zip"] == draft["zip"]
    assert schema["age"].reason == "stated by you"


def test_a_recipe_of_another_version_is_refused_and_a_draft_states_its_own(tmp_path):
    with pytest.raises(ParameterError, match="another version of the format than 1"):
        read_recipe(write(tmp_path, "incrowd_recipe: 2\nsomething_new: 5"))
    drafted = draft_recipe(draft_schema(read(pl.DataFrame({"age": [39, 50]}))))
    assert "incrowd_recipe: 1" in drafted
    assert read_recipe(write(tmp_path, drafted)).k == 10


def test_columns_are_dropped_and_called_private_in_a_line(tmp_path):
    recipe = read_recipe(write(tmp_path, "columns: {weight: {type: real}}\ndrop: [name, note]\nprivate: [weight]"))
    assert recipe.columns == {
        "weight": {"type": "real", "role": Role.PRIVATE},
        "name": {"role": Role.DROP},
        "note": {"role": Role.DROP},
    }
    assert recipe == Recipe(columns={name: {**settings} for name, settings in recipe.columns.items()})
    with pytest.raises(SchemaError, match="'age' cannot be both quasi-identifier and drop"):
        Recipe(columns={"age": {"role": "quasi-identifier"}}, drop=["age"])


def test_what_a_recipe_leaves_out_stays_out():
    recipe = Recipe(columns={"nr": {"role": "identifier"}}, drop=["name"], private=["weight"])
    roles = with_roles(recipe, identifiers=["id"], drop=["note"], private=["pulse"]).columns
    assert {name: settings["role"] for name, settings in roles.items()} == {
        **dict.fromkeys(("nr", "id"), Role.IDENTIFIER),
        **dict.fromkeys(("name", "note"), Role.DROP),
        "weight": Role.OTHER,
        "pulse": Role.PRIVATE,
    }
    assert with_roles(recipe, sensitive=["name"]).columns["name"]["role"] is Role.SENSITIVE


def test_settings_left_empty_are_those_of_nobody(tmp_path):
    assert read_recipe(write(tmp_path, "k: 5\nmethod:\nparameters:\ncolumns:\nrepeats:\n")) == Recipe(k=5)


REFUSED = {
    "not yaml": ("k: [1", "line 1: it is not valid YAML"),
    "a tab": ("columns:\n\tage: {}", "line 2: it is not valid YAML"),
    "empty": ("", "empty or not a list of settings"),
    "a list": ("- k: 5", "empty or not a list of settings"),
    "a text": ("just words", "empty or not a list of settings"),
    "not utf-8": (b"k: \xff", "cannot be read"),
    "a binary": (b"\x80\x04\x95\x00", "cannot be read"),
    "an unknown setting": ("kk: 5", "unknown setting 'kk'. Did you mean k? Known: columns, drop"),
    "a python object": ("k: !!python/object/apply:os.system ['echo SECRET']", "line 1: tags (!name) are not read"),
    "a python name": ("method: !!python/name:os.system", "line 1: tags (!name) are not read"),
    "an alias bomb": ("a: &a [x, x]\nb: *a", "line 2: aliases (*name) are not read"),
    "no date": ("k: 5\nmade: 2020-99-99", "unknown setting 'made'"),
    "a date": ("k: 2020-01-31", "k must be a whole number"),
    "a hundred thousand digits": ("method: kactus\nk: " + "1" * 100_000, "line 2: a value cannot be read"),
    "no number after all": ("k: 0b_", "line 1: a value cannot be read"),
    "deep lists": ("k: 5\nrepeats: " + "[" * 5_000, "line 2: it is nested too deeply"),
    "deep settings": ("columns: " + "{a: " * 5_000, "line 1: it is nested too deeply"),
    "deep items": ("repeats:\n  " + "- " * 5_000, "line 2: it is nested too deeply"),
    "a setting twice": ("k: 5\nmethod: kactus\nk: 2", "line 3: this setting is there twice"),
    "a column twice": ("columns:\n  a: {role: target}\n  a: {role: other}", "line 3: this setting is there twice"),
    "a merge": ("columns: {a: &x {role: target}, b: {<<: *x}}", "line 1: aliases (*name) are not read"),
    "a control character": ("k: 5\nmethod: \x01", "line 2: it has a character that YAML does not allow"),
    "names that are lists": ("repeats: [[a]]", "names of columns are text"),
    "sets of lists": ("known_together: [{columns: [[a]], k: 2}]", "names of columns are text"),
    "k as text": ("k: '5'", "k must be a whole number"),
    "k as a fraction": ("k: 2.5", "k must be a whole number"),
    "k as a truth": ("k: true", "k must be a whole number"),
    "k of nothing": ("k: .nan", "k must be a whole number"),
    "k of zero": ("k: 0", "k must be a whole number"),
    "a method that is a number": ("method: 5", "method must be the name of a method"),
    "a method that is a list": ("method: [kactus]", "method must be the name of a method"),
    "parameters as a list": ("parameters: [numeric]", "In parameters: expected settings"),
    "columns as a list": ("columns: [age]", "In columns: expected settings"),
    "columns as a text": ("columns: age", "In columns: expected settings"),
    "a column as a text": ("columns: {age: quasi-identifier}", "In column 'age': expected settings such as role"),
    "a column as a list": ("columns: {age: [role]}", "In column 'age': expected settings"),
    "an unknown setting of a column": ("columns: {age: {rule: x}}", "In column 'age': unknown setting 'rule'"),
    "an order that is a text": ("columns: {age: {order: SML}}", "column 'age': order: expected a list"),
    "reading as a text": ("reading: csv", "In reading: expected settings"),
    "an unknown setting of reading": ("reading: {comma: x}", "In reading: unknown setting 'comma'"),
    "a delimiter that is a number": ("reading: {delimiter: 5}", "delimiter must be text"),
    "an encoding that is a list": ("reading: {encoding: [utf-8]}", "encoding must be text"),
    "missing as a text": ("reading: {missing: NA}", "reading: missing: expected a list"),
    "repeats as a text": ("repeats: name", "In repeats: expected a list"),
}


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, text, told):
    with pytest.raises(ParameterError) as caught:
        read_recipe(write(tmp_path, text))
    assert told in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_a_recipe_that_is_not_there(tmp_path):
    for path in (tmp_path / "nowhere.yaml", tmp_path):
        with pytest.raises(ParameterError, match="cannot be read"):
            read_recipe(path)


def test_roles_types_and_names_must_exist():
    draft = Schema((Column("age"), Column("sex")))
    with pytest.raises(
        SchemaError, match=r"'age' has an unknown role. Choose one of person, identifier, quasi-identifier"
    ):
        Recipe(columns={"age": {"role": "boss"}}).schema(draft)
    with pytest.raises(SchemaError, match=r"'age' has an unknown type. Choose one of categorical"):
        Recipe(columns={"age": {"type": "float"}}).schema(draft)
    with pytest.raises(SchemaError, match="declares an order but has the type integer"):
        Recipe(columns={"age": {"type": "integer", "order": ["a"]}}).schema(draft)
    with pytest.raises(SchemaError, match="names a value twice"):
        Recipe(columns={"age": {"type": "ordered", "order": [1, 1]}}).schema(draft)
    with pytest.raises(HeaderError, match=r"There is no column 'height'. The table has: age, sex"):
        Recipe(columns={"height": {}}).schema(draft)
    with pytest.raises(HeaderError, match="There is no column 'height'"):
        Recipe(repeats=["height"]).schema(draft)
    with pytest.raises(SchemaError, match="one target"):
        Recipe(columns={"age": {"role": "target"}, "sex": {"role": "target"}}).schema(draft)


def test_roles_given_elsewhere_replace_those_of_the_recipe():
    recipe = Recipe(
        columns={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "ill": {"role": "target"},
            "b": {"role": "other"},
        }
    )
    changed = with_roles(recipe, quasi_identifiers=["b"], target=None)
    assert changed.columns == {
        "age": {"role": Role.OTHER, "type": "integer"},
        "ill": {"role": "target"},
        "b": {"role": Role.QUASI_IDENTIFIER},
    }
    assert recipe.columns["b"] == {"role": "other"}
    assert with_roles(recipe, quasi_identifiers=[]).columns["age"]["role"] is Role.OTHER
    assert with_roles(recipe).columns == recipe.columns


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ({"quasi_identifiers": ["age"], "target": ["age"]}, "cannot be both quasi-identifier and target"),
        ({"quasi_identifiers": ["age"], "sensitive": ["age"]}, "cannot be both quasi-identifier and sensitive"),
        ({"quasi_identifiers": ["age"], "identifiers": ["age"]}, "cannot be both quasi-identifier and identifier"),
        ({"quasi_identifiers": ["age", "age"]}, "cannot be twice quasi-identifier"),
    ],
)
def test_a_column_has_one_role(roles, told):
    with pytest.raises(SchemaError, match=told):
        with_roles(Recipe(), **roles)


@pytest.mark.parametrize("name", ["age", "zip code", 'say "hi"', "a: b", "#x", "yes", "2019", "é", "a\nb", "- x", "{}"])
def test_a_drafted_recipe_is_read_back(tmp_path, name):
    columns = (
        Column(name, Role.QUASI_IDENTIFIER, ColumnType.ORDERED, ("a b", "#c", "null", "1"), "seems: so # really?"),
        Column("ill", Role.TARGET, ColumnType.CATEGORICAL),
    )
    recipe = read_recipe(write(tmp_path, draft_recipe(Schema(columns), k=4)))
    assert recipe.k == 4
    schema = recipe.schema(Schema((Column(name), Column("ill"))))
    assert schema[name].order == ("a b", "#c", "null", "1")
    assert schema.quasi_identifiers == (name,)
    assert schema.target == "ill"


def test_a_draft_from_data_is_a_recipe(tmp_path):
    frame = pl.DataFrame({"id": range(60), "age": [20, 30, 40] * 20, "class": ["x", "y"] * 30})
    schema = draft_schema(read(frame))
    assert read_recipe(write(tmp_path, draft_recipe(schema))).schema(schema).names == schema.names


SEX = Hierarchy.from_paths("sex", [["f", "*"], ["m", "*"]])


def test_a_hierarchy_is_a_file_beside_the_recipe(tmp_path, monkeypatch):
    (tmp_path / "sex.txt").write_text("sex: f, m\n")
    (tmp_path / "elsewhere").mkdir()
    path = write(tmp_path, "columns: {gender: {role: quasi-identifier, hierarchy: sex.txt}}")
    monkeypatch.chdir(tmp_path / "elsewhere")
    recipe = read_recipe(path)
    schema = recipe.schema(Schema((Column("gender"), Column("ill"))))
    assert schema["gender"].hierarchy == Hierarchy("gender", SEX.labels, SEX.parents)
    assert schema["ill"].hierarchy is None


def test_hierarchies_are_read_or_taken(tmp_path):
    (tmp_path / "a.csv").write_text("f;*\nm;*\n")
    recipe = with_hierarchies(Recipe(columns={"a": {"role": "target"}}), {"a": tmp_path / "a.csv", "b": SEX})
    assert recipe.columns["a"]["role"] == "target"
    assert recipe.columns["a"]["hierarchy"].labels == SEX.labels
    assert recipe.columns["b"]["hierarchy"].name == "b"
    named = Recipe(columns={"a": {"hierarchy": str(tmp_path / "a.csv")}})
    assert named.schema(Schema((Column("a"),)))["a"].hierarchy.labels == SEX.labels
    with pytest.raises(ParameterError, match="must be the name of a file"):
        Recipe(columns={"a": {"hierarchy": 5}})


def test_sets_that_are_known_together(tmp_path):
    text = "k: 3\nknown_together:\n  - {columns: [a, b], k: 4}\n  - {columns: [c]}\n"
    recipe = read_recipe(write(tmp_path, text))
    assert recipe.requirement == KnownTogether((KnownSet(("a", "b"), 4), KnownSet(("c",), 3)))
    for wrong in ("known_together: {a: 4}", "known_together: [{k: 4}]", "known_together: [{columns: a, k: 4}]"):
        with pytest.raises(ParameterError, match="known_together"):
            read_recipe(write(tmp_path, wrong))
    with pytest.raises(ParameterError, match="whole number"):
        read_recipe(write(tmp_path, "known_together: [{columns: [a], k: 0}]"))
