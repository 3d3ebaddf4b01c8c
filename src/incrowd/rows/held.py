"""Where the rows live, behind one protocol: a release asks these questions in this order, and never which it is.

::

    read     Held       schema, columns, notices: the table as integer codes, every column with its role and type
    decide   Held       population, settle: counts for the method; what only the rows tell, for its plan
    apply    Held       write: the released rows, in random order, in a private place
    verify   Unverified verify: the second opinion on what was written there
    publish  Unverified files, loader: what must still be the same when it appears, and how it is read again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from incrowd.errors import Notice
from incrowd.methods.method import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.tables.reading.source import Origin, Source
from incrowd.verification.request import Hint, Request
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Schema


class Unverified(Protocol):
    """A release in its private place that nobody has verified yet."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The written files, each of which is hashed; none where the files are Spark's."""

    @property
    def hint(self) -> Hint:
        """From which input row each released row was made."""

    def verify(self, request: Request, progress: Callable[[int, int], None], /) -> Verdict:
        """The second opinion on what was written; ``progress`` gets the rows that are done, and all."""

    def loader(self, path: Path | None, place: int = 0, /) -> Callable[[], Any]:
        """What gives the published release, or the file with that place among its files, as a frame.

        ``path`` is where it will be; without one, a frame of the kind that came in.
        """


class Held(Protocol):
    """The rows of a table that was read and encoded, wherever they live."""

    @property
    def writes(self) -> str:
        """What a release of these rows is written as: one file, or files."""

    @property
    def origin(self) -> Origin:
        """Where the table comes from."""

    @property
    def schema(self) -> Schema:
        """Every column with its role and type."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was handled, and should be known."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def resources(self) -> Resources | None:
        """What the work may use, if it is limited."""

    @property
    def columns(self) -> Mapping[str, EncodedColumn]:
        """Dictionaries and counts of the quasi-identifiers and the target."""

    @property
    def source(self) -> Source | None:
        """The whole table as it was read, where it is in memory."""

    @property
    def people(self) -> EncodedTable | None:
        """The population that something is required of, if any."""

    def population(self, randomness: Randomness) -> Population:
        """The rows, as algorithms know them."""

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell."""

    def write(self, plan: ReleasePlan, population: Population, randomness: Randomness) -> Unverified:
        """Write the released rows, in random order, in a private place."""

    def sample(self, rows: int, randomness: Randomness | None = None, /) -> Source:
        """At most so many rows as they were read, drawn at random if there are more."""
