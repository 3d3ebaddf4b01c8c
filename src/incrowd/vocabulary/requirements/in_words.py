"""Requirements read back from the words in which they are promised: the inverse of ``str``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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
from incrowd.vocabulary.requirements.together import Part, Together

_N, _OF = r"([0-9./]+)", r"of (?:the class|(?P<on>.+?))"
_WORDS: dict[str, Callable[[re.Match[str]], Any]] = {
    r"(\d+)-anonymity": lambda said: KAnonymity(int(said[1])),
    r"(\d+)-anonymity of (?P<names>.+)": lambda said: KnownSet(tuple(said["names"].split(", ")), int(said[1])),
    r"(\d+)-map": lambda said: KMap(int(said[1])),
    rf"\({_N}, {_N}\)-presence": lambda said: DeltaPresence(said[1], said[2]),
    rf"distinct (\d+)-diversity {_OF}": lambda said: DistinctDiversity(int(said[1]), said["on"]),
    rf"entropy {_N}-diversity {_OF}": lambda said: EntropyDiversity(said[1], said["on"]),
    rf"recursive \({_N}, (\d+)\)-diversity {_OF}": lambda said: RecursiveDiversity(said[1], int(said[2]), said["on"]),
    rf"{_N}-closeness {_OF}(?: \((equal|ordered|hierarchical) distance\))?": lambda said: TCloseness(
        said[1], said["on"], said[3]
    ),
    rf"confidence in any value {_OF} of at most {_N}": lambda said: ConfidenceCap(said[2], said["on"]),
    rf"(enhanced )?{_N}-likeness {_OF}": lambda said: BetaLikeness(said[2], said["on"], enhanced=bool(said[1])),
    rf"{_N}-disclosure privacy {_OF}": lambda said: DeltaDisclosure(said[1], said["on"]),
}


def read_promises(promises: Iterable[str]) -> KAnonymity | KnownTogether | Together:
    """The requirement that makes these promises; raises if one of them is none that incrowd makes.

    Examples
    --------
    >>> asked = read_promises(["10-anonymity", "entropy 1.5-diversity of diagnosis", "0.2-closeness of the class"])
    >>> asked.parts[1:]
    (EntropyDiversity(l=Fraction(3, 2), on='diagnosis'), TCloseness(t=Fraction(1, 5), on=None, distance=None))
    >>> asked.promises
    ('10-anonymity', 'entropy 1.5-diversity of diagnosis', '0.2-closeness of the class')
    """
    read = [_read(said) for said in promises]
    sets = tuple(part for part in read if isinstance(part, KnownSet))
    parts: list[Part] = [KnownTogether(sets)] if sets else []
    whole = Together((*parts, *(part for part in read if not isinstance(part, KnownSet))))
    return whole if len(whole.parts) > 1 else whole.size


def _read(said: str) -> Part | KnownSet:
    for words, made in _WORDS.items():
        found = re.fullmatch(words, said, re.DOTALL)
        if found:
            part: Part | KnownSet = made(found)
            return part
    raise ParameterError("A promise is in words that this incrowd does not read. Update it, or say what was required.")
