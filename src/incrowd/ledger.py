"""A private book of the releases of a table, so that together they keep what each of them keeps alone.

Two releases of the same rows in different groups tell more than either: whoever is in one group here and in another
there is in both, and that may be few. So the book keeps, for every release, its plan and the secret from which its
groups were drawn. A further release that asks for the same groups gets the same groups, row by row, and together they
tell no more than one. Of one that asks for other groups the groups that both make together are counted.

The book holds secrets: it belongs to the owner of the table, like the plan.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.algorithms.catalog import make_method
from incrowd.engines.embedded.applying import applied, shown_forms
from incrowd.engines.embedded.drafting import draft_columns
from incrowd.engines.embedded.population import EmbeddedPopulation
from incrowd.errors import IncrowdError, OutputError, PlanError
from incrowd.holding.memory import InMemory
from incrowd.plan.plan_file import read_plan, write_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, Drop
from incrowd.publishing.staging import staged
from incrowd.reading.encode import encode
from incrowd.vocabulary.randomness import KeyedRandomness

_KEY_BYTES = 32


@dataclass(frozen=True)
class Entry:
    """One release in the book.

    Parameters
    ----------
    mark
        The keyed hash of the table it was made from.
    key
        The secret of its draws.
    made, sha256, requirement, version
        When, the hash of its bytes, what it promises, and by which incrowd.
    """

    mark: str
    key: str
    made: str
    sha256: str
    requirement: str
    version: str


@dataclass(frozen=True)
class Ledger:
    """The book: a folder that only its owner can read.

    Examples
    --------
    >>> import tempfile
    >>> Ledger(Path(tempfile.mkdtemp())).of("no such table")
    []
    """

    folder: Path

    def of(self, mark: str) -> list[tuple[Entry, ReleasePlan]]:
        """The releases of a table, the first one first."""
        found = []
        for file in sorted(self.folder.glob("*.entry.json")) if self.folder.is_dir() else ():
            entry = _read(file)
            if entry.mark == mark:
                found.append((entry, read_plan(file.with_name(file.name.replace(".entry.json", ".plan.parquet")))))
        return found

    def add(self, entry: Entry, plan: ReleasePlan) -> None:
        """Write a release into the book."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
        except OSError as error:
            raise OutputError(f"The ledger {self.folder.name} cannot be written: {error.strerror}.") from None
        name = f"{entry.made.replace(':', '')}-{secrets.token_hex(4)}"
        with staged(self.folder / f"{name}.plan.parquet") as hidden:
            write_plan(plan, hidden)
        with staged(self.folder / f"{name}.entry.json") as hidden:
            hidden.touch(mode=0o600)
            hidden.write_text(json.dumps(asdict(entry)), encoding="utf-8")


def _read(file: Path) -> Entry:
    try:
        return Entry(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise PlanError(f"{file.name} is no entry of a ledger that incrowd wrote.") from None


def key_for(wanted: ReleasePlan, earlier: Sequence[tuple[Entry, ReleasePlan]]) -> bytes:
    """The secret of an earlier release that was asked for in the same way, or a new one.

    ``wanted`` has no steps yet: it says what is asked for.
    """
    for entry, plan in reversed(earlier):
        if entry.version == version("incrowd") and _asked(plan) == _asked(wanted):
            return bytes.fromhex(entry.key)
    return secrets.token_bytes(_KEY_BYTES)


def _asked(plan: ReleasePlan) -> tuple[Any, ...]:
    """What decides the groups."""
    columns = tuple(plan.schema[name] for name in plan.schema.encoded)
    plain = tuple((c.name, c.type, c.role, c.order, c.hierarchy and c.hierarchy.to_json()) for c in columns)
    return plan.method, plan.parameters, plan.requirement, plan.rows, plain


def shown_before(entry: Entry, plan: ReleasePlan, held: InMemory) -> pl.DataFrame | None:
    """What an earlier release shows of each input row, null for rows that it left out; None if that cannot be found.

    The release is made again from its secret. It is found if the plan comes out the same.
    """
    try:
        table, _ = encode(held.source, plan.schema, plan.schema.encoded)
        randomness = KeyedRandomness(bytes.fromhex(entry.key))
        population = held.engine.population(table, plan.schema, randomness)
        method = make_method(plan.method, dict(plan.parameters))
        steps = method.decide(population, plan.requirement, randomness)
    except IncrowdError:
        return None
    again = ReleasePlan(
        plan.method, plan.parameters, plan.requirement, plan.schema, plan.rows, (Drop(plan.schema.identifiers), *steps)
    )
    again = held.engine.settle(again, population)
    return cells_shown(again, population, held.source.frame) if again == plan else None


def cells_shown(plan: ReleasePlan, population: Any, source: pl.DataFrame) -> pl.DataFrame:
    """The released quasi-identifier cells of every input row, in the order of the input."""
    after = applied(plan, population)
    assert isinstance(after, EmbeddedPopulation)
    names = plan.schema.quasi_identifiers
    frame = draft_columns(plan, shown_forms(plan, after), source.select(names), after.kept[:0])
    if after.groups is None:
        return frame
    left_out = pl.Series(after.groups == DROPPED)
    return frame.with_columns(pl.when(~left_out).then(pl.struct(pl.all())).alias("shown")).select("shown")
