"""``incrowd lab``: data sets, learners, the founding papers' experiments, and what stronger promises cost and stop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.lab_attacks import attacks
from incrowd.cli.lab_blend import ablate, blend
from incrowd.cli.lab_requirements import requirements
from incrowd.cli.reproduce import reproduce
from incrowd.cli.shared import Json, print_json

_HELP = "Data sets, learners, the founding papers' experiments run again, and attacks on releases."
lab_app = typer.Typer(name="lab", help=_HELP, no_args_is_help=True)
lab_app.command()(reproduce)
lab_app.command()(requirements)
lab_app.command()(attacks)
lab_app.command()(ablate)
lab_app.command()(blend)


@lab_app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(help="One data set: citation, licence, notes.")] = None,
    data: Annotated[Path | None, typer.Option(help="A folder with the files; else INCROWD_DATA.")] = None,
    json: Json = False,
) -> None:
    """List the data sets that can be named in place of a file, and where each would come from."""
    from incrowd.lab.datasets.catalog import find_dataset
    from incrowd.lab.datasets.describe import describe

    found = describe(data)
    if name is not None:
        wanted = find_dataset(name)
        found = [listing for listing in found if listing.dataset is wanted]
    facts = [_facts(listing.dataset, listing.where) for listing in found]
    if json:
        print_json(facts)
    elif name is not None:
        for term, said in facts[0].items():
            typer.echo(f"{term:<18} {'; '.join(map(str, said)) if isinstance(said, list) else said}")
    else:
        _list(facts)


@lab_app.command()
def learners(json: Json = False) -> None:
    """List the learners. Any scikit-learn classifier can be named, too."""
    from incrowd.lab.learners.catalog import LEARNERS

    if json:
        print_json([{"name": name, "summary": entry.summary} for name, entry in LEARNERS.items()])
        return
    width = max(map(len, LEARNERS))
    for name, entry in LEARNERS.items():
        typer.echo(f"{name:<{width}}  {entry.summary}")


def _facts(dataset: Any, where: str) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "title": dataset.title,
        "rows": dataset.rows,
        "attributes": len(dataset.attributes),
        "numeric": len(dataset.numeric),
        "quasi-identifiers": ["all", *(chosen.name for chosen in dataset.attribute_sets)],
        "from": where,
        "citation": dataset.citation,
        "licence": dataset.licence,
        "notes": list(dataset.notes),
    }


def _list(facts: list[dict[str, Any]]) -> None:
    shown = ("name", "rows", "attributes", "from", "title")
    rows = [
        shown,
        *(tuple(f"{one[key]:,}" if isinstance(one[key], int) else one[key] for key in shown) for one in facts),
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(len(shown))]
    for row in rows:
        cells = [
            f"{cell:>{width}}" if key in ("rows", "attributes") else f"{cell:<{width}}"
            for key, cell, width in zip(shown, row, widths, strict=True)
        ]
        typer.echo("  ".join(cells).rstrip())
    typer.echo("\nOne of them with citation and licence: incrowd lab datasets NAME")
