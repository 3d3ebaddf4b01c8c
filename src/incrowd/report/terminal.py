"""The summary of a release, of hidden cells or of a model: plain text, and the same for a terminal with colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrowd.drawing.wording import Tone, clipped, counted, percent, plain
from incrowd.errors import Notice
from incrowd.report.facts import Accuracy, Facts
from incrowd.report.person_facts import persons_sentence, share_sentence, smallest_sentence
from incrowd.report.unchanged_facts import headline_lines
from incrowd.report.wording import (
    ALL_FORMS,
    HIDDEN,
    by_persons_and_rows,
    forms_in,
    grouped,
    little_use,
    rows_sentence,
    shares_of,
    statement,
    tone_of,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

BAR, LONGEST_NAME, MOST_ATTRIBUTES = 20, 24, 12
_LETTERS = dict(zip(ALL_FORMS, "#=~-+%.", strict=True))
_BLOCKS = dict(zip(ALL_FORMS, "█▓▒░▄▚·", strict=True))
_COLOURS = dict(zip(ALL_FORMS, ("blue", "cyan", "yellow", "magenta", "green", "red", "dim"), strict=True))


_TONES = {Tone.GOOD: "green", Tone.POOR: "yellow", Tone.BAD: "red"}
_TERM = 11  # letters of the longest usual term, so that summaries look alike


@dataclass(frozen=True)
class Screen:
    """What a command tells of its result, in the one layout: verdict, figures, details, notices, files."""

    title: str
    verdict: str
    tone: Tone
    beside: tuple[str, ...] = ()
    entries: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    def __str__(self) -> str:
        """Plain text, for a log or a Python prompt."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield plain(self.title)
        yield from (f"  {plain(line)}" for line in (self.verdict, *self.beside))
        room = max([_TERM, *map(len, self.entries)])
        yield from (f"  {plain(term):<{room}} {plain(words)}" for term, words in self.entries.items())
        yield from (f"  {line}" for line in self.details)
        yield from (f"  {'notice':<{room}} {plain(words)}" for words in grouped(self.notices))

    def show(self, console: Console, files: Mapping[str, str], details: RenderableType | None = None) -> None:
        """Print it with colours; ``files`` are words for what was written, and paths, ``details`` stand for its own."""
        from rich.panel import Panel
        from rich.text import Text

        colour = _TONES[self.tone]
        headline = [Text(plain(self.verdict), style=f"bold {colour}"), *(Text(plain(line)) for line in self.beside)]
        title = Text(plain(self.title))
        console.print(
            Panel(Text("\n").join(headline), title=title, title_align="left", border_style=colour, expand=False)
        )
        console.print(_pairs(self.entries))
        own = Text("\n".join(self.details), no_wrap=True, overflow="ellipsis") if self.details else None
        for block in (details or own, notice_table(grouped(self.notices)), _pairs(files) if files else None):
            if block is not None:
                console.print()
                console.print(block)


