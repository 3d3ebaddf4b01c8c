"""A comparison as the page of methods shows it: accuracy against risk, a point for each method and k, and the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from incrowd.drawing.markup import Html
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    ChartBox,
    LegendEntry,
    chart,
    even_scale,
    level,
    line_entry,
    log_scale,
    marker,
    place_labels,
    plot,
    powers,
    words,
)

_MARK = 6  # half the room of a mark
_SPAN = 5  # points of accuracy that the axis has at least: smaller differences shall not look large
_UNPROTECTED = "unprotected"


@dataclass(frozen=True, eq=False)
class ComparedMethod:
    """A method at one k: its average risk, and what each learner reaches."""

    method: str
    k: int
    risk: float
    accuracy: Mapping[str, float]


@dataclass(frozen=True)
class ComparedMethods:
    """All methods and k of a comparison, and what learners reach on the table itself."""

    releases: Sequence[ComparedMethod]
    unprotected: Mapping[str, float]

    @property
    def learners(self) -> list[str]:
        """Those of whom something is known, in their order."""
        return list(dict.fromkeys([*self.unprotected, *(name for one in self.releases for name in one.accuracy)]))

    @property
    def chart(self) -> Html | None:
        """Accuracy of the first learner against average risk; nothing if nothing was measured."""
        return _chart(self, self.learners[0]) if self.releases and self.learners else None


def compared(results: Iterable[Mapping[str, Any]]) -> ComparedMethods:
    """The means over all trials of a comparison.

    Examples
    --------
    >>> trial = {"method": "mondrian", "k": 5, "learner": "c45", "status": "done", "average_risk": 0.1}
    >>> compared([{**trial, "accuracy": 0.8}, {**trial, "accuracy": 0.9}]).releases[0].accuracy["c45"].__round__(2)
    0.85
    """
    cells: dict[tuple[str, int], dict[str, list[float]]] = {}
    risks: dict[tuple[str, int], list[float]] = {}
    for one in results:
        if isinstance(one.get("accuracy"), float) and isinstance(one.get("average_risk"), float):
            place = (str(one["method"]), int(one["k"]))
            cells.setdefault(place, {}).setdefault(str(one["learner"]), []).append(one["accuracy"])
            risks.setdefault(place, []).append(one["average_risk"])
    means = {place: {learner: fmean(values) for learner, values in own.items()} for place, own in cells.items()}
    releases = [ComparedMethod(*place, fmean(risks[place]), own) for place, own in means.items()]
    unprotected = next((one.accuracy for one in releases if one.method == _UNPROTECTED), {})
    known = [one for one in releases if one.method != _UNPROTECTED and one.risk > 0]
    return ComparedMethods(sorted(known, key=lambda one: (one.method, one.k)), unprotected)


def _chart(all_: ComparedMethods, learner: str) -> Html:
    releases = [one for one in all_.releases if learner in one.accuracy]
    methods = list(dict.fromkeys(one.method for one in releases))
    standard = [100 * all_.unprotected[learner]] if learner in all_.unprotected else []
    reached = [*standard, *(100 * one.accuracy[learner] for one in releases)]
    across = powers(log_scale([one.risk for one in releases], LEFT, WIDTH - RIGHT, 0.08))
    up, parts = plot(
        [
            *(line_entry(_UNPROTECTED, _UNPROTECTED) for _ in standard),
            *(LegendEntry(name, marker(place, (10, 0))) for place, name in enumerate(methods)),
        ],
        across,
        partial(even_scale, [*reached, max(reached) - _SPAN]),
        ("average re-identification risk", "accuracy, %"),
        _percent,
    )
    parts += [level(up, value, _UNPROTECTED) for value in standard]
    places = {one: (across(one.risk), up(100 * one.accuracy[learner])) for one in releases}
    for one, at in places.items():
        parts.append(marker(methods.index(one.method), at, tip=f"{one.method}, k={one.k}: {_words(one, learner)}"))
    room = ChartBox(LEFT, up.end - 8, WIDTH, up.start)
    taken = [ChartBox(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in places.values()]
    taken += [ChartBox(LEFT, up(value) - 2, WIDTH - RIGHT, up(value) + 2) for value in standard]
    labels = [(f"k={one.k}", at) for one, at in places.items()]
    parts += [words(label, at) for label, at in place_labels(labels, taken, room)]
    description = "; ".join(f"{one.method} at k={one.k}: {_words(one, learner)}" for one in releases)
    return chart(f"Accuracy of {learner} against average risk. {description}", parts, up)


def _words(one: ComparedMethod, learner: str) -> str:
    return f"accuracy {100 * one.accuracy[learner]:.1f} %, average risk {_percent(one.risk)}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
