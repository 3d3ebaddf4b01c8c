"""The one list of methods. The command line, the API, the estimators, the tests and the documentation find them here.

To add a method: write its file in the folder of its family and enter it below. Nothing else asks for it by name.
Methods of other packages are found behind the list: by their entry points (:mod:`incrowd.optional`), or as they are.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from incrowd.errors import ParameterError, SchemaError, option_name
from incrowd.methods.method import BINNED, INTERVALS, Method, MethodTraits
from incrowd.vocabulary.forms import COUNTS, PAIR, RELEASE_FORMS, STRICT
from incrowd.vocabulary.persons import KNOWN_ROWS, WHOLE_HISTORIES
from incrowd.vocabulary.preferences import APART, AT_MOST, LOSE, WEIGHTS, Preferences

if TYPE_CHECKING:
    from incrowd.vocabulary.schema import Schema

OWN = "incrowd"


@dataclass(frozen=True, kw_only=True)
class MethodEntry(MethodTraits):
    """One method: where it lives, where it was published, and what others must know of it."""

    name: str  # what users call it
    # module, factory: Where its class is, and the name of the class; its scikit-learn estimator has the same name
    module: str
    factory: str
    page: str = ""  # in ``docs``
    package: str = OWN  # who made it, see :func:`incrowd.optional.package_of`
    foreign: type[Any] | None = None  # the class itself, of a method from elsewhere

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters and their defaults."""
        return {field.name: field.default for field in fields(self.load())}

    def load(self) -> type[Any]:
        """The class of the method."""
        if self.foreign is not None:
            return self.foreign
        loaded: type[Any] = getattr(importlib.import_module(self.module), self.factory)
        return loaded


MethodOrName: TypeAlias = str | MethodEntry | type[Any] | Method
"""Wherever a method is named, it may be passed as well: as an object with its parameters, its class, or its entry."""
_ROOM = "incrowd.methods"
_GENERALIZING: dict[str, Any] = {"numeric": INTERVALS, "generalizes": True}
_OF_HISTORIES: dict[str, Any] = {
    "needs_target": False,
    "forms": (STRICT,),
    "generalizes": True,
    "loses_rows": True,
    "together": True,
    "loses_on_request": False,
}
AUTO = MethodEntry(
    name="auto",
    module=f"{_ROOM}.automatic",
    factory="Auto",
    summary="a short comparison on your table chooses the method and, unless you say, the form",
    page="choosing_a_method.md",
    forms=RELEASE_FORMS,
    generalizes=True,
    together=True,
    weighs=True,
    limits_levels=True,
)
"""What stands for whatever method is chosen, until it is; no release is made by it."""
METHODS = {
    entry.name: entry
    for entry in (
        MethodEntry(
            name="kactus",
            module=f"{_ROOM}.tree_suppression.kactus",
            factory="KActus",
            summary="suppresses, bottom-up, what a decision tree cannot show to k people at once",
            paper="Kisilevich, Rokach, Elovici, Shapira: Efficient Multi-Dimensional Suppression for K-Anonymity, 2010",
            page="kactus.md",
            numeric=BINNED,
            loses_rows=True,
            weighs=True,
        ),
        MethodEntry(
            name="kactus-plus",
            module=f"{_ROOM}.tree_suppression.kactus_plus",
            factory="KActusPlus",
            summary="kACTUS with value sets, regrown groups and no lost row",
            paper="ours; removes the drawbacks that section 5.9 of the paper on kACTUS names",
            page="kactus.md",
            numeric=BINNED,
            weighs=True,
        ),
        MethodEntry(
            name="tdr",
            module=f"{_ROOM}.top_down_refinement.tdr",
            factory="TDR",
            summary="starts with everything hidden and refines what tells most about the class for the least anonymity",
            paper="Fung, Wang, Yu: Anonymizing Classification Data for Privacy Preservation, 2007",
            page="tdr.md",
            forms=(STRICT,),
            **_GENERALIZING,
            weighs=True,
            limits_levels=True,
        ),
        MethodEntry(
            name="tds",
            module=f"{_ROOM}.top_down_refinement.tdr",
            factory="TDS",
            summary="tdr by hierarchies alone: no value is hidden singly",
            paper="Fung, Wang, Yu: Top-Down Specialization for Information and Privacy Preservation, 2005",
            page="tdr.md",
            forms=(STRICT,),
            **_GENERALIZING,
            weighs=True,
            limits_levels=True,
        ),
        MethodEntry(
            name="iack",
            module=f"{_ROOM}.mutual_information.iac",
            factory="IACk",
            summary="moves every attribute to the level that tells most about the class, then hides rare combinations",
            paper="Li, Liu, Baig, Wong: Information based data anonymization for classification utility, 2011",
            page="iac.md",
            forms=(STRICT,),
            **_GENERALIZING,
            loses_rows=True,
        ),
        MethodEntry(
            name="iacc",
            module=f"{_ROOM}.mutual_information.iac",
            factory="IACc",
            summary="iack, then hides more combinations as long as the class information stays within limits",
            paper="Li, Liu, Baig, Wong: Information based data anonymization for classification utility, 2011",
            page="iac.md",
            forms=(STRICT,),
            **_GENERALIZING,
            loses_rows=True,
        ),
        MethodEntry(
            name="mondrian",
            module=f"{_ROOM}.partitioning.mondrian",
            factory="Mondrian",
            summary="cuts the rows at medians into boxes of at least k; needs no target",
            paper="LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, 2006",
            page="mondrian.md",
            needs_target=False,
            **_GENERALIZING,
            weighs=True,
            limits_levels=True,
        ),
        MethodEntry(
            name="infogain-mondrian",
            module=f"{_ROOM}.partitioning.mondrian",
            factory="InfoGainMondrian",
            summary="cuts the rows into boxes of at least k where the class is told apart best",
            paper="LeFevre, DeWitt, Ramakrishnan: Workload-Aware Anonymization, 2006 and 2008",
            page="mondrian.md",
            **_GENERALIZING,
            weighs=True,
            limits_levels=True,
        ),
        MethodEntry(
            name="blend",
            module=f"{_ROOM}.blending.blend",
            factory="Blend",
            summary="groups rows of about the same class probability and shows the counts of their values",
            paper="ours; groups shown as counts go back to Xiao, Tao: Anatomy, 2006",
            page="blend.md",
            forms=(COUNTS, STRICT, PAIR),
            draws_groups=True,
            loses_on_request=False,
            weighs=True,
        ),
    )
}

