"""``incrowd methods``, ``presets``, ``learners``, ``datasets``, ``recipe-schema``: what other commands can be told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.shared import Json, plugged, print_json

if TYPE_CHECKING:
    from incrowd.comparisons.datasets.catalog import Dataset
_FACTS = (
    *("name", "summary", "paper", "needs_target", "generalizes", "loses_rows", "forms", "numeric"),
    *("weighs", "limits_levels", "loses_on_request", "package"),
)


def methods(json: Json = False) -> None:
    """List the release methods: incrowd's own, and those of packages that are installed beside it."""
    from incrowd.methods.catalog import AUTO, METHODS, entry_of

    entries = [*METHODS.values(), AUTO, *plugged("methods", METHODS, entry_of).values()]
    if json:
        print_json([{fact: getattr(entry, fact) for fact in _FACTS} for entry in entries])
        return
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        typer.echo(f"{entry.name:<{width}} {entry.summary} [{entry.package}]")
        if entry.paper:
            typer.echo(f"{'':<{width}} {entry.paper}")


def presets(name: Annotated[str | None, typer.Argument(help="One preset: the recipe fragment it is.")] = None) -> None:
    """List the presets of a release, or show one: a recipe fragment, which your own options overrule."""
    from incrowd.tables.recipe_checks import PRESETS, preset_text

    if name is not None:
        typer.echo(preset_text(name), nl=False)
        return
    for known in PRESETS:
        typer.echo(f"{known:<12} {preset_text(known).splitlines()[0].removeprefix('# ')}")
    typer.echo("\nOne of them: incrowd presets NAME. To use it: incrowd release FILE --preset NAME ...")


def learners(json: Json = False) -> None:
    """List the learners that compare can train. Any scikit-learn classifier can be named, too."""
    from incrowd.comparisons.learners.catalog import LEARNERS, learner_entry

    entries = LEARNERS | plugged("learners", LEARNERS, learner_entry)
    if json:
        facts = ("summary", "package")
        print_json([{"name": name, **{one: getattr(entry, one) for one in facts}} for name, entry in entries.items()])
        return
    width = max(map(len, entries))
    for name, entry in entries.items():
        typer.echo(f"{name:<{width}}  {entry.summary} [{entry.package}]")


def datasets(
    name: Annotated[str | None, typer.Argument(help="One data set: citation, licence, notes.")] = None,
    data: Annotated[Path | None, typer.Option(help="A folder with the files; else INCROWD_DATA.")] = None,
    json: Json = False,
) -> None:
    """List the data sets that compare takes by name in place of a file, and where each would come from."""
    from incrowd.comparisons.datasets.catalog import DATASETS, describe, find_dataset

    where = describe(data)
    wanted = [*DATASETS.values()] if name is None else [find_dataset(name)]
    facts = [_facts(dataset, where[dataset.name]) for dataset in wanted]
    if json:
        print_json(facts)
    elif name is not None:
        for term, value in facts[0].items():
            typer.echo(f"{term:<18} {'; '.join(map(str, value)) if isinstance(value, list) else value}")
    else:
        _list(facts)


def recipe_schema() -> None:
    """Print the JSON Schema of recipes: save it as recipe.schema.json beside them, and editors complete them."""
    from incrowd.tables.recipe_checks import recipe_schema as schema

    print_json(schema())


def _facts(dataset: Dataset, where: str) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "title": dataset.title,
        "rows": dataset.rows,
        "attributes": len(dataset.attributes),
        "numeric": len(dataset.numeric),
        "quasi-identifiers": ["all", *dataset.attribute_sets],
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
    typer.echo("\nOne of them with citation and licence: incrowd datasets NAME")
