"""A verdict is an exit status and what was written beside a number used once; anything else is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_judge import request

from incrowd.errors import FileFormatError, UndeterminedError, VerificationError
from incrowd.verification import process
from incrowd.verification.process import Verifier, verdict_on


def test_the_process_gives_the_verdict(tmp_path):
    told = []
    verdict = verdict_on(request(tmp_path), tmp_path, lambda *rows: told.append(rows))
    assert verdict.passed
    assert verdict.input_rows == 60
    assert verdict.unchanged is not None
    assert not list(tmp_path.glob("verdict-*"))


def test_a_no_is_a_no(tmp_path):
    assert not verdict_on(request(tmp_path, columns=request(tmp_path).columns[:-1]), tmp_path).passed


def test_errors_come_back_as_what_they_are(tmp_path):
    asked = request(tmp_path)
    asked.release.unlink()
    with pytest.raises(FileFormatError):
        verdict_on(asked, tmp_path)
    np_file = request(tmp_path).hint.origin
    np_file.write_bytes(b"no array")
    with pytest.raises(FileFormatError, match="broke off"):
        verdict_on(request_with_hint(tmp_path, b"no array"), tmp_path)


def request_with_hint(tmp_path, data):
    asked = request(tmp_path)
    asked.hint.origin.write_bytes(data)
    return asked


def answered(tmp_path, status, **answer):
    """What is believed of a process that ends with a status and writes an answer."""
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer))
    return process._believed(status, path, "nonce")


PASSED = {
    "passed": True,
    "checks": [],
    "rows": 1,
    "classes": 1,
    "smallest_class": 1,
    "class_size_histogram": [[1, 1]],
}
COUNTED = {"input_rows": 1, "shown": {}, "digests": [], "unchanged": None}


def test_a_verdict_that_fits_its_status_is_believed(tmp_path):
    assert answered(tmp_path, 0, nonce="nonce", verdict=PASSED, counted=COUNTED).passed


@pytest.mark.parametrize("status", [1, 2, -9, -11, 139])
def test_a_pass_with_another_status_is_none(tmp_path, status):
    with pytest.raises(UndeterminedError):
        answered(tmp_path, status, nonce="nonce", verdict=PASSED, counted=COUNTED)


def test_a_failed_verdict_with_the_status_of_a_pass_is_none(tmp_path):
    failed = PASSED | {"checks": [{"name": "rows", "passed": False, "found": ""}]}
    with pytest.raises(UndeterminedError):
        answered(tmp_path, 0, nonce="nonce", verdict=failed, counted=COUNTED)
    assert not answered(tmp_path, 1, nonce="nonce", verdict=failed, counted=COUNTED).passed


def test_an_answer_to_another_request_is_none(tmp_path):
    with pytest.raises(UndeterminedError):
        answered(tmp_path, 0, nonce="another", verdict=PASSED, counted=COUNTED)
    with pytest.raises(UndeterminedError):
        answered(tmp_path, 0, verdict=PASSED, counted=COUNTED)


def test_no_answer_is_none(tmp_path):
    with pytest.raises(UndeterminedError):
        process._believed(0, tmp_path / "nothing.json", "nonce")
    (tmp_path / "half.json").write_text('{"nonce": "non')
    with pytest.raises(UndeterminedError):
        process._believed(0, tmp_path / "half.json", "nonce")


def test_an_error_that_was_told_keeps_its_kind(tmp_path):
    with pytest.raises(VerificationError, match="twice"):
        answered(tmp_path, 1, nonce="nonce", error=["VerificationError", "twice"])
    with pytest.raises(UndeterminedError):
        answered(tmp_path, 2, nonce="nonce", error=["os", "x"])
    with pytest.raises(UndeterminedError):
        answered(tmp_path, 0, nonce="nonce", error=["VerificationError", "twice"])


def test_a_process_that_was_killed_is_started_again(tmp_path):
    assert verdict_on(request(tmp_path), tmp_path).passed
    os.kill(process._RUNNING[0].process.pid, signal.SIGKILL)
    process._RUNNING[0].process.wait()
    assert verdict_on(request(tmp_path), tmp_path).passed


def test_a_process_that_dies_has_given_no_verdict(tmp_path):
    quiet = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    dying = Verifier(quiet, os.getpid(), process.threading.Lock())
    assert dying.ask("{}", lambda *_: None) == 0  # it ended well, and said nothing
    with pytest.raises(UndeterminedError):
        process._believed(0, tmp_path / "nothing.json", "nonce")


def test_the_fork_is_confined():
    code = (
        "import socket, sys\n"
        "from incrowd.verification.__main__ import _confine\n"
        "_confine(10**9)\n"
        "try:\n    socket.create_connection(('127.0.0.1', 9), 1)\n"
        "except PermissionError:\n    print('no network')\n"
        "try:\n    held = bytearray(5 * 10**9)\n"
        "except MemoryError:\n    print('no more memory')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["no network", "no more memory"]


def test_what_the_process_imports_is_the_verification_alone():
    code = (
        "import sys\nfrom incrowd.verification.__main__ import _import_all\n_import_all()\n"
        "print(sorted({name.split('.')[1] for name in sys.modules if name.startswith('incrowd.')}))\n"
        "print([name for name in ('polars', 'numba', 'sklearn', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['errors', 'verification', 'vocabulary']", "[]"]
    assert Path(process.__file__).name == "process.py"
