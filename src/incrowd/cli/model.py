"""``incrowd model``: publish a decision tree instead of a table."""

from __future__ import annotations

from typing import Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import File, Json, print_json, progress
from incrowd.models.options import MODEL, ModelOptions
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part

DEPTH = 4  # levels on the screen; the file of the model has all


@takes(MODEL, needed=("to",))
def model(file: File, *, json: Json = False, **options: Any) -> None:
    """Publish a decision tree instead of a table: whoever knows the public attributes cannot tell k people apart.

    The tree is recounted from the written file by an independent checker before it appears. Its certificate is
    written beside it.
    """
    from incrowd.models.pipeline import ModelFiles, publish_model

    options["reading"] = part(Reading, options)
    with progress(json) as show:
        made = publish_model(file, progress=show, **part(ModelOptions, options))
    to, drawing, pmml = (options[name] for name in ("to", "plot", "pmml"))
    files = {"model": to, "certificate": ModelFiles(to).certificate, "drawing": drawing, "PMML": pmml}
    written = {what: str(path) for what, path in files.items() if path}
    if json:
        print_json({"files": written, "certificate": made.certificate, "seconds": dict(made.seconds)})
        return
    from incrowd.models.drawings import export_text

    typer.echo(f"{export_text(made.model, max_depth=DEPTH)}\n\n{made.verdict}")
    for notice in made.notices:
        typer.echo(f"note    {notice}")
    for what, path in written.items():
        typer.echo(f"written {what}: {path}")
