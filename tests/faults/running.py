"""A release with a fault planted: refused, and how, or published."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from faults.people import Case, at
from faults.planting import Fault, planted
from incrowd.api import release
from incrowd.errors import IncrowdError


@dataclass(frozen=True)
class Outcome:
    """What became of a release: the error it was refused with, what lies in its folder, how often the fault was met."""

    error: IncrowdError | None
    left: tuple[str, ...]
    met: int

    @property
    def refused(self) -> bool:
        """Whether nothing was published, on purpose."""
        return self.error is not None and self.error.exit_status in (1, 2) and not self.left


def attempt(case: Case, folder: Path, fault: Fault | None = None) -> Outcome:
    """Run the release of a case in an empty folder."""
    request = case.request(folder)
    before = set(folder.iterdir())
    error = None
    with at(case.engine), planted(fault, case.engine) if fault else nullcontext([1]) as met:
        try:
            release(request.pop("table"), **request)
        except IncrowdError as refused:
            error = refused
    left = sorted(path.name for path in set(folder.iterdir()) - before)
    return Outcome(error, tuple(left), len(met))
