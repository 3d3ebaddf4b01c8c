"""A plan applied to blocks: what only the rows tell, and the released table, frame by frame, in random order.

A random order for more rows than fit into memory: each row goes to a random bucket, each bucket is shuffled. Buckets
are files in a private folder. Every order of the rows is equally likely: it is the order of two random numbers for
each row, the first of which names its bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import OutputError
from incrowd.methods.method import Population, applied
from incrowd.plan.release_plan import ReleasePlan, Written
from incrowd.rows.blocks.population import BlockedPopulation
from incrowd.rows.memory.classes import with_classes_kept
from incrowd.rows.memory.drafting import claims, column_values, settled, shown_forms, tally_forms
from incrowd.rows.memory.settling import FormTally, needs_rows
from incrowd.rows.one_machine import Drafted
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness, fresh_series, permutation

MOST_BUCKETS = 256
"""Files that are open at the same time; systems allow a process 1024 and sometimes less. A power of two."""


class Buckets:
    """Takes frames, all with the same columns, and gives their rows back in random order.

    ``folder``: private, with room for all rows. ``rows``: how many rows a bucket should have, about; more, where there
    would be too many buckets. ``total``: how many rows will come, about.
    """

    def __init__(self, folder: Path, randomness: Randomness, *, rows: int, total: int) -> None:
        self._randomness = randomness
        wanted = max(0, (max(1, total) - 1) // max(1, rows))
        self._count = min(1 << wanted.bit_length(), MOST_BUCKETS)  # a power of two: no bias
        self._paths = [folder / f"bucket-{place:05d}.arrow" for place in range(self._count)]
        self._writers: list[Any] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Deal the rows of a frame to the buckets."""
        place = (self._randomness.words(frame.height) & np.uint64(self._count - 1)).astype(np.uint16)
        order = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place, minlength=self._count)).tolist()
        dealt = frame[order].rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
        try:
            for writer, start, end in zip(self._open(dealt.schema), [0, *ends], ends, strict=False):
                writer.write_table(dealt.slice(start, end - start))
        except OSError:
            raise OutputError(
                "The rows do not fit into the scratch folder, or it cannot be written. Free space there, or choose "
                "another."
            ) from None

    def shuffled(self) -> Iterator[pl.DataFrame]:
        """The rows, bucket by bucket, each shuffled; a bucket's file goes when it was read."""
        import pyarrow as pa

        for writer in self._writers:
            writer.close()
        for path in self._paths if self._writers else ():
            with pa.memory_map(str(path)) as file:
                frame = pl.DataFrame(pa.ipc.open_stream(file).read_all())
                mixed = frame[permutation(frame.height, self._randomness)].rechunk()
                del frame
            path.unlink()
            yield mixed

    def _open(self, schema: Any) -> list[Any]:
        if not self._writers:
            import pyarrow as pa

            self._writers = [pa.ipc.new_stream(str(path), schema) for path in self._paths]
        return self._writers


# What the groups of a release show in one column, made once for all pieces.
@dataclass(frozen=True, eq=False)
class Palette:
    """The distinct values of a released column, and which of them each form shows; past the last is nothing."""

    values: pl.Series
    place: npt.NDArray[np.int32]

    @classmethod
    def of(cls, plan: ReleasePlan, written: Written, source_type: pl.DataType) -> Palette:
        """What the plan shows in one column."""
        return cls.of_values(column_values(plan, written, source_type))

    @classmethod
    def of_values(cls, shown: pl.Series) -> Palette:
        """From what each form shows."""
        values = shown.drop_nulls().unique().sort()  # a dictionary must tell no order but its own
        codes = shown.replace_strict(values, pl.int_range(len(values), eager=True), default=None, return_dtype=pl.Int32)
        return cls(values, np.append(codes.fill_null(len(values)).to_numpy(), len(values)).astype(np.int32))

    def column(self, forms: npt.NDArray[np.intp], occurring: npt.NDArray[np.intp]) -> Any:
        """A column of the release, given the form each row shows, as a PyArrow array in fresh memory.

        Text comes with a dictionary of the values that occur in it, and of no others; ``occurring`` are the forms
        that some row shows.
        """
        import pyarrow as pa

        if self.values.dtype != pl.String:
            return self._with_nothing.gather(self.place[forms]).to_arrow(compat_level=pl.CompatLevel.oldest())
        used = np.unique(self.place[occurring])
        some_show_nothing = (used == len(self.values)).any()
        used = used[used < len(self.values)]
        words = self.values.gather(used).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.string())
        small = np.int16 if len(self.values) < 1 << 15 else np.int32  # the same for all pieces
        codes = pa.py_buffer(np.searchsorted(used, self.place).astype(small)[forms])
        known = np.packbits((self.place < len(self.values))[forms], bitorder="little") if some_show_nothing else None
        buffers = [None if known is None else pa.py_buffer(known), codes]  # pa.array would import pandas
        indices = pa.Array.from_buffers(pa.from_numpy_dtype(small), len(forms), buffers)
        return pa.DictionaryArray.from_arrays(indices, words)

    @cached_property
    def _with_nothing(self) -> pl.Series:
        return self.values.extend_constant(None, 1)


ORIGIN, FORM, OWN = "\x1forigin", "\x1fform ", "\x1fown "  # begin with a letter that names do not have
"""Columns of rows on their way: the input row, the position of the form that is shown, the code of the own value."""
PERSON = "\x1fperson"
"""The person of each row, among what the input held."""

