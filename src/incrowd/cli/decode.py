"""``incrowd decode``: a plain table from a release of counts, for the recipient."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.shared import File, Replace


def decode(
    release: File,
    to: Annotated[
        Path | None, typer.Option("--to", "-o", help="Where it goes; by default RELEASE.decoded.parquet.")
    ] = None,
    deals: Annotated[int, typer.Option(help="How often the values are dealt over the rows.")] = 5,
    groups: Annotated[Path | None, typer.Option(help="The table of groups of a release of two tables.")] = None,
    numbers: Annotated[str, typer.Option(help="Numbers as their interval, or as its middle.")] = "interval",
    replace: Replace = False,
    seed: Annotated[int | None, typer.Option(help="For a repeatable deal.")] = None,
) -> None:
    """Deal the published counts of a release out again: a plain table that any learner takes.

    The rows come several times, with a column of weights. What a row shows is dealt at random within its group: the
    decoded table does not carry the guarantee of the release.
    """
    from incrowd.recipients.decoding import decode as deal
    from incrowd.recipients.decoding import decoded_name, write_decoded
    from incrowd.tables.publishing.staging import check_target, staged
    from incrowd.vocabulary.forms import FileForm, groups_path

    target = to or decoded_name(release)
    beside = groups or (groups_path(release) if groups_path(release).is_file() else None)
    check_target(target, tuple(path for path in (release, beside) if path is not None), replace=replace)
    FileForm.of(target)
    made = deal(release, groups=beside, deals=deals, numbers=numbers, seed=seed)
    with staged(target, replace=replace) as hidden:
        write_decoded(made, hidden)
    typer.echo(
        f"{made.height:,} rows, {deals} deals with weights of 1/{deals}: {target}. Values are dealt at random within "
        "groups; this table does not carry the guarantee of the release."
    )
