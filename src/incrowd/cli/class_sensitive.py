"""The one question that has no default: is the class itself sensitive?"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from incrowd.errors import ParameterError


class Answer(StrEnum):
    """Yes or no."""

    YES = "yes"
    NO = "no"


ClassSensitive = Annotated[
    Answer | None,
    typer.Option(
        "--class-sensitive",
        help="Must the class of a person not be inferred? yes: every group keeps a requirement on it. No default.",
    ),
]
_WHY = (
    "Methods that serve learners look for groups of one class: whoever knows that a person is in such a group knows "
    "the class of that person."
)


def answered(given: Answer | None, target: str | None, recipe: Path | None) -> bool | None:
    """The answer, from the option, the recipe, or the person at the terminal; without a target there is no question."""
    if given is not None:
        return given is Answer.YES
    if recipe is not None:
        from incrowd.tables.recipe import read_recipe

        said = read_recipe(recipe)
        if said.class_sensitive is not None:
            return None  # the recipe has said it
        target = target or said.target
    if target is None:
        return None
    if sys.stdin.isatty() and sys.stderr.isatty():
        typer.echo(_WHY, err=True)
        return typer.confirm(f"Is the class {target!r} itself sensitive?", err=True)
    raise ParameterError(
        f"Is the class {target!r} itself sensitive? Say --class-sensitive yes or no. {_WHY} With yes, every group "
        "keeps a requirement on the class, by default t-equal=0.3; --require asks for another."
    )
