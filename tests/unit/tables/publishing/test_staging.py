"""Atomic publication: the target is the old file or the complete new one, and nothing is left behind."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading

import pytest

from incrowd.errors import OutputError
from incrowd.tables.publishing.staging import check_target, staged


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def target(tmp_path):
    return tmp_path / "out.csv"


def test_the_file_appears_when_the_block_ends(target):
    with staged(target) as draft:
        draft.write_text("new")
        assert not target.exists()
        folder = draft.parent
        assert folder.parent == target.parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert target.read_text() == "new"
    assert names(target.parent) == ["out.csv"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError, OutputError])
def test_an_exception_leaves_the_old_file_and_nothing_else(target, error):
    target.write_text("old")

    def half_written():
        with staged(target) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(error):
        half_written()
    assert target.read_text() == "old"
    assert names(target.parent) == ["out.csv"]


def test_a_block_that_writes_nothing_is_an_error(target):
    target.write_text("old")
    with pytest.raises(OutputError, match=r"out\.csv cannot be written"), staged(target):
        pass
    assert target.read_text() == "old"
    assert names(target.parent) == ["out.csv"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_refusal_of_the_system_leaves_the_old_file(target, monkeypatch, failing):
    target.write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    def publish():
        with staged(target) as draft:
            draft.write_text("new")
            monkeypatch.setattr(os, failing, refuse)

    with pytest.raises(OutputError, match="No space left"):
        publish()
    assert target.read_text() == "old"
    assert names(target.parent) == ["out.csv"]


def test_what_a_killed_run_left_is_swept(target):
    folder = target.parent / ".out.csv.incrowd"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "out.csv").write_text("half a release")
    (folder / "deep" / "er" / "x").write_text("x")
    elsewhere = target.parent / "kept"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("kept")
    (folder / "link").symlink_to(elsewhere)
    folder.chmod(0o755)
    with staged(target) as draft:
        assert names(folder) == []
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        draft.write_text("new")
    assert target.read_text() == "new"
    assert (elsewhere / "precious").read_text() == "kept"
    assert names(target.parent) == ["kept", "out.csv"]


def test_a_planted_link_instead_of_the_folder_is_refused(target, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("kept")
    (tmp_path / ".out.csv.incrowd").symlink_to(elsewhere)
    with pytest.raises(OutputError, match=r"beside out\.csv"), staged(target) as draft:
        draft.write_text("new")
    assert names(elsewhere) == ["precious"]


HOLD = """
import sys
from pathlib import Path
from incrowd.tables.publishing.staging import staged
with staged(Path(sys.argv[1])) as draft:
    draft.write_text("first")
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_run_in_another_process_holds_the_lock(target):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(OutputError, match=r"Another run is writing out\.csv"), staged(target) as draft:
        draft.write_text("second")
    assert not target.exists()
    holder.communicate("")
    assert target.read_text() == "first"
    with staged(target) as draft:
        draft.write_text("third")
    assert target.read_text() == "third"


def test_a_killed_run_holds_no_lock(target):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    holder.stdout.readline()
    holder.kill()
    holder.communicate()
    assert names(target.parent) == [".out.csv.incrowd"]
    with staged(target) as draft:
        draft.write_text("second")
    assert names(target.parent) == ["out.csv"]


def test_many_threads_never_mix_their_files(target):
    """Each run either publishes its whole text or is told that another one writes."""
    texts = [str(i) * 5000 for i in range(8)]
    refused = []

    def publish(text):
        try:
            with staged(target) as draft:
                draft.write_text(text)
        except OutputError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=publish, args=(text,)) for text in texts * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_text() in texts
    assert names(target.parent) == ["out.csv"]
    assert {told for told in refused if not ("Another run" in told or "too busy" in told)} == set()


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_published_file_has_the_users_usual_mode(target, mask, mode):
    before = os.umask(mask)
    try:
        with staged(target) as draft:
            draft.write_text("new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_file_that_was_made_private_stays_private(target):
    with staged(target) as draft:
        draft.touch(mode=0o600)
        draft.write_text("private")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_what_is_not_an_ordinary_file_is_refused(tmp_path):
    ordinary = tmp_path / "ordinary.csv"
    ordinary.write_text("old")
    link, dangling, pipe, folder, sock = (tmp_path / name for name in ("link", "dangling", "pipe", "folder", "sock"))
    link.symlink_to(ordinary)
    dangling.symlink_to(tmp_path / "nowhere")
    os.mkfifo(pipe)
    folder.mkdir()
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        listener.bind("sock")
    finally:
        os.chdir(here)
        listener.close()
    kinds = {link: "link", dangling: "link", pipe: "pipe", folder: "folder", sock: "socket"}
    for path, kind in kinds.items():
        with pytest.raises(OutputError, match=f"is a {kind}, not an ordinary file"):
            check_target(path)
        with pytest.raises(OutputError, match=kind), staged(path) as draft:
            draft.write_text("new")
    assert ordinary.read_text() == "old"
    with pytest.raises(OutputError, match="is a device"):
        check_target(type(tmp_path)("/dev/null"))


def test_a_missing_folder_and_the_input_itself_are_refused(tmp_path):
    with pytest.raises(OutputError, match="folder does not exist"):
        check_target(tmp_path / "nowhere" / "out.csv")
    table = tmp_path / "in.csv"
    table.write_text("a\n1\n")
    check_target(table)
    check_target(table, (tmp_path / "other.csv",))
    for twin in (table, tmp_path / "." / "in.csv"):
        with pytest.raises(OutputError, match="is the input itself"):
            check_target(twin, (table,))
    hard = tmp_path / "hard.csv"
    os.link(table, hard)
    with pytest.raises(OutputError, match="is the input itself"):
        check_target(hard, (table,))


def test_a_name_that_is_too_long_is_refused(tmp_path):
    for length in (260, 250):
        with pytest.raises(OutputError, match="File name too long"), staged(tmp_path / ("x" * length)) as draft:
            draft.write_text("new")
    assert names(tmp_path) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / ".out.csv.incrowd").write_text("planted")
    with pytest.raises(OutputError, match="Nothing can be written"), staged(tmp_path / "out.csv") as draft:
        draft.write_text("new")
    assert names(tmp_path) == [".out.csv.incrowd"]


def test_a_run_that_ends_leaves_the_folder_of_the_next_alone(target, monkeypatch):
    """Between removing its folder and closing its lock another run may have made the folder anew."""
    close, folder = os.close, target.parent / f".{target.name}.incrowd"

    def close_late(handle):
        folder.mkdir(exist_ok=True)
        close(handle)

    with staged(target) as draft:
        draft.write_text("whole")
        monkeypatch.setattr(os, "close", close_late)
    monkeypatch.undo()
    assert folder.is_dir()
