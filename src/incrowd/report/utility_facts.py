"""What is left of the table in its release, as data; counted from the plan and the verified file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incrowd.measures.utility import Domain, average_group, certainty_penalty, discernibility, loss_metric
from incrowd.plan.release_plan import ReleasePlan
from incrowd.verification.verdict import ClassSizes
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import is_shown


@dataclass(frozen=True)
class AttributeLoss:
    """What is lost of one quasi-identifier: its cells that show nothing, loss metric, normalised certainty penalty."""

    name: str
    hidden: int
    loss: float
    penalty: float


@dataclass(frozen=True)
class Utility:
    """What is left of a table.

    Parameters
    ----------
    attributes
        The loss of each quasi-identifier.
    cells
        All quasi-identifier cells of the table.
    discernibility, average_group
        Of the groups as they were recounted; see :mod:`incrowd.measures.utility`.
    """

    attributes: tuple[AttributeLoss, ...]
    cells: int
    discernibility: int
    average_group: float

    @property
    def hidden(self) -> int:
        """Cells that show nothing, those of rows that are left out included."""
        return sum(one.hidden for one in self.attributes)

    @property
    def penalty(self) -> float:
        """The normalised certainty penalty of the release: the mean over its attributes."""
        return sum(one.penalty for one in self.attributes) / len(self.attributes) if self.attributes else 0.0

    @property
    def loss(self) -> float:
        """The loss metric of the release: the mean over its attributes."""
        return sum(one.loss for one in self.attributes) / len(self.attributes) if self.attributes else 0.0

    def to_json(self) -> dict[str, Any]:
        """The figures, rounded."""
        return {
            "normalised_certainty_penalty": round(self.penalty, 4),
            "loss_metric": round(self.loss, 4),
            "discernibility": self.discernibility,
            "average_group": round(self.average_group, 4),
            "attributes": {
                one.name: {
                    "hidden_cells": one.hidden,
                    "loss_metric": round(one.loss, 4),
                    "normalised_certainty_penalty": round(one.penalty, 4),
                }
                for one in self.attributes
            },
        }


def utility_of(plan: ReleasePlan, columns: Mapping[str, EncodedColumn], sizes: ClassSizes) -> Utility:
    """The losses of a plan for a table, and the figures of the groups that were recounted.

    Parameters
    ----------
    plan
        What each row shows.
    columns
        The encoded columns of the table it was made for.
    sizes
        The groups, recounted from the written file.
    """
    return Utility(
        attributes=tuple(_loss(plan, columns, name) for name in plan.names),
        cells=plan.rows * len(plan.names),
        discernibility=discernibility(sizes.histogram, plan.rows_dropped),
        average_group=average_group(sizes.histogram, plan.requirement.smallest_group),
    )


def _loss(plan: ReleasePlan, columns: Mapping[str, EncodedColumn], name: str) -> AttributeLoss:
    domain = Domain(columns[name], plan.schema[name].hierarchy)
    shown: Counter[Any] = Counter()
    for form, rows in zip(plan.forms(name), plan.rows_showing(name), strict=True):
        shown[form] += rows
    cells = [(domain.covered(form), rows) for form, rows in shown.items()]
    cells.append((domain.size, plan.rows_dropped))
    hidden = plan.rows_dropped + sum(rows for form, rows in shown.items() if not is_shown(form))
    return AttributeLoss(name, hidden, loss_metric(cells, domain.size), certainty_penalty(cells, domain.size))
