"""``--method auto``: what the short comparison is told that chooses the method of a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.errors import ParameterError

MIX = ("c45", "nb", "logistic")
"""Who a release is for if nobody says: a tree, naive Bayes and logistic regression, which lose by different things."""
SECONDS = 120.0


@dataclass(frozen=True)
class Auto:
    """A method that is chosen on the table itself, by what learners learn from releases of a part of it.

    Parameters
    ----------
    learners
        Whom the release is for: names of learners, in Python also any classifier.
    measure
        What releases are compared by: accuracy, balanced-accuracy, auc, log-loss.
    seconds
        After so many no further trial begins.

    Examples
    --------
    >>> Auto(learners="nb").learners
    ('nb',)
    """

    name: ClassVar[str] = "auto"
    learners: Any = MIX
    measure: str = "accuracy"
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        if isinstance(self.learners, str):
            named: Any = tuple(one.strip() for one in self.learners.split(",") if one.strip())
        else:
            named = tuple(self.learners) if isinstance(self.learners, list | tuple) else (self.learners,)
        if not named:
            raise ParameterError("auto: name at least one learner, for instance learners=nb.")
        if isinstance(self.seconds, bool) or not isinstance(self.seconds, int | float) or not self.seconds > 0:
            raise ParameterError("auto: seconds is a number above 0, for instance seconds=60.")
        object.__setattr__(self, "learners", named)
