"""Minimality, downcoding: who knows the program asks which tables it could have released so.

What: a method hides no more than it must, and that says something about what was there. The attacker lists the tables
that the program would have released the same way; if only one is left, nothing was hidden. Paper: Wong, Fu, Wang, Pei:
Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007; Cohen: Attacks on Deidentification's Defenses (its
downcoding attack), USENIX Security 2022. Measured: on all tables of six rows over a small domain, released by the same
method in the same form, at k = 2: the share of tables that hide something and whose release no other table gives. It is
about the method, not about the people of this release. Control: an attacker who reads the release and does not know the
program is never left with one table, for a table hides something only if other people can show the same. Leak: any
table that is the only one.
A method that draws is run with a few draws; a table is one that may have given a release if one of its draws gave it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl

from incrowd.attacks.again import Again
from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import Scene
from incrowd.errors import CannotRunError, IncrowdError
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.preferences import INDIFFERENT
from incrowd.vocabulary.released_cell import CellReader
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

AGES, SEXES, CLASSES = (30, 50), ("f", "m"), ("no", "yes")
ROWS, DRAWS = 6, 4
SCHEMA = Schema(
    (
        Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
        Column("sex", Role.QUASI_IDENTIFIER, ColumnType.CATEGORICAL),
        Column("ill", Role.TARGET, ColumnType.CATEGORICAL),
    )
)
Person = tuple[int, int, int]
Text = tuple[tuple[str | None, ...], ...]


def minimality(scene: Scene) -> Finding:
    """Lists the tables that a program could have released the same way."""
    again = replace(scene.recipe, requirement=KAnonymity(2), people=None, preferences=INDIFFERENT, rarest=None)
    releases, hiding, tables = all_releases(again)
    if not releases:
        raise CannotRunError("The method released none of the small tables at k = 2.")
    alone = {number for numbers in releases.values() if len(numbers) == 1 for number in numbers} & hiding
    rows = max(1, len(hiding))
    return Finding(
        LEAK if alone else NO_LEAK,
        f"Of {tables:,} tables of {ROWS} rows, {len(hiding):,} hide something; {len(alone):,} of those are the "
        "only one that the method releases so.",
        measured=len(alone) / rows,
        control=0.0,
        interval=share_interval(len(alone), rows),
        goal=0.0,
        unit="share of small tables",
        details={"tables": float(tables), "tables that hide something": float(len(hiding))},
    )


def all_releases(again: Again) -> tuple[dict[Text, set[int]], set[int], int]:
    """Every release of a small table, with the tables that give it; the tables that hide something; all tables."""
    releases: dict[Text, set[int]] = defaultdict(set)
    hiding: set[int] = set()
    tables = list(combinations_with_replacement(_everybody(), ROWS))
    draws = (
        DRAWS if any(len(set(_releases(again, people, DRAWS))) > 1 for people in tables[:: len(tables) // 30]) else 1
    )
    for number, people in enumerate(tables):
        for text in _releases(again, people, draws):
            releases[text].add(number)
            hiding |= {number} if _hides(text) else set()
    return releases, hiding, len(tables)


def _everybody() -> list[Person]:
    return list(product(range(len(AGES)), range(len(SEXES)), range(len(CLASSES))))


def small_table(people: tuple[Person, ...]) -> tuple[EncodedTable, pl.DataFrame]:
    """A table of some people, encoded and as it would be read."""
    codes = np.array(people, np.int32)
    values = (AGES, SEXES, CLASSES)
    columns = [
        EncodedColumn(column.name, column.type, codes[:, place].copy(), pl.Series(column.name, list(values[place])))
        for place, column in enumerate(SCHEMA.columns)
    ]
    frame = pl.DataFrame([column.dictionary.gather(column.codes.astype(np.int64)) for column in columns])
    return EncodedTable.of(columns), frame


def _releases(again: Again, people: tuple[Person, ...], draws: int) -> Iterator[Text]:
    """What a few draws make of a small table, rows sorted; nothing where the method refuses it."""
    if len({person[2] for person in people}) < 2:
        return  # a target of one class is refused
    table, frame = small_table(people)
    for seed in range(draws):
        try:
            made = again.release(table, frame, SCHEMA, seed)
        except IncrowdError:
            return
        yield tuple(sorted(made.draft.frame.cast(pl.String).rows(), key=repr))


def _hides(text: Text) -> bool:
    """Whether a row is gone, or other people can show the same.

    A cell that can be several values hides which. Counts hide who has which only where two attributes of a group vary,
    the class among them: with one, its values go with what all have.
    """
    if len(text) < ROWS:
        return True
    classes: dict[tuple[str | None, ...], set[str | None]] = defaultdict(set)
    for row in text:
        classes[row[:-1]].add(row[-1])
    for cells, labels in classes.items():
        read = [_read(place, cell) for place, cell in enumerate(cells)]
        if any(several for several, _ in read) or sum(varies for _, varies in read) + (len(labels) > 1) > 1:
            return True
    return False


@cache
def _read(place: int, cell: str | None) -> tuple[bool, bool]:
    """Whether a cell, or a value it counts, can be several values; and whether it counts several."""
    table, _ = small_table(tuple(_everybody()))
    column = SCHEMA.columns[place]
    read = CellReader(column, table[column.name]).read(cell)
    values = int(read.covers[:-1].sum())
    if read.shares is None:
        return values > 1, False
    return bool(read.shares[:-1].sum() > 1.5), values > 1  # the share of a bin stands at each value in it
