"""A table as it came in, with a note of where it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from incrowd.errors import Notice
from incrowd.reading.dictionary import Distinct, distinct
from incrowd.reading.missing import markers_to_null
from incrowd.vocabulary.file_form import MISSING_MARKERS as MISSING_MARKERS
from incrowd.vocabulary.schema import Column

Form = Literal["csv", "parquet", "arrow", "arff", "excel", "pandas", "polars", "pyarrow"]
Compression = Literal["gzip", "zstd"]


@dataclass(frozen=True)
class Origin:
    """Where a table came from: all that is needed to write a release of the same kind.

    Examples
    --------
    >>> Origin("csv", "people.csv", delimiter=";").encoding
    'utf-8'
    """

    form: Form
    path: str | None = None
    delimiter: str = ","
    encoding: str = "utf-8"
    compression: Compression | None = None
    missing: tuple[str, ...] = MISSING_MARKERS


@dataclass(frozen=True, eq=False)
class Source:
    """A table that was read and found sound.

    Parameters
    ----------
    frame
        The values as they were read. Columns of text files are text, character for character; an empty cell
        or a missing marker is null. Parquet, Arrow, Excel and data frames keep their types.
    origin
        Where the table came from.
    notices
        What was handled while reading.
    declared
        Types and orders the file or frame itself declares (ARFF attributes, ordered categories).

    Examples
    --------
    >>> source = Source(pl.DataFrame({"age": ["39", "7", "39"]}), Origin("csv"))
    >>> source.distinct(["age"])["age"].values.to_list()
    ['39', '7']
    """

    frame: pl.DataFrame
    origin: Origin
    notices: tuple[Notice, ...] = ()
    declared: tuple[Column, ...] = ()
    _known: dict[str, Distinct] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        origin: Origin,
        notices: Iterable[Notice] = (),
        declared: Iterable[Column] = (),
    ) -> Source:
        """A source from columns as they were read: markers of missing values become null, with notices."""
        marked = markers_to_null(frame, origin.missing)
        source = cls(marked.frame, origin, (*notices, *marked.notices), tuple(declared))
        source._known.update(marked.distinct)
        return source

    def distinct(self, names: Iterable[str]) -> dict[str, Distinct]:
        """Codes and distinct values of the named columns, found once and kept."""
        wanted = list(dict.fromkeys(names))
        self._known.update(distinct(self.frame, [name for name in wanted if name not in self._known]))
        return {name: self._known[name] for name in wanted}
