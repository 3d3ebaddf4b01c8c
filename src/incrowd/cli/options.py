"""The options of a command, made from their declaration: what typer shows, and what the written text means."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from incrowd.errors import ParameterError
from incrowd.vocabulary.option import Declared, Kind, options_of

Groups = Mapping[str, Sequence[type]]


class Answer(StrEnum):
    """Yes or no."""

    YES = "yes"
    NO = "no"


def takes(groups: Groups, *, needed: Sequence[str] = (), without: Sequence[str] = ()) -> Callable[[Any], Any]:
    """Let a command take the options of groups, each group in its panel of the help; it gets them by name, read.

    ``needed`` must be said, where Python does without; ``without`` are none of this command.
    """
    panels = [
        (title, one)
        for title, kinds in groups.items()
        for kind in kinds
        for one in options_of(kind)
        if one.option.command is None and one.name not in without
    ]

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        known = inspect.signature(command, eval_str=True)
        own = [one for one in known.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        declared = [_parameter(one, title, one.name in needed) for title, one in panels]

        def run(**values: Any) -> None:
            for _, one in panels:
                values[one.name] = value_of(one, values[one.name])
            command(**values)

        named = [one for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]
        first = [one for one in own if one not in named]
        run.__signature__ = known.replace(parameters=[*first, *declared, *named])  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {}
        return run

    return with_options


def _parameter(one: Declared, title: str, needed: bool) -> inspect.Parameter:
    """The option as typer wants it."""
    written = _WRITTEN[one.option.kind]
    kind, default = written.kind, written.default
    if one.option.kind is Kind.CHOICE:
        kind = Enum(one.name, {word: word for word in one.option.example.split("|")}) | None  # type: ignore[operator]
    flags = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in one.flags] if kind == bool | None else one.flags
    about = f"{one.option.help} May be repeated." if written.repeats else one.option.help
    about += f" By default {usual}." if (usual := _default(one)) else ""
    metavar = (
        None if one.option.kind in (Kind.FLAG, Kind.SWITCH, Kind.CHOICE) else one.option.example or written.metavar
    )
    option = typer.Option(*flags, help=about, metavar=metavar, rich_help_panel=title, show_default=False)
    shown = inspect.Parameter.empty if needed else default
    return one.parameter.replace(default=shown, annotation=Annotated[kind, option])


def value_of(one: Declared, written: Any) -> Any:
    """What the text that was written for an option means in Python; None if nothing was written.

    Examples
    --------
    >>> from incrowd.tables.options import Promise
    >>> known_together = next(one for one in options_of(Promise) if one.name == "known_together")
    >>> value_of(known_together, ["age,sex:5"])
    [(['age', 'sex'], 5)]
    """
    return None if written is None or written == [] else _WRITTEN[one.option.kind].meaning(written, one)


def _default(one: Declared) -> str:
    """What holds if the option is left out, where that is a value people would write."""
    if one.needed or one.default in (None, False, ()):
        return ""
    return ",".join(map(str, one.default)) if isinstance(one.default, tuple) else str(one.default)


def names(text: str) -> list[str]:
    """Column names from ``a,b,c``; a name with a comma is written in double quotes.

    Examples
    --------
    >>> names('age,"zip, code"')
    ['age', 'zip, code']
    """
    import csv

    try:
        row = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise ParameterError("Write a column name with a line break in double quotes.") from None
    return [name.strip() for name in row if name.strip()]


def whole(text: str, flag: str) -> int:
    """A whole number, or incrowd's own error."""
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{flag} must be a whole number. Give for instance {flag} 10.") from None


def _numbers(text: str, one: Declared) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise ParameterError(f"{one.flags[0]} takes numbers with commas between, for instance 0.1,0.2.") from None


def _sets(settings: list[str], one: Declared) -> list[tuple[list[str], int]]:
    """Sets of columns with their k, from ``a,b:5``."""
    sets = []
    for setting in settings:
        columns, colon, k = setting.rpartition(":")
        if not (colon and k.strip().isdecimal()):
            raise ParameterError(f"Write the columns, a colon and their k, for instance {one.flags[0]} age,sex:5.")
        sets.append((names(columns), int(k)))
    return sets


