"""Files that another package converts, and hierarchies that another package builds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import FileFormatError, IncrowdError, ParameterError, PluginError
from incrowd.optional import plugins
from incrowd.releases.job import Job, Targets
from incrowd.releases.pipeline import run_release
from incrowd.tables.hierarchies.draft import draft_hierarchy, encoded_columns
from incrowd.tables.reading.read import is_known, read
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.hierarchy import Hierarchy
from support.plugin_folder import put_package

CODE = """
import polars as pl
from pathlib import Path

def convert(path, to):
    Path("seen").write_text(f"{to.parent.stat().st_mode & 0o777:o}")
    pl.read_csv(path, separator=" ").write_parquet(to)

def fail(path, to):
    raise KeyError("secret word")

def nothing(path, to):
    pass

def flat(column, target):
    return Hierarchy.from_paths(column.name, [[word, "*"] for word in column.dictionary.to_list()[1:]])

from incrowd.vocabulary.hierarchy import Hierarchy
"""
WORDS = pl.DataFrame({"job": ["cook", "nurse"] * 5})


@pytest.fixture(autouse=True)
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    formats = {"spaced": "converting:convert", "bad": "converting:fail", "none": "converting:nothing"}
    points = {"formats": formats, "hierarchies": {"flat": "converting:flat"}}
    put_package(tmp_path, monkeypatch, "converting", CODE, points)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where no other test makes folders
    for ending in ("spaced", "bad", "none", "unheard"):
        Path(f"people.{ending}").write_text("age ill\n" + "30 no\n41 yes\n" * 10, encoding="utf-8")
    yield
    plugins.cache_clear()


def test_a_file_is_read_through_a_private_copy_that_is_gone_afterwards() -> None:
    before = set(Path(tempfile.gettempdir()).glob("incrowd-*"))
    source = read("people.spaced")
    assert source.frame.columns == ["age", "ill"]
    assert [(notice.code, notice.where) for notice in source.notices] == [("converted", "converting 1.0")]
    assert Path("seen").read_text() == "700"
    assert set(Path(tempfile.gettempdir()).glob("incrowd-*")) == before
    assert is_known(Path("a.csv.gz"))
    assert not is_known(Path("people.spaced"))


@pytest.mark.parametrize(
    ("ending", "error", "told"),
    [
        ("bad", PluginError, "The file format 'bad' of converting 1.0 raised KeyError"),
        ("none", FileFormatError, "The file format 'none' of converting 1.0 wrote no file"),
        ("unheard", FileFormatError, "does not say what it holds"),
        ("absent", FileFormatError, "is not a file that can be read"),
    ],
)
def test_what_cannot_be_converted_is_refused_without_a_word_of_it(ending, error, told) -> None:
    columns = {"age": {"role": "quasi-identifier"}, "ill": {"role": "target"}}
    for attempt in (
        lambda: read(f"people.{ending}"),
        lambda: run_release(Job(f"people.{ending}", Recipe(k=5, columns=columns), Targets(Path("out.csv")))),
    ):
        with pytest.raises(error, match=told) as refused:
            attempt()
        assert "secret" not in str(refused.value)
    assert not list(Path().glob("*out*"))


def test_a_population_is_read_without_plug_ins() -> None:
    columns = {"age": {"role": "quasi-identifier"}, "ill": {"role": "target"}}
    recipe = Recipe(k=2, columns=columns, require="k-map=3", population="people.spaced")
    with pytest.raises(ParameterError, match="The population is read without plug-ins"):
        run_release(Job(pl.DataFrame({"age": [30, 41] * 5, "ill": ["no", "yes"] * 5}), recipe))


def test_a_hierarchy_of_somebody_else_has_a_place_for_every_value() -> None:
    (job,) = encoded_columns(read(WORDS), "job")

    def whole(column, target):
        return Hierarchy.from_paths(column.name, [[word, "*"] for word in column.dictionary.to_list()])

    assert draft_hierarchy(job, kind=whole).labels == ("*", "cook", "nurse")
    with pytest.raises(IncrowdError, match="has a gap: 1 of 2 distinct values"):
        draft_hierarchy(job, kind="flat")
    with pytest.raises(ParameterError, match="has to return"):
        draft_hierarchy(job, kind=lambda *_: "*")
    with pytest.raises(ParameterError, match=r"kind must be one of intervals, .*, flat\."):
        draft_hierarchy(job, kind="flatter")
