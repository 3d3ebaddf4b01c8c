"""``incrowd``: one command, a subcommand for each job. Exit status: 0 done, 1 a check failed, 2 refused."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Annotated, TextIO

import typer

from incrowd.cli.attack import attack
from incrowd.cli.compare import compare
from incrowd.cli.decode import decode
from incrowd.cli.demo import demo
from incrowd.cli.explain import explain
from incrowd.cli.hide import hide
from incrowd.cli.hierarchy import hierarchy_app
from incrowd.cli.inspect import inspect
from incrowd.cli.keys import keys_app
from incrowd.cli.ledger import ledger_app
from incrowd.cli.methods import datasets, learners, methods
from incrowd.cli.model import model
from incrowd.cli.release import release
from incrowd.cli.risk import risk
from incrowd.cli.transform import transform
from incrowd.cli.verify import verify
from incrowd.errors import IncrowdError, describe_failure, is_panic, speak_as_command

app = typer.Typer(
    name="incrowd",
    help="Release person-level tables with a counted guarantee and almost no loss of accuracy.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (inspect, risk, compare, release, model, hide, verify, attack, explain, transform, decode):
    app.command()(command)
for listing in (methods, learners, datasets):
    app.command()(listing)
app.command()(demo)
app.add_typer(hierarchy_app)
app.add_typer(keys_app)
app.add_typer(ledger_app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"incrowd {version('incrowd')}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Release person-level tables with a counted guarantee and almost no loss of accuracy."""


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_INTERRUPTED = "interrupted; no half-written file is left"
_PATIENCE = 3.0


class Stopped(BaseException):
    """A signal asked the program to end."""


def main(commands: typer.Typer = app) -> None:
    """Run the command line; errors become one line on standard error, never a value of the table."""
    speak_as_command()
    try:
        with _own_words():
            _run(commands)
    finally:
        speak_as_command(command=False)


def _run(commands: typer.Typer) -> None:
    received = _listen()
    try:
        commands(standalone_mode=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except BaseException as error:
        expected = isinstance(error, IncrowdError | Stopped)
        if not (expected or isinstance(error, Exception) or is_panic(error)):
            raise
        if os.environ.get("INCROWD_DEBUG") and not expected:
            raise
        status, message = _ending(error, received)
        typer.echo(f"incrowd: {message}", err=True)
        sys.exit(status)
    finally:
        _set_alarm(0)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _own_words() -> Iterator[None]:
    """Let this program alone write to standard error: a library that panics prints pages, which may quote cells.

    Libraries write to the descriptor itself. It leads nowhere while the command runs; Python has a copy of it.
    """
    if os.environ.get("INCROWD_DEBUG") or not _is_descriptor(sys.stderr, 2):
        yield
        return
    before, copy = sys.stderr, os.dup(2)
    sys.stderr = os.fdopen(copy, "w", buffering=1, encoding=before.encoding, errors=before.errors)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(copy, 2)
        with contextlib.suppress(OSError):
            sys.stderr.close()
        sys.stderr = before


def _is_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (AttributeError, OSError, ValueError):
        return False


def _listen() -> list[int]:
    """Let interrupts and requests to end unwind the program, and note them: libraries turn them into errors.

    What is interrupted at an unlucky moment may wait for ever, a pool of threads for instance. So the program ends
    after a few seconds, unwound or not, where the system has an alarm clock (Windows has none).
    """
    received: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        _set_alarm(_PATIENCE)
        raise Stopped

    def give_up(_number: int, _frame: FrameType | None) -> None:
        _clean_up()
        os.write(sys.stderr.fileno(), f"incrowd: {_INTERRUPTED}\n".encode())
        os._exit(128 + received[0])

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, give_up)
    for number in _SIGNALS:
        signal.signal(number, stop)
    return received


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _clean_up() -> None:
    """Remove what was written and not published, where the unwinding itself was interrupted."""
    from incrowd.tables.publishing.staging import abandon

    abandon()


def _ending(error: BaseException, received: list[int]) -> tuple[int, str]:
    """Exit status and message."""
    if received:
        _clean_up()
        return 128 + received[0], _INTERRUPTED
    if isinstance(error, IncrowdError):
        return error.exit_status, str(error)
    return 2, describe_failure(error)
