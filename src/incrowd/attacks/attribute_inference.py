"""Attribute inference: is a person's sensitive value guessed better because the person is in the table?

What: the attacker trains a forest on the release and guesses the sensitive value of people he knows. Paper: Giomi,
Boenisch, Wehmeyer, Tasnadi: A Unified Framework for Quantifying Privacy Risk in Synthetic Data (Anonymeter), PoPETs
2023, and its correction by a control group. Measured: (members - control) / (1 - control), of the shares guessed right,
of the worst sensitive column: what is learned from science at large, and would be guessed of anybody, is taken off.
Control: rows that are not in the release. Leak: the lower end of the interval is above 0.08; above 0.03, if l-diversity
or t-closeness was promised.
"""

from __future__ import annotations

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.guessing import guess_from_original, guess_from_release
from incrowd.attacks.measuring import Interval, difference_interval
from incrowd.attacks.scene import Scene

GOAL, STRICTER = 0.08, 0.03


class AttributeInference:
    """Learns the sensitive value from the release."""

    name = "attribute inference"
    asks = "Learns from the release to guess sensitive values, and is right about its people more often than others."
    needs = "a sensitive column; control rows, or how the release was made"

    def run(self, scene: Scene) -> Finding:
        """Guess, of members and of the control."""
        split, promised = scene.split, scene.promised
        by_column = {}
        for column in scene.secrets:
            members, others = guess_from_release(split, column, scene.seed)
            by_column[column] = (*advantage(members.count, others.count), members.count, others.count)
        worst = max(by_column, key=lambda column: by_column[column][0])
        measured, interval, ours, theirs = by_column[worst]
        raw = advantage(*(one.count for one in guess_from_original(split, worst, scene.seed)))[0]
        goal = STRICTER if worst in {**promised.diversity, **promised.closeness} else GOAL
        return Finding(
            self.name,
            LEAK if interval[0] > goal else NO_LEAK,
            f"{worst!r} is guessed right for {100 * ours[0] / ours[1]:.1f} % of members and "
            f"{100 * theirs[0] / theirs[1]:.1f} % of control rows. Measured on {split.how}.",
            measured=measured,
            control=0.0,
            interval=interval,
            goal=goal,
            unit="advantage",
            details={
                "members guessed right": ours[0] / ours[1],
                "control guessed right": theirs[0] / theirs[1],
                "advantage without protection": raw,
                **{f"advantage for {column}": one[0] for column, one in by_column.items()},
            },
        )


def advantage(members: tuple[int, int], others: tuple[int, int]) -> tuple[float, Interval]:
    """(members - control) / (1 - control), with its interval."""
    control = others[0] / others[1]
    room = max(1 - control, 1e-9)
    low, high = difference_interval(members, others)
    return (members[0] / members[1] - control) / room, (max(-1.0, low / room), min(1.0, high / room))
