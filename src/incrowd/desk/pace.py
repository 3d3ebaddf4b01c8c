"""How far a job is: its stages, the time each took, and about how long it still takes.

A stage that tells how far it is goes on as it began. The others take what they took in the last job of this kind, in
proportion to the size of the table; before there was one, what they take by the usual method on a table of this size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

STARTING = "starting"
_USUAL = {
    STARTING: (1.5, 0.0),
    "reading": (0.3, 0.2),
    "encoding": (0.2, 0.1),
    "deciding": (0.5, 4.5),
    "applying": (0.0, 0.1),
    "verifying": (1.5, 0.6),
    "measuring accuracy": (1.0, 0.5),
    "measuring risk": (1.0, 0.4),
}
"""Seconds of a release by the usual method, at least and for a megabyte: measured on Adult, on one core of a laptop."""
_MEGABYTE = 1_000_000
_BEYOND = 0.25  # a stage that takes longer than usual is believed to go on for so much of what it took


def stages_of(lines: Sequence[Mapping[str, Any]], begun: float, until: float) -> list[dict[str, Any]]:
    """Stages in their order: name, how far, the share that is done, seconds so far, and seconds left if it tells them.

    Examples
    --------
    >>> lines = [{"stage": "reading", "at": 1.0}, {"stage": "attacking: linkage (2 of 5)", "at": 3.0}]
    >>> [(one["name"], one["far"], one["share"], one["seconds"]) for one in stages_of(lines, 0.0, 4.0)]
    [('starting', '', None, 1.0), ('reading', '', None, 2.0), ('attacking', 'linkage (2 of 5)', 0.2, 1.0)]
    """
    stages: list[dict[str, Any]] = [{"name": STARTING, "begun": begun, "far": "", "share": None, "left": None}]
    for line in lines:
        if "stage" not in line:
            continue
        name, _, far = str(line["stage"]).partition(": ")
        share, left = _share(far or name), None
        if line.get("total"):
            name, far = "comparing", f"{line['done']} of {line['total']}"
            share, left = line["done"] / line["total"], line.get("left")
        elif not far and share is not None:
            name, far = "attacking", name
        if stages[-1]["name"] != name:
            stages.append({"name": name, "begun": line["at"]})
        stages[-1] |= {"far": far, "share": share, "left": left}
    ends = [*(one["begun"] for one in stages[1:]), until]
    return [{**one, "seconds": max(0.0, end - one["begun"])} for one, end in zip(stages, ends, strict=True)]


def _share(words: str) -> float | None:
    """How much of "12 of 40 rows" is done; of "name (3 of 5)" the third has only begun."""
    match = re.search(r"(\(?)(\d[\d,]*) of (\d[\d,]*)", words)
    if match is None:
        return None
    done, total = (int(one.replace(",", "")) for one in match.groups()[1:])
    return (done - bool(match[1])) / total if total else None


def usual_seconds(
    kind: str, size: int | None, earlier: Sequence[Mapping[str, Any]], before: int | None
) -> dict[str, float]:
    """What each stage is likely to take for a table of so many bytes, by an earlier job about ``before``."""
    if earlier:
        ratio = size / before if size and before else 1.0
        return {one["name"]: one["seconds"] * (1.0 if one["name"] == STARTING else ratio) for one in earlier}
    if kind != "release" or not size:
        return {}
    return {name: least + more * size / _MEGABYTE for name, (least, more) in _USUAL.items()}


def seconds_left(stages: Sequence[Mapping[str, Any]], usual: Mapping[str, float]) -> float | None:
    """How long a running job still takes; None if nothing tells it.

    Examples
    --------
    >>> stages = stages_of([{"stage": "reading: 25 of 100 rows", "at": 1.0}], 0.0, 3.0)
    >>> seconds_left(stages, {"reading": 4.0, "deciding": 10.0})
    16.0
    """
    now = stages[-1]
    if now["left"] is not None:
        own = float(now["left"])
    elif now["share"]:
        own = now["seconds"] * (1 - now["share"]) / now["share"]
    elif now["name"] in usual:
        own = max(usual[now["name"]] - now["seconds"], _BEYOND * now["seconds"])
    else:
        return None
    begun = {one["name"] for one in stages}
    return own + sum(seconds for name, seconds in usual.items() if name not in begun)


def time_words(seconds: float) -> str:
    """A time as people say it.

    Examples
    --------
    >>> time_words(3), time_words(38), time_words(150), time_words(8000)
    ('a few seconds', 'about 40 s', 'about 3 min', 'about 2 h')
    """
    if seconds < 5:
        return "a few seconds"
    if seconds < 90:
        return f"about {5 * -(-seconds // 5):.0f} s"
    return f"about {-(-seconds // 60):.0f} min" if seconds < 5400 else f"about {seconds / 3600:.0f} h"
