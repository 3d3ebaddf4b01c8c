"""The verification as a process of its own: ``python -m incrowd.verification``.

It reads lines on its standard input, each naming a request and a file for the verdict, and judges each in a fork of
its own: what was imported before it, and an empty database, are shared; what it does is not. A fork that is killed,
runs out of memory or crashes in native code has given no verdict. Where a system cannot fork, the process itself
judges. The exit status of a fork is the verdict: 0 holds, 1 does not, 2 could not be determined.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOLDS, FAILS, UNKNOWN = 0, 1, 2
_HEADROOM = 1 << 31  # of addresses: libraries reserve more than they touch
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def serve() -> None:
    """Judge what is asked on the standard input until it ends; answer each with a line."""
    gc.disable()  # modules leave no garbage, and each search for it looks at all of them
    _import_all()
    forks = hasattr(os, "fork")
    if forks:
        importlib.import_module("incrowd.verification.opening").prepare()
    gc.freeze()
    gc.enable()
    for line in sys.stdin:
        _say({"status": _in_a_fork(line) if forks else _judged(line)})


def _in_a_fork(line: str) -> int:
    child = os.fork()
    if child == 0:
        status = UNKNOWN
        try:
            status = _judged(line)
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended)


def _judged(line: str) -> int:
    """Judge one request; what was found goes to the file that it names."""
    from incrowd.errors import IncrowdError
    from incrowd.verification.judge import judge
    from incrowd.verification.request import Request
    from incrowd.verification.statistics_files import BY_PANDAS

    question = json.loads(line)
    answer: dict[str, Any] = {"nonce": question["nonce"]}
    try:
        request = Request.from_text(Path(question["request"]).read_text(encoding="utf-8"))
        files = (request.input, request.population, request.form)
        if any(file is not None and file.kind in BY_PANDAS for file in files):
            sys.meta_path = [finder for finder in sys.meta_path if finder is not _WithoutPandas]
        _confine(request.memory)
        verdict = judge(request, lambda done, rows: _say({"done": done, "rows": rows}))
        answer["verdict"] = verdict.to_json()
        answer["counted"] = {
            "input_rows": verdict.input_rows,
            "shown": verdict.shown,
            "digests": verdict.digests,
            "unchanged": verdict.unchanged and verdict.unchanged.to_json(),
            **({} if verdict.beside is None else {"beside": verdict.beside.to_json()}),
            **({} if (persons := verdict.sizes.persons) is None else {"persons": persons.to_json()}),
        }
        status = HOLDS if verdict.passed else FAILS
    except IncrowdError as error:
        answer["error"] = [type(error).__name__, str(error)]
        status = error.exit_status
    except BaseException as error:  # what it says may quote cells
        answer["error"] = ["FileFormatError", f"the verification broke off ({type(error).__name__})"]
        status = UNKNOWN
    Path(question["answer"]).write_text(json.dumps(answer), encoding="utf-8")
    return status


def _say(words: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def _import_all() -> None:
    """Import before the fork what every judgement needs, and nothing that none does."""
    sys.meta_path = [_WithoutPandas, *sys.meta_path]
    late = ("pyarrow.compute", "pyarrow.parquet", "numpy.ma", "numpy.random", "_strptime")  # at first use, else
    for module in ("duckdb", *late, "incrowd.verification.judge"):
        importlib.import_module(module)
    import pyarrow

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # its own asks for large pages, which take longer to clear


class _WithoutPandas:
    """PyArrow imports pandas at its first array, in case it is given a frame: few judgements need it."""

    @staticmethod
    def find_spec(name: str, _path: Any = None, _target: Any = None) -> None:
        """Say of pandas that it is not there."""
        if name == "pandas":
            raise ModuleNotFoundError("the verification does without pandas", name=name)


def _confine(memory: int | None) -> None:
    """No connection to anywhere, and no more memory than was allowed."""
    _attempt(_leave_the_network)
    sys.addaudithook(_refuse_connections)
    if memory is not None:
        _attempt(lambda: _limit(2 * memory + _HEADROOM))


def _limit(bytes_: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (bytes_, bytes_))


def _leave_the_network() -> None:
    """Enter a network of its own that has no other member; Linux lets most users do so."""
    import ctypes

    ctypes.CDLL(None).unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def _refuse_connections(event: str, _arguments: Any) -> None:
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"):
        raise PermissionError("the verification has no network")


def _attempt(step: Callable[[], None]) -> None:
    """Do what only some systems can."""
    try:
        step()
    except (ImportError, OSError, TypeError, ValueError, AttributeError):
        return


if __name__ == "__main__":
    serve()
