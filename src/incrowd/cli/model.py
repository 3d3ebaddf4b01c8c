"""``incrowd model``: publish a decision tree instead of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.cli.options import takes
from incrowd.cli.shared import File, Json, print_json, progress
from incrowd.models.options import MODEL, ModelOptions
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part

if TYPE_CHECKING:
    from incrowd.models.pipeline import Published
    from incrowd.report.terminal import Screen

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
        model = publish_model(file, progress=show, **part(ModelOptions, options))
    to, drawing, pmml = (options[name] for name in ("to", "plot", "pmml"))
    files = {"model": to, "certificate": ModelFiles(to).certificate, "drawing": drawing, "PMML": pmml}
    written = {what: str(path) for what, path in files.items() if path}
    if json:
        print_json({"files": written, "certificate": model.certificate, "seconds": dict(model.seconds)})
        return
    from rich.console import Console

    _screen(model, file.name).show(Console(), written)


def _screen(published: Published, source: str) -> Screen:
    """The model for a terminal."""
    from incrowd.drawing.wording import Tone, counted
    from incrowd.models.exports import export_text
    from incrowd.report.terminal import Screen

    model, checks = published.model, published.verdict.checks
    leaves = sum(node.is_leaf for node in model.tree.nodes)
    entries = {
        "method": f"kadet, {counted(leaves, 'leaf') if leaves == 1 else f'{leaves:,} leaves'}",
        "predicts": model.target,
        "public": ", ".join(model.public) or "none",
        "private": ", ".join(model.private) or "none",
        "spans": f"{model.spans:,}; smallest {counted(model.smallest_span, model.counted.removesuffix('s'))}",
    }
    return Screen(
        f"Model of {source}",
        f"satisfies {checks[0].name}, recounted independently from the written file",
        Tone.GOOD if leaves > 1 else Tone.POOR,
        (f"{counted(len(checks), 'check')} of the file against the table passed",),
        entries,
        tuple(export_text(model, max_depth=DEPTH).splitlines()[:-1]),
        published.notices,
    )
