"""The released table, frame by frame, in random order, with the originals beside it for the verification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.engines.blocks.buckets import Buckets
from incrowd.engines.blocks.palette import Palette
from incrowd.engines.blocks.population import BlockedPopulation
from incrowd.engines.embedded.applying import applied, shown_forms
from incrowd.engines.embedded.evidence import claims
from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.fresh import fresh_series
from incrowd.vocabulary.randomness import Randomness

ORIGIN, FORM, OWN = "\x1forigin", "\x1fform ", "\x1fown "  # begin with a letter that names do not have
"""Columns of rows on their way: the input row, the position of the form that is shown, the code of the own value."""

Positions = npt.NDArray[np.intp]
BUCKET_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class DraftFrame:
    """Some released rows, in random order, and what the input held.

    ``table`` is a PyArrow table of the released columns, ``original`` one of the same columns: quasi-identifiers as
    they were understood, others as they were read. ``claims`` and ``origin`` are those of an
    :class:`incrowd.engines.engine.Draft`.
    """

    table: Any
    original: Any
    origin: np.ndarray[tuple[int], np.dtype[np.int64]]
    claims: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Drafting:
    """Applies a plan to blocks.

    ``columns`` have the dictionaries of the quasi-identifiers, ``types`` the types they have in the source, where these
    are not those of the dictionaries: truth values are understood as text, and released as truth values.
    """

    plan: ReleasePlan
    population: BlockedPopulation
    columns: Mapping[str, EncodedColumn]
    randomness: Randomness
    types: Mapping[str, pl.DataType] = field(default_factory=dict)

    def type_of(self, name: str) -> pl.DataType:
        """The type of a quasi-identifier in the source."""
        return self.types.get(name, self.columns[name].dictionary.dtype)

    def frames(self, sources: Iterator[pl.DataFrame], folder: Path, rows: int = BUCKET_ROWS) -> Iterator[DraftFrame]:
        """The release. ``sources`` are the rows of each block with the columns that are not quasi-identifiers."""
        buckets = Buckets(folder, self.randomness, rows=rows, total=self.population.rows)
        after = applied(self.plan, self.population)
        assert isinstance(after, BlockedPopulation)
        shown = after.blocks.each(lambda block, place: self.marked(after, block, place))
        start = 0
        for source, marked, height in zip(sources, shown, self.population.blocks.rows, strict=True):
            kept = marked[ORIGIN].to_numpy()
            beside = source.select(name for name in source.columns if name not in self.plan.names)
            buckets.add(beside[kept].hstack(marked.with_columns(pl.col(ORIGIN) + start)))
            start += height
        return (self._drafted(frame) for frame in buckets.shuffled())

    def marked(self, after: BlockedPopulation, block: EncodedTable, place: int) -> pl.DataFrame:
        """The rows of a block that are kept: where they come from, what they show, what they have."""
        seen = after.seen(block, place)
        kept = seen.kept
        taken: Any = slice(None) if len(kept) == block.height else kept
        forms = shown_forms(self.plan, seen)
        once = {FORM: forms[self.plan.names[0]]} if self.plan.show and self.plan.names else forms
        columns: dict[str, np.ndarray[Any, Any]] = {ORIGIN: kept.astype(np.int64)}
        columns |= {name if name == FORM else FORM + name: codes[taken] for name, codes in once.items()}
        columns |= {OWN + name: _small(block[name].codes[taken], block[name].width) for name in self.plan.names}
        return pl.DataFrame(columns)

    @cached_property
    def palettes(self) -> dict[str, Palette]:
        """What each released column of a quasi-identifier can show."""
        return {
            written.name: Palette.of(self.plan, written, self.type_of(written.source))
            for written in self.plan.written
            if written.source in self.plan.names
        }

    @cached_property
    def claimed(self) -> Mapping[str, tuple[Any, Any]]:
        """What each form of an attribute claims; the last entry is for rows that show nothing."""
        every = {name: np.arange(len(self.plan.forms(name)) + 1, dtype=np.int32) for name in self.plan.names}
        return claims(self.plan, every)

    def _drafted(self, rows: pl.DataFrame) -> DraftFrame:
        shown = self.shown(rows)
        claimed = {name: (low[shown[name][0]], high[shown[name][0]]) for name, (low, high) in self.claimed.items()}
        return DraftFrame(self.released(rows, shown), self.originals(rows), rows[ORIGIN].to_numpy(), claimed)

    def released(self, rows: pl.DataFrame, shown: Mapping[str, tuple[Positions, Positions]]) -> Any:
        """The rows as they are released: a PyArrow table in fresh memory."""
        import pyarrow as pa

        return pa.table(
            {
                written.name: self.palettes[written.name].column(*shown[written.source])
                if written.source in shown
                else fresh_series(rows[written.source]).to_arrow(compat_level=pl.CompatLevel.oldest())
                for written in self.plan.written
            }
        )

    def shown(self, rows: pl.DataFrame) -> dict[str, tuple[Positions, Positions]]:
        """For each attribute the form that each row shows, and the forms that occur."""
        if FORM in rows.columns:
            return dict.fromkeys(self.plan.names, _with_occurring(rows[FORM]))
        return {name: _with_occurring(rows[FORM + name]) for name in self.plan.names}

    def originals(self, rows: pl.DataFrame) -> Any:
        """What the input held in these rows: a PyArrow table."""
        import pyarrow as pa

        return pa.table(
            {
                written.name: self._understood(written.source, rows[OWN + written.source].to_numpy())
                if written.source in self.plan.names
                else rows[written.source].to_arrow(compat_level=pl.CompatLevel.oldest())
                for written in self.plan.written
            }
        )

    def _understood(self, name: str, codes: np.ndarray[Any, Any]) -> Any:
        import pyarrow as pa

        known = pa.array(codes, mask=codes == self.columns[name].missing_code)
        return pa.DictionaryArray.from_arrays(known, self._dictionaries[name])

    @cached_property
    def _dictionaries(self) -> dict[str, Any]:
        return {name: self.columns[name].dictionary.to_arrow() for name in self.plan.names}


def _with_occurring(forms: pl.Series) -> tuple[Positions, Positions]:
    positions = forms.to_numpy().astype(np.intp)
    return positions, np.flatnonzero(np.bincount(positions + 1)) - 1


def _small(codes: np.ndarray[Any, Any], width: int) -> np.ndarray[Any, Any]:
    """Codes in the smallest type that holds them."""
    return codes.astype(np.min_scalar_type(width))
