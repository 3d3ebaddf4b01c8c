"""What each version measured: a file per version, ratios of every round; and this run next to the version before."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median

from experiments.pages import Section, Table

FOLDER = Path(__file__).with_name("history")
Ratios = Mapping[str, Sequence[float]]


def spread(ratios: Sequence[float]) -> str:
    """The median of rounds, and between which ends they lie.

    Examples
    --------
    >>> spread([2.0, 3.0, 2.5]), spread([2.0])
    ('2.5 (2.0 to 3.0)', '2.0')
    """
    middle = f"{median(ratios):.1f}"
    return middle if len(ratios) == 1 else f"{middle} ({min(ratios):.1f} to {max(ratios):.1f})"


def compared(part: str, section: Section, folder: Path = FOLDER) -> Section:
    """The section with a table of its ratios next to those of the last version before this one that has any."""
    if not section.ratios:
        return section
    before, known = _before(part, folder)
    rows = [(name, spread(now), *_next_to(now, known.get(name))) for name, now in section.ratios.items()]
    header = ("CPU, median of rounds (smallest to largest)", "now", before or "before", "change")
    words = f"**Next to the version before** ({before or 'none is known'}), as ratios:"
    return Section(section.title, (*section.parts, words, Table(header, rows)), section.ratios)


def keep(part: str, ratios: Ratios, folder: Path = FOLDER) -> None:
    """Enter what was measured into the file of this version."""
    if not ratios:
        return
    folder.mkdir(exist_ok=True)
    path = folder / f"{version('incrowd')}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[part] = {name: [round(ratio, 2) for ratio in rounds] for name, rounds in ratios.items()}
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _before(part: str, folder: Path) -> tuple[str | None, Ratios]:
    mine = _order(version("incrowd"))
    for path in sorted(folder.glob("*.json"), key=lambda path: _order(path.stem), reverse=True):
        known: dict[str, Ratios] = json.loads(path.read_text(encoding="utf-8"))
        if _order(path.stem) < mine and part in known:
            return path.stem, known[part]
    return None, {}


def _order(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _next_to(now: Sequence[float], before: Sequence[float] | None) -> tuple[str, str]:
    if not before:
        return "", ""
    return spread(before), f"{median(now) / median(before) - 1:+.0%}"
