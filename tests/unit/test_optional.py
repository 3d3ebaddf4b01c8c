"""What other packages add: found by name, loaded when named, refused with the name of the package."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from incrowd.errors import ParameterError, PluginError
from incrowd.methods.catalog import METHODS, MethodEntry, entry_of, find_method, make_method
from incrowd.methods.partitioning.mondrian import Mondrian
from incrowd.optional import find_plugin, package_of, plugins, usable
from incrowd.tables.recipe import Recipe
from support.plugin_folder import put_package

METHOD = """
from dataclasses import dataclass
from typing import ClassVar
from incrowd.methods.method import MethodTraits

@dataclass(frozen=True)
class Nothing:
    '''Shows nothing at all.'''

    name: ClassVar[str] = "nothing"
    traits: ClassVar[MethodTraits] = MethodTraits(needs_target=False)
    numeric: str = "mean"

    def parameters(self):
        return {"numeric": self.numeric}

    def decide(self, population, requirement, randomness, preferences=None):
        return ()

class Plain:
    name = "plain"

@dataclass(frozen=True)
class Silent:
    name: ClassVar[str] = "silent"

    def parameters(self):
        return {}

@dataclass(frozen=True)
class Odd(Nothing):
    name: ClassVar[str] = "odd"
    traits: ClassVar[dict] = {"needs_target": False}
"""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No plug-in of a test is known to the next."""
    yield
    plugins.cache_clear()


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a method, and with others that are none."""
    points = {
        "nothing": "theirs:Nothing",
        "kactus": "theirs:Nothing",
        "plain": "theirs:Plain",
        "silent": "theirs:Silent",
        "odd": "theirs:Odd",
        "other": "theirs:Nothing",
        "gone": "theirs:Gone",
        "missing": "theirs_missing:Gone",
    }
    put_package(tmp_path, monkeypatch, "theirs", METHOD, {"methods": points})


@pytest.mark.usefixtures("theirs")
def test_a_method_of_another_package_is_found_by_its_name_and_knows_its_package() -> None:
    assert "theirs" not in sys.modules
    assert [plugin.package for plugin in plugins("methods")] == ["theirs 1.0"] * 8
    assert "theirs" not in sys.modules
    entry = find_method("nothing")
    assert (entry.name, entry.package, entry.summary) == ("nothing", "theirs 1.0", "Shows nothing at all.")
    assert not entry.needs_target
    assert entry.parameters == {"numeric": "mean"}
    assert make_method("nothing", {"numeric": "x"}).parameters() == {"numeric": "x"}
    with pytest.raises(ParameterError, match=r"nothing has no parameter 'k'\. It has: numeric"):
        make_method("nothing", {"k": 3})
    with pytest.raises(ParameterError, match=r"Did you mean 'nothing'\? Methods: kactus, .*, nothing, "):
        find_method("nothin")


@pytest.mark.usefixtures("theirs")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("plain", "The method 'plain' of theirs 1.0 cannot be used: theirs.Plain is not a method"),
        ("silent", "The method 'silent' of theirs 1.0 cannot be used: The method theirs.Silent has no decide"),
        ("odd", "The traits of theirs.Odd are not"),
        ("other", "The method 'other' of theirs 1.0 cannot be used: it calls itself 'nothing'"),
        ("gone", r"The method 'gone' of theirs 1.0 cannot be loaded \(AttributeError\). Update or remove"),
        ("missing", r"\(ModuleNotFoundError: No module named 'theirs_missing'\)"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_package(name: str, told: str) -> None:
    with pytest.raises(PluginError, match=told):
        find_method(name)


@pytest.mark.usefixtures("theirs")
def test_a_broken_plug_in_does_not_disturb_others_and_none_replaces_what_is_ours() -> None:
    entries, problems = usable("methods", METHODS, entry_of)
    assert [entry.name for entry in entries.values()] == ["nothing"]
    assert len(problems) == 7
    assert "The method 'kactus' of theirs 1.0 is not used: incrowd has its own of that name." in problems
    assert find_method("kactus") is METHODS["kactus"]


@pytest.mark.usefixtures("theirs")
def test_a_name_that_two_packages_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_package(tmp_path, monkeypatch, "others", METHOD, {"methods": {"nothing": "others:Nothing"}})
    with pytest.raises(PluginError, match=r"with the name 'nothing': of others 1\.0 and theirs 1\.0"):
        find_plugin("methods", "nothing")
    assert not usable("methods", METHODS, entry_of)[0]


@pytest.mark.usefixtures("theirs")
def test_a_method_is_an_object_its_class_or_its_entry_wherever_it_is_named() -> None:
    nothing = find_method("nothing").load()
    for method in (nothing, nothing(), nothing(numeric="x"), find_method("nothing")):
        assert find_method(method) == find_method("nothing")
    assert make_method(nothing(numeric="x"), {}) == nothing(numeric="x")
    with pytest.raises(ParameterError, match="nothing is passed as an object, which has its parameters"):
        make_method(nothing(), {"numeric": "x"})
    recipe = Recipe(method=nothing(numeric="x"))
    assert (recipe.method, recipe.parameters) == (nothing, {"numeric": "x"})
    assert Recipe(method=Mondrian()).parameters == {}
    with pytest.raises(ParameterError, match="A method that is passed as an object has its parameters"):
        Recipe(method=nothing(), parameters={"numeric": "x"})
    with pytest.raises(ParameterError, match="the name of a method, or a method as an object"):
        Recipe(method=object())


def test_our_methods_as_objects_are_those_of_the_catalog() -> None:
    assert find_method(Mondrian(numeric="mean")) is METHODS["mondrian"]
    assert isinstance(find_method(Mondrian), MethodEntry)


def test_a_method_that_takes_the_name_of_ours_is_refused() -> None:
    pretender = type("Pretender", (Mondrian,), {})
    with pytest.raises(ParameterError, match="has the name of another method, 'mondrian'"):
        find_method(pretender)
    assert package_of(pretender) == f"the module {__name__}"


def test_who_made_a_class_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    monkeypatch.setattr(
        importlib.metadata, "packages_distributions", lambda: looks.append(1) or {"theirs_once": ["pytest"]}
    )
    theirs, nobodys = (type("Theirs", (), {"__module__": name}) for name in ("theirs_once.methods", "nobodys_once"))
    assert package_of(theirs) == package_of(theirs) == f"pytest {pytest.__version__}"
    assert package_of(nobodys) == package_of(nobodys) == "the module nobodys_once"
    assert len(looks) == 2
