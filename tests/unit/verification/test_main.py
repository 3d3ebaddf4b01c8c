"""The process that verifies: what it answers, what a fork of it may do, and what it does not load."""

from __future__ import annotations

import ctypes
import io
import json
import os
import resource
import sys
import traceback
from types import SimpleNamespace

import pytest
from test_request import LEAST

from incrowd.errors import FileFormatError, UndeterminedError, VerificationError
from incrowd.verification import __main__ as main
from incrowd.verification import judge as judging
from incrowd.verification.unchanged_counts import Alone, SetCounts, UnchangedCounts
from incrowd.verification.verdict import Check, ClassSizes, Verdict

UNDONE = UnchangedCounts(40, (SetCounts(("sex",), 10, 4, 4),), 4, 40, 36, (), Alone(0, 0, 0, (), None, {}))


def in_a_fork(act):
    """What a function gives in a process of its own, which may do to itself what it likes."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(act()).encode())
        except BaseException:
            os.write(write, json.dumps(traceback.format_exc()).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as answer:
        return json.loads(answer.read())


# lines


@pytest.fixture
def lines(monkeypatch, capsys):
    monkeypatch.setattr(main, "_import_all", lambda: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\ntwo\n"))
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_line_is_answered(lines, monkeypatch):
    monkeypatch.setattr(main, "_in_a_fork", {"one\n": 0, "two\n": -9}.__getitem__)
    main.serve()
    assert lines() == [{"status": 0}, {"status": -9}]


def test_where_there_are_no_forks_the_process_judges(lines, monkeypatch):
    monkeypatch.delattr(os, "fork")
    monkeypatch.setattr(main, "_judged", {"one\n": 1, "two\n": 2}.__getitem__)
    main.serve()
    assert lines() == [{"status": 1}, {"status": 2}]


def test_what_all_need_is_imported_first(lines, monkeypatch):
    order = []
    monkeypatch.setattr(main, "_import_all", lambda: order.append("imported"))
    monkeypatch.setattr(main, "_in_a_fork", lambda _: order.append("judged"))
    main.serve()
    assert order == ["imported", "judged", "judged"]


def test_words_are_sent_at_once(monkeypatch):
    class Out(io.StringIO):
        sent = ""

        def flush(self):
            self.sent = self.getvalue()

    out = Out()
    monkeypatch.setattr(sys, "stdout", out)
    main._say({"done": 1})
    assert out.sent == '{"done": 1}\n'


# forks


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_status_is_that_of_the_fork(monkeypatch, status):
    mine = os.getpid()
    monkeypatch.setattr(main, "_judged", lambda _: status if os.getpid() != mine else 99)
    assert main._in_a_fork("line") == status


def test_a_fork_that_breaks_off_is_undetermined(monkeypatch):
    def broken(_):
        raise MemoryError

    monkeypatch.setattr(main, "_judged", broken)
    assert main._in_a_fork("line") == 2


def test_a_fork_that_is_killed_has_no_verdict(monkeypatch):
    monkeypatch.setattr(main, "_judged", lambda _: os.kill(os.getpid(), 9))
    assert main._in_a_fork("line") == -9


# a judgement


def judged(folder, monkeypatch, judge):
    """The status and the answer to a request, and what was said meanwhile."""
    said, confined = [], []
    monkeypatch.setattr(main, "_say", said.append)
    monkeypatch.setattr(main, "_confine", confined.append)
    monkeypatch.setattr(judging, "judge", judge)
    (folder / "request.json").write_text(LEAST.to_text(), encoding="utf-8")
    asked = {"request": str(folder / "request.json"), "answer": str(folder / "answer.json"), "nonce": "once"}
    status = main._judged(json.dumps(asked))
    return status, json.loads((folder / "answer.json").read_text(encoding="utf-8")), said, confined


@pytest.mark.parametrize("passed", [True, False])
@pytest.mark.parametrize("undone", [None, UNDONE])
def test_a_verdict_is_written_beside_the_number_of_its_request(tmp_path, monkeypatch, passed, undone):
    found = Verdict(
        ClassSizes(4, 1, 4, ((4, 1),)), (Check("é", passed, "x"),), 9, {"a": {"empty": 1}}, ("d1", "d2"), undone
    )

    def judge(request, progress):
        assert request.to_text() == LEAST.to_text()
        progress(3, 4)
        return found

    status, answer, said, confined = judged(tmp_path, monkeypatch, judge)
    assert status == (0 if passed else 1)
    assert said == [{"done": 3, "rows": 4}]
    assert confined == [None]
    assert answer == {
        "nonce": "once",
        "verdict": found.to_json(),
        "counted": {
            "input_rows": 9,
            "shown": {"a": {"empty": 1}},
            "digests": ["d1", "d2"],
            "unchanged": undone and undone.to_json(),
        },
    }


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (VerificationError("twice"), VerificationError("").exit_status, ["VerificationError", "twice"]),
        (FileFormatError("no file"), FileFormatError("").exit_status, ["FileFormatError", "no file"]),
        (UndeterminedError("who knows"), UndeterminedError("").exit_status, ["UndeterminedError", "who knows"]),
        (ValueError("a cell"), 2, ["FileFormatError", "the verification broke off (ValueError)"]),
        (MemoryError(), 2, ["FileFormatError", "the verification broke off (MemoryError)"]),
        (KeyboardInterrupt(), 2, ["FileFormatError", "the verification broke off (KeyboardInterrupt)"]),
    ],
)
def test_what_keeps_from_a_verdict_is_told_without_cells(tmp_path, monkeypatch, error, status, told):
    def judge(*_):
        raise error

    found, answer, _, _ = judged(tmp_path, monkeypatch, judge)
    assert (found, answer) == (status, {"nonce": "once", "error": told})


# confinement


@pytest.fixture
def confined(monkeypatch):
    """What was left, refused and limited; nothing of it happens to this process."""
    found = SimpleNamespace(left=[], hooks=[], limits=[])
    monkeypatch.setattr(ctypes, "CDLL", lambda *_: SimpleNamespace(unshare=found.left.append))
    monkeypatch.setattr(sys, "addaudithook", found.hooks.append)
    monkeypatch.setattr(resource, "setrlimit", lambda *given: found.limits.append(given))
    return found


def test_a_fork_has_a_user_and_a_network_of_its_own(confined):
    main._confine(None)
    assert confined.left == [0x10000000 | 0x40000000]  # as Linux numbers them


@pytest.mark.parametrize("event", ["socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"])
def test_connections_are_refused(confined, event):
    main._confine(None)
    [hook] = confined.hooks
    with pytest.raises(PermissionError, match="no network"):
        hook(event, ())
    for other in ("open", "import", "socket.__new__"):
        assert hook(other, ()) is None


def test_memory_is_limited_if_it_was(confined):
    main._confine(None)
    assert confined.limits == []
    main._confine(3 * 10**9)
    limit = 6 * 10**9 + 2**31  # with room for what libraries reserve
    assert confined.limits == [(resource.RLIMIT_DATA, (limit, limit))]


@pytest.mark.parametrize("error", [ImportError, OSError, TypeError, ValueError, AttributeError])
def test_what_a_system_cannot_do_is_left_out(error):
    def step():
        raise error

    main._attempt(step)
    done = []
    main._attempt(lambda: done.append(1))
    assert done == [1]


def test_other_errors_are_not_passed_over():
    def step():
        raise KeyError

    with pytest.raises(KeyError):
        main._attempt(step)


# imports


def test_pandas_is_not_there_for_the_verification(monkeypatch):
    asked = []

    def imported():
        monkeypatch.setattr(main.importlib, "import_module", asked.append)
        monkeypatch.delitem(sys.modules, "pandas", raising=False)
        before = len(sys.meta_path)
        main._import_all()
        try:
            import pandas  # noqa: F401
        except ModuleNotFoundError as error:
            return len(sys.meta_path) - before, error.name, asked
        return None

    late = ["pyarrow.compute", "pyarrow.parquet", "numpy.ma", "numpy.random", "_strptime"]
    modules = ["duckdb", *late, "incrowd.verification.judge"]
    assert in_a_fork(imported) == [1, "pandas", modules]
    assert main._WithoutPandas.find_spec("numpy") is None
