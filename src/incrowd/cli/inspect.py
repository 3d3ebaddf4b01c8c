"""``incrowd inspect``: what each column seems to be."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import (
    READING_WHOLE,
    FileOrTable,
    Json,
    Replace,
    Select,
    Table,
    called,
    print_json,
    progress,
    table_at,
)
from incrowd.errors import reading_option
from incrowd.tables.options import Reading
from incrowd.tables.reading.dialect import GUESSED
from incrowd.vocabulary.forms import MISSING_MARKERS
from incrowd.vocabulary.option import part
from incrowd.vocabulary.schema import Column, Role, Schema

if TYPE_CHECKING:
    from incrowd.tables.reading.source import Origin, Source

_PLAIN = re.compile(r"whole numbers|numbers with decimals|dates|true and false|[0-9,]+ distinct values?")


@takes(READING_WHOLE)
def inspect(
    file: FileOrTable,
    target: Annotated[str | None, typer.Option(help="The class column, if you know it.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="Write the draft as a recipe to confirm or edit.")] = None,
    *,
    table: Table = None,
    query: Select = None,
    replace: Replace = False,
    json: Json = False,
    **reading: Any,
) -> None:
    """Show what each column seems to be, and why; draft a recipe."""
    from incrowd.rows.one_machine import check_whole
    from incrowd.tables.publishing.staging import check_target, staged

    named = table_at(file, table, query)
    check_whole(reading["memory"], named)
    if recipe:
        check_target(recipe, (named,) if isinstance(named, Path) else (), replace=replace)
    with progress(json) as show:
        draft = drafted(named, target, part(Reading, reading), show)
    if recipe:
        with staged(recipe, replace=replace) as hidden:
            hidden.write_text(_first_line(recipe) + draft.recipe, encoding="utf-8")
    schema, rows, notices = draft.schema, draft.columns, [*draft.notices, *_words_of_guesses(draft)]
    height = draft.source.frame.height
    distinct = {row["name"]: row["distinct"] for row in rows}
    if json:
        print_json(
            {"file": called(named), "rows": height, "reading": draft.reading, "columns": rows, "notices": notices}
        )
        return
    address = "ADDRESS" if "://" in file else file  # of a server: who may read there is nobody's business
    where = [address, *(["--table", table] if table else []), *(["--query", "SELECT"] if query else [])]
    command = ["inspect", *where, "--recipe", "recipe.yaml"]
    person = ["--person", schema.person] if schema.person else []
    if recipe:
        command = ["release", *where, "--recipe", str(recipe), *person, "--to", "OUT.csv"]
    _print(called(named), height, rows, notices)
    answer = ", answer whether the class is sensitive" if schema.target else ""
    confirmed = (
        f"The recipe is drafted. Check every role{answer}, then:" if recipe else "To confirm or edit these guesses:"
    )
    typer.echo(f"\n{confirmed}\n  {shlex.join(['incrowd', *command])}")
    if schema.person and not recipe:
        each = f"{distinct[schema.person]:,} persons, {height / distinct[schema.person]:.1f} rows each"
        typer.echo(f"{schema.person} seems to say whose row it is ({each}). If so, let k count persons:")
        typer.echo(f"  {shlex.join(_released(where, schema))}")


@dataclass(frozen=True, eq=False)
class TableDraft:
    """What a table seems to be: the table as it was read, a role and a type for each column, what should be known."""

    source: Source
    schema: Schema
    notices: list[str]
    guesses: Mapping[str, Any]  # how it was read without a word of the user, and by no more than likelihood

    @property
    def reading(self) -> dict[str, Any]:
        """How it was read, as a recipe says it."""
        return _reading(self.source.origin)

    @property
    def recipe(self) -> str:
        """A recipe to confirm or edit."""
        from incrowd.tables.roles import draft_recipe

        return draft_recipe(self.schema, reading=self.reading)

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Facts of every column."""
        frame = self.source.frame
        return [
            {
                "name": column.name,
                "role": str(column.role),
                "type": str(column.type),
                "distinct": frame[column.name].drop_nulls().n_unique(),
                "missing": frame[column.name].null_count(),
                "reason": column.reason,
            }
            for column in self.schema.columns
        ]


