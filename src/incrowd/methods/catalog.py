"""The one list of methods. The command line, the API, the estimators, the tests and the documentation find them here.

To add a method: write its file in the folder of its family and enter it below. Nothing else asks for it by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from incrowd.errors import ParameterError, SchemaError, option_name
from incrowd.methods.method import BINNED, INTERVALS, Method
from incrowd.vocabulary.forms import COUNTS, PAIR, RELEASE_FORMS, STRICT
from incrowd.vocabulary.preferences import APART, AT_MOST, LOSE, WEIGHTS, Preferences

if TYPE_CHECKING:
    from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True, kw_only=True)
class MethodEntry:
    """One method: where it lives, what it does, where it was published, and what others must know of it."""

    name: str  # what users call it
    # module, factory: Where its class is, and the name of the class; its scikit-learn estimator has the same name
    module: str
    factory: str
    # summary, paper, page: What it does, where it was published, and its page in ``docs``
    summary: str
    paper: str
    page: str
    needs_target: bool = True  # whether it looks at a class
    # The forms its groups can be released in (see :mod:`incrowd.vocabulary.forms`), its own first. A method that
    # shows value by value has no groups, and only the strict form.
    forms: tuple[str, ...] = RELEASE_FORMS
    # The values of its parameter ``numeric``: how numbers are released. Empty if it has no such parameter.
    numeric: tuple[str, ...] = ()
    # Whether it shows values as groups of values, by hierarchies where there are some; a model made from such a
    # release sees new rows through the plan
    generalizes: bool = False
    loses_rows: bool = False  # whether it may leave out up to k - 1 rows
    # Whether it looks at all rows at once; then a table that fits into memory is not worked on in blocks
    together: bool = False
    draws_groups: bool = False  # whether chance has a part in which groups there are, not only in which rows they get
    weighs: bool = False  # whether weights of attributes change what it splits next
    limits_levels: bool = False  # whether a most allowed level of a hierarchy can be set, and values kept apart
    loses_on_request: bool = True  # whether small groups can be left out, up to a limit that the user sets

    @property
    def counts(self) -> bool:
        """Whether groups are released as counts of their values in its own form."""
        return self.forms[0] == COUNTS

    @property
    def by_value(self) -> bool:
        """Whether it decides what each value shows, the same in every row, and not on groups of rows."""
        return COUNTS not in self.forms

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters and their defaults."""
        return {field.name: field.default for field in fields(self.load())}

    def load(self) -> type[Any]:
        """The class of the method."""
        loaded: type[Any] = getattr(importlib.import_module(self.module), self.factory)
        return loaded


_ROOM = "incrowd.methods"
_GENERALIZING: dict[str, Any] = {"numeric": INTERVALS, "generalizes": True}
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
            together=True,
            draws_groups=True,
            loses_on_request=False,
            weighs=True,
        ),
    )
}


def find_method(name: str) -> MethodEntry:
    """The entry of a method."""
    if name in METHODS:
        return METHODS[name]
    close = get_close_matches(name, METHODS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"There is no method {name!r}.{hint} Methods: {', '.join(METHODS)}.")


def make_method(name: str, parameters: dict[str, Any]) -> Method:
    """A method with its parameters; unknown parameters are refused."""
    entry = find_method(name)
    known = entry.parameters
    for parameter in parameters:
        if parameter not in known:
            raise ParameterError(f"{name} has no parameter {parameter!r}. It has: {', '.join(known) or 'none'}.")
    method: Method = entry.load()(**parameters)
    return method


def check_preferences(name: str, preferences: Preferences) -> None:
    """Refuse what the method cannot do; the error names those that can."""
    entry = find_method(name)
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
