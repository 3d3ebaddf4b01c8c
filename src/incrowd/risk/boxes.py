"""The classes of a release as boxes: who may stand behind which class.

A class is what rows with the same released quasi-identifiers are. A person lies in its box if every cell of it can
be true of the person. Classes are numbered from the smallest box to the largest.

What a release says of an untouched column of a person, the class say: of people in it, and of people who are not.

The attacker shows a person to a model as the class whose box fits, which is how the model knows people; learning from
classes, it needs no guess at what stands behind a cell. Counts tell more than a box: how likely each class is a
person's own, and so how likely each value is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import CannotRunError
from incrowd.plan.release_plan import HIGH, LOW
from incrowd.tables.publishing.serialise import safe_name
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.counts_text import read_counts
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.released_cell import CellReader, Ints, ReleasedCell
from incrowd.vocabulary.schema import Column, Role, Schema

# Quasi-identifiers of a release as the texts that were shown, whatever the file made of them.
_ESCAPED = re.compile(r"^'(?=[=+@\t\r-].)", re.DOTALL)


def written_cells(frame: pl.DataFrame, name: str) -> pl.Series | None:
    """The cells of a quasi-identifier as texts, two columns for the ends of an interval as one; None if it is gone."""
    for known_as in (name, safe_name(name)):
        if known_as in frame.columns:
            return plain_texts(frame[known_as])
        if known_as + LOW in frame.columns and known_as + HIGH in frame.columns:
            return _joined(plain_texts(frame[known_as + LOW]), plain_texts(frame[known_as + HIGH]))
    return None


def plain_texts(cells: pl.Series) -> pl.Series:
    """Cells as texts, without the apostrophe that keeps a spreadsheet from running them."""
    texts = cells.cast(pl.String)
    if not texts.str.starts_with("'").any():
        return texts
    return pl.Series(texts.name, [None if text is None else _ESCAPED.sub("", text) for text in texts], pl.String)


def _joined(low: pl.Series, high: pl.Series) -> pl.Series:
    """The two ends of an interval as its text."""
    both = [_interval_text(first, last) for first, last in zip(low, high, strict=True)]
    return pl.Series(low.name, both, pl.String)


def _interval_text(low: str | None, high: str | None) -> str | None:
    if low is None and high is None:
        return None
    if low == high:
        return low
    return f"({'-inf' if low is None else low}, " + ("inf)" if high is None else f"{high}]")


# People at a time, by the bytes each takes for a class: an eighth of one, and four.
_AT_ONCE, _SOME = 4096, 1024
_NEVER = 1e-6  # the share of a value that a class does not show: its logarithm is finite
Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ClassBoxes:
    """What the classes of a release show."""

    names: tuple[str, ...]  # the quasi-identifiers
    cells: Mapping[str, Sequence[ReleasedCell]]  # for each of them, all that is shown of it
    shown: Ints  # for each class, and each quasi-identifier, which of its cells the class shows

    def __len__(self) -> int:
        return len(self.shown)

    def covers(self, place: int) -> npt.NDArray[np.bool_]:
        """For each class and each code of a quasi-identifier, whether it may stand behind the class."""
        table = np.array([cell.covers for cell in self.cells[self.names[place]]])
        return table[self.shown[:, place]]

    @cached_property
    def _bits(self) -> list[Bits]:
        """For each quasi-identifier and each code, the classes it may stand behind, eight to a byte."""
        return [np.packbits(self.covers(place).T, axis=1) for place in range(len(self.names))]

    def _covering(self, people: EncodedTable) -> Iterator[Bits]:
        for start in range(0, people.height, _AT_ONCE):
            classes: Bits | None = None
            for name, bits in zip(self.names, self._bits, strict=True):
                these = bits[people[name].codes[start : start + _AT_ONCE]]
                classes = these if classes is None else classes & these
            assert classes is not None
            yield classes

    def inside(self, people: EncodedTable) -> npt.NDArray[np.bool_]:
        """Whether each person lies in some box."""
        return np.concatenate([classes.any(axis=1) for classes in self._covering(people)])

    def home(self, people: EncodedTable) -> Ints:
        """The smallest box each person lies in; -1 for nobody's."""
        parts = []
        for classes in self._covering(people):
            bits = np.unpackbits(classes, axis=1, count=len(self))
            parts.append(np.where(classes.any(axis=1), bits.argmax(axis=1), -1))
        return np.concatenate(parts).astype(np.int64)

    def nearest(self, people: EncodedTable) -> Ints:
        """The class of each person: the smallest box, or that with the most cells that can be true."""
        home = self.home(people)
        outside = np.flatnonzero(home < 0)
        covers = [self.covers(place).T for place in range(len(self.names))] if len(outside) else []
        for row in outside:
            true = sum(
                each[people[name].codes[row]].astype(np.int64) for name, each in zip(self.names, covers, strict=True)
            )
            home[row] = int(np.argmax(true))
        return home


