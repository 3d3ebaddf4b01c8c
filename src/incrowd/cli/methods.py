"""``incrowd methods``: the catalog."""

from __future__ import annotations

import typer

from incrowd.cli.shared import Json, print_json

_FACTS = ("name", "summary", "paper", "needs_target", "generalizes", "loses_rows", "forms", "numeric")


def methods(json: Json = False) -> None:
    """List the release methods."""
    from incrowd.algorithms.catalog import METHODS

    if json:
        print_json([{fact: getattr(entry, fact) for fact in _FACTS} for entry in METHODS.values()])
        return
    width = max(map(len, METHODS))
    for entry in METHODS.values():
        typer.echo(f"{entry.name:<{width}} {entry.summary}\n{'':<{width}} {entry.paper}")