def drafted(named: Any, target: str | None, options: dict[str, Any], show: Callable[[str], None]) -> TableDraft:
    """Read a table, and draft what its columns are; words that probably mean missing are taken to do so."""
    from incrowd.report.wording import grouped
    from incrowd.tables.databases.tables import in_memory
    from incrowd.tables.reading.draft import draft_schema, missing_words, with_person
    from incrowd.tables.reading.read import read

    show("reading")
    source = read(in_memory(named), **options)
    words = missing_words(source) if "missing" not in options else ()
    if words:
        options = {**options, "missing": [*source.origin.missing, *words]}
        source = read(in_memory(named), **options)
    show("looking at every column")
    draft = with_person(draft_schema(source, target=target), source)
    schema = Schema(tuple(_without_empty(column, source) for column in draft.columns))
    guesses: dict[str, Any] = {"missing": list(words)} if words else {}
    if any(one.code == GUESSED for one in source.notices):
        read_as = {"encoding": source.origin.encoding, "decimal": source.origin.decimal}
        guesses |= {name: value for name, value in read_as.items() if value and name not in options}
    return TableDraft(source, schema, grouped(one for one in source.notices if one.code != GUESSED), guesses)


def _words_of_guesses(draft: TableDraft) -> Iterator[str]:
    """What was guessed, and how to settle it."""
    yield from (str(one) for one in draft.source.notices if one.code == GUESSED)
    if words := draft.guesses.get("missing"):
        missing = " ".join(reading_option(missing=word) for word in words)
        mean = "means" if len(words) == 1 else "mean"
        yield f"That {', '.join(map(repr, words))} {mean} missing is a guess. A release needs the recipe, or {missing}"


def _released(where: list[str], schema: Schema) -> list[str]:
    """A release that counts persons, as a command."""
    target = ["--target", schema.target] if schema.target else []
    known = ["-q", ",".join(schema.quasi_identifiers)] if schema.quasi_identifiers else []
    stated = ["--person", str(schema.person), *known, *target, "-k", "10"]
    return ["incrowd", "release", *where, *stated, "--to", "OUT.csv"]


def _without_empty(column: Column, source: Source) -> Column:
    """The column, dropped if it has no value at all."""
    if source.frame[column.name].null_count() < source.frame.height or column.role is Role.TARGET:
        return column
    return dataclasses.replace(column, role=Role.DROP, reason="all values are missing: drop?")


def _first_line(recipe: Path) -> str:
    """What tells an editor where the schema of recipes is, if it lies beside this one."""
    from incrowd.tables.recipe_checks import FILE_NAME

    here = (recipe.parent / FILE_NAME).is_file()
    return f"# yaml-language-server: $schema={FILE_NAME}\n" if here else ""


def _reading(origin: Origin) -> dict[str, Any]:
    """How a file was read, as a recipe says it."""
    if origin.form != "csv":
        sheet = {"sheet": origin.sheet, "header_row": origin.header_row, "names": list(origin.names)}
        known = {name: value for name, value in sheet.items() if value}
        return known | ({"missing": list(origin.missing)} if origin.missing != MISSING_MARKERS else {})
    reading: dict[str, Any] = {"delimiter": origin.delimiter, "encoding": origin.encoding}
    reading |= {"names": list(origin.names)} if origin.names else {"header": True}
    reading |= {"decimal": origin.decimal} if origin.decimal else {}
    reading |= {"dates": origin.dates} if origin.dates else {}
    return {**reading, "missing": list(origin.missing)}


def _print(name: str, height: int, rows: list[dict[str, object]], notices: list[str]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    wide = console.width >= 120
    table = Table(title=f"{escape(name)}: {height:,} rows, {len(rows)} columns", title_justify="left")
    for heading in ("column", "role?", "type", "distinct", "missing", *(["why"] if wide else [])):
        table.add_column(heading, justify="right" if heading in ("distinct", "missing") else "left")
    for row in rows:
        cells = [f"{cell:,}" if isinstance(cell, int) else escape(str(cell)) for cell in row.values()]
        table.add_row(*cells[: len(table.columns)])
    console.print(table)
    if not wide:
        console.print()
        for reason, names in _reasons(rows).items():
            console.print(f"{', '.join(names)}: {reason}", markup=False, highlight=False)
        console.print()
    for notice in notices:
        console.print(f"note: {notice}", markup=False)


def _reasons(rows: list[dict[str, object]]) -> dict[str, list[str]]:
    """The columns of each reason; what the table shows already, a type and how many values, is no reason here."""
    columns: dict[str, list[str]] = {}
    for row in rows:
        kind, _, role = str(row["reason"]).partition("; ")
        for reason in (role,) if _PLAIN.fullmatch(kind) else (kind, role):
            if reason:
                columns.setdefault(reason, []).append(str(row["name"]))
    return columns
