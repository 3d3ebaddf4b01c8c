"""The one list of attacks. The command line, the report and the tests find them here.

To add an attack: write its function in this folder and enter it in ``catalog.toml``. Those of other packages are run
where they are named: by their entry points (:mod:`incrowd.optional`), or as an :class:`Attack` that is passed.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import CannotRunError, ParameterError
from incrowd.optional import find_plugin, package_of, plugins

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
        return OWN if isinstance(self.home, str) else package_of(self.home)

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

        try:
            finding: Any = function(scene)
        except CannotRunError:
            return Finding(NOT_RUN, f"It needs {self.needs}.")
        except Exception as error:  # whatever it is, other attacks go on
            return Finding(NOT_RUN, f"It raised {type(error).__name__}.")
        if not isinstance(finding, Finding):
            return Finding(NOT_RUN, "It gave no finding.")
        return Finding(NOT_RUN, f"It needs {self.needs}.") if finding.verdict == NOT_RUN else finding


_FACTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ATTACKS = {name: Attack(name, **facts) for name, facts in _FACTS.items()}


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
