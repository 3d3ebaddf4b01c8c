"""Fields of a page, made from declared options, and what is written in them: for a recipe, for a command, to show.

An option that can be said several times is a field with a line for each. What is written means what it means on the
command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.cli.options import value_of
from incrowd.errors import IncrowdError, ParameterError
from incrowd.vocabulary.option import Declared, Kind, options_of

Form = Mapping[str, list[str]]
_LINES = (Kind.TEXTS, Kind.WHOLES, Kind.SETS, Kind.SETTINGS, Kind.RENAMED, Kind.FILES, Kind.CELLS)
_YES_NO = (Kind.SWITCH, Kind.YES_NO)


@dataclass(frozen=True)
class OptionField:
    """An option on a page: what is written in it, the choices there are, what is wrong with it."""

    option: Declared
    text: str = ""
    choices: tuple[str, ...] = ()
    error: str = ""
    is_closed: bool = False  # nothing but a choice is taken, and there may be none

    @property
    def name(self) -> str:
        """Of the option."""
        return self.option.name

    @property
    def widget(self) -> str:
        """How it is asked for."""
        kind = self.option.option.kind
        if kind is Kind.FLAG:
            return "flag"
        if kind in _YES_NO:
            return "switch"
        if self.choices or self.is_closed:
            return "choice"
        return "lines" if kind in _LINES else "number" if kind is Kind.WHOLE else "text"

    @property
    def title(self) -> str:
        """Its name in words."""
        words = self.name.replace("_", " ")
        return words[:1].upper() + words[1:]

    @property
    def help(self) -> str:
        """What it is about: the same sentence as everywhere."""
        return self.option.option.help

    @property
    def example(self) -> str:
        """What may be written."""
        return "" if self.choices else self.option.option.example

    @property
    def flag(self) -> str:
        """What it is called on the command line, as messages name it."""
        return self.option.flags[0]


@dataclass
class FilledForm:
    """What a form says for some options: values, or what is wrong with them."""

    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def declared(groups: Iterable[type], names: Sequence[str] = (), without: Sequence[str] = ()) -> list[Declared]:
    """Options of groups that a page can ask for: those of these names, or all but some."""
    every = [one for group in groups for one in options_of(group) if one.option.command is None]
    if names:
        return [one for name in names for one in every if one.name == name]
    return [one for one in every if one.name not in without]


def read_form(
    options: Iterable[Declared], form: Form, choices: Mapping[str, Sequence[str]] | None = None
) -> FilledForm:
    """What the form says; None where it is empty. A file must be one that is offered, and so must other choices."""
    written, offered = FilledForm(), choices or {}
    for one in options:
        text = written.texts[one.name] = form.get(one.name, [""])[-1].strip()
        try:
            closed = one.option.kind in (Kind.FILE, Kind.FILES) or one.name in offered
            if text and closed and text not in offered.get(one.name, ()):
                raise ParameterError("Choose one of those that are offered.")
            written.values[one.name] = _value(one, text)
        except IncrowdError as error:
            written.errors[one.name] = str(error)
    return written


def _value(one: Declared, text: str) -> Any:
    """What a text means, as plain data for a recipe."""
    kind = one.option.kind
    if not text:
        return None
    if "\0" in text:
        raise ParameterError("This holds a character that nobody can see.")
    if kind is Kind.FLAG:
        return text == "yes" or None
    if kind in _YES_NO:
        return {"yes": True, "no": False}.get(text)
    if kind is Kind.CHOICE:
        if text not in one.option.example.split("|"):
            raise ParameterError(f"Choose one of {one.option.example.replace('|', ', ')}.")
        return text
    if kind is Kind.NUMBER:
        try:
            return float(text)
        except ValueError:
            raise ParameterError("Write a number, for instance 0.5.") from None
    if kind is Kind.WHOLES:
        return [_whole(line) for line in _lines(text)]
    if kind is Kind.SETS:
        return [{"columns": columns, "k": k} for columns, k in value_of(one, _lines(text))]
    if kind is Kind.FILES:
        return _lines(text)
    return value_of(one, _lines(text) if kind in _LINES else text)


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise ParameterError("Write whole numbers, one in each line.")
    return int(text)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def command_words(options: Iterable[Declared], texts: Mapping[str, str]) -> list[str]:
    """The words of a command that say the same; each value in the word of its option, so that none is an option."""
    words: list[str] = []
    for one in options:
        text, kind, flag = texts.get(one.name, ""), one.option.kind, _long(one)
        if not text:
            continue
        if kind is Kind.FLAG:
            words += [flag] if text == "yes" else []
        elif kind is Kind.SWITCH:
            words.append(flag if text == "yes" else f"--no-{flag.removeprefix('--')}")
        else:
            words += [_word(flag, line) for line in (_lines(text) if kind in _LINES else [text])]
    return words


def _long(one: Declared) -> str:
    return next((flag for flag in one.flags if flag.startswith("--")), one.flags[0])


def _word(flag: str, text: str) -> str:
    return f"{flag}={text}" if flag.startswith("--") else f"{flag}{text}"


def fields(
    options: Iterable[Declared],
    values: Mapping[str, Any],
    written: FilledForm | None = None,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> list[OptionField]:
    """Fields with what a recipe says, or with what was just written and is wrong."""
    offered = choices or {}
    made = []
    for one in options:
        text = written.texts.get(one.name, "") if written else text_of(one, values.get(one.name))
        own = one.option.example.split("|") if one.option.kind is Kind.CHOICE else ()
        error = written.errors.get(one.name, "") if written else ""
        made.append(OptionField(one, text, tuple(offered.get(one.name, own)), error, one.name in offered))
    return made


def text_of(one: Declared, value: Any) -> str:
    """A value of a recipe as it is written in a field."""
    kind = one.option.kind
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == "\t":
        return "tab"
    if kind is Kind.SETS:
        return "\n".join(f"{_names(one['columns'])}:{one.get('k', '')}" for one in value)
    if isinstance(value, Mapping):
        return "\n".join(f"{name}={_bars(setting)}" for name, setting in value.items())
    if isinstance(value, list | tuple):
        return _names(value) if kind is Kind.NAMES else "\n".join(map(str, value))
    return str(value)


def _names(names: Iterable[Any]) -> str:
    return ",".join(_quoted(str(name)) for name in names)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(sign in name for sign in ',"\n') else name


def _bars(setting: Any) -> str:
    """A setting in a line: sets of values between bars."""
    if isinstance(setting, list):
        return "|".join(",".join(map(str, one)) if isinstance(one, list) else str(one) for one in setting)
    return str(setting).lower() if isinstance(setting, bool) else str(setting)


def changed(recipe: Mapping[str, Any], options: Iterable[Declared], written: FilledForm) -> dict[str, Any]:
    """The recipe with what the form says; what it leaves empty, the recipe says no more."""
    values = {**recipe}
    for one in options:
        key = one.key
        if key is not None:
            values[key] = written.values.get(one.name)
    return {key: value for key, value in values.items() if value is not None}
