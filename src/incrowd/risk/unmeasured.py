"""What was not measured, and why: never a number, never "low risk"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NotMeasured:
    """A measure that could not be taken.

    Examples
    --------
    >>> print(NotMeasured("the size of the population is not known"))
    not estimated: the size of the population is not known
    """

    reason: str

    def __str__(self) -> str:
        return f"not estimated: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """As data."""
        return {"not_estimated": self.reason}
