"""The page that tells how good the checks are. Each section is written by the command that measures it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

SKELETON = """# How do we know?

incrowd promises that a release was checked by somebody else than the program that made it: the verification, which
knows what was asked for, reads the input and the written release by its own road, and refuses what it cannot prove. But
who checks the verification? This page does, in three ways. Faults are planted in the program, one at a time, and a
release is run with each: the program must refuse to publish it. The verification itself is changed, one word at a time,
and its tests must notice. And every reader is given damaged files by the thousand: it must read them or refuse them,
and never fall over. Last, how large the program is, for what nobody can read nobody can check. All figures were written
by the commands that are named; `make quality` runs them.

## Planted faults

<!-- faults -->
<!-- /faults -->

## Mutants

<!-- mutants -->
<!-- /mutants -->

## Damaged files

<!-- fuzz -->
<!-- /fuzz -->

## The house

<!-- house -->
<!-- /house -->
"""


def write_section(path: Path, name: str, markdown: str) -> None:
    """Replace the section of a page that stands between ``<!-- NAME -->`` and ``<!-- /NAME -->``.

    A page that does not exist is made, with a place for every section.

    Examples
    --------
    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "quality.md"
    >>> write_section(page, "mutants", "None.")
    >>> page.read_text().partition("<!-- mutants -->")[2].partition("<!-- /")[0].strip()
    'None.'
    """
    text = path.read_text(encoding="utf-8") if path.exists() else SKELETON
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, begun, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise ValueError(f"{path.name} has no section between {begin} and {end}.")
    path.write_text(f"{before}{begin}\n\n{markdown.strip()}\n\n{end}{after}", encoding="utf-8")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown; the first column is text, the others are numbers.

    Examples
    --------
    >>> print(table(["place", "planted"], [["reading", 20]]))
    | place | planted |
    |---|--:|
    | reading | 20 |
    """
    ruler = f"|---|{'--:|' * (len(header) - 1)}"
    return "\n".join([_line(header), ruler, *map(_line, rows)])


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
