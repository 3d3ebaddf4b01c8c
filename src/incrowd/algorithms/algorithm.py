"""What every release algorithm is."""

from __future__ import annotations

from typing import Any, Protocol

from incrowd.algorithms.population import Population
from incrowd.plan.steps import Step
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import Requirement


class Algorithm(Protocol):
    """Decides what happens to which rows so that the requirement holds.

    An algorithm is a frozen dataclass whose fields are its parameters. ``name`` is its name in the catalog.
    """

    @property
    def name(self) -> str:
        """The name in the catalog."""
        ...

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data, for the plan and the certificate."""
        ...

    def decide(self, population: Population, requirement: Requirement, randomness: Randomness) -> tuple[Step, ...]:
        """The steps of the release."""
        ...
