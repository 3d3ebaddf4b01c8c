"""What a requirement promises, in a sentence for people who sign."""

from __future__ import annotations

from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Requirement
from incrowd.vocabulary.requirements.beta_likeness import BetaLikeness
from incrowd.vocabulary.requirements.confidence_cap import ConfidenceCap
from incrowd.vocabulary.requirements.delta_disclosure import DeltaDisclosure
from incrowd.vocabulary.requirements.delta_presence import DeltaPresence
from incrowd.vocabulary.requirements.distinct_diversity import DistinctDiversity
from incrowd.vocabulary.requirements.entropy_diversity import EntropyDiversity
from incrowd.vocabulary.requirements.exact import text
from incrowd.vocabulary.requirements.k_map import KMap
from incrowd.vocabulary.requirements.on_column import of_column
from incrowd.vocabulary.requirements.recursive_diversity import RecursiveDiversity
from incrowd.vocabulary.requirements.t_closeness import TCloseness
from incrowd.vocabulary.requirements.together import Columnwise, OfPopulation, Part, Together

NOTHING = "Promises nothing: every row may be the only one of its kind."


def promises_of(requirement: Requirement) -> tuple[tuple[str, str], ...]:
    """Each promise as the verification names it, and what it means.

    Examples
    --------
    >>> for promise, words in promises_of(Together((KAnonymity(10), DistinctDiversity(3, "ill")))):
    ...     print(f"{promise}: {words}")
    10-anonymity: Whoever knows all quasi-identifiers of a person finds at least 10 rows that look alike.
    distinct 3-diversity of ill: Every group has at least 3 different values of ill.
    """
    parts = requirement.parts if isinstance(requirement, Together) else (requirement,)
    return tuple(told for part in parts for told in _told(part))


def _told(part: Part | Requirement) -> list[tuple[str, str]]:
    match part:
        case KAnonymity(k):
            known = f"Whoever knows all quasi-identifiers of a person finds at least {k:,} rows that look alike."
            return [(str(part), known if k > 1 else NOTHING)]
        case KnownTogether(sets):
            return [(str(one), _known(one)) for one in sets]
        case KMap() | DeltaPresence():
            return [(str(part), _of_population(part))]
        case _ if isinstance(part, Columnwise):
            return [(str(part), _on_column(part))]
    return [(promise, "") for promise in part.promises]


def _known(one: KnownSet) -> str:
    if one.k == 1:
        return NOTHING
    return f"Whoever knows {', '.join(one.names)} of a person finds at least {one.k:,} rows that look alike."


def _of_population(part: OfPopulation) -> str:
    if isinstance(part, KMap):
        return f"Every released combination of quasi-identifiers fits at least {part.k:,} people of the population."
    return (
        "Of the people of the population who fit a combination in the release, the share that is in the table lies "
        f"between {text(part.low)} and {text(part.high)}."
    )


def _on_column(part: Columnwise) -> str:
    column = of_column(part.on)
    match part:
        case DistinctDiversity():
            return f"Every group has at least {part.l} different values {column}."
        case EntropyDiversity():
            return f"In every group the values {column} are at least as mixed as {text(part.l)} equally frequent ones."
        case RecursiveDiversity():
            return (
                f"In every group the most frequent value {column} has fewer rows than {text(part.c)} times those of "
                f"the values from the {part.l}. most frequent on."
            )
        case TCloseness():
            by = f", by the {part.distance} distance" if part.distance else ""
            return f"In every group the values {column} are spread as in the whole table, up to {text(part.t)}{by}."
        case ConfidenceCap():
            return f"In every group any one value {column} has at most {text(part.share)} of the rows."
        case BetaLikeness():
            more = "; for frequent values by less" if part.enhanced else ""
            return (
                f"In every group the share of any value {column} exceeds its share in the whole table by at most "
                f"{text(part.beta)} times the latter{more}."
            )
        case DeltaDisclosure():
            return (
                f"In every group the share of every value {column} differs from that in the whole table by a factor "
                f"below 2 to the power of {text(part.delta)}."
            )
