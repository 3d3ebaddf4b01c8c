"""Several requirements at once, and the way to write them down and read them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.errors import ParameterError
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.requirements.beta_likeness import BetaLikeness
from incrowd.vocabulary.requirements.confidence_cap import ConfidenceCap
from incrowd.vocabulary.requirements.delta_disclosure import DeltaDisclosure
from incrowd.vocabulary.requirements.delta_presence import DeltaPresence
from incrowd.vocabulary.requirements.distinct_diversity import DistinctDiversity
from incrowd.vocabulary.requirements.entropy_diversity import EntropyDiversity
from incrowd.vocabulary.requirements.k_map import KMap
from incrowd.vocabulary.requirements.recursive_diversity import RecursiveDiversity
from incrowd.vocabulary.requirements.t_closeness import TCloseness

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

    Examples
    --------
    >>> asked = Together((KAnonymity(10), EntropyDiversity(1.5, "diagnosis"), TCloseness(0.2)))
    >>> str(asked)
    '10-anonymity; entropy 1.5-diversity of diagnosis; 0.2-closeness of the class'
    >>> together_from_json(asked.to_json()) == asked
    True
    """

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        parts = tuple(dict.fromkeys(self.parts))
        sizes = [part for part in parts if isinstance(part, KAnonymity | KnownTogether)]
        if len(sizes) > 1:
            raise ParameterError("k is asked for twice. Say it once: k=10, or sets of columns known together.")
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
    def monotone(self) -> bool:
        """Whether a union of groups that keep it keeps it."""
        return all(part.monotone for part in self.parts)

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

    found: list[Any] = []
    for part in data["parts"]:
        sized = str(part.get("is")).startswith("k-anonymity")
        found.append(requirement_from_json(part) if sized else part_from_json(part))
    return Together(tuple(found))
