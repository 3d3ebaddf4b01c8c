"""Model membership: does a model that learned from the release know who was in it?

What: the attacker has a model trained on the release and takes people it is sure of for members. Paper: Yeom,
Giacomelli, Fredrikson, Jha: Privacy Risk in Machine Learning, CSF 2018; Carlini and others: Membership Inference
Attacks From First Principles, S&P 2022 (the hit rate at few false alarms). Measured: the area under the ROC curve (AUC)
of the chance a forest gives a person's true class; in the details the share of members found at 0.1 % false alarms.
Control: rows that are not in the release; an AUC of 0.5 is chance. Leak: the lower end of the interval is above 0.51.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.guessing import Guesses, guess_from_original, guess_from_release
from incrowd.attacks.measuring import area, area_interval
from incrowd.attacks.scene import Scene

GOAL, FALSE_ALARMS = 0.51, 0.001


class ModelMembership:
    """Takes people a model is sure of for members."""

    name = "model membership"
    asks = "Takes people of whom a model trained on the release is sure for members."
    needs = "a target or sensitive column; control rows, or how the release was made"

    def run(self, scene: Scene) -> Finding:
        """Rank members and the control by how sure the model is."""
        split, column = scene.split, scene.guessed
        members, others = guess_from_release(split, column, scene.seed)
        measured = area(members.chances, others.chances)
        interval = area_interval(measured, len(members.chances), len(others.chances))
        raw = area(*(one.chances for one in guess_from_original(split, column, scene.seed)))
        return Finding(
            self.name,
            LEAK if interval[0] > GOAL else NO_LEAK,
            f"A forest on {column!r}, asked about members and control rows. Measured on {split.how}.",
            measured=measured,
            control=0.5,
            interval=interval,
            goal=GOAL,
            unit="AUC",
            details={"AUC without protection": raw, "hits at 0.1 % false alarms": hits(members, others)},
        )


def hits(members: Guesses, others: Guesses, alarms: float = FALSE_ALARMS) -> float:
    """Share of members above a limit that at most that share of the others reaches."""
    ordered = np.sort(others.chances)[::-1]
    limit = ordered[min(int(alarms * len(ordered)), len(ordered) - 1)]
    return float(np.mean(members.chances > limit))
