"""Requirements in words, ``k=10, entropy-l=1.5 on diagnosis``, and read back from the words of a promise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from incrowd.errors import ParameterError, PluginError
from incrowd.vocabulary.requirement import (
    Columnwise,
    KAnonymity,
    KnownSet,
    KnownTogether,
    OfPopulation,
    RequirementPart,
    Together,
)
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    PowerBound,
    RecursiveDiversity,
    powers_in,
)
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap

# Requirements in words: ``k=10, entropy-l=1.5 on diagnosis, t=0.2 on income``.
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


def parse_requirements(text: str) -> tuple[RequirementPart, ...]:
    """The requirements of a text, in order.

    Without ``on`` a requirement is about the target. A column name with a comma is written in double quotes.
    """
    parts: list[RequirementPart] = []
    at = 0
    while at < len(text.rstrip(" ,")):
        match = _ITEM.match(text, at)
        if match is None:
            raise ParameterError(
                "A requirement is written as word=number, with 'on COLUMN' where it is about a column, and commas "
                "between them, as in: k=10, entropy-l=1.5 on diagnosis, t=0.2 on income."
            )
        quoted, on = match["quoted"], match["on"]
        name = quoted.replace('""', '"') if quoted is not None else on
        parts += _made(_Item(match["word"].lower(), match["value"], match["c"], name))
        at = match.end()
    if not parts:
        raise ParameterError("No requirement is named. Write for instance: k=10, entropy-l=1.5 on diagnosis.")
    return tuple(parts)


def _made(item: _Item) -> tuple[RequirementPart, ...]:
    if item.word in ("l", "l-diversity"):
        raise ParameterError("There are three kinds of l: distinct-l, entropy-l and recursive-l (with c). Choose one.")
    if item.word not in WORDS:
        return _made_elsewhere(item)
    if (item.c is not None) != (item.word == "recursive-l"):
        raise ParameterError("recursive-l, and only it, needs a c: recursive-l=3 c=2.")
    if item.word in _ROWS:
        if item.on is not None:
            raise ParameterError(f"{item.word} is about rows, not about a column. Leave out 'on'.")
        return (_ROWS[item.word](item),)
    return (_COLUMNS[item.word](item),)


def _made_elsewhere(item: _Item) -> tuple[RequirementPart, ...]:
    """What a word of another package says, in requirements of ours: nobody needs the package to count them."""
    from incrowd.optional import find_plugin, plugins

    if (plugin := find_plugin("requirements", item.word)) is None:
        known = [*WORDS, *(plugin.name for plugin in plugins("requirements"))]
        hint = "".join(f" Did you mean {close!r}?" for close in get_close_matches(item.word, known, n=1))
        raise ParameterError(f"There is no requirement {item.word!r}.{hint} Known: {', '.join(known)}.")
    if item.c is not None:
        raise ParameterError(f"{item.word} is written as {item.word}=number, without a c.")
    parts = plugin.called(item.value, item.on)
    parts = parts if isinstance(parts, tuple) else (parts,)
    try:
        Together(parts)
    except (ParameterError, TypeError):
        raise PluginError(f"{plugin} cannot be used: it states something that incrowd cannot count.") from None
    return parts


def _two(value: str) -> tuple[str, str]:
    low, dots, high = value.partition("..")
    if not dots:
        raise ParameterError("delta-presence needs two bounds between 0 and 1, as in delta-presence=0.1..0.5.")
    return low, high


def asked_for(
    require: str | RequirementPart | Together | Iterable[str | RequirementPart | Together],
    size: KAnonymity | KnownTogether,
) -> KAnonymity | KnownTogether | Together:
    """The requirement that is asked for, from texts and objects; ``size`` is kept if they do not say k."""
    parts: list[RequirementPart] = []
    for one in [require] if isinstance(require, str) or not isinstance(require, Iterable) else require:
        if isinstance(one, str):
            parts += parse_requirements(one)
        else:
            parts += one.parts if isinstance(one, Together) else [one]
    if not any(isinstance(part, KAnonymity | KnownTogether) for part in parts):
        parts.append(size)
    whole = Together(tuple(parts))
    return whole if len(whole.parts) > 1 else whole.size


_N, _OF = r"([0-9./]+)", r"of (?:the class|(?P<on>.+?))"
# Requirements read back from the words in which they are promised: the inverse of ``str``.
_WORDS: dict[str, Callable[[re.Match[str]], Any]] = {
    r"(\d+)-anonymity": lambda match: KAnonymity(int(match[1])),
    r"(\d+)-anonymity of (?P<names>.+)": lambda match: KnownSet(tuple(match["names"].split(", ")), int(match[1])),
    r"(\d+)-map": lambda match: KMap(int(match[1])),
    rf"\({_N}, {_N}\)-presence": lambda match: DeltaPresence(match[1], match[2]),
    rf"distinct (\d+)-diversity {_OF}": lambda match: DistinctDiversity(int(match[1]), match["on"]),
    rf"entropy {_N}-diversity {_OF}": lambda match: EntropyDiversity(match[1], match["on"]),
    rf"recursive \({_N}, (\d+)\)-diversity {_OF}": lambda match: RecursiveDiversity(
        match[1], int(match[2]), match["on"]
    ),
    rf"{_N}-closeness {_OF}(?: \((equal|ordered|hierarchical) distance\))?": lambda match: TCloseness(
        match[1], match["on"], match[3]
    ),
    rf"confidence in any value {_OF} of at most {_N}": lambda match: ConfidenceCap(match[2], match["on"]),
    rf"(enhanced )?{_N}-likeness {_OF}": lambda match: BetaLikeness(match[2], match["on"], enhanced=bool(match[1])),
    rf"(?P<terms>[0-9./ +^share]+) summed over the values {_OF} of at most {_N}": lambda match: PowerBound(
        powers_in(match["terms"]), match[3], match["on"]
    ),
    rf"{_N}-disclosure privacy {_OF}": lambda match: DeltaDisclosure(match[1], match["on"]),
}


def read_promises(promises: Iterable[str]) -> KAnonymity | KnownTogether | Together:
    """The requirement that makes these promises; raises if one of them is none that incrowd makes."""
    read = [_read(promise) for promise in promises]
    sets = tuple(part for part in read if isinstance(part, KnownSet))
    parts: list[RequirementPart] = [KnownTogether(sets)] if sets else []
    whole = Together((*parts, *(part for part in read if not isinstance(part, KnownSet))))
    return whole if len(whole.parts) > 1 else whole.size


def _read(promise: str) -> RequirementPart | KnownSet:
    for words, kind in _WORDS.items():
        match = re.fullmatch(words, promise, re.DOTALL)
        if match:
            part: RequirementPart | KnownSet = kind(match)
            return part
    raise ParameterError("A promise is in words that this incrowd does not read. Update it, or say what was required.")


# What a class that must not be inferred keeps at least.
DEFAULT = Fraction(3, 10)
"""The t of t-closeness with equal distance: the share of a class in any group differs by at most 30 points."""


def with_class(
    requirement: KAnonymity | KnownTogether | Together, target: str | None
) -> KAnonymity | KnownTogether | Together:
    """The requirement for a table whose class is sensitive.

    If it says nothing about the class, t-closeness of the class is required as well. Every table can keep it, whatever
    its classes: l-diversity of a rare class can be impossible, and what is impossible is no default.
    """
    if any(part.on in (None, target) for part in requirement.on_columns):
        return requirement
    return Together((*requirement.parts, TCloseness(DEFAULT, target, "equal")))


def with_purest(
    requirement: KAnonymity | KnownTogether | Together, share: float | None, target: str | None
) -> KAnonymity | KnownTogether | Together:
    """The requirement with a bound on how pure groups may be, if there is one: no class has a larger share in any.

    Examples
    --------
    >>> print(with_purest(KAnonymity(10), 0.9, "ill"))
    10-anonymity; confidence in any value of ill of at most 0.9
    """
    if share is None:
        return requirement
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise ParameterError("purest is a share above 0 and at most 1, for instance 0.9.")
    return Together((*requirement.parts, ConfidenceCap(share, target)))


def bounds_purity(
    requirement: KAnonymity | KnownTogether | Together, target: str | None, classes: Sequence[int] | None = None
) -> bool:
    """Whether something is required of the class that keeps groups from being of one class.

    ``classes``: how many rows of the table have each class, if that is known. A group of one class lies as far from the
    table as all other classes have rows: t-closeness keeps it out if t is less, and else does not. distinct-l is no
    bound: one other row is enough for it.

    Examples
    --------
    >>> both = Together((KAnonymity(10), TCloseness(0.3, "ill", "equal")))
    >>> bounds_purity(both, "ill", [65, 35]), bounds_purity(both, "ill", [75, 25]), bounds_purity(both, "ill")
    (True, False, False)
    """
    about_class = (part for part in requirement.on_columns if part.on in (None, target))
    return any(_keeps_classes_mixed(part, classes) for part in about_class)


def _keeps_classes_mixed(part: object, classes: Sequence[int] | None) -> bool:
    if isinstance(part, TCloseness):
        known = classes is not None and part.distance == "equal" and sum(classes) > 0
        return known and 1 - Fraction(max(classes or (0,)), sum(classes or (1,))) > part.t
    if isinstance(part, ConfidenceCap):
        return part.share < 1
    return isinstance(part, EntropyDiversity | RecursiveDiversity) and part.l > 1
