"""Recount what a certificate states of a release, from the release alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.alone import count_alone
from incrowd.verification.beside import MOST_CELLS
from incrowd.verification.class_sizes import Promises, open_written, recount_persons, recount_promises, sizes_of, unify
from incrowd.verification.coded import CodedCells
from incrowd.verification.column_rules import form_check
from incrowd.verification.delimited import check_count
from incrowd.verification.faithfulness import open_pair
from incrowd.verification.histories import released_form_check
from incrowd.verification.opening import column, connect, guarded, register
from incrowd.verification.owners import Owners
from incrowd.verification.requirements import Further, recount_requirements
from incrowd.verification.shown import count_shown
from incrowd.verification.unchanged import UnchangedColumn
from incrowd.verification.unchanged_counts import Alone
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.resources import Resources


@dataclass(frozen=True, eq=False)
class Stated:
    """What is stated, in the names of the written file.

    Parameters
    ----------
    columns
        The released columns, in order.
    promises, further
        What every class keeps, see :func:`incrowd.verification.class_sizes.verify_table`.
    quasi_identifiers
        The columns whose cells are told by what they show.
    counts
        Those of them that hold counts.
    unchanged
        The columns that are released as they came, and what each was called: target, sensitive or other.
    pseudonyms
        The columns that hold pseudonyms.
    persons, followed
        Whose rows they are, and the column of their pseudonyms where recipients can follow them: persons are then
        counted by these, and nobody can tell from the release whether each person has one.
    """

    columns: Sequence[str]
    promises: Promises
    quasi_identifiers: Sequence[str]
    counts: Collection[str] = ()
    further: Sequence[Further] = ()
    unchanged: Mapping[str, str] = field(default_factory=dict)
    pseudonyms: Sequence[str] = ()
    persons: Persons | None = None
    followed: str | None = None


def recount_stated(
    path: Path, form: FileForm, stated: Stated, resources: Resources | None = None, groups: Path | None = None
) -> Verdict:
    """Columns, classes, promises and cells of a file, or of two files, as they are.

    If the columns are others, nothing else is counted.
    """
    limits = resources or Resources()
    with connect(limits.share(0.5), None, limits.scratch) as connection, guarded(path.name, form.kind):
        if groups is not None:
            names, check = open_pair(connection, path, groups, form, stated.columns, list(stated.counts))
            return _recounted(connection, names, stated, (check,))
        opened = open_written(connection, path, form, limits)
        unify(connection, opened.names, None)
        verdict = _recounted(connection, opened.names, stated)
    if verdict.sizes.rows:
        check_count(path.name, verdict.sizes.rows, opened.rows)
    return verdict


def recount_stated_table(table: Any, stated: Stated) -> Verdict:
    """The same for a PyArrow table."""
    with connect() as connection, guarded("The table"):
        names = register(connection, table, "written")
        unify(connection, names, None)
        return _recounted(connection, names, stated)


def _recounted(connection: Any, names: Sequence[str], stated: Stated, before: tuple[Check, ...] = ()) -> Verdict:
    same = list(names) == list(stated.columns) and len(set(names)) == len(names)
    columns = Check("columns", same, f"{len(names)} columns, {'as' if same else 'not as'} stated")
    if not same:
        return Verdict(sizes_of([]), (columns, *before))
    sizes, counted = recount_promises(connection, names, stated.promises)
    owners = _followed(connection, names, stated)
    if owners is not None:
        sizes, counted = recount_persons(connection, names, stated.promises, owners)
    sets = [keys for _, keys, _ in stated.promises]
    further = recount_requirements(connection, names, sets, stated.further, owners)
    shown = count_shown(connection, names, stated.quasi_identifiers, stated.counts)
    alone = _alone(connection, names, stated.unchanged, sizes.rows)
    formed = [form_check(connection, name, names.index(name)) for name in stated.pseudonyms]
    if stated.followed is not None:
        formed.append(released_form_check(connection, stated.followed, names.index(stated.followed)))
    return Verdict(sizes, (columns, *before, *counted, *further, *formed), None, shown, alone=alone)


def _followed(connection: Any, names: Sequence[str], stated: Stated) -> Owners | None:
    """The persons of the released rows by their pseudonyms, with the table of both; None if there are none."""
    if stated.persons is None or stated.followed is None:
        return None
    cells = connection.sql(f"SELECT {column(names.index(stated.followed))}::VARCHAR FROM released").to_arrow_table()
    coded = CodedCells.of(cells.column(0))
    numbers = np.arange(len(coded.words))
    codes = coded.codes.astype(np.int64)
    owners = Owners(stated.persons, coded.words, numbers, codes, 0, np.arange(len(codes)))
    owners.register(connection, copy=True)
    return owners


def _alone(connection: Any, names: Sequence[str], roles: Mapping[str, str], rows: int) -> Alone | None:
    """Who is alone by unchanged columns; None if there are none, or too many cells."""
    if not roles or rows * len(roles) > MOST_CELLS:
        return None
    listed = ", ".join(f"{column(names.index(name))}::VARCHAR" for name in roles)
    cells = connection.sql(f"SELECT {listed} FROM released").to_arrow_table()
    columns = [
        UnchangedColumn(name, _codes(cells.column(place)), role=role)
        for place, (name, role) in enumerate(roles.items())
    ]
    return count_alone(columns, rows, 0)


def _codes(cells: Any) -> npt.NDArray[np.int64]:
    import pyarrow as pa

    coded = cells.dictionary_encode(null_encoding="encode")
    indices = pa.chunked_array([chunk.indices for chunk in coded.chunks], pa.int32())
    return np.asarray(indices.to_numpy(), np.int64)
