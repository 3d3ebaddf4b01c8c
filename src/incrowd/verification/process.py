"""Ask the process that verifies, and believe nothing but its verdict.

A verdict counts only if the process ended with the status that means it, and wrote it down beside the number that was
used once for this request. A process that died, was killed or said something else has given no verdict, and what has
no verdict is not published.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from incrowd import errors
from incrowd.errors import IncrowdError, UndeterminedError
from incrowd.verification.request import Request
from incrowd.verification.verdict import Verdict

Progress = Callable[[int, int], None]
_STATUSES = {0: True, 1: False}
_COMMAND = ("-P", "-m", "incrowd.verification")  # no module of the folder that data lie in


def verdict_on(request: Request, folder: Path, progress: Progress | None = None) -> Verdict:
    """The verdict of the verification process; ``folder`` is private, for the request and the answer.

    Raises the error that kept the process from a verdict, :class:`UndeterminedError` if it has none to give.
    """
    nonce = secrets.token_hex(16)
    document, answer = folder / "request.json", folder / f"verdict-{nonce}.json"
    document.write_text(request.to_text(), encoding="utf-8")
    question = {"request": str(document.resolve()), "answer": str(answer.resolve()), "nonce": nonce}
    status = _verifier().ask(json.dumps(question), progress or (lambda _done, _rows: None))
    return _believed(status, answer, nonce)


def start() -> None:
    """Start the process, which takes some time, while there is other work to do."""
    _verifier()


def _believed(status: int, answer: Path, nonce: str) -> Verdict:
    reply: dict[str, Any]
    try:
        reply = json.loads(answer.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        reply = {}
    answer.unlink(missing_ok=True)
    if reply.get("nonce") == nonce and "error" in reply and status in (1, 2):
        raise _error(*reply["error"])
    mine = reply.get("nonce") == nonce and "verdict" in reply
    verdict = Verdict.from_json(reply["verdict"], **reply["counted"]) if mine else None
    if verdict is None or _STATUSES.get(status) is not verdict.passed:
        raise UndeterminedError(
            f"The verification ended without a verdict (status {status}). Nothing was published: try again, with more "
            "memory if it was limited."
        )
    return verdict


def _error(kind: str, message: str) -> IncrowdError:
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, IncrowdError):
        return known(message)
    return UndeterminedError(message)


@dataclass(eq=False)
class Verifier:
    """The process, and the one at a time who asks it."""

    process: subprocess.Popen[str]
    owner: int
    turn: threading.Lock

    @classmethod
    def start(cls) -> Verifier:
        """Start it: by the same interpreter, from the same place, deaf to what interrupts this program."""
        command = [sys.executable, *_COMMAND]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        apart: dict[str, Any] = {"start_new_session": True}
        if _in_one_group():
            apart = {}
        elif hasattr(subprocess, "CREATE_NEW_PROCESS_GROUP"):  # the same on Windows
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        process = subprocess.Popen(command, text=True, env=environment, **apart, **pipes)
        return cls(process, os.getpid(), threading.Lock())

    @property
    def is_mine(self) -> bool:
        """Whether it can be asked: it runs, and was started by this process, not by the one this is a fork of."""
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(self, line: str, progress: Progress) -> int:
        """The exit status of the judgement on one request."""
        with self.turn:
            try:
                return self._answered(line, progress)
            except BaseException:
                self.end()
                raise

    def _answered(self, line: str, progress: Progress) -> int:
        stdin, stdout = self._pipes
        with suppress(BrokenPipeError):
            stdin.write(line + "\n")
            stdin.flush()
        for words in stdout:
            heard = json.loads(words)
            if "status" in heard:
                return int(heard["status"])
            progress(heard["done"], heard["rows"])
        return self.process.wait()

    @property
    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout

    def end(self) -> None:
        """End it, with what it has started."""
        if self.owner != os.getpid():
            return
        with suppress(OSError):
            leads = hasattr(os, "killpg") and not _in_one_group()
            os.killpg(self.process.pid, signal.SIGKILL) if leads else self.process.kill()
        self.process.wait()


def _in_one_group() -> bool:
    """Whether all processes of this program stay in one group, which whoever started it ends at once."""
    return bool(os.environ.get("INCROWD_ONE_GROUP"))


_RUNNING: list[Verifier] = []
_STARTING = threading.Lock()


def _verifier() -> Verifier:
    """The running process of this one; a new one if there is none."""
    with _STARTING:
        for running in _RUNNING:
            if running.is_mine:
                return running
        started = Verifier.start()
        _RUNNING[:] = [started]
        return started


@atexit.register
def _end_all() -> None:
    for verifier in _RUNNING:
        verifier.end()
