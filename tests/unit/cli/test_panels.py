"""The help of the program says of each command what the command says of itself first."""

from __future__ import annotations

from typer import Context
from typer.core import TyperGroup
from typer.main import get_command

from incrowd.cli.main import COMMANDS, PANELS, app


def test_each_line_of_the_help_is_the_first_paragraph_of_the_command():
    of_panels = {name: line for panel in PANELS.values() for name, line in panel.items()}
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    commands = {name: group.get_command(Context(group), name) for name in COMMANDS}
    assert {name: one and one.help and one.help.split("\n\n")[0] for name, one in commands.items()} == of_panels


def test_the_help_lists_every_command_under_its_title(command):
    status, printed, _ = command("--help")
    told = " ".join(printed.split())
    places = [told.index(f"{title}:") for title in ("Options", *PANELS)]
    assert status == 0
    assert places == sorted(places)
    assert all(f" {name} {line} " in f"{told} " for panel in PANELS.values() for name, line in panel.items())
