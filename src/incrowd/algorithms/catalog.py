"""The one list of methods. The command line, the API, the tests and the documentation find them here.

To add a method: write its file in the folder of its family and enter it below.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from incrowd.algorithms.method import Method
from incrowd.errors import ParameterError


@dataclass(frozen=True)
class Entry:
    """One method: where it lives, what it does, where it was published.

    ``loses_rows``: it may leave out up to k - 1 rows. ``generalizes``: it shows values as groups of values, by
    hierarchies where there are some; a model made from such a release sees new rows through the plan. ``together``: it
    looks at all rows at once, so a table that fits into memory is not worked on in blocks. ``counts``: in its own form
    groups are released as counts of their values.
    """

    name: str
    module: str
    factory: str
    summary: str
    paper: str
    loses_rows: bool = False
    generalizes: bool = False
    together: bool = False
    counts: bool = False

    def load(self) -> type[Any]:
        """The class of the method."""
        loaded: type[Any] = getattr(importlib.import_module(self.module), self.factory)
        return loaded


_ROOM = "incrowd.algorithms"
METHODS = {
    entry.name: entry
    for entry in (
        Entry(
            "kactus",
            f"{_ROOM}.tree_suppression.kactus",
            "KActus",
            "suppresses, bottom-up, what a decision tree cannot show to k people at once",
            "Kisilevich, Rokach, Elovici, Shapira: Efficient Multi-Dimensional Suppression for K-Anonymity, 2010",
            loses_rows=True,
        ),
        Entry(
            "kactus-plus",
            f"{_ROOM}.tree_suppression.kactus_plus",
            "KActusPlus",
            "kACTUS with value sets, regrown groups and no lost row",
            "improves on the above where its section 5.9 names drawbacks",
        ),
        Entry(
            "tdr",
            f"{_ROOM}.top_down_refinement.tdr",
            "TDR",
            "starts with everything hidden and refines what tells most about the class for the least anonymity",
            "Fung, Wang, Yu: Anonymizing Classification Data for Privacy Preservation, 2007",
            generalizes=True,
        ),
        Entry(
            "tds",
            f"{_ROOM}.top_down_refinement.tds",
            "TDS",
            "tdr by hierarchies alone: no value is hidden singly",
            "Fung, Wang, Yu: Top-Down Specialization for Information and Privacy Preservation, 2005",
            generalizes=True,
        ),
        Entry(
            "iack",
            f"{_ROOM}.mutual_information.iack",
            "IACk",
            "moves every attribute to the level that tells most about the class, then hides rare combinations",
            "Li, Liu, Baig, Wong: Information based data anonymization for classification utility, 2011",
            loses_rows=True,
            generalizes=True,
        ),
        Entry(
            "iacc",
            f"{_ROOM}.mutual_information.iacc",
            "IACc",
            "iack, then hides more combinations as long as the class information stays within limits",
            "as above",
            loses_rows=True,
            generalizes=True,
        ),
        Entry(
            "mondrian",
            f"{_ROOM}.partitioning.mondrian",
            "Mondrian",
            "cuts the rows at medians into boxes of at least k; needs no target",
            "LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, 2006",
            generalizes=True,
        ),
        Entry(
            "infogain-mondrian",
            f"{_ROOM}.partitioning.infogain_mondrian",
            "InfoGainMondrian",
            "cuts the rows into boxes of at least k where the class is told apart best",
            "LeFevre, DeWitt, Ramakrishnan: Workload-Aware Anonymization, 2006 and 2008",
            generalizes=True,
        ),
        Entry(
            "blend",
            f"{_ROOM}.blending.blend",
            "Blend",
            "groups rows of about the same class probability and shows the counts of their values",
            "ours; groups shown as counts go back to Xiao, Tao: Anatomy, 2006",
            together=True,
            counts=True,
        ),
    )
}


def find_method(name: str) -> Entry:
    """The entry of a method.

    Examples
    --------
    >>> find_method("kactus").factory
    'KActus'
    >>> find_method("kaktus")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    incrowd.errors.ParameterError: There is no method 'kaktus'. Did you mean 'kactus'? Methods: kactus, ...
    """
    if name in METHODS:
        return METHODS[name]
    close = get_close_matches(name, METHODS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"There is no method {name!r}.{hint} Methods: {', '.join(METHODS)}.")


def make_method(name: str, parameters: dict[str, Any]) -> Method:
    """A method with its parameters; unknown parameters are refused."""
    factory = find_method(name).load()
    known = [field.name for field in fields(factory)]
    for parameter in parameters:
        if parameter not in known:
            raise ParameterError(f"{name} has no parameter {parameter!r}. It has: {', '.join(known)}.")
    made: Method = factory(**parameters)
    return made
