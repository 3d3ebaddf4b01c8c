"""In which ways the methods of the catalog take numbers and make groups, by their entries."""

from __future__ import annotations

from typing import Any

from incrowd.methods.blending.blend import CLUSTERS
from incrowd.methods.catalog import METHODS


def ways_of(name: str) -> list[dict[str, Any]]:
    """The parameters with which a method treats numbers or makes groups in another way, one after the other."""
    entry = METHODS[name]
    clusters = [{"groups": CLUSTERS}] if "groups" in entry.parameters else []
    rare = [{"on_rare": "generalize"}] if "on_rare" in entry.parameters else []
    return [*({"numeric": numeric} for numeric in entry.numeric), *clusters, *rare] or [{}]
