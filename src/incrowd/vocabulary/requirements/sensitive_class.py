"""What a class that must not be inferred keeps at least."""

from __future__ import annotations

from fractions import Fraction

from incrowd.vocabulary.requirement import KAnonymity, KnownTogether
from incrowd.vocabulary.requirements.t_closeness import TCloseness
from incrowd.vocabulary.requirements.together import Together

DEFAULT = Fraction(3, 10)
"""The t of t-closeness with equal distance: the share of a class in any group differs by at most 30 points."""


def with_class(
    asked: KAnonymity | KnownTogether | Together, target: str | None
) -> KAnonymity | KnownTogether | Together:
    """The requirement for a table whose class is sensitive.

    If it says nothing about the class, t-closeness of the class is required as well. Every table can keep it, whatever
    its classes: l-diversity of a rare class can be impossible, and what is impossible is no default.

    Examples
    --------
    >>> str(with_class(KAnonymity(5), "ill"))
    '5-anonymity; 0.3-closeness of ill (equal distance)'
    """
    parts = asked.parts if isinstance(asked, Together) else (asked,)
    if isinstance(asked, Together) and any(part.on in (None, target) for part in asked.on_columns):
        return asked
    return Together((*parts, TCloseness(DEFAULT, target, "equal")))
