"""Hybrids: HID3 and a hider against naive Bayes in turn, until both adversaries fail.

The thesis runs one after the other once. That is not enough: what the second one hides can bring the first adversary
back. So they take turns; each turn hides more cells, so it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status


class Hider(Protocol):
    """Hides one blanked cell."""

    @property
    def name(self) -> str:
        """Its name in the list of methods."""
        ...

    def hide(self, secret: Secret) -> Status:
        """Change cells until the adversary fails; if that is impossible, delete the row."""
        ...


@dataclass(frozen=True)
class Hybrid:
    """Two hiders in turn; generalizing ones never lower the level the confidential cell has reached."""

    first: Hider
    second: Hider

    @property
    def name(self) -> str:
        """Both names, joined."""
        return f"{self.first.name}+{self.second.name}"

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from both adversaries."""
        start, ended = secret.mark(), Status.NOT_PREDICTED
        while True:
            turns = [self.first.hide(secret)]
            before = secret.shown(secret.attribute)
            turns.append(self.second.hide(secret))
            if any(turn is not Status.NOT_PREDICTED for turn in turns):
                ended = _together(secret, turns, start)
                if ended is not Status.HIDDEN:
                    return ended
            elif secret.shown(secret.attribute) == before:  # a raised level may bring the other adversary back
                return ended


def _together(secret: Secret, turns: list[Status], start: tuple[int, int]) -> Status:
    """How a round ended: as its worst turn did. Where the row has to go, nothing else is left changed."""
    if Status.DELETED in turns:
        secret.back(start)
        secret.delete_row()
        return Status.DELETED
    return Status.COIN if Status.COIN in turns else Status.HIDDEN
