"""Linkage by unchanged columns: who is alone with them is found, whatever the quasi-identifiers hide.

What: the attacker knows a person's values in columns that nobody called quasi-identifiers, and looks for the one
released row that has them. Paper: Sweeney: k-Anonymity, 2002, of columns that were not named; Narayanan, Shmatikov:
Robust De-anonymization of Large Sparse Datasets, 2008. Measured: the share of people whose combination of unchanged
columns, without the class, nobody else has. Control: the unchanged columns dealt anew among the rows; a row is then
found as often, and is the person's own by chance, once in as many times as there are rows. Leak: anybody is found.
"""

from __future__ import annotations

from incrowd.attacks.attack import LEAK, NO_LEAK, CannotRunError, Finding
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import Scene
from incrowd.attacks.unchanged import unchanged_columns
from incrowd.report.unchanged_facts import listed
from incrowd.verification.alone import count_alone


class UnchangedLinkage:
    """Looks for the one row that has a person's unchanged values."""

    name = "linkage by unchanged columns"
    asks = "Looks for the one released row that has what it knows of a person in columns that are released unchanged."
    needs = "columns beside the class that are released unchanged"

    def run(self, scene: Scene) -> Finding:
        """Count who is alone."""
        columns = [one for one in unchanged_columns(scene.released, scene) if one.role != "target"]
        if not columns:
            raise CannotRunError("No column but the class is released unchanged.")
        rows = len(scene.released.classes)
        alone = count_alone(columns, rows)
        share = alone.without_class / rows
        telling = (
            "" if alone.telling is None else f", {alone.telling.people:,} of them by {listed(alone.telling.columns)}"
        )
        return Finding(
            self.name,
            LEAK if alone.without_class else NO_LEAK,
            f"{alone.without_class:,} of {rows:,} people are alone with their unchanged columns{telling}.",
            share,
            share / rows,
            share_interval(alone.without_class, rows),
            0.0,
            "share of people",
            {"alone by columns not called sensitive": float(alone.not_called_private)},
        )
