"""The desk: a web app on this machine for the person who signs a release. It may import every room above it.

``server`` runs it, ``security`` guards it. A ``project`` is a folder whose files are the whole state, ``recipes`` are
their text; ``forms`` are made from declared options; ``steps``, ``columns``, ``releasing``, ``results`` and ``tools``
are the pages. Tables are read by other processes only: ``jobs`` run the command line, ``asking`` asks ``facts``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def desk(
    folder: Annotated[
        Path, typer.Argument(help="The folder of the project: recipes, releases, ledger.", show_default=False)
    ] = Path(),
    data: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Another folder that tables may be read from. May be repeated."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(help="The port on this machine; by default a free one.", min=0, max=65535, show_default=False),
    ] = 0,
    idle: Annotated[int, typer.Option(metavar="MINUTES", help="End after so long without a visit.", min=1)] = 120,
    browser: Annotated[
        bool, typer.Option(help="Whether to open the browser; by default yes.", show_default=False)
    ] = True,
) -> None:
    """Open the desk: choose data, decide, release and verify in the browser, on this machine only.

    The desk keeps everything in the folder, as files that all other commands read and write; nothing is sent
    elsewhere. End it with Ctrl+C.
    """
    from incrowd.optional import optional

    for package in ("starlette", "uvicorn", "jinja2", "python_multipart"):
        optional(package, "The desk")
    from incrowd.desk.server import serve

    serve(folder, data or (), port=port, idle=60.0 * idle, browser=browser)
