"""Several files appear together: all of them or none, whatever is refused and whenever the program dies."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import shutil
import stat

import pytest

from incrowd.errors import OutputError
from incrowd.tables.publishing import staging
from incrowd.tables.publishing.staging import abandon, staged, staged_together

CALLS = ((os, "replace"), (os, "link"), (os, "fsync"), (os, "chmod"), (os, "unlink"), (shutil, "rmtree"))
NAMES = ("out.csv", "out.groups.csv", "out.csv.certificate.json", "plan.json", "report.html")


class Died(BaseException):
    """The process is no more."""


@contextlib.contextmanager
def at_call(monkeypatch, chosen, error):
    """The chosen one of all calls that change files raises; after a death every further call does."""
    seen = []

    def wrap(call):
        @functools.wraps(call)
        def wrapped(*args, **kwargs):
            seen.append(call.__name__)
            if len(seen) - 1 == chosen or (len(seen) > chosen >= 0 and error is Died):
                raise OSError(errno.ENOSPC, "No space left on device") if error is OSError else error
            return call(*args, **kwargs)

        return wrapped

    with monkeypatch.context() as patch:
        for owner, name in CALLS:
            patch.setattr(owner, name, wrap(getattr(owner, name)))
        yield seen


@pytest.fixture
def targets(tmp_path):
    """Release, certificate and groups in one folder, plan and report in another."""
    (tmp_path / "private").mkdir()
    return {name: tmp_path / ("private" if name in ("plan.json", "report.html") else "") / name for name in NAMES}


def publish(targets, paired, text="new"):
    groups = targets["out.groups.csv"] if paired else None
    beside = [targets["plan.json"], targets["report.html"]]
    certificate = targets["out.csv.certificate.json"]
    with staged_together(targets["out.csv"], beside, groups=groups, certificate=certificate) as drafts:
        for draft in drafts.values():
            draft.write_text(text)


def texts(targets):
    return {name: path.read_text() for name, path in targets.items() if path.exists()}


def leftovers(tmp_path):
    return [path.name for path in tmp_path.rglob("*") if path.name.endswith(".incrowd")]


def set_up(targets, paired, before):
    for name, path in targets.items():
        path.unlink(missing_ok=True)
        if before == "all" or (before == "some" and name in ("out.csv", "plan.json")):
            path.write_text("old")
    if not paired:
        targets["out.groups.csv"].unlink(missing_ok=True)
    return texts(targets)


def moments(targets, paired, before, monkeypatch):
    set_up(targets, paired, before)
    with at_call(monkeypatch, -1, OSError) as seen:
        publish(targets, paired)
    assert set(texts(targets).values()) == {"new"}
    return len(seen)


@pytest.mark.parametrize("before", ["all", "some", "none"])
@pytest.mark.parametrize("paired", [False, True])
def test_a_refusal_at_any_moment_leaves_all_as_it_was(targets, tmp_path, paired, before, monkeypatch):
    outcomes = set()
    for chosen in range(moments(targets, paired, before, monkeypatch)):
        old = set_up(targets, paired, before)
        with at_call(monkeypatch, chosen, OSError), contextlib.suppress(OutputError, OSError):
            publish(targets, paired)
        told = texts(targets)
        assert told == old or set(told.values()) == {"new"}, chosen
        outcomes.add("old" if told == old else "new")
        publish(targets, paired, "next")
        assert leftovers(tmp_path) == []
    assert "old" in outcomes


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interruption_at_any_moment_leaves_all_as_it_was(targets, tmp_path, error, monkeypatch):
    for chosen in range(moments(targets, True, "all", monkeypatch)):
        old = set_up(targets, True, "all")
        with at_call(monkeypatch, chosen, error), contextlib.suppress(error):
            publish(targets, True)
        assert texts(targets) == old or set(texts(targets).values()) == {"new"}, chosen


@pytest.mark.parametrize("before", ["all", "some", "none"])
@pytest.mark.parametrize("paired", [False, True])
def test_death_at_any_moment_leaves_nothing_that_does_not_belong_together(
    targets, tmp_path, paired, before, monkeypatch
):
    for chosen in range(moments(targets, paired, before, monkeypatch)):
        old = set_up(targets, paired, before)
        with at_call(monkeypatch, chosen, Died), contextlib.suppress(Died):
            publish(targets, paired)
        told = texts(targets)
        assert set(told.values()) <= {"old", "new"}
        release, certificate = told.get("out.csv"), told.get("out.csv.certificate.json")
        assert certificate is None or certificate == release, chosen
        if certificate == "new":
            assert set(told.values()) == {"new"}
        if paired and release is not None:
            assert told.get("out.groups.csv", "old") == release or "out.groups.csv" not in old
        if release is None and not paired:
            assert "out.csv" not in old
        if release == "new":
            assert told["plan.json"] == told["report.html"] == "new"
        assert {"plan.json", "report.html"} & old.keys() <= told.keys()
        publish(targets, paired, "next")
        assert set(texts(targets).values()) == {"next"}
        assert leftovers(tmp_path) == []


def test_a_file_that_the_block_forgot_is_refused_before_anything_changes(targets, tmp_path):
    set_up(targets, False, "all")
    certificate = targets["out.csv.certificate.json"]

    def forgetful():
        with staged_together(targets["out.csv"], certificate=certificate) as drafts:
            drafts[targets["out.csv"]].write_text("new")

    with pytest.raises(OutputError, match=r"out\.csv\.certificate\.json cannot be written"):
        forgetful()
    assert set(texts(targets).values()) == {"old"}
    assert leftovers(tmp_path) == []


def test_drafts_of_one_folder_lie_together(targets):
    with staged_together(
        targets["out.csv"], [targets["plan.json"]], groups=targets["out.groups.csv"], certificate=None
    ) as drafts:
        assert drafts[targets["out.groups.csv"]].parent == drafts[targets["out.csv"]].parent
        assert drafts[targets["out.csv"]].parent.name == ".out.csv.incrowd"
        assert drafts[targets["plan.json"]].parent.parent == targets["plan.json"].parent
        for draft in drafts.values():
            draft.write_text("new")


def test_two_files_of_one_name_are_refused(tmp_path):
    with (
        pytest.raises(OutputError, match="same name"),
        staged_together(tmp_path / "a", [tmp_path / "x" / ".." / "a"]),
    ):
        pass


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o444, 0o666])
def test_a_file_keeps_its_mode(targets, mode):
    for path in targets.values():
        path.write_text("old")
        path.chmod(mode)
    publish(targets, True)
    assert {stat.S_IMODE(path.stat().st_mode) for path in targets.values()} == {mode}
    with staged(targets["out.csv"]) as draft:
        draft.write_text("newer")
    assert stat.S_IMODE(targets["out.csv"].stat().st_mode) == mode


def test_a_private_draft_stays_private_where_the_file_was_open(tmp_path):
    target = tmp_path / "key"
    target.write_text("old")
    target.chmod(0o644)
    with staged(target) as draft:
        draft.touch(mode=0o600)
        draft.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_group_that_cannot_be_kept_loses_its_rights(tmp_path, monkeypatch):
    target = tmp_path / "out.csv"
    target.write_text("old")
    target.chmod(0o664)
    other = os.stat_result((*target.stat()[:5], target.stat().st_gid + 1, *target.stat()[6:]))
    usual = type(target).stat
    monkeypatch.setattr(
        type(target), "stat", lambda self, **how: other if self == target and not how else usual(self, **how)
    )

    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    with staged(target) as draft:
        draft.write_text("new")
    monkeypatch.undo()
    assert stat.S_IMODE(target.stat().st_mode) == 0o604


def test_no_second_names_on_this_file_system(targets, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    set_up(targets, True, "all")
    publish(targets, True)
    assert set(texts(targets).values()) == {"new"}


def test_a_program_that_gives_up_puts_all_back(targets, monkeypatch):
    """Where the unwinding itself hangs, what was begun is taken back all the same."""
    set_up(targets, False, "all")
    place = staging.Exchange.place

    def hang(self, draft, target, kept):
        if target.name == "out.csv":
            assert targets["plan.json"].read_text() == "new"
            abandon()
            raise Died
        place(self, draft, target, kept)

    monkeypatch.setattr(staging.Exchange, "place", hang)
    with pytest.raises(Died):
        publish(targets, False)
    assert set(texts(targets).values()) == {"old"}
