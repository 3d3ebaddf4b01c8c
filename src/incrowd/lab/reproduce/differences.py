"""How far ours is from what was printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from incrowd.lab.reproduce.evidence import Cell

NEAR = (1.0, 2.0, 5.0)
"""Points: a difference up to the first is called none, beyond the last large."""


@dataclass(frozen=True)
class Distance:
    """Cells taken together: how many there are, their mean difference and mean absolute difference, in points.

    ``within`` counts the cells that differ by at most 1, 2 and 5 points.
    """

    name: str
    cells: int
    mean: float
    absolute: float
    within: tuple[int, ...]


def compared(cells: Iterable[Cell]) -> list[Cell]:
    """The cells with a number of ours and one that was printed and can be trusted."""
    return [cell for cell in cells if cell.difference is not None and not cell.doubt]


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """Each result once: papers print the same result in several tables."""
    found: dict[tuple[object, ...], Cell] = {}
    for cell in cells:
        found.setdefault((cell.algorithm, cell.inducer, cell.k, cell.results or cell.place), cell)
    return list(found.values())


def distance(name: str, cells: Iterable[Cell]) -> Distance | None:
    """The cells taken together; None if nothing was printed.

    Examples
    --------
    >>> from incrowd.lab.reproduce.evidence import Printed
    >>> from incrowd.lab.trial import Result
    >>> def cell(ours, theirs):
    ...     result = Result("x", 5, 0, 0, "c45", accuracy=ours)
    ...     return Cell("2", "a", "C4.5", "x", 5, (result,), printed=Printed(theirs))
    >>> found = distance("all", [cell(0.75, 74.5), cell(0.5, 53.0)])
    >>> found.mean, found.absolute, found.within
    (-1.25, 1.75, (1, 1, 2))
    """
    found = [cell.difference for cell in compared(cells) if cell.difference is not None]
    if not found:
        return None
    sizes = [abs(one) for one in found]
    within = tuple(sum(size <= near + 1e-9 for size in sizes) for near in NEAR)
    return Distance(name, len(found), sum(found) / len(found), sum(sizes) / len(found), within)


def distances(cells: Iterable[Cell], key: Callable[[Cell], str]) -> list[Distance]:
    """The cells taken together by something they share, in the order it occurs."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    found = (distance(name, group) for name, group in groups.items())
    return [one for one in found if one is not None]


def shade(difference: float | None) -> str:
    """The colour of a difference, as a class: its side and its size; nothing to compare with has none.

    Examples
    --------
    >>> [shade(points) for points in (None, 0.9, -1.5, 4.0, -5.1)]
    ['', 'same', 'below-1', 'above-2', 'below-3']
    """
    if difference is None:
        return ""
    size = sum(abs(difference) > near + 1e-9 for near in NEAR)
    return f"{'above' if difference > 0 else 'below'}-{size}" if size else "same"


def signed(points: float | None) -> str:
    """A difference in points with its sign; none has none.

    Examples
    --------
    >>> [signed(points) for points in (1.234, -0.001, -2.0)]
    ['+1.23', '0.00', '-2.00']
    """
    said = f"{points or 0.0:+.2f}"
    return said[1:] if float(said) == 0 else said


def is_large(difference: float | None) -> bool:
    """Whether a difference is one to explain: more than two points."""
    return difference is not None and abs(difference) > NEAR[1] + 1e-9


def furthest(cells: Iterable[Cell], number: int) -> list[Cell]:
    """The cells that differ most from what was printed."""
    return sorted(compared(cells), key=lambda cell: -abs(cell.difference or 0.0))[:number]
