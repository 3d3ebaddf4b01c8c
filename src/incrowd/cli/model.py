"""``incrowd model``: publish a decision tree instead of a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.shared import (
    Delimiter,
    Encoding,
    File,
    Json,
    MissingMarks,
    Require,
    names,
    print_json,
    progress,
    reading_options,
    whole,
)

DEPTH = 4


class TreeScore(StrEnum):
    """How splits are chosen."""

    C45 = "c45"
    ID3 = "id3"


class Fill(StrEnum):
    """What stands for missing values."""

    MODE = "mode"
    VALUE = "value"


def model(
    file: File,
    to: Annotated[Path, typer.Option(help="The model: a file that ends in .json.")],
    target: Annotated[str, typer.Option(help="The class to predict.")],
    public: Annotated[str | None, typer.Option(help="Attributes an attacker may know: a,b")] = None,
    private: Annotated[str | None, typer.Option(help="Attributes nobody outside knows: c,d")] = None,
    public_class: Annotated[bool, typer.Option("--public-class", help="An attacker may know the class, too.")] = False,
    k: Annotated[str, typer.Option("-k", help="Smallest number of people who may look alike to the model.")] = "10",
    max_confidence: Annotated[
        float | None, typer.Option(help="No class has a larger share among people who look alike, e.g. 0.85.")
    ] = None,
    l: Annotated[  # noqa: E741
        float | None, typer.Option("--l", help="Entropy l-diversity of the class among people who look alike.")
    ] = None,
    require: Require = None,
    score: Annotated[
        TreeScore, typer.Option(help="c45: gain ratio, also numbers; id3: gain, categories only.")
    ] = TreeScore.C45,
    prune: Annotated[bool | None, typer.Option(help="Prune the tree; if not said, with c45 only.")] = None,
    fill: Annotated[
        Fill | None, typer.Option(help="Missing values: the most frequent value or median, or a value of their own.")
    ] = None,
    hierarchies: Annotated[Path | None, typer.Option(help="A folder with a hierarchy file for each column.")] = None,
    repeats: Annotated[
        str | None, typer.Option(help="Identifiers that may repeat, as they do not number persons: a,b")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a drawing there (SVG).")] = None,
    pmml: Annotated[Path | None, typer.Option(help="Write the model as PMML 4.4 there, for other programs.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: MissingMarks = None,
    json: Json = False,
) -> None:
    """Publish a decision tree instead of a table: whoever knows the public attributes cannot tell k people apart.

    The tree is recounted from the written file by an independent checker before it appears. Its certificate is
    written beside it.
    """
    from incrowd.models.pipeline import ModelFiles, publish_model

    with progress(json) as show:
        made = publish_model(
            file,
            target=target,
            public=names(public) or [],
            private=names(private) or [],
            hierarchies=hierarchies,
            repeats=names(repeats) or [],
            reading=reading_options(delimiter, encoding, missing),
            to=to,
            plot_to=plot,
            pmml_to=pmml,
            progress=show,
            k=whole(k),
            class_private=not public_class,
            score="gain" if score is TreeScore.ID3 else "gain_ratio",
            l=l,
            max_confidence=max_confidence,
            require=tuple(require or ()),
            prune=prune,
            fill=None if fill is None else str(fill),
        )
    files = {"model": to, "certificate": ModelFiles(to).certificate, "drawing": plot, "PMML": pmml}
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
