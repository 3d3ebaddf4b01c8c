"""The outer loop of the generalizing forms: show the confidential cell as coarsely as it takes."""

from __future__ import annotations

from collections.abc import Callable

from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status


def level_by_level(secret: Secret, attempt: Callable[[Secret], Status]) -> Status:
    """Try to hide the cell with its true value shown one, two, … levels up; each round starts afresh.

    It starts at the level an earlier run has reached. A level with a single candidate leaves nothing in doubt and is
    passed over. An attempt answers ``DELETED`` if it fails; what it changed is then taken back, and the row is left as
    it was, the confidential cell blank.
    """
    for level in range(max(1, secret.reached), secret.taxonomy.depth(secret.actual) + 1):
        mark = secret.mark()
        secret.raise_to(level)
        if len(secret.candidates) > 1:
            ended = attempt(secret)
            if ended.success:
                secret.reached = level
                return ended
        secret.back(mark)
    return Status.DELETED