def notice_table(notices: Iterable[str]) -> Table | None:
    """Notices, each beside its mark, so that their lines stand under each other."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for words in notices:
        table.add_row(Text("notice", style="bold yellow"), Text(plain(words), overflow="fold"))
    return table if table.row_count else None


def summary(facts: Facts) -> str:
    """The release in plain text, for a log or a Python prompt.

    Bars use letters that every terminal can print: one for each form an attribute is shown in.
    """
    release = f"\n  {'release':<{_TERM}} {plain(facts.output)}" if facts.output else ""
    return f"{_screen(facts)}{release}"


def print_summary(facts: Facts, console: Console, files: Mapping[str, str]) -> None:
    """Print the release with colours and tables; ``files`` are words for what was written, and paths."""
    _screen(facts).show(console, files, _attribute_table(facts, _LETTERS if console.options.ascii_only else _BLOCKS))


def _screen(facts: Facts) -> Screen:
    return Screen(
        f"Release of {facts.source}",
        statement(facts),
        tone_of(facts),
        (*little_use(facts), *headline_lines(facts.unchanged)),
        _entries(facts),
        tuple(_attribute_lines(facts)),
        facts.notices,
    )


def bar(shares: Mapping[str, float], letters: Mapping[str, str], width: int = BAR) -> dict[str, str]:
    """The pieces of a text bar, one for each form, together exactly ``width`` letters long.

    Examples
    --------
    >>> "".join(bar({"value": 0.5, "set": 0.25, "hidden": 0.25}, _LETTERS, 8).values())
    '####==..'
    """
    pieces, share_so_far, drawn = {}, 0.0, 0
    for form, share in shares.items():
        share_so_far += share
        end = min(width, round(width * share_so_far))
        pieces[form] = letters[form] * (end - drawn)
        drawn = end
    return pieces


def _entries(facts: Facts) -> dict[str, str]:
    """The figures, each with its term."""
    largest = counted(facts.verdict.sizes.largest, "row")
    smallest = counted(facts.smallest_group, "row")
    groups, persons = f"{facts.groups:,}; smallest {smallest}, largest {largest}", dict[str, str]()
    if (counts := facts.verdict.sizes.persons) is not None:
        persons = {"persons": persons_sentence(counts), "one person": share_sentence(counts)}
        groups = smallest_sentence(facts, counts)
    drawn = {}
    if (stated := facts.keyed.get("counts")) is not None:
        drawn = {"counts": "drawn by a key" if stated["are"] == "drawn" else "exact"}
    entries = {
        "method": plain(facts.method),
        "rows": rows_sentence(facts),
        **persons,
        "groups": groups,
        "cells kept": f"{percent(facts.cells_shown)} of the quasi-identifier cells show something",
        **drawn,
    }
    return entries | {"accuracy": _accuracy(facts.accuracy)} | _trust(facts)


def _trust(facts: Facts) -> dict[str, str]:
    """Risk, attacks and earlier releases, those that were looked at."""
    entries = {}
    if facts.risk is not None and facts.risk.after is not None:
        before, after = facts.risk.prosecutor.average, facts.risk.after.prosecutor.average
        entries["risk"] = f"average re-identification risk {percent(before)} before, {percent(after)} after"
    if facts.attacks is not None:
        from incrowd.report.attack_facts import attack_summary

        entries["attacks"] = attack_summary(facts.attacks)
    if facts.earlier is not None:
        from incrowd.report.attack_facts import joint_sentence

        entries["earlier"] = joint_sentence(facts.earlier)
    return entries


def _accuracy(accuracy: Accuracy | None) -> str:
    if accuracy is None:
        return "not measured"
    persons = accuracy.persons
    whose = "" if persons is None else f" of {counted(persons.test_persons, 'unseen person')}"
    rows = counted(accuracy.test_rows, "unseen row" if persons is None else "row")
    words = (
        f"{percent(accuracy.before)} before, {percent(accuracy.after)} after, {percent(accuracy.majority)} "
        f"by majority (decision tree, {rows}{whose})"
    )
    return words if persons is None else f"{words}; {by_persons_and_rows(persons)}"


def _attribute_lines(facts: Facts) -> list[str]:
    """A line with a bar for each attribute, and what the letters mean."""
    if not facts.attributes:
        return []
    listed = facts.attributes[:MOST_ATTRIBUTES]
    room = max(len(clipped(attribute.name, LONGEST_NAME)) for attribute in listed)
    lines = ["shown as    " + "  ".join(f"{_LETTERS[form]} {form}" for form in forms_in(facts))]
    for attribute in listed:
        shares = shares_of(attribute)
        drawn = "".join(bar(shares, _LETTERS).values())
        name = clipped(attribute.name, LONGEST_NAME)
        lines.append(f"  {name:<{room}} [{drawn}] {percent(1 - shares[HIDDEN]):>7}")
    if len(facts.attributes) > MOST_ATTRIBUTES:
        lines.append(_not_listed(facts))
    return lines


def _not_listed(facts: Facts) -> str:
    return f"  … and {counted(len(facts.attributes) - MOST_ATTRIBUTES, 'more quasi-identifier')}"


def _attribute_table(facts: Facts, letters: Mapping[str, str]) -> RenderableType | None:
    """Bars and shares of the attributes."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if not facts.attributes:
        return None
    forms = forms_in(facts)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("quasi-identifier")
    table.add_column("share of the rows", no_wrap=True)
    for form in forms:
        table.add_column(Text.assemble((letters[form], _COLOURS[form]), f" {form}"), justify="right", no_wrap=True)
    for attribute in facts.attributes[:MOST_ATTRIBUTES]:
        shares = shares_of(attribute)
        drawn = Text.assemble(*((piece, _COLOURS[form]) for form, piece in bar(shares, letters).items()))
        numbers = [Text(percent(shares[form]), style="" if shares[form] else "dim") for form in forms]
        table.add_row(Text(clipped(attribute.name, LONGEST_NAME)), drawn, *numbers)
    more = [Text(_not_listed(facts), style="dim")] if len(facts.attributes) > MOST_ATTRIBUTES else []
    return Group(table, *more)


def _pairs(entries: Mapping[str, str]) -> Table:
    """Terms and what they are, as two columns."""
    from rich.table import Table
    from rich.text import Text

    def styled(words: str, style: str = "") -> Text:
        return Text(plain(words), style=style, overflow="fold")

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for term, words in entries.items():
        table.add_row(styled(term, "dim"), styled(words))
    return table