@dataclass(frozen=True, eq=False)
class Released:
    """A release as an attacker reads it."""

    boxes: ClassBoxes  # its classes
    classes: Ints  # the class of each released row
    values: Mapping[str, Ints]
    widths: Mapping[str, int]  # how many codes each of those columns has
    units: Mapping[
        str, Ints
    ]  # for each code of a quasi-identifier the first code of the bin it is counted in, or itself

    @property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return np.bincount(self.classes, minlength=len(self.boxes)).astype(np.int64)

    def histogram(self, name: str) -> Ints:
        """Rows of each class with each value of an untouched column, missing ones last."""
        if name not in self.values:
            raise CannotRunError(f"The release has no column {name!r}.")
        return histogram(self.classes, self.values[name], len(self.boxes), self.widths[name])

    @cached_property
    def counted(self) -> bool:
        """Whether classes show counts of values."""
        return any(cell.shares is not None for cells in self.boxes.cells.values() for cell in cells)

    def shares(self, place: int) -> npt.NDArray[np.float32]:
        """For each class and each code of a quasi-identifier its share; 1 where a cell that is no counts covers it."""
        cells = self.boxes.cells[self.boxes.names[place]]
        each = [cell.covers if cell.shares is None else cell.shares for cell in cells]
        return np.array(each, np.float32)[self.boxes.shown[:, place]]

    def tells(self, place: int) -> bool:
        """Whether some class shows anything of a quasi-identifier."""
        cells = self.boxes.cells[self.boxes.names[place]]
        shown = (cells[number] for number in np.unique(self.boxes.shown[:, place]))
        return any(cell.shares is not None or not cell.covers[:-1].all() for cell in shown)

    @cached_property
    def _logs(self) -> list[npt.NDArray[np.float32]]:
        """For each quasi-identifier and each code, the logarithms of its shares in the classes."""
        return [np.log(np.maximum(self.shares(place), _NEVER)).T for place in range(len(self.boxes.names))]

    def likely(self, people: EncodedTable) -> Iterator[npt.NDArray[np.float32]]:
        """For some people at a time, how likely each class is theirs, by the shares of their values in it.

        Attributes are taken to have nothing to do with each other within a class: counts do not tell. What a cell of
        another kind covers is taken to be all of its share.
        """
        sizes = np.log(self.sizes).astype(np.float32)
        for start in range(0, people.height, _SOME):
            chances = np.tile(sizes, (min(_SOME, people.height - start), 1))
            for name, logs in zip(self.boxes.names, self._logs, strict=True):
                chances += logs[people[name].codes[start : start + _SOME]]
            chances = np.exp(chances - chances.max(axis=1, keepdims=True))
            yield chances / chances.sum(axis=1, keepdims=True)

    def nearest(self, people: EncodedTable) -> Ints:
        """The class of each person: the likeliest by counts; without counts see :meth:`ClassBoxes.nearest`."""
        if not self.counted:
            return self.boxes.nearest(people)
        return np.concatenate([chances.argmax(axis=1) for chances in self.likely(people)]).astype(np.int64)

    def averaged(self, name: str) -> bool:
        """Whether the column shows numbers that are no values of the original."""
        return any(cell.averaged for cell in self.boxes.cells[name])


