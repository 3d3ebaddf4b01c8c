"""From a file as a package ships it to the canonical CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence

from incrowd.lab.datasets.entry import MISSING, Dataset, Shape

Row = list[str]


def canonical_csv(dataset: Dataset, members: Iterable[bytes], shape: Shape) -> bytes:
    """The canonical CSV of a data set from the members of a package, in their order.

    UTF-8, comma-separated, one header line, lines end with a line feed, missing values are ``?``.
    """
    rows = [row for member in members for row in parsed(member.decode("utf-8"), shape)]
    if shape.domains:
        rows.sort(key=_position_in(shape.domains))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(dataset.columns)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def parsed(text: str, shape: Shape) -> Iterator[Row]:
    """The rows of one file.

    Examples
    --------
    >>> shape = Shape(skipped=("|",), label_end=".", spelled=((0, ".2f"),), translated=((-1, "p", "positive"),))
    >>> list(parsed("|a remark\\n24.5, x, p.\\n?, y, n\\n\\n", shape))
    [['24.50', 'x', 'positive'], ['?', 'y', 'n']]
    """
    formats = dict(shape.spelled)
    words = {(position, theirs): ours for position, theirs, ours in shape.translated}
    for line in text.splitlines()[shape.header :]:
        if line.strip() and not line.startswith(shape.skipped):
            yield _row([cell.strip() for cell in line.split(shape.delimiter)], shape, formats, words)


def _row(cells: Row, shape: Shape, formats: dict[int, str], words: dict[tuple[int, str], str]) -> Row:
    cells = cells[shape.dropped :]
    cells[-1] = cells[-1].removesuffix(shape.label_end)
    for position, form in formats.items():
        if cells[position] != MISSING:
            cells[position] = format(float(cells[position]), form)
    for (position, theirs), ours in words.items():
        if cells[position] == theirs:
            cells[position] = ours
    return cells


def _position_in(domains: Sequence[Sequence[str]]) -> Callable[[Row], list[int]]:
    """Where a row stands if all combinations of values are listed, the last attribute changing first."""
    places = [{value: place for place, value in enumerate(domain)} for domain in domains]
    return lambda row: [place[cell] for place, cell in zip(places, row, strict=False)]
