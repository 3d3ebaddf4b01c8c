"""A release that was received: opened, described, decoded, and ready to learn from.

Decoded, every cell becomes one of the values it stands for: members of sets, values below groups, counted values and
numbers inside intervals are dealt over the rows of a group at random, several times. What a row then shows need not be
what its person has: only what the release says of the group is true. The guarantee is not counted on a decoded table.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from incrowd.errors import HeaderError, ParameterError
from incrowd.recipients.cells import number_of
from incrowd.recipients.dealing import DEALS, Dealing, Rows, together_with
from incrowd.recipients.matrix import Attribute
from incrowd.recipients.opening import OpenedRelease, opened
from incrowd.recipients.views import AS_THEY_ARE, BY_BOX, BY_VALUE, ReleasedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.persons import DAYS
from incrowd.vocabulary.schema import ColumnType, Role

if TYPE_CHECKING:
    from incrowd.recipients.encoding import ReleaseClassifier, ReleaseEncoder


KINDS = ("released", "decoded")
_MOST_CUTS = 8  # that are written out
HEADS = ("column", "role", "form", "shown", "cuts", "fed to learners as")


def open_release(
    release: Any,
    *,
    certificate: Any = None,
    groups: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> ReceivedRelease:
    """Open a release that you received, with the certificate that came with it.

    Parameters
    ----------
    release
        A file (``.csv``, ``.tsv``, ``.parquet``, ``.jsonl`` and others), the address of a table in PostgreSQL, a
        pandas, polars or PyArrow table, or what :func:`incrowd.release` gave back.
    certificate
        The certificate, as a path or as plain data. The one beside a file is found by itself.
    groups
        The table of groups of a release of two tables. The one beside a file is found by itself.
    hierarchies
        The hierarchies that the owner handed over, by the name of their column: files or
        :class:`~incrowd.vocabulary.hierarchy.Hierarchy`. They say which group a value of yours belongs to. Those that
        the certificate has need not be passed.

    Returns
    -------
    ReceivedRelease
        The rows, their classes, and what learns from them.

    Raises
    ------
    IncrowdError
        If there is no certificate, or the release is not what it states: other bytes, other columns, other rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> import incrowd
    >>> people = pd.DataFrame({"age": [30, 41, 56, 63] * 25, "ill": ["no", "no", "yes", "yes"] * 25})
    >>> made = incrowd.release(people, quasi_identifiers=["age"], target="ill", class_sensitive=False, k=10)
    >>> received = incrowd.open_release(made.table, certificate=made.certificate)
    >>> received.classifier(LogisticRegression()).predict(pd.DataFrame({"age": [33, 60]})).tolist()
    ['no', 'yes']
    """
    whole = opened(release, certificate, groups)
    public = whole.certificate["reading"].get("hierarchies", {})
    trees = {name: Hierarchy.from_json(tree) for name, tree in public.items()}
    passed = {name: _hierarchy(name, source) for name, source in (hierarchies or {}).items()}
    return ReceivedRelease(whole, trees | passed)


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


@dataclass(frozen=True, eq=False)
class ReceivedRelease:
    """A release with its certificate, see :func:`open_release`."""

    opened: OpenedRelease
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.hierarchies:
            if name not in {column["from"] for column in self.certificate["released_columns"]}:
                raise HeaderError(f"The release has no column {name!r}, of which a hierarchy was passed.")

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # nothing in it changes, so clones of estimators share it

    def __repr__(self) -> str:
        rows, names = self.opened.table.num_rows, len(self.attributes)
        return f"<Release {self.opened.name}: {rows:,} rows, {names} attributes. See .describe()>"

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()

    @property
    def certificate(self) -> Mapping[str, Any]:
        """What the certificate states."""
        return self.opened.certificate

    @property
    def target(self) -> str | None:
        """The name of the class, if there is one."""
        released = self.certificate["released_columns"]
        return next((column["from"] for column in released if column["role"] == Role.TARGET), None)

    @cached_property
    def attributes(self) -> tuple[ReleasedColumn, ...]:
        """The attributes that can be learned from: no class, no pseudonym, no free text."""
        types = {column["name"]: ColumnType(column["type"]) for column in self.certificate["columns"]}
        roles = {column["from"]: column["role"] for column in self.certificate["released_columns"]}
        return tuple(
            self._attribute(name, types[name])
            for name, role in roles.items()
            if role == Role.QUASI_IDENTIFIER
            or (role not in (Role.TARGET, Role.PSEUDONYM, Role.PERSON) and types[name] is not ColumnType.TEXT)
        )

    def _attribute(self, name: str, kind: ColumnType) -> ReleasedColumn:
        reading, cuts = self.certificate["reading"], self.certificate["public_cuts"].get(name)
        forms = reading["columns"]
        return ReleasedColumn(
            name,
            kind,
            forms.get(name, "plain"),
            None if cuts is None else tuple(number_of(cut, kind) for cut in cuts),
            reading["new_rows"] if name in forms else AS_THEY_ARE,
            self.hierarchies.get(name),
            {"code": DAYS, "where": name} in self.certificate["notices"],
            redraw=self.certificate.get("counts", {}).get("redraw", 0),
            together=together_with(name, reading),
        )

    @cached_property
    def dealing(self) -> Dealing:
        """How the rows are fed to learners, the same for the encoder, the classifier and the comparison."""
        return Dealing(self.attributes, self.opened.table)

    @property
    def X(self) -> Any:  # noqa: N802
        """The released attributes as they are written, without the class, pseudonyms and free text."""
        known = {column.name for column in self.attributes}
        released = zip(self.certificate["released_columns"], self.opened.table.column_names, strict=True)
        return self._as_frame(self.opened.table.select([name for column, name in released if column["from"] in known]))

    @property
    def y(self) -> Any:
        """The class of each row; a series of pandas or polars, or an array of PyArrow."""
        return self._as_frame(self.opened.table.select([self._target()]))[self._target()]

    @property
    def classes(self) -> Any:
        """The class of each row as NumPy has it."""
        column = self.opened.table.column(self._target())
        return np.asarray(column.to_pylist(), object if column.null_count else None)

    def _target(self) -> str:
        if self.target is None:
            raise ParameterError("This release has no class to learn: its certificate names no target.")
        return self.target

    def frame(self, kind: str = "decoded", **options: Any) -> Any:
        """All rows as a frame: of the kind that came in; for files of pandas, or of PyArrow where pandas is not there.

        Parameters
        ----------
        kind
            ``"released"``: as they are written. ``"decoded"``: plain rows with a column of weights, see
            :func:`incrowd.decode`, which also says what ``options`` there are. They do not carry the guarantee.
        """
        if kind not in KINDS:
            raise ParameterError(f"kind must be one of {', '.join(KINDS)}.")
        if kind == "released":
            return self._as_frame(self.opened.table)
        return self._as_frame(decoded_table(self, **options))

    def _as_frame(self, table: pa.Table) -> Any:
        if self.opened.frames == "polars":
            return importlib.import_module("polars").from_arrow(table)
        return table.to_pandas() if self.opened.frames == "pandas" else table

    def describe(self) -> Description:
        """What each column is, in which form, how much of it is shown, and what the encoder makes of it."""
        return _description(self)

    def plain_frame(self, rows: Rows) -> Any:
        """Plain rows as a frame: words, and numbers."""
        return self._as_frame(pa.table({one.name: _column(one, ColumnType.REAL) for one in rows.attributes}))

    def encoder(self, for_: Any = None) -> ReleaseEncoder:
        """A scikit-learn transformer, fitted on the release, for new rows as well as for released ones.

        Parameters
        ----------
        for_
            Whom it encodes for: ``"trees"`` (codes and numbers, missing is NaN), ``"linear"`` (indicators, standardised
            numbers; also for kernels and neighbours), ``"bayes"`` (indicators to count, of numbers in pieces),
            ``"categories"`` (codes alone), ``"numbers"`` (codes and numbers, nothing missing), ``"plain"`` (a plain
            table), or a classifier of scikit-learn, whose kind is found. None is plain.
        """
        from incrowd.recipients.encoding import ReleaseEncoder

        return ReleaseEncoder(self, for_).fit()

    def classifier(self, estimator: Any, *, deals: int | None = None, seed: int | None = 0) -> ReleaseClassifier:
        """A scikit-learn classifier, trained on the release, that predicts rows as they come.

        Parameters
        ----------
        estimator
            A classifier of scikit-learn, which is cloned.
        deals
            How often values are dealt, where cells stand for several: 5 times if you do not say, and up to 20 times
            where that gives fewer than 5,000 rows.
        seed
            Of the deals.
        """
        from incrowd.recipients.encoding import ReleaseClassifier

        return ReleaseClassifier(self, estimator, deals=deals, seed=seed).fit()


def _hierarchy(name: str, source: Any) -> Hierarchy:
    """A hierarchy, or the one of a file with the way of each value to the top in a line."""
    if not isinstance(source, str | Path):
        hierarchy: Hierarchy = source
        return hierarchy
    reader = importlib.import_module("incrowd.tables.hierarchies.read")
    read: Hierarchy = reader.read_hierarchy(source, name)
    return read


def _description(release: ReceivedRelease) -> Description:
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


WARNING = "decoded from a release: values are dealt at random within groups; carries no guarantee by itself"
METADATA = {"incrowd.decoded": WARNING}


def decode(
    release: Any,
    *,
    certificate: Any = None,
    groups: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    deals: int = DEALS,
    weight: str = "weight",
    seed: int | None = None,
) -> Any:
    """A plain table from a release: its rows several times, each time with the values dealt out anew.

    Numbers are drawn inside their interval, by the shape that the release itself shows; where an interval is open, next
    to the end that is published. Sets, counts and groups become one of their values. What is hidden is missing; a
    column that is hidden in all rows is left out, with a warning.

    Parameters
    ----------
    release, certificate, groups, hierarchies
        The release, as :func:`incrowd.open_release` takes it.
    deals
        How often rows are dealt. One deal adds noise; five stacked ones are nearly as good as the release. A release in
        which no cell stands for several values is dealt once.
    weight
        The name of the column of weights, 1 / deals in every row.
    seed
        For a repeatable deal. The deal is the recipient's own; nothing secret depends on it.

    Returns
    -------
    frame
        The kind of frame that came in; for files pandas, or PyArrow where pandas is not installed. It does not carry
        the guarantee of the release.

    Examples
    --------
    >>> import pandas as pd
    >>> import incrowd
    >>> people = pd.DataFrame({"age": [30, 41, 56, 63] * 25, "ill": ["no", "no", "yes", "yes"] * 25})
    >>> made = incrowd.release(people, quasi_identifiers=["age"], target="ill", class_sensitive=False, k=10)
    >>> plain = decode(made.table, certificate=made.certificate, deals=2, seed=1)
    >>> plain.columns.tolist(), len(plain), float(plain["weight"].sum())
    (['age', 'ill', 'weight'], 200, 100.0)
    """
    received = open_release(release, certificate=certificate, groups=groups, hierarchies=hierarchies)
    return received.frame("decoded", deals=deals, weight=weight, seed=seed)


def decoded_table(
    release: ReceivedRelease, *, deals: int = DEALS, weight: str = "weight", seed: int | None = None
) -> pa.Table:
    """The same for a release that is open, as a table of PyArrow."""
    table, released = release.opened.table, release.certificate["released_columns"]
    names = list(dict.fromkeys(column["from"] for column in released))
    if weight in names:
        raise HeaderError(f"The release has a column {weight!r} already. Name another for the weights.")
    shown = [column for column in release.attributes if column.form != "plain"]
    rows = Dealing(tuple(shown), table, plain=True).dealt(np.random.default_rng(seed), deals)
    dealt = {column.name: _column(each, column.kind) for column, each in zip(shown, rows.attributes, strict=True)}
    times = rows.height // table.num_rows if table.num_rows else 1
    hidden = [name for name, each in dealt.items() if each.null_count == rows.height]
    if hidden and table.num_rows:
        message = f"The release hides all of {', '.join(hidden)}; the decoded table leaves such columns out."
        warnings.warn(message, stacklevel=2)
    columns = {name: dealt.get(name) or _repeated(table.column(name), times) for name in names if name not in hidden}
    columns[weight] = pa.array(np.full(rows.height, 1 / times))
    return pa.table(columns).replace_schema_metadata(METADATA)


def _repeated(column: pa.ChunkedArray, times: int) -> pa.ChunkedArray:
    return pa.chunked_array(column.chunks * times, column.type)


def _column(attribute: Attribute, kind: ColumnType) -> pa.Array:
    """A dealt attribute as a column of its type: whole numbers where all are, days as dates, words."""
    if attribute.categories is not None:
        words = pa.array(attribute.categories, pa.string())
        return words.take(pa.array(attribute.values, pa.int64(), mask=attribute.is_missing))
    numbers = np.asarray(attribute.values, np.float64)
    known = numbers[~np.isnan(numbers)]
    if kind is ColumnType.DATE:
        days = np.floor(np.nan_to_num(numbers)).astype(np.int32)
        return pa.array(days, pa.int32(), mask=np.isnan(numbers)).cast(pa.date32())
    if kind is ColumnType.INTEGER and (known == np.floor(known)).all() and (np.abs(known) < 2**53).all():
        return pa.array(np.nan_to_num(numbers).astype(np.int64), mask=np.isnan(numbers))
    return pa.array(numbers, from_pandas=True)


def decoded_name(release: Path) -> Path:
    """Where a decoded table goes if nobody says: its name tells what it is."""
    return release.with_name(release.name.split(".")[0] + ".decoded.parquet")
