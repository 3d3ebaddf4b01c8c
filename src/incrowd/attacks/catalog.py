"""The one list of attacks. The command line, the report and the tests find them here.

To add an attack: write its function in this folder and enter it below. Those of other packages are run where they are
named: by their entry points (:mod:`incrowd.optional`), or as an :class:`Attack` that is passed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.attacks.attack import Finding
    from incrowd.attacks.scene import Scene

_ROOM = "incrowd.attacks"
OWN = "incrowd"


@dataclass(frozen=True)
class Attack:
    """Somebody who has the release and wants to know more than it shall tell."""

    name: str
    home: str | Callable[[Scene], Finding]  # its file and function; the function itself, of one from elsewhere
    asks: str  # what the attacker does, in one sentence
    needs: str  # what must be on the table for it to run

    @property
    def package(self) -> str:
        """Who made it."""
        if isinstance(self.home, str):
            return OWN
        from incrowd.optional import package_of

        return package_of(self.home)

    def run(self, scene: Scene) -> Finding:
        """Attack; raises :class:`incrowd.errors.CannotRunError` where something is not on the table.

        Why one from elsewhere does not run is told by what it needs: its own words may quote a cell.
        """
        if not isinstance(self.home, str):
            return replace(self._run_foreign(self.home, scene), attack=self.name)
        module, _, function = self.home.partition(".")
        finding: Finding = getattr(importlib.import_module(f"{_ROOM}.{module}"), function)(scene)
        return replace(finding, attack=self.name)

    def _run_foreign(self, function: Callable[[Scene], Finding], scene: Scene) -> Finding:
        from incrowd.attacks.attack import NOT_RUN, Finding
        from incrowd.errors import CannotRunError

        try:
            finding: Any = function(scene)
        except CannotRunError:
            return Finding(NOT_RUN, f"It needs {self.needs}.")
        except Exception as error:  # whatever it is, other attacks go on
            return Finding(NOT_RUN, f"It raised {type(error).__name__}.")
        if not isinstance(finding, Finding):
            return Finding(NOT_RUN, "It gave no finding.")
        return Finding(NOT_RUN, f"It needs {self.needs}.") if finding.verdict == NOT_RUN else finding


_PERSONS = "a column that says whose row it is;"
ATTACKS = {
    entry.name: entry
    for entry in (
        Attack(
            "homogeneity",
            "class_values.homogeneity",
            "Finds a person's class and reads the only sensitive value it has.",
            "a sensitive column",
        ),
        Attack(
            "background knowledge",
            "class_values.background_knowledge",
            "Excludes sensitive values a person cannot have until one of the person's class is left.",
            "a sensitive column",
        ),
        Attack(
            "skewness",
            "class_values.skewness",
            "Takes the shares of sensitive values in a person's class for the person's chances.",
            "a sensitive column",
        ),
        Attack(
            "singling out",
            "numbers.singling_out",
            "Says 'in the box of this class and at the edge of its interval', and hopes that one person fits.",
            "quasi-identifiers that are numbers, released as intervals",
        ),
        Attack(
            "membership by box",
            "membership.membership_by_box",
            "Looks whether a person fits into any class of the release, to tell whether the person is in the table.",
            "control rows, or how the release was made",
        ),
        Attack(
            "attribute inference",
            "membership.attribute_inference",
            "Learns from the release to guess sensitive values, and is right about its people more often than others.",
            "a sensitive column; control rows, or how the release was made",
        ),
        Attack(
            "model membership",
            "membership.model_membership",
            "Takes people of whom a model trained on the release is sure for members.",
            "a target or sensitive column; control rows, or how the release was made",
        ),
        Attack(
            "shadow likelihood",
            "membership.shadow_likelihood",
            "Asks whether a person is likelier by the release than by one of other people from the same source.",
            "how the release was made; control rows, or a table that can be cut in three",
        ),
        Attack(
            "mean of a group",
            "numbers.mean_of_a_group",
            "Knows the numbers of all other members of a class and solves its mean for the last one.",
            "a release that shows means; how it was made",
        ),
        Attack(
            "composition",
            "two_releases.composition",
            "Finds a person's class in two releases and keeps the sensitive values that occur in both.",
            "a sensitive column; how the release was made",
        ),
        Attack(
            "sequential releases",
            "two_releases.sequential_releases",
            "Crosses a person's classes in an earlier and a later release, and looks how few people are in both.",
            "earlier releases, or how the release was made",
        ),
        Attack(
            "differencing",
            "two_releases.differencing",
            "Compares the release of a table with one made after a person left, and reads off who that was.",
            "how the release was made",
        ),
        Attack(
            "minimality",
            "minimality.minimality",
            "Lists all small tables that the program would have released the same way, and looks for the only one.",
            "how the release was made",
        ),
        Attack(
            "deFinetti",
            "class_values.de_finetti",
            "Learns from all classes who tends to have which value, and deals the values of a class accordingly.",
            "a sensitive column",
        ),
        Attack(
            "seed re-run",
            "traces.seed_rerun",
            "Shuffles and releases again with the seeds that people use, and looks whether the release comes out.",
            "nothing more than the release and the original; how it was made, to release again",
        ),
        Attack(
            "tree reconstruction",
            "minimality.tree_reconstruction",
            "Subtracts the counts of a published tree from each other until small groups are left.",
            "a published model, supplied with the release",
        ),
        Attack(
            "decoded rows",
            "dealt_rows.decoded_rows",
            "Decodes the release into plain rows, and takes them for those of real people.",
            "people whom nobody else is like; control rows, or how the release was made",
        ),
        Attack(
            "reconstruction from counts",
            "dealt_rows.reconstruction_from_counts",
            "Solves the counts of a class for the rows that every table with these counts has.",
            "a release that shows counts",
        ),
        Attack(
            "suppression pattern",
            "traces.suppression_pattern",
            "Withholds cells again for each value the confidential one may have, and compares the patterns.",
            "the confidential cells, and the method that hid them",
        ),
        Attack(
            "row order",
            "traces.row_order",
            "Looks at the place of the release where a person stands in the original.",
            "nothing more than the release and the original",
        ),
        Attack(
            "give-back",
            "unchanged.give_back",
            "Fills in hidden cells from columns that are released unchanged.",
            "hidden cells, columns that are released unchanged, and the original row of each released row",
        ),
        Attack(
            "linkage by unchanged columns",
            "unchanged.unchanged_linkage",
            "Looks for the one released row that has what it knows of a person in columns that are released unchanged.",
            "columns beside the class that are released unchanged",
        ),
        Attack(
            "link by static columns",
            "persons.link_by_static",
            "Takes rows for one person's that are equal in unchanged columns which do not change within persons.",
            f"{_PERSONS} unchanged columns that do not change within persons",
        ),
        Attack(
            "intersection",
            "persons.intersection",
            "Finds the classes of several rows of a person and keeps the sensitive values that occur in all of them.",
            f"{_PERSONS} a sensitive column that does not change within persons",
        ),
        Attack(
            "heavy person",
            "persons.heavy_person",
            "Takes the value that most rows of a class have for that of the person with most of its rows.",
            f"{_PERSONS} a sensitive column",
        ),
        Attack(
            "number of rows",
            "persons.number_of_rows",
            "Knows how many rows a person has, and looks for the pseudonyms with as many.",
            f"{_PERSONS} pseudonyms that link a person's rows",
        ),
        Attack(
            "one more row",
            "persons.one_more_row",
            "Knows one row of a person more than the release was made for.",
            f"{_PERSONS} a release for attackers who know at most so many rows",
        ),
        Attack(
            "pseudonym order",
            "persons.pseudonym_order",
            "Sorts the pseudonyms and looks whether that is the order of the keys, or of the table.",
            f"{_PERSONS} pseudonyms, and which is whose",
        ),
    )
}


def find_attacks(names: Iterable[str | Attack] | None = None) -> tuple[Attack, ...]:
    """The attacks of these names, all of ours if none are named; a name may be written with hyphens and in any case."""
    if names is None:
        return tuple(ATTACKS.values())
    return tuple(dict.fromkeys(map(_find, names)))


def _find(named: str | Attack) -> Attack:
    if not isinstance(named, str):
        return attack_of(named)
    known = {_simple(each): entry for each, entry in ATTACKS.items()}
    if _simple(named) in known:
        return known[_simple(named)]
    from incrowd.optional import find_plugin, plugins

    word = next((plugin.name for plugin in plugins("attacks") if _simple(plugin.name) == _simple(named)), named)
    if (plugin := find_plugin("attacks", word)) is not None:
        return plugin.checked(attack_of)
    close = get_close_matches(_simple(named), known, n=1, cutoff=0.7)
    hint = f" Did you mean {known[close[0]].name!r}?" if close else ""
    raise ParameterError(f"There is no attack {named!r}.{hint} incrowd attack --list names them all.")


def attack_of(foreign: Any) -> Attack:
    """An attack from elsewhere, once it has been looked at; ours as they are."""
    if not isinstance(foreign, Attack):
        raise ParameterError("An attack is the name of one, or an incrowd.attacks.catalog.Attack.")
    if foreign is ATTACKS.get(foreign.name):
        return foreign
    if _simple(foreign.name) in map(_simple, ATTACKS) or not callable(foreign.home):
        raise ParameterError(f"The attack {foreign.name!r} has the name of one of ours, or no function to call.")
    return foreign


def _simple(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ").strip()
