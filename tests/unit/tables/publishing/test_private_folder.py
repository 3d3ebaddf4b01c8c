"""The private folder beside a target: made, locked, swept and removed, whatever others do to it meanwhile."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest
from test_staging_steps import file, mode_of, refusing

from incrowd.errors import OutputError
from incrowd.tables.publishing import staging
from incrowd.tables.publishing.staging import abandon, private_folder


def test_the_folder_is_there_for_as_long_as_the_block(tmp_path):
    with private_folder(tmp_path / "out.csv") as folder:
        assert folder == tmp_path / ".out.csv.incrowd"
        assert (list(folder.iterdir()), mode_of(folder), staging._OPEN) == ([], 0o700, {folder})
        file(folder / "draft")
    assert (list(tmp_path.iterdir()), staging._OPEN) == ([], set())


def test_a_folder_that_is_gone_already_is_no_error(tmp_path):
    handles = len(os.listdir("/proc/self/fd"))
    with private_folder(tmp_path / "out.csv") as folder:
        folder.rmdir()
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == handles


def test_a_folder_that_could_not_go_before_its_lock_goes_after_it(tmp_path, monkeypatch):
    monkeypatch.setattr(staging.shutil, "rmtree", lambda *_, **__: None)
    with private_folder(tmp_path / "out.csv"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_is_abandoned_is_removed(tmp_path):
    with private_folder(tmp_path / "one") as one, private_folder(tmp_path / "two") as two:
        file(one / "draft")
        two.rmdir()
        abandon()
        assert list(tmp_path.iterdir()) == []


def test_two_runs_cannot_have_one_folder(tmp_path):
    with private_folder(tmp_path / "out.csv") as folder:
        file(folder / "draft")
        with (
            pytest.raises(OutputError, match=r"^Another run is writing out\.csv\."),
            private_folder(tmp_path / "out.csv"),
        ):
            pass
        assert (folder / "draft").exists()
    with private_folder(tmp_path / "out.csv"):
        pass


@pytest.mark.parametrize("error", [FileNotFoundError, FileExistsError])
@pytest.mark.parametrize("times", [1, 9, 10])
def test_a_folder_that_comes_and_goes_is_asked_for_ten_times(tmp_path, monkeypatch, error, times):
    tried = []
    usual = staging.lock

    def busy(folder):
        tried.append(folder)
        if len(tried) <= times:
            raise error(errno.ENOENT, "gone")
        return usual(folder)

    monkeypatch.setattr(staging, "lock", busy)
    if times < 10:
        with private_folder(tmp_path / "out.csv"):
            assert len(tried) == times + 1
        return
    with pytest.raises(OutputError, match=r"^The folder of out\.csv is too busy"), private_folder(tmp_path / "out.csv"):
        pass
    assert len(tried) == 10


def test_a_folder_that_another_run_removed_meanwhile_is_made_anew(tmp_path, monkeypatch):
    handles, usual, tried = len(os.listdir("/proc/self/fd")), staging.lock, []

    def late(folder):
        handle = usual(folder)
        tried.append(handle)
        if len(tried) < 3:
            folder.rmdir()
        if len(tried) == 2:
            folder.mkdir()
        return handle

    monkeypatch.setattr(staging, "lock", late)
    with private_folder(tmp_path / "out.csv") as folder:
        assert folder.is_dir()
        assert len(tried) == 3
    assert len(os.listdir("/proc/self/fd")) == handles


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC])
def test_a_refusal_is_told(tmp_path, monkeypatch, number):
    monkeypatch.setattr(staging, "lock", refusing(number))
    told = rf"^Nothing can be written beside out\.csv: {os.strerror(number)}\.$"
    with pytest.raises(OutputError, match=told), private_folder(tmp_path / "out.csv"):
        pass


@pytest.mark.parametrize(
    ("make", "waits"),
    [
        (lambda path: None, True),
        (lambda path: path.mkdir(), True),
        (lambda path: path.write_text("planted"), False),
        (lambda path: path.symlink_to(path.parent), False),
        (lambda path: path.symlink_to(path.parent / "nowhere"), False),
        (lambda path: path.parent.rmdir(), False),
    ],
    ids=["nothing", "folder", "file", "link", "dangling link", "no parent"],
)
def test_only_folders_come_and_go(tmp_path, make, waits):
    parent = tmp_path / "parent"
    parent.mkdir()
    make(parent / "folder")
    assert staging._may_come_and_go(parent / "folder") is waits


def test_leftovers_are_swept_and_what_they_lead_to_is_kept(tmp_path):
    folder, elsewhere = tmp_path / ".out.csv.incrowd", tmp_path / "elsewhere"
    for path in (folder, elsewhere, folder / "deep"):
        path.mkdir()
    file(elsewhere / "precious")
    file(folder / "deep" / "x")
    file(folder / "draft")
    (folder / "link").symlink_to(elsewhere)
    (folder / "dangling").symlink_to(tmp_path / "nowhere")
    folder.chmod(0o755)
    with private_folder(tmp_path / "out.csv"):
        assert list(folder.iterdir()) == []
        assert mode_of(folder) == 0o700
    assert (elsewhere / "precious").exists()


def test_leftovers_that_cannot_be_removed_are_told(tmp_path, monkeypatch):
    folder = tmp_path / ".out.csv.incrowd"
    folder.mkdir()
    file(folder / "draft")
    handles = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(Path, "unlink", refusing(errno.EBUSY))
    told = rf"^The leftovers in \.out\.csv\.incrowd cannot be removed: {os.strerror(errno.EBUSY)}\.$"
    with pytest.raises(OutputError, match=told), private_folder(tmp_path / "out.csv"):
        pass
    assert len(os.listdir("/proc/self/fd")) == handles


def test_a_lock_that_is_held_leaves_nothing_open(tmp_path):
    handles = len(os.listdir("/proc/self/fd"))
    first = staging.lock(tmp_path)
    with pytest.raises(BlockingIOError):
        staging.lock(tmp_path)
    os.close(first)
    assert len(os.listdir("/proc/self/fd")) == handles


# where folders cannot be locked


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.delattr(os, "fchmod")


def test_a_file_is_the_lock_where_folders_have_none(tmp_path, windows):
    target = tmp_path / "out.csv"
    with private_folder(target) as folder:
        assert [path.name for path in folder.iterdir()] == ["held by a run"]
        assert mode_of(folder) == 0o700
        file(folder / "draft")
        with pytest.raises(OutputError, match="Another run is writing"), private_folder(target):
            pass
        assert sorted(path.name for path in folder.iterdir()) == ["draft", "held by a run"]
    assert list(tmp_path.iterdir()) == []


def test_leftovers_beside_the_lock_are_swept(tmp_path, windows):
    folder = tmp_path / ".out.csv.incrowd"
    folder.mkdir()
    for name in ("a", "held by a ruler", "z"):
        file(folder / name)
    with private_folder(tmp_path / "out.csv"):
        assert [path.name for path in folder.iterdir()] == ["held by a run"]


def test_the_lock_of_another_run_is_not_ones_own(tmp_path, windows):
    handle = staging.lock(tmp_path)
    assert os.write(handle, b"x") == 1
    assert staging._is_still_there(tmp_path, handle)
    (tmp_path / "held by a run").unlink()
    assert not staging._is_still_there(tmp_path, handle)
    file(tmp_path / "held by a run")
    assert not staging._is_still_there(tmp_path, handle)
    os.close(handle)
