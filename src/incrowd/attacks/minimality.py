"""Who puts together what the program counted, or could have counted: small tables, and published trees.

Minimality, downcoding: who knows the program asks which tables it could have released so.

What: a method hides no more than it must, and that says something about what was there. The attacker lists the tables
that the program would have released the same way; if only one is left, nothing was hidden. Paper: Wong, Fu, Wang, Pei:
Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007; Cohen: Attacks on Deidentification's Defenses (its
downcoding attack), USENIX Security 2022. Measured: on all tables of six rows over a small domain, released by the same
method in the same form, at k = 2: the share of tables that hide something and whose release no other table gives. It is
about the method, not about the people of this release. Control: an attacker who reads the release and does not know the
program is never left with one table, for a table hides something only if other people can show the same. Leak: any
table that is the only one.
A method that draws is run with a few draws; a table is one that may have given a release if one of its draws gave it.

Tree reconstruction: the counts of a published tree, put together, name small groups of people.

What: the attacker reads the counts at the nodes of a tree and gets those that are not shown by subtraction: a parent
less its other children. Paper: Friedman, Wolff, Schuster: Providing k-Anonymity in Data Mining, VLDB Journal 2008,
section 3 (what a tree with counts tells); Gambs, Gmati, Hurfin: Reconstruction Attack through Classifier Analysis,
DBSec 2012. Measured: the share of the people in a leaf (in a leaf and class, if the class is public) whose number is
shown, or follows, and is below k. Control: the tree without counts, from which no number follows. Leak: any such
person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, share_interval
from incrowd.attacks.scene import Again, Scene
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
            release = again.release(table, frame, SCHEMA, seed)
        except IncrowdError:
            return
        yield tuple(sorted(release.draft.frame.cast(pl.String).rows(), key=repr))


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


Counts = list[int | None]


def tree_reconstruction(scene: Scene) -> Finding:
    """Subtracts the counts of a tree from each other."""
    if scene.model is None:
        raise CannotRunError("No published model is on the table.")
    tree = read_tree(scene.model)
    counts = solve(tree)
    small = [
        count
        for node in tree.leaves
        for count in ([_total(counts[node])] if tree.private else counts[node])
        if count is not None and 0 < count < tree.k
    ]
    rows, exposed = scene.table.height, sum(small)
    known = sum(count is not None for node in tree.leaves for count in counts[node])
    return Finding(
        LEAK if exposed else NO_LEAK,
        f"{known:,} counts of leaves are shown or follow; {exposed:,} people are in groups below {tree.k}.",
        measured=exposed / rows,
        control=0.0,
        interval=share_interval(exposed, rows),
        goal=0.0,
        unit="share of people",
        details={
            "counts known": float(known),
            "groups below k": float(len(small)),
            "leaves": float(len(tree.leaves)),
            "share, if the number of rows is known": _below_k(tree, counts, rows) / rows,
        },
    )


@dataclass(frozen=True)
class ShownTree:
    """What the file of a tree shows: children and class counts of each node, and what was promised."""

    children: Sequence[Sequence[int]]
    counts: Sequence[Counts]
    k: int
    private: bool

    @property
    def leaves(self) -> list[int]:
        """The nodes without children."""
        return [node for node, below in enumerate(self.children) if not below]


def read_tree(model: Mapping[str, Any]) -> ShownTree:
    """The tree of a model's file, whatever its nodes show."""
    try:
        nodes, classes = model["nodes"], len(model["classes"])
        children = [[int(branch["go"]) for branch in node.get("branches", ())] for node in nodes]
        counts: list[Counts] = [list(node.get("counts", [None] * classes)) for node in nodes]
        if any(len(row) != classes for row in counts) or any(not 0 < c < len(nodes) for b in children for c in b):
            raise ValueError
        return ShownTree(children, counts, int(model["requirement"]["k"]), bool(model["class_private"]))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise CannotRunError("The model's file is not a tree that incrowd wrote.") from None


def solve(tree: ShownTree) -> list[Counts]:
    """All counts that are shown or follow by subtraction and addition, node by node."""
    known = [list(row) for row in tree.counts]
    changed = True
    while changed:
        changed = False
        for parent, place, value in _following(tree, known):
            known[parent][place] = value
            changed = True
    return known


def _following(tree: ShownTree, known: list[Counts]) -> Iterator[tuple[int, int, int]]:
    """Counts that follow from others and are not known yet."""
    for parent, below in enumerate(tree.children):
        for place in range(len(known[parent])) if below else ():
            open_ones = [child for child in below if known[child][place] is None]
            rest = sum(known[child][place] or 0 for child in below)
            whole = known[parent][place]
            if whole is None and not open_ones:
                yield parent, place, rest
            elif whole is not None and len(open_ones) == 1:
                yield open_ones[0], place, whole - rest


def _below_k(tree: ShownTree, counts: list[Counts], rows: int) -> int:
    """People in leaves of fewer than k, for somebody who also knows how many people there are."""
    totals: list[Counts] = [[_total(row)] for row in counts]
    totals[0] = [rows]
    known = solve(ShownTree(tree.children, totals, tree.k, tree.private))
    return sum(count for node in tree.leaves if (count := known[node][0]) is not None and 0 < count < tree.k)


def _total(counts: Counts) -> int | None:
    return None if None in counts else sum(count or 0 for count in counts)