LINKED = {
    entry.name: entry
    for entry in (
        MethodEntry(
            name=WHOLE_HISTORIES,
            module=f"{_ROOM}.histories.whole_histories",
            factory="WholeHistories",
            summary="groups persons so that k of them share a whole history, number of rows included",
            paper="ours; groups as InfoGain Mondrian: LeFevre, DeWitt, Ramakrishnan, 2006 and 2008",
            page="persons.md",
            **_OF_HISTORIES,
        ),
        MethodEntry(
            name=KNOWN_ROWS,
            module=f"{_ROOM}.histories.known_rows",
            factory="KnownRows",
            summary="refines what is shown while k persons share any few rows of a person",
            paper="ours; tdr that counts as Terrovitis, Mamoulis, Kalnis: Privacy-preserving Anonymization of "
            "Set-valued Data, 2008",
            page="persons.md",
            **_OF_HISTORIES,
        ),
    )
}
"""The methods of releases in which persons can be followed; which of them it is follows from what is asked for."""


def find_method(method: MethodOrName, *, beside: Sequence[str] = ()) -> MethodEntry:
    """The entry of a method: by its name, here or in another package, or of a method or its class as it is.

    ``beside`` are other words that can be written in its place, for the message.

    Examples
    --------
    >>> from incrowd.methods.partitioning.mondrian import Mondrian
    >>> find_method("mondrian") is find_method(Mondrian()) is find_method(Mondrian)
    True
    """
    if isinstance(method, MethodEntry):
        return method
    if not isinstance(method, str):
        return entry_of(method if isinstance(method, type) else type(method))
    if (own := {**METHODS, **LINKED, AUTO.name: AUTO}.get(method)) is not None:
        return own
    from incrowd.optional import find_plugin, plugins

    if (plugin := find_plugin("methods", method)) is not None:
        return plugin.checked(entry_of)
    known = [*METHODS, AUTO.name, *(plugin.name for plugin in plugins("methods")), *beside]
    close = get_close_matches(method, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"There is no method {method!r}.{hint} Methods: {', '.join(known)}.")


