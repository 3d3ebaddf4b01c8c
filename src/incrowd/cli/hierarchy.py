"""``incrowd hierarchy``: draft, check and show the groups that values may be shown as."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import READING, File, Json, Replace, print_json, progress, write_text
from incrowd.errors import ParameterError
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part

if TYPE_CHECKING:
    from incrowd.errors import Notice
    from incrowd.vocabulary.hierarchy import Hierarchy

hierarchy_app = typer.Typer(
    name="hierarchy",
    help="Draft, check and show hierarchies: the groups that values may be shown as.",
    no_args_is_help=True,
)
HierarchyFile = Annotated[Path, typer.Argument(help="A hierarchy: ARX .csv, compact .txt, nested .yaml or .json.")]


@hierarchy_app.command()
@takes(READING)
def draft(
    file: File,
    column: Annotated[str, typer.Option(help="The column to group.")],
    target: Annotated[str | None, typer.Option(help="The class; groups then lose little about it.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="intervals, prefix, date, ordered, drafted, or a plug-in's; by default, by the column's type."
        ),
    ] = None,
    bins: Annotated[int, typer.Option(help="About how many intervals, where the class does not say.")] = 8,
    edges: Annotated[str | None, typer.Option(help="Edges of the intervals, made by hand: 20,40,60")] = None,
    to: Annotated[Path | None, typer.Option(help="Write it to this .csv, .txt, .yaml or .json file.")] = None,
    replace: Replace = False,
    json: Json = False,
    **reading: Any,
) -> None:
    """Draft a hierarchy for a column. It lists values of the table: as private as they are."""
    from incrowd.tables.hierarchies.draft import draft_hierarchy, encoded_columns
    from incrowd.tables.hierarchies.read import format_compact, hierarchy_text
    from incrowd.tables.publishing.staging import check_target
    from incrowd.tables.reading.read import read

    if to:
        check_target(to, (file,), replace=replace)
    with progress(json) as show_stage:
        show_stage("reading")
        source = read(file, **part(Reading, reading))
        show_stage("grouping")
        columns = encoded_columns(source, column, *([target] if target else []))
        cuts = _edges(edges, columns[0].type == "date")
        hierarchy = draft_hierarchy(columns[0], columns[1] if target else None, kind=kind, bins=bins, edges=cuts)
    if to:
        write_text(to, hierarchy_text(hierarchy, to), replace=replace)
    if json:
        print_json({**_facts(hierarchy, hierarchy.notices), "hierarchy": hierarchy.to_json()})
    elif to:
        _tell(hierarchy, hierarchy.notices)
        typer.echo(f"Written to {to}. Look at it: incrowd hierarchy show {to}")
    else:
        typer.echo(format_compact(hierarchy), nl=False)


@hierarchy_app.command()
@takes(READING)
def check(
    hierarchy: HierarchyFile,
    against: Annotated[Path | None, typer.Option(help="A table whose values should all have a leaf.")] = None,
    column: Annotated[
        str | None, typer.Option(help="The column of that table; by default the hierarchy's name.")
    ] = None,
    json: Json = False,
    **reading: Any,
) -> None:
    """Check that a hierarchy is a tree and, with a table, that every value has a leaf. Exit status 2 if not."""
    from incrowd.tables.hierarchies.read import read_hierarchy

    if column and not against:
        raise ParameterError("--column names a column of a table: give the table with --against FILE.")
    parsed = read_hierarchy(hierarchy)
    notices = parsed.notices
    if against:
        from incrowd.tables.hierarchies.draft import encoded_columns
        from incrowd.tables.reading.read import read

        source = read(against, **part(Reading, reading))
        coded = encoded_columns(source, column or parsed.name)[0]
        parsed.encode(coded)
        notices += parsed.unused(coded)
    if json:
        print_json(_facts(parsed, notices))
        return
    _tell(parsed, notices)
    typer.echo(
        "Every value of the column has a leaf." if against else "It is a tree; there was no table to check it against."
    )


@hierarchy_app.command()
def show(
    hierarchy: HierarchyFile,
    most: Annotated[int, typer.Option(help="Children to draw of each node; the others are counted.", min=1)] = 8,
    json: Json = False,
) -> None:
    """Draw a hierarchy as a tree, with the numbers of its levels."""
    from incrowd.tables.hierarchies.draft import draw
    from incrowd.tables.hierarchies.read import read_hierarchy

    parsed = read_hierarchy(hierarchy)
    if json:
        print_json(parsed.to_json())
        return
    _tell(parsed, parsed.notices)
    typer.echo(draw(parsed, most))


def _edges(text: str | None, dates: bool) -> list[float] | None:
    from incrowd.vocabulary.released_value import parse_day, parse_number

    if text is None:
        return None
    numbers = [(parse_day if dates else parse_number)(part.strip()) for part in text.split(",")]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        raise ParameterError("--edges lists numbers, or dates as YYYY-MM-DD, separated by commas: 20,40,60")
    return known


def _facts(tree: Hierarchy, notices: tuple[Notice, ...]) -> dict[str, Any]:
    return {
        "name": tree.name,
        "leaves": len(tree.leaves),
        "of": str(tree.kind),
        "levels": [len(set(tree.at_level(level).tolist())) for level in range(1, tree.height + 1)],
        "notices": [str(notice) for notice in notices],
    }


def _tell(tree: Hierarchy, notices: tuple[Notice, ...]) -> None:
    sizes = _facts(tree, notices)["levels"]
    typer.echo(f"{tree.name}: {len(tree.leaves)} leaves ({tree.kind}), {tree.height} levels with {sizes} nodes")
    for notice in notices:
        typer.echo(f"note: {notice}")
