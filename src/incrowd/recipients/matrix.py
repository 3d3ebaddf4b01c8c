"""Examples as a matrix: a column for each category, or one for each attribute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
MISSING = -1


@dataclass(frozen=True, eq=False)
class Attribute:
    """One input of a learner.

    ``values`` are numbers (NaN is missing) if ``categories`` is None, else codes into ``categories`` (-1 is missing).
    Training and test rows share the categories; a category may occur among the test rows only.
    """

    name: str
    values: Numbers | Codes
    categories: tuple[str, ...] | None = None
    ordered: bool = False  # whether the order of the categories means something: public bins
    shares: Numbers | None = None  # rows x categories, where rows stand for several values

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.categories is None

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Where the value is missing."""
        return np.isnan(self.values) if self.is_numeric else self.values == MISSING


class PlainRows(Protocol):
    """Rows to learn from, or to predict."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Their columns."""
        ...

    @property
    def weights(self) -> Numbers | None:
        """What each row counts; None where all count one."""
        ...

    @property
    def height(self) -> int:
        """How many rows."""
        ...


Missing = Literal["zeros", "indicator", "mode"]
LARGE = 1e100  # numbers beyond it are divided first, so that their squares stay finite
FARTHEST = 1e9  # standard deviations; test values beyond are moved there


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number as (value / unit - mean) / spread; missing becomes 0, the mean."""

    unit: float
    mean: float
    spread: float

    @classmethod
    def of(cls, values: Numbers, weights: Numbers | None) -> NumberColumn:
        """Learn mean and spread of known numbers."""
        largest = float(np.abs(values).max())
        unit = largest if largest > LARGE else 1.0
        mean = float(np.average(values / unit, weights=weights))
        spread = float(np.sqrt(np.average((values / unit - mean) ** 2, weights=weights)))
        return cls(unit, mean, spread if spread > 0 else 1.0)

    def shown(self, values: Numbers) -> Numbers:
        """The standardised numbers."""
        with np.errstate(over="ignore"):
            moved = (values / self.unit - self.mean) / self.spread
        return np.where(np.isnan(moved), 0.0, np.clip(moved, -FARTHEST, FARTHEST))


@dataclass(frozen=True, eq=False)
class CategoryColumns:
    """A 0/1 column for each category: ``place`` of a code is its column, -1 for none; missing has the last place."""

    place: Codes
    width: int

    @classmethod
    def of(cls, codes: Codes, weights: Numbers | None, categories: int, missing: Missing) -> CategoryColumns:
        """A column for each category that occurs, and what the declared way makes of missing ones."""
        known = codes >= 0
        counts = np.bincount(codes[known], None if weights is None else weights[known], categories)
        place = np.full(categories + 1, -1, np.int64)
        occurring = np.flatnonzero(counts)
        place[occurring] = np.arange(len(occurring))
        if missing == "mode" and len(occurring):
            place[categories] = place[int(np.argmax(counts))]
        if missing == "indicator" and (codes < 0).any():
            place[categories] = len(occurring)
        return cls(place, int(place.max()) + 1)

    def shown(self, codes: Codes) -> Codes:
        """The column of each row, or -1."""
        return np.asarray(self.place[codes], np.int64)  # -1, missing, is the last place


@dataclass(frozen=True, eq=False)
class OneHot:
    """How examples become a matrix; learned from the training rows.

    Categories that occur only among other rows are zeros in all columns. Missing categories are zeros as well
    (``"zeros"``), have a column of their own if they occur in training (``"indicator"``), or count as the most frequent
    category (``"mode"``, Weka's way). Missing numbers are the mean; ``"indicator"`` adds a column that says so.
    """

    parts: tuple[tuple[NumberColumn | CategoryColumns, ...], ...]

    @classmethod
    def of(cls, examples: PlainRows, missing: Missing) -> OneHot:
        """Learn the columns."""
        return cls(tuple(_parts(attribute, examples.weights, missing) for attribute in examples.attributes))

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(part.width if isinstance(part, CategoryColumns) else 1 for parts in self.parts for part in parts)

    def matrix(self, examples: PlainRows) -> Any:
        """The rows as a sparse matrix (CSR)."""
        from scipy.sparse import csr_array

        rows, columns, cells, offset = [], [], [], 0
        for attribute, parts in zip(examples.attributes, self.parts, strict=True):
            for part in parts:
                filled, places, values = _entries(attribute, part)
                rows.append(filled)
                columns.append(places + offset)
                cells.append(values)
                offset += part.width if isinstance(part, CategoryColumns) else 1
        if not rows:
            return csr_array((examples.height, 0))
        where = (np.concatenate(rows).astype(np.int32), np.concatenate(columns).astype(np.int32))
        triples = (np.concatenate(cells), where)
        return csr_array(triples, shape=(examples.height, offset))

    def names(self, examples: PlainRows) -> list[str]:
        """What the columns are called: by their attribute, those of categories with the category."""
        names: list[str] = []
        for attribute, parts in zip(examples.attributes, self.parts, strict=True):
            for part in parts:
                if isinstance(part, NumberColumn):
                    names.append(attribute.name)
                    continue
                places = np.full(part.width, MISSING)
                places[part.place[:-1][part.place[:-1] >= 0]] = np.flatnonzero(part.place[:-1] >= 0)
                words, sign = attribute.categories or (), ">=" if attribute.ordered else "="
                known = [f"{attribute.name}{sign}{word}" for word in words]
                names += [known[at] if 0 <= at < len(words) else attribute.name for at in places]
        return names


def _entries(attribute: Attribute, part: NumberColumn | CategoryColumns) -> tuple[Codes, Codes, Numbers]:
    """The cells of an attribute's part of a matrix that are not 0: their rows, columns and numbers."""
    if isinstance(part, NumberColumn):
        values = part.shown(np.asarray(attribute.values, np.float64))
        filled = np.flatnonzero(values)
        return filled, np.zeros(len(filled), np.int64), values[filled]
    codes = attribute.values if attribute.categories is not None else np.where(attribute.is_missing, -1, 0)
    if attribute.ordered:
        return _thermometer(attribute, part)
    places = part.shown(codes.astype(np.int64))
    filled = np.flatnonzero(places >= 0)
    entries = filled, places[filled], np.ones(len(filled))
    if attribute.shares is None:
        return entries
    rows, categories = np.nonzero(attribute.shares * (codes == MISSING)[:, None])
    several = part.place[categories]
    kept = several >= 0
    soft = rows[kept], several[kept], attribute.shares[rows, categories][kept]
    return tuple(np.concatenate(pair) for pair in zip(entries, soft, strict=True))  # type: ignore[return-value]


def _thermometer(attribute: Attribute, part: CategoryColumns) -> tuple[Codes, Codes, Numbers]:
    """The same for ordered categories: a column says how sure it is that the value is at least its category."""
    categories = len(attribute.categories or ())
    codes, usual = attribute.values, np.flatnonzero(part.place[:-1] == part.place[-1])
    if part.place[-1] >= 0 and len(usual):  # missing counts as the most frequent category
        codes = np.where(attribute.is_missing, usual[0], codes)
    reached = np.column_stack([codes[:, None] >= np.arange(categories), codes == MISSING]).astype(np.float64)
    if attribute.shares is not None:
        reached[:, :-1] += np.cumsum(attribute.shares[:, ::-1], axis=1)[:, ::-1] * (codes == MISSING)[:, None]
    reached[:, part.place < 0] = 0
    rows, places = np.nonzero(reached)
    return rows, part.place[places], reached[rows, places]


def _parts(
    attribute: Attribute, weights: Numbers | None, missing: Missing
) -> tuple[NumberColumn | CategoryColumns, ...]:
    known = ~attribute.is_missing
    if not known.any():
        return ()
    if attribute.categories is not None:
        return (CategoryColumns.of(attribute.values.astype(np.int64), weights, len(attribute.categories), missing),)
    values = np.asarray(attribute.values[known], np.float64)
    number = NumberColumn.of(values, None if weights is None else weights[known])
    if missing != "indicator" or known.all():
        return (number,)
    return (number, CategoryColumns(np.array([-1, 0]), 1))


LARGEST = 3e38  # scikit-learn's trees keep numbers in 32 bits
MOST_CATEGORIES = 255  # that gradient boosting takes as categories


@dataclass(frozen=True)
class Ordinal:
    """Which attributes become columns: those with a known value in training. Missing is NaN."""

    places: tuple[int, ...]
    is_category: tuple[bool, ...]

    @classmethod
    def of(cls, examples: PlainRows) -> Ordinal:
        """Learn which attributes are known at all, and which are categories, without an order and few enough."""
        attributes = examples.attributes
        places = tuple(place for place, each in enumerate(attributes) if not each.is_missing.all())
        few = tuple(_is_few(attributes[place]) for place in places)
        return cls(places, few)

    def usual(self, examples: PlainRows) -> Numbers:
        """What a missing value is taken for where none may be missing: the mean, or the most frequent category."""
        usual = np.zeros(len(self.places))
        for slot, place in enumerate(self.places):
            attribute = examples.attributes[place]
            known, weights = _known(attribute, examples.weights)
            if attribute.is_numeric:
                usual[slot] = np.average(known, weights=weights)
            else:
                usual[slot] = np.bincount(known.astype(np.int64), weights).argmax()
        return usual

    def matrix(self, examples: PlainRows) -> Numbers:
        """The rows as a dense matrix."""
        matrix = np.empty((examples.height, len(self.places)), order="F")
        for slot, place in enumerate(self.places):
            attribute = examples.attributes[place]
            values = np.clip(np.asarray(attribute.values, np.float64), -LARGEST, LARGEST)
            matrix[:, slot] = np.where(attribute.is_missing, np.nan, values)
        return matrix


def _is_few(attribute: Attribute) -> bool:
    categories = attribute.categories
    return categories is not None and not attribute.ordered and len(categories) <= MOST_CATEGORIES


PIECES = 10  # of the rows that a number is cut into, and its bins are joined to, where it is counted


@dataclass(frozen=True, eq=False)
class Binning:
    """Numbers as categories, for learners that count: so many pieces of the rows, at places learned from them.

    Public bins, which are in order, are joined to as many pieces; each is then counted by itself.
    """

    cuts: tuple[Numbers | None, ...]  # of each attribute, None where it is neither a number nor bins

    @classmethod
    def of(cls, examples: PlainRows) -> Binning:
        """Learn the cuts."""
        weights = examples.weights
        return cls(tuple(_piece_ends(each, weights) for each in examples.attributes))

    @classmethod
    def of_bins(cls, examples: PlainRows) -> Binning:
        """Learn them for public bins alone, where numbers are taken as they are."""
        pairs = zip(examples.attributes, cls.of(examples).cuts, strict=True)
        return cls(tuple(None if each.is_numeric else cuts for each, cuts in pairs))

    def binned(self, examples: Any) -> Any:
        """The rows with pieces for numbers and bins."""
        pairs = zip(examples.attributes, self.cuts, strict=True)
        return replace(examples, attributes=tuple(_binned(*pair) for pair in pairs))


def _piece_ends(attribute: Attribute, weights: Numbers | None) -> Numbers | None:
    if not (attribute.is_numeric or attribute.ordered):
        return None
    known, weights = _known(attribute, weights)
    if not len(known):
        return known
    ends = np.quantile(known, np.arange(1, PIECES) / PIECES, method="inverted_cdf", weights=weights)
    return np.unique(ends[ends < known.max()])


def _known(attribute: Attribute, weights: Numbers | None) -> tuple[Numbers, Numbers | None]:
    """The values that are known, and what each counts."""
    known = ~attribute.is_missing
    return np.asarray(attribute.values[known], np.float64), None if weights is None else weights[known]


def _binned(attribute: Attribute, cuts: Numbers | None) -> Attribute:
    if cuts is None:
        return attribute
    codes = np.where(attribute.is_missing, MISSING, np.searchsorted(cuts, attribute.values, side="left"))
    if attribute.categories is None:
        names = (*(f"<= {cut:g}" for cut in cuts), f"> {cuts[-1]:g}") if len(cuts) else ("any",)
        return Attribute(attribute.name, codes, names)
    piece = np.searchsorted(cuts, np.arange(len(attribute.categories)), side="left")
    firsts = np.unique(piece, return_index=True)[1]
    joined = [attribute.categories[start:end] for start, end in zip(firsts, [*firsts[1:], None], strict=True)]
    names = tuple(each[0] if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in joined)
    shares = attribute.shares
    if shares is not None:
        shares = np.stack([shares[:, piece == place].sum(axis=1) for place in range(len(names))], axis=1)
    return Attribute(attribute.name, codes, names, shares=shares)
