"""``incrowd``: one command, a subcommand for each job. Exit status: 0 done, 1 a check failed, 2 refused."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from incrowd.cli.demo import demo
from incrowd.cli.explain import explain
from incrowd.cli.inspect import inspect
from incrowd.cli.methods import methods
from incrowd.cli.release import release
from incrowd.cli.transform import transform
from incrowd.cli.verify import verify
from incrowd.errors import IncrowdError

app = typer.Typer(
    name="incrowd",
    help="Release person-level tables with a counted guarantee and almost no loss of accuracy.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (inspect, release, verify, explain, transform, methods, demo):
    app.command()(command)


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.", is_eager=True)] = False,
) -> None:
    """Release person-level tables with a counted guarantee and almost no loss of accuracy."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"incrowd {installed('incrowd')}")
        raise typer.Exit


class Stopped(BaseException):
    """A signal asked the program to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_status = 128 + number


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)


def main() -> None:
    """Run the command line; errors become one line on standard error, never a value of the table."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        app(standalone_mode=True)
    except IncrowdError as error:
        typer.echo(f"incrowd: {error}", err=True)
        sys.exit(error.exit_status)
    except Stopped as stopped:
        typer.echo("incrowd: interrupted; no half-written file is left", err=True)
        sys.exit(stopped.exit_status)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:
        if os.environ.get("INCROWD_DEBUG"):
            raise
        typer.echo(f"incrowd: {describe_failure(error)}", err=True)
        sys.exit(2)


def describe_failure(error: Exception) -> str:
    """An unexpected failure without its message, which might quote the table."""
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or type(error).__name__}. Nothing was published."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table. Nothing was published."
    frame = error.__traceback__
    place = "?"
    while frame is not None:
        name = frame.tb_frame.f_globals.get("__name__", "")
        if name.startswith("incrowd."):
            place = f"{name}:{frame.tb_lineno}"
        frame = frame.tb_next
    return (
        f"unexpected {type(error).__name__} at {place}; nothing was published. This is a bug: please report "
        "it. INCROWD_DEBUG=1 shows the full trace, which may quote cell values."
    )
