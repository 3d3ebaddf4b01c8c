"""Which methods are compared: those of the catalog with their parameters, and three standards beside them.

``unprotected``: the table itself. ``majority``: the most frequent class, whatever the row. ``kadet``: a published tree,
which is its own learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.comparisons.learners.catalog import find_learner, parsed
from incrowd.errors import ParameterError
from incrowd.methods.catalog import METHODS, check_preferences, make_method
from incrowd.models.induction.kadet import KAdet
from incrowd.vocabulary.forms import STRICT, check_form
from incrowd.vocabulary.option import nearest
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences

UNPROTECTED, MAJORITY, KADET = "unprotected", "majority", "kadet"
STANDARDS = (UNPROTECTED, MAJORITY)


@dataclass(frozen=True)
class Choice:
    """A method with its parameters."""

    method: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, text: str) -> Choice:
        """The choice of a text such as ``kactus`` or ``kactus(numeric='mean')``; what does not exist is refused."""
        method, parameters = parsed(text)
        known = (*METHODS, KADET, *STANDARDS)
        if method not in known:
            hint = nearest(method, {name: repr(name) for name in known})
            raise ParameterError(f"There is no method {method!r}.{hint} Methods: {', '.join(known)}.")
        if method in STANDARDS and parameters:
            raise ParameterError(f"{method} has no parameters.")
        if method == KADET:
            _check_kadet(parameters)
        elif method in METHODS:
            check_form(parameters.get("form"))
            make_method(method, {name: value for name, value in parameters.items() if name != "form"})
        return cls(method, tuple(parameters.items()))

    @property
    def is_standard(self) -> bool:
        """Whether k does not matter."""
        return self.method in STANDARDS

    @property
    def own_learner(self) -> str | None:
        """The learner, where the method is one itself."""
        return self.method if self.method in (MAJORITY, KADET) else None

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
        return f"{self.method}({settings})" if settings else self.method


def _check_kadet(parameters: dict[str, Any]) -> None:
    taken = {"k", "private"} & set(parameters)
    if taken:
        raise ParameterError("kadet: k and the private columns follow from what is compared. Leave them out.")
    try:
        KAdet(k=2, **parameters)
    except TypeError:
        raise ParameterError(f"kadet has no such parameter: {', '.join(parameters)}.") from None


def choices(texts: Sequence[str], preferences: Preferences = INDIFFERENT) -> tuple[Choice, ...]:
    """Several choices, each once; a method that cannot do what is preferred is refused."""
    chosen = tuple(dict.fromkeys(map(Choice.of, texts)))
    if preferences == INDIFFERENT:
        return chosen
    for choice in chosen:
        if choice.method in METHODS:
            check_preferences(choice.method, preferences)
        elif choice.method == KADET:
            raise ParameterError("kadet publishes a tree, which has no weights and limits of attributes. Leave it out.")
        if (preferences.at_most or preferences.apart) and dict(choice.parameters).get("form", STRICT) != STRICT:
            raise ParameterError("Levels and sets of values are limits of plain values, not of counts. Leave form out.")
    return chosen


def learner_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Learners by the names they give themselves, each once; one that does not exist is refused."""
    return tuple(dict.fromkeys(find_learner(text).name for text in texts))


def listed(text: str) -> list[str]:
    """The entries of ``a,b(x=1, y=2),c``: commas inside brackets or quotes part nothing."""
    entries, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        depth += 0 if quote else (letter == "(") - (letter == ")")
        if letter == "," and depth == 0 and not quote:
            entries.append("")
        else:
            entries[-1] += letter
    return [entry.strip() for entry in entries if entry.strip()]
