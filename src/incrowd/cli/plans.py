"""``incrowd explain``: a plan in sentences.

``incrowd transform``: new rows, seen through a plan.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import READING_WHOLE, File, Json, Replace, print_json
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part


@takes(READING_WHOLE)
def transform(
    plan: Annotated[Path, typer.Argument(help="A plan that 'incrowd release --plan' wrote.")],
    file: File,
    to: Annotated[Path, typer.Option(help="Where the rows go; the ending says the format.")],
    replace: Replace = False,
    **reading: Any,
) -> None:
    """Show new rows as a plan shows rows like them, for instance to test a classifier on them.

    No promise is counted on new rows: this is not a release.
    """
    from incrowd.api import transform as show
    from incrowd.rows.one_machine import check_whole
    from incrowd.tables.publishing.serialise import write_table
    from incrowd.tables.publishing.staging import check_target, staged
    from incrowd.vocabulary.forms import FileForm

    check_target(to, (file, plan), replace=replace)
    check_whole(reading["memory"], file)
    form = FileForm.of(to)
    shown = show(plan, file, **part(Reading, reading))
    with staged(to, replace=replace) as hidden:
        write_table(shown, hidden, form)
    typer.echo(f"{shown.height:,} rows as the plan shows them: {to}. No promise is counted on new rows.")


def explain(
    plan: Annotated[Path, typer.Argument(help="A plan that 'incrowd release --plan' wrote.")],
    groups: Annotated[int, typer.Option(help="How many groups to describe, largest first.")] = 10,
    tree: Annotated[bool, typer.Option("--tree", help="Draw the decision tree behind the plan as well.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw the tree to an SVG file.")] = None,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Say in sentences what a plan does. The plan is private; so is what this prints."""
    from incrowd.plan.explain import explain as sentences
    from incrowd.plan.plan_file import plan_to_json, read_plan
    from incrowd.tables.publishing.staging import check_target, staged
    from incrowd.trees.draw import to_svg, to_text

    if svg:
        check_target(svg, (plan,), replace=replace)
    explained = read_plan(plan)
    if svg:
        with staged(svg, replace=replace) as hidden:
            hidden.write_text(to_svg(explained.places[0].tree), encoding="utf-8")
    if json:
        print_json(plan_to_json(explained))
        return
    typer.echo(sentences(explained, groups))
    if tree:
        for step in explained.places[:1]:
            typer.echo("\n" + to_text(step.tree))