def entry_of(foreign: Any) -> MethodEntry:
    """The entry of a class; one from elsewhere says in its ``traits`` what others must know of it.

    Raises
    ------
    ParameterError
        If it is not the class of a method, or has the name of another one.
    """
    name = getattr(foreign, "name", None)
    called = f"{getattr(foreign, '__module__', '?')}.{getattr(foreign, '__qualname__', '?')}"
    if not (isinstance(foreign, type) and is_dataclass(foreign) and isinstance(name, str) and name):
        raise ParameterError(f"{called} is not a method: a frozen dataclass with a name, parameters() and decide().")
    if missing := [one for one in ("parameters", "decide") if not callable(getattr(foreign, one, None))]:
        raise ParameterError(f"The method {called} has no {missing[0]}().")
    if (own := METHODS.get(name) or LINKED.get(name)) is not None:
        if (own.module, own.factory) == (foreign.__module__, foreign.__qualname__):
            return own
        raise ParameterError(f"{called} has the name of another method, {name!r}. Give it a name of its own.")
    from incrowd.optional import package_of

    traits = getattr(foreign, "traits", MethodTraits())
    if not isinstance(traits, MethodTraits):
        raise ParameterError(f"The traits of {called} are not an incrowd.methods.method.MethodTraits.")
    stated = {field.name: getattr(traits, field.name) for field in fields(MethodTraits)}
    stated["summary"] = traits.summary or (foreign.__doc__ or "").strip().partition("\n")[0]
    stated |= {"module": foreign.__module__, "factory": foreign.__qualname__, "package": package_of(foreign)}
    return MethodEntry(name=name, foreign=foreign, **stated)


def make_method(method: MethodOrName, parameters: Mapping[str, Any]) -> Method:
    """A method with its parameters; unknown parameters are refused. A method that is an object has its own."""
    entry = find_method(method)
    if not isinstance(method, str | type | MethodEntry):
        if parameters:
            raise ParameterError(f"{entry.name} is passed as an object, which has its parameters. Set them there.")
        return method
    known = entry.parameters
    for parameter in parameters:
        if parameter not in known:
            raise ParameterError(f"{entry.name} has no parameter {parameter!r}. It has: {', '.join(known) or 'none'}.")
    instance: Method = entry.load()(**parameters)
    return instance


def check_preferences(method: MethodOrName, preferences: Preferences) -> None:
    """Refuse what the method cannot do; the error names those that can."""
    entry = find_method(method)
    name = entry.name
    if preferences.weights and not entry.weighs:
        raise _unable(name, "weigh attributes", WEIGHTS, [one.name for one in METHODS.values() if one.weighs])
    if preferences.at_most and not entry.limits_levels:
        able = [one.name for one in METHODS.values() if one.limits_levels]
        raise _unable(name, "keep cells below a level of a hierarchy", AT_MOST, able)
    if preferences.apart and not entry.limits_levels:
        able = [one.name for one in METHODS.values() if one.limits_levels]
        raise _unable(name, "keep values apart", APART, able)
    if preferences.lose is not None and not entry.loses_on_request:
        able = [one.name for one in METHODS.values() if one.loses_on_request]
        raise _unable(name, "leave rows out", LOSE, able)


def _unable(name: str, what: str, option: tuple[str, str], able: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"{name} cannot {what}. Leave {option_name(*option)} out, or choose one of {', '.join(able)}."
    )


def target_of(schema: Schema, method: str) -> str:
    """The target that a method looks at.

    Raises
    ------
    SchemaError
        If there is none; it names the methods that need none.
    """
    if schema.target is None:
        others = " or ".join(name for name, entry in METHODS.items() if not entry.needs_target)
        raise SchemaError(
            f"{method} needs a target: the class recipients will learn. Name one with "
            f"{option_name('target=', '--target')}, or choose {others}, which needs none."
        )
    return schema.target