Positions = npt.NDArray[np.intp]
BUCKET_ROWS = 1 << 20  # at most; fewer make more pieces, each of which is verified by itself


def settle_blocks(plan: ReleasePlan, population: Population, columns: Mapping[str, EncodedColumn]) -> ReleasePlan:
    """The plan with what only the rows tell; ``columns`` have the dictionaries and the rows of each value."""
    after = applied(plan.steps, population)
    assert isinstance(after, BlockedPopulation)

    def settle(plan: ReleasePlan) -> ReleasePlan:
        if not any(needs_rows(plan.forms(name)) for name in plan.names):
            return settled(plan, columns, {})
        tallies = list(
            after.blocks.each(lambda b, place: tally_forms(plan, b, shown_forms(plan, after.seen(b, place))))
        )
        return settled(plan, columns, {name: FormTally.sum([one[name] for one in tallies]) for name in tallies[0]})

    return with_classes_kept(plan, after, settle)


@dataclass(frozen=True, eq=False)
class Drafting:
    """Applies a plan to blocks.

    ``columns`` have the dictionaries of the quasi-identifiers, ``types`` the types they have in the source, where these
    are not those of the dictionaries: truth values are understood as text, and released as truth values. ``person`` is
    the column that says whose rows they are, where the rows on their way have it: it is for the verification alone.
    """

    plan: ReleasePlan
    population: BlockedPopulation
    columns: Mapping[str, EncodedColumn]
    randomness: Randomness
    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    person: str | None = None

    def type_of(self, name: str) -> pl.DataType:
        """The type of a quasi-identifier in the source."""
        return self.types.get(name, self.columns[name].dictionary.dtype)

    def frames(self, sources: Iterator[pl.DataFrame], folder: Path, rows: int = BUCKET_ROWS) -> Iterator[Drafted]:
        """The release. ``sources`` are the rows of each block with the columns that are not quasi-identifiers."""
        buckets = Buckets(folder, self.randomness, rows=rows, total=self.population.rows)
        after = applied(self.plan.steps, self.population)
        assert isinstance(after, BlockedPopulation)
        shown = after.blocks.each(lambda block, place: self.marked(after, block, place))
        start = 0
        for source, marked, height in zip(sources, shown, self.population.blocks.rows, strict=True):
            kept = marked[ORIGIN].to_numpy()
            beside = source.select(name for name in source.columns if name not in self.plan.names)
            buckets.add(beside[kept].hstack(marked.with_columns(pl.col(ORIGIN) + start)))
            start += height
        return (self.drafted(frame) for frame in buckets.shuffled())

    def marked(self, after: BlockedPopulation, block: EncodedTable, place: int) -> pl.DataFrame:
        """The rows of a block that are kept: where they come from, and what they show."""
        seen = after.seen(block, place)
        kept = seen.kept
        taken: Any = slice(None) if len(kept) == block.height else kept
        forms = shown_forms(self.plan, seen)
        once = {FORM: forms[self.plan.names[0]]} if self.plan.show and self.plan.names else forms
        columns: dict[str, np.ndarray[Any, Any]] = {ORIGIN: kept.astype(np.int64)}
        columns |= {name if name == FORM else FORM + name: codes[taken] for name, codes in once.items()}
        return pl.DataFrame(columns)

    def own(self, block: EncodedTable, rows: Positions) -> pl.DataFrame:
        """What some rows of a block have."""
        return pl.DataFrame(
            {OWN + name: _small(block[name].codes[rows], block[name].width) for name in self.plan.names}
        )

    @cached_property
    def palettes(self) -> dict[str, Palette]:
        """What each released column of a quasi-identifier can show."""
        return {
            written.name: Palette.of(self.plan, written, self.type_of(written.source))
            for written in self.plan.written
            if written.source in self.plan.names
        }

    @cached_property
    def _claimed(self) -> Mapping[str, tuple[Any, Any]]:
        """What each form of an attribute claims; the last entry is for rows that show nothing."""
        every = {name: np.arange(len(self.plan.forms(name)) + 1, dtype=np.int32) for name in self.plan.names}
        return claims(self.plan, every)

    def drafted(self, rows: pl.DataFrame) -> Drafted:
        """Some rows, mixed, as they are released."""
        shown = self.shown(rows)
        return Drafted(self.released(rows, shown), rows[ORIGIN].to_numpy(), self.claims(shown))

    def claims(self, shown: Mapping[str, tuple[Positions, Positions]]) -> dict[str, tuple[Any, Any]]:
        """The ends of the interval behind each number that is a middle."""
        return {name: (low[shown[name][0]], high[shown[name][0]]) for name, (low, high) in self._claimed.items()}

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
        """What the input held in these rows: a PyArrow table, the person last, if there is one."""
        import pyarrow as pa

        columns = {
            written.name: self._understood(written.source, rows[OWN + written.source].to_numpy())
            if written.source in self.plan.names
            else rows[written.source].to_arrow(compat_level=pl.CompatLevel.oldest())
            for written in self.plan.written
        }
        if self.person is not None:
            columns[PERSON] = rows[self.person].to_arrow(compat_level=pl.CompatLevel.oldest())
        return pa.table(columns)

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
