"""NRD, naive row deletion: blank every cell of the row. What all others are measured against."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status


@dataclass(frozen=True)
class Nrd:
    """Blank the row; it stays in the table, so that row numbers line up."""

    name = "nrd"

    def hide(self, secret: Secret) -> Status:
        """Blank every cell of the row."""
        secret.delete_row()
        return Status.DELETED
