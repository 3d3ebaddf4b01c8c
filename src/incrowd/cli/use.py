"""What is done with a release and its plan.

``incrowd explain``: a plan in sentences. ``incrowd transform``: new rows, seen through a plan. ``incrowd decode``: a
plain table from a release, for the recipient.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import READING_WHOLE, File, Json, Replace, print_json, write_text
from incrowd.tables.options import MemoryLimit, Reading
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
    from incrowd.tables.publishing.staging import check_target
    from incrowd.trees.draw import to_svg, to_text

    if svg:
        check_target(svg, (plan,), replace=replace)
    explained = read_plan(plan)
    if svg:
        write_text(svg, to_svg(explained.places[0].tree), replace=replace)
    if json:
        print_json(plan_to_json(explained))
        return
    typer.echo(sentences(explained, groups))
    if tree:
        for step in explained.places[:1]:
            typer.echo("\n" + to_text(step.tree))


@takes({"Engine": (MemoryLimit,)})
def decode(
    release: File,
    to: Annotated[
        Path | None, typer.Option("--to", "-o", help="Where it goes; by default RELEASE.decoded.parquet.")
    ] = None,
    deals: Annotated[int, typer.Option(help="How often the values are dealt over the rows.")] = 5,
    certificate: Annotated[
        Path | None, typer.Option(help="The certificate of the release; else the one beside it.")
    ] = None,
    groups: Annotated[Path | None, typer.Option(help="The table of groups of a release of two tables.")] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="A folder of hierarchies that came with the release, named like columns.")
    ] = None,
    replace: Replace = False,
    seed: Annotated[int | None, typer.Option(help="For a repeatable deal.")] = None,
    **limits: Any,
) -> None:
    """Make a plain table of a release: one value a cell, for any program.

    Numbers are drawn inside their interval as the release itself shows them to lie; sets, counts and groups become one
    of their values. The rows come several times, with a column of weights. What a row shows is dealt at random within
    its group: the decoded table does not carry the guarantee of the release.
    """
    import polars as pl

    from incrowd.recipients.received import METADATA, decoded_name, decoded_table, open_release
    from incrowd.rows.one_machine import check_whole
    from incrowd.tables.hierarchies.read import hierarchies_in
    from incrowd.tables.publishing.serialise import write_table
    from incrowd.tables.publishing.staging import check_target, staged
    from incrowd.vocabulary.forms import FileForm

    target = to or decoded_name(release)
    check_target(target, tuple(path for path in (release, groups, certificate) if path is not None), replace=replace)
    form = FileForm.of(target)
    check_whole(limits["memory"], *(path for path in (release, groups) if path is not None))
    received = open_release(
        release,
        certificate=certificate,
        groups=groups,
        hierarchies=hierarchies_in(hierarchies) if hierarchies else None,
    )
    frame = pl.DataFrame(pl.from_arrow(decoded_table(received, deals=deals, seed=seed)))
    with staged(target, replace=replace) as hidden:
        if form.kind == "parquet":
            frame.write_parquet(hidden, compression="zstd", metadata=METADATA)
        else:
            write_table(frame, hidden, form)
    times = frame.height // max(1, received.opened.table.num_rows)
    typer.echo(
        f"{frame.height:,} rows, {times} deal{'s' if times > 1 else ''} with weights of 1/{times}: {target}. Values "
        "are dealt at random within groups; this table does not carry the guarantee of the release."
    )
