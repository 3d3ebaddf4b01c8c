"""How the process that verifies is started, asked, believed and ended; no process is started here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from test_process import COUNTED, PASSED
from test_request import LEAST

from incrowd import errors
from incrowd.errors import UndeterminedError, VerificationError
from incrowd.verification import process
from incrowd.verification.process import Verifier, start, verdict_on
from incrowd.verification.request import Request

FAILED = PASSED | {"checks": [{"name": "rows", "passed": False, "found": "lost"}]}


class Pipe(list):
    """What is written, and whether it was sent."""

    def __init__(self, fault=None):
        super().__init__()
        self.sent, self.fault = 0, fault

    def write(self, text):
        self.append(text)
        if self.fault:
            raise self.fault

    def flush(self):
        self.sent = len(self)


class Child:
    """A process that answers lines."""

    pid = 4711

    def __init__(self, *lines, fault=None, ended=None):
        self.stdin, self.stdout = Pipe(fault), iter(lines)
        self.status, self.told = ended, []

    def poll(self):
        return self.status

    def wait(self):
        self.told.append("waited for")
        return 77

    def kill(self):
        self.told.append("killed")


def verifier(child, owner=None):
    return Verifier(child, os.getpid() if owner is None else owner, threading.Lock())


@pytest.fixture
def ended(monkeypatch):
    """The groups of processes that were ended, and how."""
    groups = []
    monkeypatch.setattr(process.os, "killpg", lambda *given: groups.append(given))
    return groups


def line(**words):
    return json.dumps(words) + "\n"


# asking


def test_a_line_is_sent_and_progress_is_told_until_there_is_a_status(ended):
    child, told = Child(line(done=1, rows=9), line(done=5, rows=9), line(status=1), line(status=0)), []
    assert verifier(child).ask("{...}", lambda *rows: told.append(rows)) == 1
    assert (child.stdin, child.stdin.sent) == (["{...}\n"], 1)
    assert told == [(1, 9), (5, 9)]
    assert ended == []


def test_a_process_that_says_nothing_has_its_own_status(ended):
    for fault in (None, BrokenPipeError()):
        assert verifier(Child(fault=fault)).ask("{}", print) == 77


def test_whoever_is_interrupted_ends_the_process(ended):
    def interrupted(*_):
        raise KeyboardInterrupt

    child = Child(line(done=1, rows=2), line(status=0))
    asked = verifier(child)
    with pytest.raises(KeyboardInterrupt):
        asked.ask("{}", interrupted)
    assert ended == [(4711, signal.SIGKILL)]
    assert child.told == ["waited for"]
    assert not asked.turn.locked()


def test_one_asks_at_a_time():
    asked, held = verifier(Child(line(done=1, rows=2), line(status=0))), []
    asked.ask("{}", lambda *_: held.append(asked.turn.locked()))
    assert held == [True]
    assert not asked.turn.locked()


# ending


def test_only_who_started_it_ends_it(ended):
    child = Child()
    verifier(child, owner=-1).end()
    assert (ended, child.told) == ([], [])
    verifier(child).end()
    assert (ended, child.told) == ([(4711, signal.SIGKILL)], ["waited for"])


def test_a_process_that_is_gone_is_ended_already(monkeypatch):
    def gone(*_):
        raise ProcessLookupError

    monkeypatch.setattr(process.os, "killpg", gone)
    child = Child()
    verifier(child).end()
    assert child.told == ["waited for"]


def test_where_there_are_no_groups_of_processes(monkeypatch):
    monkeypatch.delattr(process.os, "killpg")
    child = Child()
    verifier(child).end()
    assert child.told == ["killed", "waited for"]


def test_all_are_ended_with_the_program(ended, monkeypatch):
    monkeypatch.setattr(process, "_RUNNING", [verifier(Child()), verifier(Child())])
    process._end_all()
    assert ended == [(4711, signal.SIGKILL)] * 2


# starting


@pytest.fixture
def started(monkeypatch):
    """What would have been started."""
    found = []

    def starting(command, **options):
        found.append((command, options))
        return Child(line(status=0))

    monkeypatch.setattr(process.subprocess, "Popen", starting)
    monkeypatch.setattr(process, "_RUNNING", [])
    return found


def test_it_is_the_same_interpreter_from_the_same_places(started, monkeypatch):
    monkeypatch.setattr(sys, "path", ["/one", "", "/two"])
    monkeypatch.setenv("SOMETHING", "more")
    found = Verifier.start()
    assert (found.owner, found.turn.locked(), found.is_mine) == (os.getpid(), False, True)
    [(command, options)] = started
    assert command == [sys.executable, "-P", "-m", "incrowd.verification"]
    assert options.pop("env") == {**os.environ, "PYTHONPATH": os.pathsep.join(["/one", "/two"])}
    assert options == {
        "text": True,
        "start_new_session": True,
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.DEVNULL,
    }


def test_on_windows_it_has_a_group_of_its_own(started, monkeypatch):
    monkeypatch.setattr(process.subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    Verifier.start()
    assert started[0][1]["creationflags"] == 512
    assert "start_new_session" not in started[0][1]


def test_one_process_is_kept_as_long_as_it_can_be_asked(started):
    start()
    [running] = process._RUNNING
    assert process._verifier() is running
    assert (process._RUNNING, len(started)) == ([running], 1)
    running.process.status = -9  # type: ignore[attr-defined]
    assert not running.is_mine
    start()
    [another] = process._RUNNING
    assert (another is running, len(started)) == (False, 2)
    another.owner = -1  # this is a fork
    assert not another.is_mine
    assert process._verifier() not in (running, another)
    assert len(started) == 3


# a request


def answering(monkeypatch, status, answer):
    """Have a process that writes an answer; what it was asked is given back."""
    asked = []

    class Answering:
        def ask(self, words, progress):
            given = json.loads(words)
            asked.append((given, Request.from_text(Path(given["request"]).read_text(encoding="utf-8"))))
            progress(1, 2)
            Path(given["answer"]).write_text(json.dumps({"nonce": given["nonce"], **answer}), encoding="utf-8")
            return status

    monkeypatch.setattr(process, "_verifier", Answering)
    return asked


def test_a_request_is_written_for_the_process_and_the_answer_is_removed(tmp_path, monkeypatch):
    asked = answering(monkeypatch, 0, {"verdict": PASSED, "counted": COUNTED})
    told = []
    assert verdict_on(LEAST, tmp_path, lambda *rows: told.append(rows)).passed
    assert verdict_on(LEAST, tmp_path).passed
    assert told == [(1, 2)]
    (one, request), (two, _) = asked
    assert request.to_text() == LEAST.to_text()
    assert len(bytes.fromhex(one["nonce"])) == 16
    assert one["nonce"] != two["nonce"]
    assert [path.name for path in tmp_path.iterdir()] == ["request.json"]


@pytest.mark.parametrize(
    ("status", "verdict", "believed"),
    [
        (0, PASSED, True),
        (1, FAILED, False),
        (0, FAILED, None),
        (1, PASSED, None),
        (2, FAILED, None),
        (-1, PASSED, None),
    ],
)
def test_a_verdict_must_fit_its_status(tmp_path, monkeypatch, status, verdict, believed):
    answering(monkeypatch, status, {"verdict": verdict, "counted": COUNTED})
    if believed is not None:
        assert verdict_on(LEAST, tmp_path).passed is believed
        return
    with pytest.raises(UndeterminedError, match=rf"without a verdict \(status {status}\)"):
        verdict_on(LEAST, tmp_path)
    assert not list(tmp_path.glob("verdict-*"))


@pytest.mark.parametrize(
    ("status", "kind", "raised"),
    [
        (1, "VerificationError", VerificationError),
        (2, "VerificationError", VerificationError),
        (2, "IncrowdError", errors.IncrowdError),
        (2, "Notice", UndeterminedError),  # a class, but no error
        (2, "annotations", UndeterminedError),  # no class
        (2, "nothing of the kind", UndeterminedError),
    ],
)
def test_an_error_is_raised_as_what_it_is(tmp_path, monkeypatch, status, kind, raised):
    answering(monkeypatch, status, {"error": [kind, "what was said"]})
    with pytest.raises(raised, match=r"^what was said$") as told:
        verdict_on(LEAST, tmp_path)
    assert type(told.value) is raised


@pytest.mark.parametrize("status", [0, 3, -9])
def test_an_error_with_another_status_is_none(tmp_path, monkeypatch, status):
    answering(monkeypatch, status, {"error": ["VerificationError", "what was said"]})
    with pytest.raises(UndeterminedError, match="without a verdict"):
        verdict_on(LEAST, tmp_path)


def test_no_answer_at_all_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_verifier", lambda: verifier(Child(line(status=0))))
    with pytest.raises(UndeterminedError, match=r"without a verdict \(status 0\)"):
        verdict_on(LEAST, tmp_path)


@pytest.mark.parametrize("status", [0, 1, 2])
@pytest.mark.parametrize("told", ["error", "verdict"])
def test_an_answer_beside_another_number_is_none(tmp_path, monkeypatch, status, told):
    answer = {"error": ["VerificationError", "x"]} if told == "error" else {"verdict": PASSED, "counted": COUNTED}
    answering(monkeypatch, status, {**answer, "nonce": "another"})
    with pytest.raises(UndeterminedError, match="without a verdict"):
        verdict_on(LEAST, tmp_path)
    answering(monkeypatch, status, {})
    with pytest.raises(UndeterminedError, match="without a verdict"):
        verdict_on(LEAST, tmp_path)


def test_in_one_group_it_is_ended_by_itself(ended, monkeypatch):
    monkeypatch.setenv("INCROWD_ONE_GROUP", "1")
    child = Child()
    verifier(child).end()
    assert (ended, child.told) == ([], ["killed", "waited for"])