def histogram(classes: Ints, values: Ints, height: int, width: int) -> Ints:
    """Rows of each class with each value."""
    return np.bincount(classes * width + values, minlength=height * width).reshape(height, width).astype(np.int64)


def read_released(frame: pl.DataFrame, table: EncodedTable, schema: Schema) -> Released:
    """A released frame, read next to the dictionaries of the original."""
    if not frame.height:
        raise CannotRunError("The release has no rows.")
    names = schema.quasi_identifiers
    cells, codes, units = {}, [], {}
    for name in names:
        cells[name], numbers, units[name] = _read_column(frame, schema[name], table)
        codes.append(numbers)
    keys = np.stack(codes, axis=1) if codes else np.zeros((frame.height, 0), np.int64)
    shown, classes = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(_volumes(names, cells, shown, table), kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    present = [name for name in schema.untouched if name in table.columns and _known_as(frame, name)]
    values = {name: _untouched(frame, schema[name], table) for name in present}
    widths = {name: table[name].width for name in present}
    return Released(ClassBoxes(names, cells, shown[order]), places[classes.ravel()], values, widths, units)


def _read_column(frame: pl.DataFrame, column: Column, table: EncodedTable) -> tuple[list[ReleasedCell], Ints, Ints]:
    """All that is shown of a column, the number of what each row shows, and the units of its codes."""
    written = written_cells(frame, column.name)
    if written is None:
        raise CannotRunError(f"The release has no column {column.name!r}, which is a quasi-identifier.")
    texts = written.drop_nulls().unique().sort()
    reader = CellReader(column, table[column.name])
    cells = [*map(reader.read, texts.to_list()), reader.read(None)]
    strange = sum(not cell.understood for cell in cells)
    if strange:
        raise CannotRunError(
            f"Column {column.name!r} shows {strange} texts that are neither values of the original nor groups of a "
            "known hierarchy. Give the plan or the hierarchies."
        )
    if any(cell.averaged for cell in cells):  # then a number that happens to be a value is a mean all the same
        plain = [cell.covers.sum() == 1 and not cell.edges for cell in cells]
        cells = [reader.read(None) if single else cell for cell, single in zip(cells, plain, strict=True)]
    codes = written.cast(pl.Enum(texts)).to_physical().cast(pl.Int64).fill_null(len(texts)).to_numpy()
    counted = [text for text, cell in zip(texts, cells[:-1], strict=True) if cell.shares is not None]
    return cells, codes.astype(np.int64), _units(reader, counted)


def _units(reader: CellReader, counted: Iterable[str]) -> Ints:
    """For each code the first code of the bin or group that counts tell it by; itself where they tell values."""
    units = np.arange(reader.own.width, dtype=np.int64)
    if reader.own.type.is_numeric or reader.column.hierarchy is not None:
        for label in {label for text in counted for label, _ in read_counts(text) or () if label is not None}:
            inside = np.flatnonzero(reader.member(label).covers)
            units[inside] = inside[:1] if len(inside) else inside
    return units


def _volumes(
    names: Sequence[str], cells: Mapping[str, Sequence[ReleasedCell]], shown: Ints, table: EncodedTable
) -> npt.NDArray[np.float64]:
    """How much of the people each box would hold if attributes had nothing to do with each other (a logarithm)."""
    total = np.zeros(len(shown))
    for place, name in enumerate(names):
        counts = table[name].counts + 0.5
        share = np.array([counts[cell.covers].sum() for cell in cells[name]]) / counts.sum()
        total += np.log(np.maximum(share, 1e-300))[shown[:, place]]
    return total


def _known_as(frame: pl.DataFrame, name: str) -> str | None:
    return next((known for known in (name, safe_name(name)) if known in frame.columns), None)


def _untouched(frame: pl.DataFrame, column: Column, table: EncodedTable) -> Ints:
    """The codes of a column that is released as it was, in the original's dictionary."""
    known_as = _known_as(frame, column.name)
    assert known_as is not None
    cells = frame[known_as].alias(column.name)
    cells = plain_texts(cells) if cells.dtype == pl.String else cells
    plain = Column(column.name, Role.OTHER, table[column.name].type, column.order)
    encoded, _ = encode(Source(pl.DataFrame([cells]), Origin("polars")), Schema((plain,)), [column.name])
    own = table[column.name]
    known = {value: code for code, value in enumerate(own.dictionary.to_list())}
    codes = [known.get(value, -1) for value in encoded[column.name].dictionary.to_list()]
    if -1 in codes:
        raise CannotRunError(
            f"Column {column.name!r} has {codes.count(-1)} values in the release that the original does not have. Is "
            "it a release of this table?"
        )
    places: Ints = np.array([*codes, own.missing_code], np.int64)
    return places[encoded[column.name].codes]


Floats = npt.NDArray[np.float64]
TREES = 30


@dataclass(frozen=True, eq=False)
class Guesses:
    """For each person the chance the model gives the true value, and whether it is its first guess."""

    chances: Floats
    right: npt.NDArray[np.bool_]

    @property
    def count(self) -> tuple[int, int]:
        """People guessed right, and all."""
        return int(self.right.sum()), len(self.right)


def advantage_of(members: Guesses, others: Guesses) -> float:
    """(members - control) / (1 - control), of the shares that are guessed right."""
    control = float(others.right.mean())
    return (float(members.right.mean()) - control) / max(1 - control, 1e-9)


@lru_cache(maxsize=4)
def guess_from_release(
    released: Released, members: EncodedTable, others: EncodedTable, column: str, state: int
) -> tuple[Guesses, Guesses]:
    """What the release says of members and of others: by a forest that learned from its classes, or by its counts."""
    if column not in released.values:
        raise CannotRunError(f"The release has no column {column!r}.")
    both = (members, others)
    if released.counted:
        first, second = (_guesses(_by_counts(released, column, people), people[column].codes) for people in both)
        return first, second
    model = _forest(released.boxes.shown[released.classes], released.values[column], state)
    by_class = _chances(model, released.boxes.shown, released.widths[column])
    first, second = (_guesses(by_class[released.nearest(people)], people[column].codes) for people in both)
    return first, second


def _by_counts(released: Released, column: str, people: EncodedTable) -> Floats:
    """The chances of the column's values: those of the classes, by how likely each class is the person's."""
    counts = released.histogram(column)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.concatenate([weights @ shares for weights in released.likely(people)])


@lru_cache(maxsize=4)
def guess_from_original(
    names: tuple[str, ...], members: EncodedTable, others: EncodedTable, column: str, state: int
) -> tuple[Guesses, Guesses]:
    """The same from the members as they are: what it would be worth without any protection."""
    model = _forest(_codes(members, names), members[column].codes.astype(np.int64), state)
    width = members[column].width
    first, second = (
        _guesses(_chances(model, _codes(people, names), width), people[column].codes) for people in (members, others)
    )
    return first, second


def _codes(people: EncodedTable, names: tuple[str, ...]) -> Ints:
    return np.stack([people[name].codes.astype(np.int64) for name in names], axis=1)


def _forest(inputs: Ints, values: Ints, state: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    if not inputs.shape[1]:
        raise CannotRunError("There is no quasi-identifier to learn from.")
    return RandomForestClassifier(TREES, random_state=state, n_jobs=1).fit(inputs.astype(np.float32), values)


def _chances(model: Any, inputs: Ints, width: int) -> Floats:
    chances = np.zeros((len(inputs), width))
    chances[:, model.classes_] = model.predict_proba(inputs.astype(np.float32))
    return chances


def _guesses(chances: Floats, truth: npt.NDArray[np.int32]) -> Guesses:
    return Guesses(chances[np.arange(len(truth)), truth], chances.argmax(axis=1) == truth)