def _pairs(settings: list[str], one: Declared, *, empty: bool = False) -> Iterator[tuple[str, str]]:
    """Names and what they are set to, from ``name=value``; perhaps to nothing."""
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not (equals and name.strip() and (value.strip() or empty)):
            raise ParameterError(
                f"{one.flags[-1]} takes two words and =, for instance {one.flags[-1]} {one.option.example}."
            )
        yield name.strip(), value.strip()


def _settings(settings: list[str], one: Declared) -> dict[str, object]:
    """``name=value`` settings as parameters; values are read as YAML (numbers, true, text)."""
    from incrowd.vocabulary.plain_data import read_plain_yaml

    return {name: read_plain_yaml(value, f"{one.flags[0]} {name}") for name, value in _pairs(settings, one, empty=True)}


def _hierarchies(settings: list[str], one: Declared) -> dict[str, Any] | Path:
    """A folder of hierarchies; or with those that are named one by one, which come first, all of them together."""
    from incrowd.tables.hierarchies.read import hierarchies_in

    folders = [Path(text) for text in settings if "=" not in text or Path(text).is_dir()]
    for folder in folders:
        if not folder.is_dir():
            flag = one.flags[1]
            raise ParameterError(f"{folder} is not a folder. {flag} takes one, or column=file: {flag} age=age.txt.")
    if len(settings) == len(folders) == 1:
        return folders[0]
    trees = {name: hierarchy for folder in folders for name, hierarchy in hierarchies_in(folder).items()}
    return trees | dict(_pairs([text for text in settings if Path(text) not in folders], one))


def cell(setting: str) -> tuple[int, str]:
    """A cell from ``17:diagnosis``.

    Examples
    --------
    >>> cell("17:blood: sugar")
    (17, 'blood: sugar')
    """
    row, _, column = setting.partition(":")
    if not (row.strip().isascii() and row.strip().isdigit() and column):
        raise ParameterError("Write a cell as row:column, for instance --cell 17:diagnosis. The first row is 1.")
    return int(row), column


def _text(text: str, one: Declared) -> str:
    return "\t" if one.name == "delimiter" and text in ("tab", "\\t") else text


class _Written(NamedTuple):
    """How a kind of option is written: the type of its text, what that means, what help shows in its place."""

    kind: Any
    meaning: Callable[[Any, Declared], Any]
    metavar: str | None = None

    @property
    def repeats(self) -> bool:
        return str(self.kind).startswith("list")

    @property
    def default(self) -> Any:
        return False if self.kind is bool else None


def _as_it_is(value: Any, _: Declared) -> Any:
    return value


_WRITTEN = {
    Kind.TEXT: _Written(str | None, _text, "TEXT"),
    Kind.TEXTS: _Written(list[str] | None, _as_it_is, "TEXT"),
    Kind.CHOICE: _Written(str | None, lambda value, _: value.value),
    Kind.NAMES: _Written(str | None, lambda value, _: names(value), "a,b,c"),
    Kind.NUMBER: _Written(float | None, _as_it_is, "NUMBER"),
    Kind.NUMBERS: _Written(str | None, _numbers, "N,N"),
    Kind.WHOLE: _Written(str | None, lambda value, one: whole(value, one.flags[0]), "N"),
    Kind.WHOLES: _Written(list[int] | None, _as_it_is, "N"),
    Kind.FLAG: _Written(bool, _as_it_is),
    Kind.SWITCH: _Written(bool | None, _as_it_is),
    Kind.YES_NO: _Written(Answer | None, lambda value, _: value is Answer.YES),
    Kind.FILE: _Written(Path | None, _as_it_is, "FILE"),
    Kind.FILES: _Written(list[Path] | None, _as_it_is, "FILE"),
    Kind.SETS: _Written(list[str] | None, _sets),
    Kind.SETTINGS: _Written(list[str] | None, _settings),
    Kind.RENAMED: _Written(list[str] | None, lambda value, one: dict(_pairs(value, one))),
    Kind.HIERARCHIES: _Written(list[str] | None, _hierarchies),
    Kind.CELLS: _Written(list[str] | None, lambda value, _: [cell(setting) for setting in value]),
}
