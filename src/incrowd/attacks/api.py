"""The lab as one function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from incrowd.attacks.opening import Given, open_scene
from incrowd.attacks.run import AttackReport, attack_scene
from incrowd.errors import guarded


@guarded
def attack_release(
    release: Any,
    original: Any,
    *,
    only: Iterable[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **given: Any,
) -> AttackReport:
    """Attack a release as somebody would who knows more than its owner likes, and say how far that goes.

    Parameters
    ----------
    release, original
        Paths or frames, or what ``incrowd.release`` gave back.
    only
        Names of attacks; all if not given.
    progress
        Called with the name of each attack as it begins.
    **given
        What else is on the table, see :class:`incrowd.attacks.opening.Given`: control, plan, certificate,
        quasi_identifiers, target, sensitive, requirement, method, parameters, hierarchies, population, earlier, model,
        cells, hider, reading, seed.

    Returns
    -------
    AttackReport
        A finding for each attack: ``leak``, ``no leak found``, or ``not run`` with the reason.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 41] * 20, "ill": ["no", "yes"] * 20})
    >>> found = attack_release(people, people, quasi_identifiers=["age"], target="ill", only=["homogeneity"], seed=1)
    >>> found["homogeneity"].verdict, found["homogeneity"].measured
    ('leak', 1.0)
    """
    tell = progress or (lambda _: None)
    tell("reading")
    return attack_scene(open_scene(Given(release, original, **given)), only, progress)
