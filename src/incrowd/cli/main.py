"""``incrowd``: one command, a subcommand for each job. Exit status: 0 done, 1 a check failed, 2 refused."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, TextIO

import typer
import typer.core
import typer.main

from incrowd.cli.plain_values import PlainValues
from incrowd.errors import IncrowdError, describe_failure, is_panic, speak_as_command

# The commands in the order of the help, under its titles, each with what the help says of it first. The help of the
# program is written from this alone: the commands are not imported for it. A test compares the two.
PANELS = {
    "In the browser": {
        "desk": "Open the desk: choose data, decide, release and verify in the browser, on this machine only.",
    },
    "Look first": {
        "demo": "Make a table of patients, release it, verify it again, and show what was kept.",
        "inspect": "Show what each column seems to be, and why; draft a recipe.",
        "risk": "Measure the risk of any table: re-identification, uniques, Safe Harbor, the three risks of WP216.",
        "compare": "Compare methods by what classifiers learn from their releases, and say which to use.",
    },
    "Publish": {
        "release": "Release a table: every combination of quasi-identifier values is shared by at least k rows.",
        "model": "Publish a decision tree instead of a table: whoever knows the public attributes cannot tell k people "
        "apart.",
        "hide": "Withhold cells, and as few others as needed, so that the rest of the table does not give them away.",
    },
    "Check": {
        "verify": "Check a release against its certificate, or recount any table or model.",
        "attack": "Attack a release and say how far that goes. Exit status 0: no leak found, 1: a leak, 2: nothing "
        "could be run.",
        "explain": "Say in sentences what a plan does. The plan is private; so is what this prints.",
    },
    "Use a release": {
        "transform": "Show new rows as a plan shows rows like them, for instance to test a classifier on them.",
        "decode": "Make a plain table of a release: one value a cell, for any program.",
    },
    "Keep beside it": {
        "hierarchy": "Draft, check and show hierarchies: the groups that values may be shown as.",
        "keys": "Make and show the keys that sign certificates, and sign with them.",
        "ledger": "The private book of releases: list, check and keep it.",
    },
    "What there is": {
        "methods": "List the release methods: incrowd's own, and those of packages that are installed beside it.",
        "presets": "List the presets of a release, or show one: a recipe fragment, which your own options overrule.",
        "learners": "List the learners that compare can train. Any scikit-learn classifier can be named, too.",
        "datasets": "List the data sets that compare takes by name in place of a file, and where each would come from.",
        "recipe-schema": "Print the JSON Schema of recipes: save it as recipe.schema.json beside them, and editors "
        "complete them.",
    },
}
_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
COMMANDS = tuple(_PANEL_OF)
# a command is in the module of its name, unless it is said here
_ELSEWHERE = {
    "certificates": ("verify", "keys"),
    "methods": ("presets", "learners", "datasets", "recipe_schema"),
    "trust": ("attack", "risk"),
    "use": ("explain", "transform", "decode"),
}
_MODULE_OF = {name: module for module, names in _ELSEWHERE.items() for name in names}
_BELOW = {"desk": "incrowd.desk"}  # in a room that uses this one


_VALUES: dict[Any, str] = {
    Path: "PATH",
    str: "TEXT",
    int: "N",
    float: "NUMBER",
}  # where an option does not say it itself


class OneCommand(PlainValues, typer.core.TyperCommand):
    """A command by itself."""


class CommandsByName(PlainValues, typer.core.TyperGroup):
    """The commands, each imported when it is asked for: a release does not wait for the options of all others."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """All names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; all are there to be suggested where there is none."""
        if cmd_name not in COMMANDS:
            for name in COMMANDS:
                self.get_command(ctx, name)
        elif cmd_name not in self.commands:
            known_as = cmd_name.replace("-", "_")
            place = _BELOW.get(known_as, f"incrowd.cli.{_MODULE_OF.get(known_as, known_as)}")
            module = importlib.import_module(place)
            if (group := getattr(module, f"{known_as}_app", None)) is not None:
                self.commands[cmd_name] = typer.main.get_group(group)
            else:
                alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
                alone.command(cmd_name, cls=OneCommand)(getattr(module, known_as))
                self.commands[cmd_name] = typer.main.get_command(alone)
            self.commands[cmd_name].rich_help_panel = _PANEL_OF[cmd_name]  # type: ignore[attr-defined]
            for command in (self.commands[cmd_name], *getattr(self.commands[cmd_name], "commands", {}).values()):
                _prepare_help(command, ctx)
        return self.commands.get(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Plain text, and no command imported: boxes take longer to draw than all of this."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        options = [record for option in self.get_params(ctx) if (record := option.get_help_record(ctx)) is not None]
        for title, lines in (("Options", options), *((title, list(panel.items())) for title, panel in PANELS.items())):
            with formatter.section(title):
                formatter.write_dl(lines)


def _prepare_help(command: Any, ctx: Any) -> None:
    """Let the terminal break the lines of help, not the source; say of arguments and flags what they take."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.splitlines()) for paragraph in paragraphs)
    for one in (*command.params, *([] if ctx is None else [command.get_help_option(ctx)])):
        if one.metavar is None and one.param_type_name == "argument":
            one.metavar = one.name.upper()
        elif one.metavar is None:
            kind = getattr(getattr(one, "type_descriptor", None), "annotation", None)
            one.metavar = "" if one.is_flag else _VALUES.get(kind)


app = typer.Typer(
    name="incrowd",
    cls=CommandsByName,
    help="Release person-level tables with a counted guarantee and almost no loss of accuracy.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def main(commands: typer.Typer = app, *, desk: bool = False) -> None:
    """Run the command line; errors become one line on standard error, never a value of the table.

    ``desk``: a job of the desk, whose messages name its fields.
    """
    speak_as_command(desk=desk)
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
        if os.environ.get("INCROWD_PROGRESS"):
            _record(error=type(error).__name__, message=message, status=status)
        typer.echo(_between_words(f"incrowd: {message}"), err=True)
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


def _record(**facts: object) -> None:
    from incrowd.cli.shared import recorder

    if (record := recorder()) is not None:
        record(**facts)


def _clean_up() -> None:
    """Remove what was written and not published, where the unwinding itself was interrupted."""
    from incrowd.tables.publishing.staging import abandon

    abandon()


def _between_words(message: str) -> str:
    """The message, on a terminal with its lines broken between words; piped it is one line."""
    if not sys.stderr.isatty():
        return message
    from shutil import get_terminal_size
    from textwrap import fill

    return fill(message, get_terminal_size().columns, break_long_words=False, break_on_hyphens=False)


def _ending(error: BaseException, received: list[int]) -> tuple[int, str]:
    """Exit status and message."""
    if received:
        _clean_up()
        return 128 + received[0], _INTERRUPTED
    if isinstance(error, IncrowdError):
        return error.exit_status, str(error)
    return 2, describe_failure(error)
