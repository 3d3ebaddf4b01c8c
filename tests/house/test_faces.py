"""Python, command line and recipe have the same options, in the same words: those that are declared."""

from __future__ import annotations

import dataclasses
import inspect

import pytest
from typer.main import get_command

import incrowd
from incrowd.attacks.options import ATTACK
from incrowd.cli.main import COMMANDS as NAMES
from incrowd.cli.main import app
from incrowd.hiding.options import HIDE
from incrowd.models.options import MODEL
from incrowd.releases.options import VERIFY
from incrowd.risk.options import RISK
from incrowd.tables.options import RELEASE, Reading, recipe_keys
from incrowd.vocabulary.option import Absent, options_of

FACES = {
    "release": (incrowd.release, RELEASE),
    "hide": (incrowd.hide_cells, HIDE),
    "model": (incrowd.publish_model, MODEL),
    "verify": (incrowd.verify, VERIFY),
    "risk": (incrowd.measure_risk, RISK),
    "attack": (incrowd.attack_release, ATTACK),
}
COMMANDS = {name: get_command(app).get_command(None, name) for name in NAMES}  # type: ignore[attr-defined]
DECLARED = [
    pytest.param(face, title, group, one, id=f"{face} {one.name}")
    for face, (_, titles) in FACES.items()
    for title, groups in titles.items()
    for group in groups
    for one in options_of(group)
]


def one_line(text):
    return " ".join(text.split())


def owner(function, group):
    """What takes the options of a group: the function, or the class of an argument of it."""
    names = inspect.signature(function).parameters
    if dataclasses.is_dataclass(group):
        assert any(group.__name__ in str(parameter.annotation) for parameter in names.values())
        assert getattr(incrowd, group.__name__) is group
        return group
    if group is Reading and "reading" in names:
        assert "Reading" in names["reading"].annotation
        return None
    return function


@pytest.mark.parametrize(("face", "title", "group", "one"), DECLARED)
def test_python_has_it(face, title, group, one):
    taker = owner(FACES[face][0], group)
    if taker is None:  # a mapping with the keys of the group, which a type checker knows
        assert one.name in Reading.__annotations__
        return
    parameter = inspect.signature(taker).parameters[one.name]
    assert (parameter.default, parameter.annotation) == (one.default, one.type)
    assert one_line(f"{one.name} {one.option.help}") in one_line(taker.__doc__)


@pytest.mark.parametrize(("face", "title", "group", "one"), DECLARED)
def test_the_command_line_has_it_or_it_is_said_why_not(face, title, group, one):
    shown = {parameter.name: parameter for parameter in COMMANDS[face].params}
    if isinstance(one.option.command, Absent):
        assert one.name not in shown
        assert one.option.command.why.endswith(".")
        return
    option = shown[one.name]
    assert set(one.flags) <= set(option.opts)
    assert option.help.partition(" By default ")[0].removesuffix(" May be repeated.") == one.option.help
    assert option.rich_help_panel == title


@pytest.mark.parametrize("one", [p.values[3] for p in DECLARED if p.values[0] == "release"], ids=lambda one: one.name)
def test_the_recipe_has_it_or_it_is_said_why_not(one):
    if isinstance(one.option.recipe, Absent):
        assert one.name not in recipe_keys()
        assert one.option.recipe.why.endswith(".")
    else:
        assert one.key in inspect.signature(incrowd.Recipe).parameters
        assert one.key != one.name or one_line(f"{one.name} {one.option.help}") in one_line(incrowd.Recipe.__doc__)


def test_the_recipe_has_nothing_else():
    assert set(inspect.signature(incrowd.Recipe).parameters) == set(recipe_keys())


@pytest.mark.parametrize("face", FACES)
def test_help_is_a_sentence(face):
    for groups in FACES[face][1].values():
        for one in (one for group in groups for one in options_of(group)):
            assert one.option.help[-1] == "."
            assert len(one.option.help) <= 150


@pytest.mark.parametrize("face", FACES)
def test_the_help_is_readable_in_80_columns(face, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    get_command(app)([face, "--help"], standalone_mode=False)
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert "…" not in told
    assert all(f"─ {title} " in told for title in FACES[face][1])


@pytest.mark.parametrize("face", FACES)
def test_an_unknown_name_is_refused_with_the_one_that_was_meant(face):
    function, groups = FACES[face]
    known = next(one for group in groups.values() for one in options_of(group[0]) if len(one.name) > 3)
    with pytest.raises(TypeError, match=f"argument '{known.name}x'. Did you mean {known.name}"):
        function(None, **{f"{known.name}x": None})


def test_an_option_of_a_group_is_said_to_be_there():
    with pytest.raises(TypeError, match=r"'seed'. Did you mean run=Run\(seed=…\)\?"):
        incrowd.release(None, seed=1)  # type: ignore[call-arg]
