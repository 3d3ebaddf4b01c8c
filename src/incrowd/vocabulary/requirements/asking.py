"""Requirements in words: ``k=10, entropy-l=1.5 on diagnosis, t=0.2 on income``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from incrowd.errors import ParameterError
from incrowd.vocabulary.requirement import KAnonymity, KnownTogether
from incrowd.vocabulary.requirements.beta_likeness import BetaLikeness
from incrowd.vocabulary.requirements.confidence_cap import ConfidenceCap
from incrowd.vocabulary.requirements.delta_disclosure import DeltaDisclosure
from incrowd.vocabulary.requirements.delta_presence import DeltaPresence
from incrowd.vocabulary.requirements.distinct_diversity import DistinctDiversity
from incrowd.vocabulary.requirements.entropy_diversity import EntropyDiversity
from incrowd.vocabulary.requirements.k_map import KMap
from incrowd.vocabulary.requirements.recursive_diversity import RecursiveDiversity
from incrowd.vocabulary.requirements.t_closeness import TCloseness
from incrowd.vocabulary.requirements.together import Columnwise, OfPopulation, Part, Together

_ITEM = re.compile(
    r"""\s*(?P<word>[A-Za-z][A-Za-z-]*)\s*=\s*(?P<value>[^\s,="]+)
    (?:\s+c\s*=\s*(?P<c>[^\s,="]+))?
    (?:\s+on\s+(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<on>[^,"]+?)))?\s*(?:,|$)""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Item:
    """One requirement as it was written."""

    word: str
    value: str
    c: str | None
    on: str | None

    def whole(self) -> int:
        """The value as a whole number."""
        try:
            return int(self.value)
        except ValueError:
            raise ParameterError(f"{self.word} must be a whole number of at least 1, as in {self.word}=3.") from None


_COLUMNS: dict[str, Callable[[_Item], Columnwise]] = {
    "distinct-l": lambda item: DistinctDiversity(item.whole(), item.on),
    "entropy-l": lambda item: EntropyDiversity(item.value, item.on),
    "recursive-l": lambda item: RecursiveDiversity(item.c or "", item.whole(), item.on),
    "t": lambda item: TCloseness(item.value, item.on),
    "t-equal": lambda item: TCloseness(item.value, item.on, "equal"),
    "t-ordered": lambda item: TCloseness(item.value, item.on, "ordered"),
    "t-hierarchical": lambda item: TCloseness(item.value, item.on, "hierarchical"),
    "alpha": lambda item: ConfidenceCap(item.value, item.on),
    "beta": lambda item: BetaLikeness(item.value, item.on),
    "enhanced-beta": lambda item: BetaLikeness(item.value, item.on, enhanced=True),
    "delta-disclosure": lambda item: DeltaDisclosure(item.value, item.on),
}
_ROWS: dict[str, Callable[[_Item], KAnonymity | OfPopulation]] = {
    "k": lambda item: KAnonymity(item.whole()),
    "k-map": lambda item: KMap(item.whole()),
    "delta-presence": lambda item: DeltaPresence(*_two(item.value)),
}
WORDS = (*_ROWS, *_COLUMNS)


def parse_requirements(asked: str) -> tuple[Part, ...]:
    """The requirements of a text, in order.

    Without ``on`` a requirement is about the target. A column name with a comma is written in double quotes.

    Examples
    --------
    >>> [str(part) for part in parse_requirements('k=10, entropy-l=1.5 on diagnosis, t-ordered=0.2 on "pay, net"')]
    ['10-anonymity', 'entropy 1.5-diversity of diagnosis', '0.2-closeness of pay, net (ordered distance)']
    >>> parse_requirements("entropi-l=2")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    incrowd.errors.ParameterError: There is no requirement 'entropi-l'. Did you mean 'entropy-l'? Known: k, k-map, ...
    """
    found, at = [], 0
    while at < len(asked.rstrip(" ,")):
        match = _ITEM.match(asked, at)
        if match is None:
            raise ParameterError(
                "A requirement is written as word=number, with 'on COLUMN' where it is about a column, and commas "
                "between them, as in: k=10, entropy-l=1.5 on diagnosis, t=0.2 on income."
            )
        quoted, on = match["quoted"], match["on"]
        name = quoted.replace('""', '"') if quoted is not None else on
        found.append(_made(_Item(match["word"].lower(), match["value"], match["c"], name)))
        at = match.end()
    if not found:
        raise ParameterError("No requirement is named. Write for instance: k=10, entropy-l=1.5 on diagnosis.")
    return tuple(found)


def _made(item: _Item) -> Part:
    if item.word in ("l", "l-diversity"):
        raise ParameterError("There are three kinds of l: distinct-l, entropy-l and recursive-l (with c). Choose one.")
    if item.word not in WORDS:
        close = get_close_matches(item.word, WORDS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ParameterError(f"There is no requirement {item.word!r}.{hint} Known: {', '.join(WORDS)}.")
    if (item.c is not None) != (item.word == "recursive-l"):
        raise ParameterError("recursive-l, and only it, needs a c: recursive-l=3 c=2.")
    if item.word in _ROWS:
        if item.on is not None:
            raise ParameterError(f"{item.word} is about rows, not about a column. Leave out 'on'.")
        return _ROWS[item.word](item)
    return _COLUMNS[item.word](item)


def _two(value: str) -> tuple[str, str]:
    low, dots, high = value.partition("..")
    if not dots:
        raise ParameterError("delta-presence needs two bounds between 0 and 1, as in delta-presence=0.1..0.5.")
    return low, high


def asked_for(
    given: str | Part | Together | Iterable[str | Part | Together], size: KAnonymity | KnownTogether
) -> KAnonymity | KnownTogether | Together:
    """The requirement that is asked for, from texts and objects; ``size`` is kept if they do not say k.

    Examples
    --------
    >>> str(asked_for("entropy-l=2 on ill", KAnonymity(5))), str(asked_for(["k=7"], KAnonymity(5)))
    ('5-anonymity; entropy 2-diversity of ill', '7-anonymity')
    """
    parts: list[Part] = []
    for one in [given] if isinstance(given, str) or not isinstance(given, Iterable) else given:
        if isinstance(one, str):
            parts += parse_requirements(one)
        else:
            parts += one.parts if isinstance(one, Together) else [one]
    if not any(isinstance(part, KAnonymity | KnownTogether) for part in parts):
        parts.insert(0, size)
    whole = Together(tuple(parts))
    return whole if len(whole.parts) > 1 else whole.size
