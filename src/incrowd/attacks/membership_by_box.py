"""Membership by box: who lies in no box of the release is not in the table; who lies in one, rather is.

What: the attacker looks whether a person's quasi-identifiers fit some class. Paper: the presence attack of Nergiz,
Atzori, Clifton: Hiding the Presence of Individuals, SIGMOD 2007, measured as a membership test (Shokri, Stronati, Song,
Shmatikov, S&P 2017). Measured: the share of members who lie in some box, minus that of control rows. Control: rows
that are not in the release. Leak: the lower end of the interval is above 0.005, half a point.
"""

from __future__ import annotations

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.measuring import difference_interval
from incrowd.attacks.scene import Scene

GOAL = 0.005  # half a point


class MembershipByBox:
    """Looks whether a person fits into any class."""

    name = "membership by box"
    asks = "Looks whether a person fits into any class of the release, to tell whether the person is in the table."
    needs = "control rows, or how the release was made"

    def run(self, scene: Scene) -> Finding:
        """Compare members with the control."""
        split = scene.split
        boxes = split.released.boxes
        members, others = int(boxes.inside(split.members).sum()), int(boxes.inside(split.others).sum())
        rates = members / split.members.height, others / split.others.height
        interval = difference_interval((members, split.members.height), (others, split.others.height))
        return Finding(
            self.name,
            LEAK if interval[0] > GOAL else NO_LEAK,
            f"{100 * rates[0]:.1f} % of members and {100 * rates[1]:.1f} % of control rows lie in a box. "
            f"Measured on {split.how}.",
            measured=rates[0] - rates[1],
            control=0.0,
            interval=interval,
            goal=GOAL,
            unit="difference of shares",
            details={"members in a box": rates[0], "control in a box": rates[1]},
        )
