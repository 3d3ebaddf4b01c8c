"""What a release asks of the rows, wherever they are held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from incrowd.errors import Notice
from incrowd.methods.population import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.reading.source import Origin, Source
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True, eq=False)
class Drafted:
    """Some released rows in random order as a PyArrow table, and the input row of each.

    ``claims`` has the ends of the interval behind each number that is a middle.
    """

    table: Any
    origin: Any
    claims: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


class Held(Protocol):
    """A table that was read and encoded."""

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        ...

    @property
    def schema(self) -> Schema:
        """Every column with its role and type."""
        ...

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was handled, and should be known."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def resources(self) -> Resources | None:
        """What the work may use, if it is limited."""
        ...

    @property
    def columns(self) -> Mapping[str, EncodedColumn]:
        """Dictionaries and counts of the quasi-identifiers and the target."""
        ...

    def population(self, randomness: Randomness) -> Population:
        """The rows, as algorithms know them."""
        ...

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell."""
        ...

    def drafts(
        self, plan: ReleasePlan, population: Population, randomness: Randomness, *, typed: bool
    ) -> Iterator[Drafted]:
        """The release, one piece or several; text that holds numbers throughout as numbers, if typed."""
        ...

    def sample(self, rows: int) -> Source:
        """At most so many rows as they were read, drawn at random if there are more."""
        ...
