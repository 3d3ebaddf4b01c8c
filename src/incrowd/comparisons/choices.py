"""Which methods are compared: those of the catalog with their parameters, and three standards beside them.

``unprotected``: the table itself. ``majority``: the most frequent class, whatever the row. ``kadet``: a published tree,
which is its own learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from incrowd.comparisons.learners.catalog import find_learner, parsed
from incrowd.comparisons.learners.learner import Learner
from incrowd.errors import ParameterError
from incrowd.methods.catalog import AUTO, MethodEntry, MethodOrName, check_preferences, find_method, make_method
from incrowd.models.kadet import KAdet
from incrowd.tables.recipe_checks import class_and_parameters
from incrowd.vocabulary.forms import OF_FORM, STRICT, check_form
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.schema import Schema

UNPROTECTED, MAJORITY, KADET = "unprotected", "majority", "kadet"
STANDARDS = (UNPROTECTED, MAJORITY)
AS_COUNTS = ("kactus-plus(form='counts')", "infogain-mondrian(form='counts')")
METHODS = ("kactus-plus", "blend", "kactus", "tdr", "infogain-mondrian", "mondrian", *AS_COUNTS)
"""What is compared where nobody says what: each in its own form, and as counts those that gain by it."""
IN_A_FORM = ("kactus-plus", "blend", "infogain-mondrian", "kactus", "tdr", "mondrian")
WITH_HIERARCHIES = ("iack",)


@dataclass(frozen=True)
class Choice:
    """A method with its parameters."""

    method: str
    parameters: tuple[tuple[str, Any], ...] = ()
    entry: MethodEntry | None = field(default=None, compare=False)  # None for what is no method of the catalog

    @classmethod
    def of(cls, chosen: MethodOrName) -> Choice:
        """The choice of a text such as ``kactus`` or ``kactus(numeric='mean')``, or of a method as an object.

        What does not exist is refused.
        """
        if not isinstance(chosen, str):
            return cls._of_method(chosen)
        method, parameters = parsed(chosen)
        if method in STANDARDS and parameters:
            raise ParameterError(f"{method} has no parameters.")
        if method == KADET:
            _check_kadet(parameters)
        if method in (KADET, *STANDARDS):
            return cls(method, tuple(parameters.items()))
        entry = find_method(method, beside=(KADET, *STANDARDS))
        if entry is AUTO:
            raise ParameterError(f"{method} is itself a comparison of methods that are compared here. Leave it out.")
        check_form(**{name: parameters[name] for name in OF_FORM if name in parameters})
        make_method(entry, {name: value for name, value in parameters.items() if name not in OF_FORM})
        return cls(method, tuple(parameters.items()), entry)

    @classmethod
    def _of_method(cls, chosen: MethodOrName) -> Choice:
        entry = find_method(chosen)
        if isinstance(chosen, type | MethodEntry):
            return cls(entry.name, (), entry)
        _, parameters = class_and_parameters(chosen, {})
        return cls(entry.name, tuple(parameters.items()), entry)

    @property
    def is_standard(self) -> bool:
        """Whether k does not matter."""
        return self.method in STANDARDS

    @property
    def form(self) -> str:
        """The form in which groups are released: the method's own, if none is named."""
        own = STRICT if self.entry is None else self.entry.forms[0]
        return str(dict(self.parameters).get("form") or own)

    def in_form(self, form: str | None) -> Choice:
        """The same in a form, which one without a form of its own gets; refused if there is no such."""
        if form is None or self.entry is None or "form" in dict(self.parameters):
            return self
        if form not in self.entry.forms:
            raise ParameterError(f"{self.method} has no groups to show as {form}. Leave the form out, or the method.")
        return self if form == self.form else replace(self, parameters=(*self.parameters, ("form", form)))

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


def choices(
    chosen: Sequence[MethodOrName], preferences: Preferences = INDIFFERENT, form: str | None = None
) -> tuple[Choice, ...]:
    """Several choices, each once, in a form if one is named; a method that cannot do what is preferred is refused."""
    each = tuple(dict.fromkeys(Choice.of(one).in_form(form) for one in chosen))
    if preferences == INDIFFERENT:
        return each
    for choice in each:
        if choice.entry is not None:
            check_preferences(choice.entry, preferences)
        elif choice.method == KADET:
            raise ParameterError("kadet publishes a tree, which has no weights and limits of attributes. Leave it out.")
        if (preferences.at_most or preferences.apart) and choice.form != STRICT:
            raise ParameterError("Levels and sets of values are limits of plain values, not of counts. Leave form out.")
    return each


def compared_methods(
    named: Sequence[MethodOrName] | None,
    schema: Schema,
    followed: Persons | None,
    preferences: Preferences,
    form: str | None = None,
) -> tuple[Choice, ...]:
    """The standards, and the methods that are named, or the usual ones.

    Methods that promise something else than what is asked of persons who can be ``followed`` are refused.
    """
    usual = default_methods(schema, followed, preferences, form)
    chosen = choices([UNPROTECTED, MAJORITY, *(named or usual)], INDIFFERENT, form)
    if followed is None:
        return chosen
    required = followed_choice(followed)
    for choice in chosen:
        same = choice.method == required.method and set(required.parameters) <= set(choice.parameters)
        if not same and not choice.is_standard:
            raise ParameterError(
                f"{choice} does not promise what is asked of persons who are followed. Name no method."
            )
    return chosen


def default_methods(
    schema: Schema,
    followed: Persons | None = None,
    preferences: Preferences = INDIFFERENT,
    form: str | None = None,
) -> tuple[str, ...]:
    """The methods to compare where none is named: those that can do what is preferred, or that is promised.

    Examples
    --------
    >>> default_methods(Schema(()), form="counts")
    ('kactus-plus', 'blend', 'infogain-mondrian', 'kactus', 'mondrian')
    """
    if followed is not None:
        return (str(followed_choice(followed)),)
    with_hierarchies = any(column.hierarchy is not None for column in schema.columns)
    able = []
    for name in (*(METHODS if form is None else IN_A_FORM), *(WITH_HIERARCHIES if with_hierarchies else ())):
        with suppress(ParameterError):
            choices([name], preferences, form)
            able.append(name)
    return tuple(able)


def followed_choice(persons: Persons) -> Choice:
    """The method that promises what is asked of persons who can be followed."""
    assert persons.method is not None
    name, parameters = persons.method
    return Choice(name, tuple(parameters.items()), find_method(name))


def learner_names(chosen: Sequence[Any]) -> tuple[str, ...]:
    """Learners by the names they give themselves, each once; one that does not exist is refused."""
    passed = [learner.name for learner in own_learners(chosen)]
    if len(set(passed)) < len(passed):
        raise ParameterError("Two of the learners that are passed have the same name. Give each a name of its own.")
    return tuple(dict.fromkeys(find_learner(one).name for one in chosen))


def own_learners(chosen: Sequence[Any]) -> tuple[Learner, ...]:
    """Those learners that are passed as objects."""
    return tuple(find_learner(one) for one in chosen if not isinstance(one, str))


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


KS = (5, 20, 100)


def possible_ks(people: int) -> tuple[int, ...]:
    """The usual k, as far as so many rows, or persons, make at least two groups."""
    return tuple(k for k in KS if 2 * k <= people) or (max(2, people // 2),)
