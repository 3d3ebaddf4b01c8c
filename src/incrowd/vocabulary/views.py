"""What notebooks show of an object: a table, in the colours of the reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table_view(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table under its title, as a fragment of HTML.

    Examples
    --------
    >>> "a&lt;b" in table_view("Columns", ["name"], [["a<b"]])
    True
    """
    from incrowd.drawing.markup import texts
    from incrowd.drawing.page import page, table

    return page(title, table(title, texts(*header), (texts(*row) for row in rows)), whole=False)
