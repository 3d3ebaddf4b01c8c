"""What is in a release, column by column, for people: a text, and a table in notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd.recipients.views import BY_BOX, BY_VALUE, ReleasedColumn
from incrowd.vocabulary.schema import Role

if TYPE_CHECKING:
    from incrowd.recipients.received import ReceivedRelease

_MOST_CUTS = 8  # that are written out
HEADS = ("column", "role", "form", "shown", "cuts", "fed to learners as")


@dataclass(frozen=True)
class Description:
    """A line for each column of a release."""

    title: str
    lines: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(HEADS, *self.lines, strict=True)]
        rows = [HEADS, *self.lines]
        padded = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self.title, *(line.rstrip() for line in padded)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from incrowd.vocabulary.views import table_view

        return table_view(self.title, HEADS, self.lines)


def description(release: ReceivedRelease) -> Description:
    """Describe a release."""
    attributes = {column.name: column for column in release.attributes}
    lines = []
    for stated in release.certificate["released_columns"]:
        name = stated["from"]
        if stated["as"] == "high end":
            continue
        column = attributes.get(name)
        if column is None:
            form = "pseudonym" if stated["role"] in (Role.PERSON, Role.PSEUDONYM) else "as it was"
            lines.append((name, stated["role"], form, "", "", "the class" if name == release.target else "not fed"))
            continue
        cells = release.dealing.cells[release.attributes.index(column)]
        share = float(np.mean(cells.codes >= 0)) if len(cells.codes) else 0.0
        if column.form == "counts":
            share = float(np.mean([text != "*" for text in np.array([*cells.values, "*"], object)[cells.codes]]))
        lines.append((name, stated["role"], _form(column), f"{share:.0%}", _cuts(column), _fed(column)))
    rows = release.opened.table.num_rows
    return Description(
        f"{release.opened.name}: {rows:,} rows, {release.certificate['requirement_asked']}", tuple(lines)
    )


def _form(column: ReleasedColumn) -> str:
    form = "as it was" if column.form == "plain" else column.form
    return f"{form}; days since the person's first row" if column.since_first else form


def _cuts(column: ReleasedColumn) -> str:
    cuts = column.cuts or ()
    more = f", … {len(cuts) - _MOST_CUTS} more" if len(cuts) > _MOST_CUTS else ""
    return ", ".join(f"{cut:g}" for cut in cuts[:_MOST_CUTS]) + more


def _fed(column: ReleasedColumn) -> str:
    if column.seen == BY_BOX:
        return "the cells of the box that a row lies in"
    if column.seen == BY_VALUE:
        return "the cell that stands for the value"
    if column.form == "counts":
        return "values dealt within groups" + ("; numbers in public bins" if column.cuts else "")
    if column.form == "bins":
        return "public bins; one of a set"
    if column.form == "levels":
        return "the level of the bin"
    if column.kind.is_numeric:
        return "numbers, drawn inside intervals" if column.form == "interval" else "numbers"
    return "values; one of a set" if column.form == "values" else "values"
