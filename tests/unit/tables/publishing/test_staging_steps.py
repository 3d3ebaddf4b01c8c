"""The steps of a publication, one by one: what each does, and what it does where the system refuses."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from incrowd.errors import OutputError, VerificationError
from incrowd.tables.publishing import staging
from incrowd.tables.publishing.staging import (
    Drafts,
    Exchange,
    check_target,
    flush,
    keep_mode,
    staged_together,
)


def file(path, text="x", mode=None):
    path.write_text(text)
    if mode is not None:
        path.chmod(mode)
    return path


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def refusing(number=errno.EPERM):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.fixture
def flushed(monkeypatch):
    """The folders and files whose names or bytes were waited for."""
    found = []
    monkeypatch.setattr(staging, "flush", found.append)
    return found


# exchange


def test_a_file_is_taken_away_and_put_back(tmp_path, flushed):
    target, kept, exchange = file(tmp_path / "a", "old"), tmp_path / "kept", Exchange()
    exchange.withdraw(target, kept)
    assert (target.exists(), kept.read_text(), flushed) == (False, "old", [tmp_path])
    exchange.undo()
    assert (target.read_text(), kept.exists()) == ("old", False)


def test_where_no_file_is_none_is_taken_away(tmp_path, flushed):
    exchange = Exchange()
    exchange.withdraw(tmp_path / "a", tmp_path / "kept")
    exchange.undo()
    assert (list(tmp_path.iterdir()), flushed) == ([], [])


def test_a_draft_takes_the_place_of_a_file(tmp_path, flushed):
    target, draft, kept = file(tmp_path / "a", "old"), file(tmp_path / "draft", "new"), tmp_path / "kept"
    exchange, old = Exchange(), target.stat().st_ino
    exchange.place(draft, target, kept)
    assert (target.read_text(), kept.read_text(), draft.exists(), flushed) == ("new", "old", False, [tmp_path])
    assert kept.stat().st_ino == old  # the file itself, under a second name
    exchange.undo()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_draft_takes_a_free_place(tmp_path, flushed):
    target, draft, exchange = tmp_path / "a", file(tmp_path / "draft", "new"), Exchange()
    exchange.place(draft, target, tmp_path / "kept")
    assert (target.read_text(), flushed) == ("new", [tmp_path])
    exchange.undo()
    assert list(tmp_path.iterdir()) == []
    exchange.undo()  # there is nothing left to take back


def test_what_was_never_placed_is_not_removed(tmp_path, monkeypatch):
    target, draft, exchange = tmp_path / "a", file(tmp_path / "draft", "new"), Exchange()
    monkeypatch.setattr(Path, "replace", refusing())
    with pytest.raises(PermissionError):
        exchange.place(draft, target, tmp_path / "kept")
    file(target, "of somebody else")
    exchange.undo()
    assert (target.read_text(), draft.read_text()) == ("of somebody else", "new")


def test_what_cannot_be_put_back_keeps_nothing_else_from_it(tmp_path):
    one, two, three = (file(tmp_path / name, name) for name in "abc")
    exchange = Exchange()
    for target in (one, two, three):
        exchange.withdraw(target, tmp_path / f"kept {target.name}")
    (tmp_path / "kept b").unlink()
    exchange.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


def test_the_last_change_is_taken_back_first(tmp_path):
    target, exchange = file(tmp_path / "a", "old"), Exchange()
    exchange.withdraw(target, tmp_path / "kept")
    exchange.place(file(tmp_path / "draft", "new"), target, tmp_path / "kept too")
    exchange.undo()
    assert target.read_text() == "old"


@pytest.mark.parametrize("error", [errno.EPERM, errno.EXDEV, None])
def test_a_copy_is_kept_where_there_are_no_second_names(tmp_path, monkeypatch, error):
    target, kept = file(tmp_path / "a", "old", 0o640), tmp_path / "kept"
    if error is None:
        monkeypatch.delattr(os, "link")
    else:
        monkeypatch.setattr(os, "link", refusing(error))
    exchange = Exchange()
    exchange.place(file(tmp_path / "draft", "new"), target, kept)
    assert (kept.read_text(), mode_of(kept), target.read_text()) == ("old", 0o640, "new")


# modes


def expected_mode(draft, target):
    """Bit by bit: who may do with the file what was possible before, unless the draft is for its owner alone."""
    private = all(bit not in "rwx" for bit in stat.filemode(draft | stat.S_IFREG)[4:])
    return sum(1 << place for place in range(9) if target >> place & 1 and (place >= 6 or not private))


@pytest.mark.parametrize("target", [0o600, 0o640, 0o644, 0o755, 0o777, 0o444, 0o4755, 0o2751, 0o501])
@pytest.mark.parametrize("draft", [0o600, 0o700, 0o400, 0o644, 0o664, 0o601, 0o610, 0o640, 0o602])
def test_a_draft_may_be_used_by_those_who_could(tmp_path, draft, target):
    new, old = file(tmp_path / "draft", mode=draft), file(tmp_path / "a", mode=target)
    keep_mode(new, old)
    assert mode_of(new) == expected_mode(draft, target)


def test_a_draft_for_a_free_place_stays_as_it_is(tmp_path):
    draft = file(tmp_path / "draft", mode=0o641)
    keep_mode(draft, tmp_path / "nothing")
    assert mode_of(draft) == 0o641


class Elsewhere:
    """A file of another group."""

    def __init__(self, path):
        self.path = path

    def stat(self):
        found = self.path.stat()
        return os.stat_result((*found[:5], found.st_gid + 1, *found[6:]))


@pytest.mark.parametrize("mode", [0o664, 0o777, 0o610])
@pytest.mark.parametrize("refused", [False, True])
def test_a_file_stays_in_its_group_or_its_group_loses_its_rights(tmp_path, monkeypatch, mode, refused):
    asked = []

    def chown(*given):
        asked.append(given)
        if refused:
            raise PermissionError

    monkeypatch.setattr(os, "chown", chown)
    draft, target = file(tmp_path / "draft", mode=0o644), file(tmp_path / "a", mode=mode)
    keep_mode(draft, Elsewhere(target))
    assert asked == [(draft, -1, target.stat().st_gid + 1)]
    assert mode_of(draft) == (mode & 0o707 if refused else mode)
    keep_mode(draft, target)
    assert len(asked) == 1  # it is in the group


# the disk


@pytest.mark.parametrize("posix", [True, False])
def test_bytes_and_names_are_waited_for(tmp_path, monkeypatch, posix):
    done = []
    usual = os.open
    monkeypatch.setattr(os, "open", lambda path, flags: done.append(("open", path, flags)) or usual(path, flags))
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(("sync", os.fstat(handle).st_ino)))
    if not posix:
        monkeypatch.delattr(os, "O_DIRECTORY")
    path = file(tmp_path / "a")
    handles = len(os.listdir("/proc/self/fd"))
    flush(path)
    assert done == [("open", path, os.O_RDONLY if posix else os.O_RDWR), ("sync", path.stat().st_ino)]
    done.clear()
    flush(tmp_path)
    assert done == ([("open", tmp_path, os.O_RDONLY), ("sync", tmp_path.stat().st_ino)] if posix else [])
    monkeypatch.setattr(os, "fsync", refusing(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        flush(path)
    assert len(os.listdir("/proc/self/fd")) == handles


# targets


def test_where_a_file_may_be_written(tmp_path):
    table, other = file(tmp_path / "in.csv"), file(tmp_path / "out.csv")
    check_target(tmp_path / "new.csv", (table,))
    check_target(other, (table, tmp_path / "nothing"))
    for inputs in ((table,), (other, table), (table, other), (tmp_path / "nothing", table)):
        with pytest.raises(OutputError, match="is the input itself"):
            check_target(table, inputs)


def test_why_a_target_cannot_be_looked_at_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "lstat", refusing(errno.EACCES))
    with pytest.raises(OutputError, match=r"^out\.csv cannot be written: Permission denied\.$"):
        check_target(tmp_path / "out.csv")


# drafts


def test_drafts_must_be_what_was_verified(tmp_path):
    one, two = file(tmp_path / "one", "1"), file(tmp_path / "two", "2")
    drafts = Drafts({tmp_path / "target": one})
    assert dict(drafts) == {tmp_path / "target": one}
    assert dict(Drafts()) == {}
    drafts.check(one)  # nothing was said of it
    drafts.keep(one, two, digests=[hashlib.sha256(b"1").hexdigest()])
    drafts.check(one)
    drafts.check(two)
    file(one, "another")
    with pytest.raises(VerificationError, match="one changed after it was verified"):
        drafts.check(one)
    drafts.keep(one, digests=[hashlib.sha256(b"another").hexdigest()])
    drafts.check(one)


def test_a_draft_that_changes_is_not_published(tmp_path):
    target, beside = file(tmp_path / "a", "old"), tmp_path / "b"

    def publish():
        with staged_together(target, [beside]) as drafts:
            for draft in drafts.values():
                file(draft, "new")
            drafts.keep(drafts[target], digests=[hashlib.sha256(b"verified").hexdigest()])

    with pytest.raises(VerificationError, match="a changed after"):
        publish()
    assert (target.read_text(), beside.exists()) == ("old", False)


def test_files_appear_in_an_order_that_never_lies(tmp_path, monkeypatch):
    """The old certificate goes first and the new one comes last; a release of two goes while its groups change."""
    done = []
    for name in ("withdraw", "place"):
        usual = getattr(Exchange, name)

        def noted(self, *given, name=name, usual=usual):
            done.append((name, given[-2].name))
            usual(self, *given)

        monkeypatch.setattr(Exchange, name, noted)
    target, plan, groups, certificate = (tmp_path / name for name in ("out", "plan", "groups", "certificate"))

    def publish(**others):
        done.clear()
        with staged_together(target, [plan], **others) as drafts:
            for draft in drafts.values():
                file(draft, "new")
        return done

    assert publish() == [("place", "plan"), ("place", "out")]
    assert publish(certificate=certificate) == [
        ("withdraw", "certificate"),
        ("place", "plan"),
        ("place", "out"),
        ("place", "certificate"),
    ]
    assert publish(certificate=certificate, groups=groups) == [
        ("withdraw", "certificate"),
        ("withdraw", "out"),
        ("place", "plan"),
        ("place", "groups"),
        ("place", "out"),
        ("place", "certificate"),
    ]
    assert publish(groups=groups) == [("withdraw", "out"), ("place", "plan"), ("place", "groups"), ("place", "out")]
    assert staging._RUNNING == []
