"""A hierarchy drawn with lines, each with the number of its level."""

from __future__ import annotations

import json

from incrowd.vocabulary.hierarchy import Hierarchy


def draw(hierarchy: Hierarchy, most: int = 8) -> str:
    """The tree as text, level numbers on the left; of more than ``most`` children, the first ones and their number.

    Examples
    --------
    >>> print(draw(Hierarchy.from_paths("job", [["cook", "service", "*"], ["nurse", "*"], ["judge", "*"]]), most=2))
    1  * (3)
    2  ├─ service (1)
    3  │  └─ cook
    2  └─ … 2 more
    """
    lines: list[str] = []
    waiting: list[tuple[int, str, str, str]] = [(0, "", "", "")]
    while waiting:
        node, before, mark, folded = waiting.pop()
        level = int(hierarchy.depths[node])
        lines.append(f"{level:<2} {before}{mark}{folded or _label(hierarchy, node)}")
        if folded:
            continue
        inside = before + ("" if not mark else "   " if mark.startswith("└") else "│  ")
        waiting += reversed(_below(hierarchy, node, inside, most))
    return "\n".join(lines)


def _below(hierarchy: Hierarchy, node: int, before: str, most: int) -> list[tuple[int, str, str, str]]:
    children = hierarchy.children(node)
    shown = children if len(children) <= most else children[: max(most - 1, 1)]
    entries = [(child, before, "├─ ", "") for child in shown]
    if len(shown) < len(children):
        entries.append((children[-1], before, "├─ ", f"… {len(children) - len(shown)} more"))
    return [*entries[:-1], (*entries[-1][:2], "└─ ", entries[-1][3])] if entries else []


def _label(hierarchy: Hierarchy, node: int) -> str:
    """The label, made safe for a terminal, with the number of leaves below a group."""
    label = hierarchy.labels[node]
    label = label if label.isprintable() else json.dumps(label)
    return f"{label} ({len(hierarchy.leaves_below(node))})" if hierarchy.children(node) else label
