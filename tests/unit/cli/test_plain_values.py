"""What is written for an option means the same with and without Pydantic."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest
import typer
import typer.testing
from typer.core import TyperCommand

from incrowd.cli.main import OneCommand


class Word(Enum):
    YES = "yes"
    NO = "no"


def told(cls, *words):
    """What a command makes of its words, read by a kind of command."""
    app, heard = typer.Typer(), []

    @app.command(cls=cls)
    def command(
        file: str,
        others: Annotated[list[str] | None, typer.Argument()] = None,
        to: Annotated[Path | None, typer.Option()] = None,
        several: Annotated[list[Path] | None, typer.Option()] = None,
        word: Annotated[Word | None, typer.Option()] = None,
        switch: Annotated[bool | None, typer.Option()] = None,
        number: Annotated[int, typer.Option(min=1)] = 3,
        numbers: Annotated[list[int] | None, typer.Option()] = None,
    ) -> None:
        heard.append((file, others, to, several, word, switch, number, numbers))

    done = typer.testing.CliRunner().invoke(app, list(words))
    return heard, done.exit_code, done.output


@pytest.mark.parametrize(
    "words",
    [
        ["a"],
        ["a", "b", "c"],
        ["a", "--to", "nowhere", "--several", "x", "--several", "/"],
        ["a", "--word", "yes", "--switch"],
        ["a", "--word", "maybe"],
        ["a", "--word", "YES"],
        ["a", "--no-switch", "--number", "5", "--numbers", "1", "--numbers", "2"],
        ["a", "--number", "0"],
        ["a", "--numbers", "one"],
        ["a", "--to", ""],
        [],
        ["--help"],
    ],
)
def test_plain_values_are_those_of_typer(words):
    assert told(OneCommand, *words) == told(TyperCommand, *words)
