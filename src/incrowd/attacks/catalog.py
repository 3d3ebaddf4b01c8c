"""The one list of attacks. The command line, the report and the tests find them here.

To add an attack: write its file in this folder and enter it below.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from incrowd.attacks.attack import Attack
from incrowd.errors import ParameterError

_ROOM = "incrowd.attacks"


@dataclass(frozen=True)
class AttackEntry:
    """One attack: its name, and where it lives."""

    name: str
    module: str
    factory: str

    def load(self) -> Attack:
        """The attack."""
        factory: Any = getattr(importlib.import_module(f"{_ROOM}.{self.module}"), self.factory)
        attack: Attack = factory()
        return attack


ATTACKS = {
    entry.name: entry
    for entry in (
        AttackEntry("homogeneity", "homogeneity", "Homogeneity"),
        AttackEntry("background knowledge", "background_knowledge", "BackgroundKnowledge"),
        AttackEntry("skewness", "skewness", "Skewness"),
        AttackEntry("singling out", "singling_out", "SinglingOut"),
        AttackEntry("membership by box", "membership_by_box", "MembershipByBox"),
        AttackEntry("attribute inference", "attribute_inference", "AttributeInference"),
        AttackEntry("model membership", "model_membership", "ModelMembership"),
        AttackEntry("mean of a group", "group_mean", "GroupMean"),
        AttackEntry("composition", "composition", "Composition"),
        AttackEntry("sequential releases", "composition", "Sequential"),
        AttackEntry("minimality", "minimality", "Minimality"),
        AttackEntry("deFinetti", "definetti", "DeFinetti"),
        AttackEntry("seed re-run", "row_order", "SeedRerun"),
        AttackEntry("tree reconstruction", "tree_reconstruction", "TreeReconstruction"),
        AttackEntry("suppression pattern", "suppression_pattern", "SuppressionPattern"),
        AttackEntry("row order", "row_order", "RowOrder"),
        AttackEntry("give-back", "unchanged", "GiveBackAttack"),
        AttackEntry("linkage by unchanged columns", "unchanged", "UnchangedLinkage"),
    )
}


def find_attacks(names: Iterable[str] | None = None) -> tuple[Attack, ...]:
    """The attacks of these names, all if none are given; a name may be written with hyphens and in any case."""
    if names is None:
        return tuple(entry.load() for entry in ATTACKS.values())
    return tuple(entry.load() for entry in dict.fromkeys(map(_find, names)))


def _find(name: str) -> AttackEntry:
    known = {_simple(each): entry for each, entry in ATTACKS.items()}
    if _simple(name) in known:
        return known[_simple(name)]
    close = get_close_matches(_simple(name), known, n=1, cutoff=0.7)
    hint = f" Did you mean {known[close[0]].name!r}?" if close else ""
    raise ParameterError(f"There is no attack {name!r}.{hint} incrowd attack --list names them all.")


def _simple(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ").strip()
