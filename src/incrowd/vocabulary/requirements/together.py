"""Several requirements at once, and the way to write them down and read them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from incrowd.errors import HeaderError, ParameterError, SchemaError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Requirement
from incrowd.vocabulary.requirements.columns import RequirementSubject
from incrowd.vocabulary.requirements.disclosure import BetaLikeness, ConfidenceCap, DeltaDisclosure
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.requirements.t_closeness import TCloseness
from incrowd.vocabulary.schema import Role, Schema, unknown_column

Columnwise = (
    DistinctDiversity
    | EntropyDiversity
    | RecursiveDiversity
    | TCloseness
    | ConfidenceCap
    | BetaLikeness
    | DeltaDisclosure
)
OfPopulation = KMap | DeltaPresence
Part = KAnonymity | KnownTogether | Columnwise | OfPopulation


@dataclass(frozen=True)
class Together:
    """All of its parts: one about sizes, the others about columns or a population.

    Every set of columns that is known together must keep every part: the groups of a set are unions of groups of all
    columns.
    """

    parts: tuple[Part, ...]

    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        parts = tuple(dict.fromkeys(self.parts))
        sizes = [part for part in parts if isinstance(part, KAnonymity | KnownTogether)]
        if len(sizes) > 1:
            raise ParameterError("k is set twice. Set it once: k=10, or sets of columns known together.")
        others = [part for part in parts if not isinstance(part, KAnonymity | KnownTogether)]
        for part in others:
            if not isinstance(part, Columnwise | OfPopulation):
                raise ParameterError("A requirement is made of incrowd's own requirements, or of its text form.")
        object.__setattr__(self, "parts", (*(sizes or [KAnonymity(1)]), *others))

    @property
    def size(self) -> KAnonymity | KnownTogether:
        """The part about sizes."""
        first = self.parts[0]
        assert isinstance(first, KAnonymity | KnownTogether)
        return first

    @property
    def on_columns(self) -> tuple[Columnwise, ...]:
        """The parts about the values of a column."""
        return tuple(part for part in self.parts if isinstance(part, Columnwise))

    @property
    def on_population(self) -> tuple[OfPopulation, ...]:
        """The parts that need a population table."""
        return tuple(part for part in self.parts if isinstance(part, OfPopulation))

    @property
    def smallest_group(self) -> int:
        """The largest k."""
        return self.size.smallest_group

    def holds(self, histogram: Any) -> bool:
        """Whether a group has enough rows; the other parts need to know more than its classes."""
        return self.size.holds(histogram)

    def check_possible(self, rows: int) -> None:
        """Raise if the table has too few rows."""
        self.size.check_possible(rows)

    def sets(self, quasi_identifiers: Sequence[str]) -> tuple[KnownSet, ...]:
        """The sets of columns known together, each with its k."""
        return self.size.sets(quasi_identifiers)

    @property
    def promises(self) -> tuple[str, ...]:
        """Each promise in words, those about sizes first."""
        return (*self.size.promises, *map(str, self.parts[1:]))

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "all of", "parts": [part.to_json() for part in self.parts]}

    def __str__(self) -> str:
        return "; ".join(self.promises)


def part_from_json(data: dict[str, Any]) -> Columnwise | OfPopulation:
    """A single requirement beyond k from its plain data."""
    match data:
        case {"is": "distinct l-diversity", "l": l, "on": on}:
            return DistinctDiversity(l, on)
        case {"is": "entropy l-diversity", "l": l, "on": on}:
            return EntropyDiversity(l, on)
        case {"is": "recursive (c,l)-diversity", "c": c, "l": l, "on": on}:
            return RecursiveDiversity(c, l, on)
        case {"is": "t-closeness", "t": t, "on": on, "distance": distance}:
            return TCloseness(t, on, distance)
        case {"is": "confidence cap", "alpha": alpha, "on": on}:
            return ConfidenceCap(alpha, on)
        case {"is": "beta-likeness", "beta": beta, "on": on, "enhanced": enhanced}:
            return BetaLikeness(beta, on, enhanced)
        case {"is": "delta-disclosure privacy", "delta": delta, "on": on}:
            return DeltaDisclosure(delta, on)
        case {"is": "k-map", "k": k}:
            return KMap(k)
        case {"is": "delta-presence", "low": low, "high": high}:
            return DeltaPresence(low, high)
        case _:
            raise ParameterError("This requirement is unknown to this incrowd. Update it.")


def together_from_json(data: dict[str, Any]) -> Together:
    """What :meth:`Together.to_json` wrote."""
    from incrowd.vocabulary.requirement import requirement_from_json

    parts: list[Any] = []
    for part in data["parts"]:
        sized = str(part.get("is")).startswith("k-anonymity")
        parts.append(requirement_from_json(part) if sized else part_from_json(part))
    return Together(tuple(parts))


# Which columns a requirement is about, and whether a table can keep it.
def subject_names(requirement: Requirement, target: str | None) -> tuple[str, ...]:
    """The columns a requirement is about, each once; what names none is about the target."""
    if isinstance(requirement, KAnonymity | KnownTogether):
        return ()
    if not isinstance(requirement, Together):
        return () if target is None else (target,)
    if target is None and any(part.on is None for part in requirement.on_columns):
        raise SchemaError("A requirement without 'on COLUMN' is about the target, and there is none. Name a column.")
    return tuple(dict.fromkeys(part.on or str(target) for part in requirement.on_columns))


def with_subjects(requirement: Requirement, schema: Schema) -> Schema:
    """The schema with the columns of a requirement as sensitive ones; raises if they cannot be."""
    names = subject_names(requirement, schema.target)
    for name in names:
        if name not in schema:
            raise HeaderError(f"A requirement names {name!r}. {unknown_column(name, schema.names)}")
        role = schema[name].role
        if role in (Role.QUASI_IDENTIFIER, Role.IDENTIFIER):
            known = "an attacker knows it" if role is Role.QUASI_IDENTIFIER else "it is not released"
            raise SchemaError(
                f"Column {name!r} is {role}: {known}, so nothing can be required of it. Give it the role sensitive, or "
                "leave it out of the requirements."
            )
    columns = (
        replace(column, role=Role.SENSITIVE) if column.name in names and column.role is Role.OTHER else column
        for column in schema.columns
    )
    return Schema(tuple(columns))


def check_columns(requirement: Requirement, columns: Mapping[str, EncodedColumn], schema: Schema) -> None:
    """Raise if no release of this table can keep what is required of its columns; say what would be possible.

    All rows together are the weakest state of a monotone requirement: if they do not keep it, no partition does.
    """
    if not isinstance(requirement, Together):
        return
    for part in requirement.on_columns:
        name = part.on or str(schema.target)
        part.check_possible(RequirementSubject.of(columns[name], columns[name].counts, schema[name].hierarchy))
