"""The compact form: a tree as one would jot it down.

::

    # lines that begin with a hash are comments
    education
      Secondary
        Junior: 9th, 10th
        Senior: 11th, 12th
      University
        Bachelors
        Graduate: Masters, Doctorate

The first line names the attribute (and stands for the root, ``*``); ``age [numbers]`` and ``born [dates]`` say that
the leaves are intervals. What is indented more is below; after a colon, the values below follow on the line. Several
values may share a line. A label with a comma, colon, hash or quote is written in double quotes, as in JSON;
intervals such as ``(30, 50]`` need none.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from incrowd.errors import FileFormatError
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy, Leaves

_LABEL = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\([^,()\[\]":]+,[^,()\[\]":]+[\])]|[^",:]+?)\s*(,|:|$)')
_TITLE = re.compile(r'^("(?:[^"\\]|\\.)*"|[^",:]+?)\s+\[(values|numbers|dates)\]\s*(?=:|$)')
_KIND = re.compile(r"^(.*\S)\s+\[(values|numbers|dates)\]\s*$")
_WIDTH = 110  # letters up to which the leaves of a group share its line


def parse_compact(text: str, name: str) -> Hierarchy:
    """Read the compact form; the name is for messages, the file has its own.

    Examples
    --------
    >>> parse_compact("age [numbers]: (-inf, 30], (30, 50], (50, inf)", "age").leaf_of(50)
    1
    """
    lines = [(number, line.rstrip()) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.lstrip().startswith("#")]
    if not lines:
        raise FileFormatError(f"Hierarchy {name!r} is empty. Begin with the name of the attribute.")
    title, kind, first = _title(lines[0], name)
    labels, parents = [ROOT, *first], [-1, *[0] * len(first)]
    open_at: list[tuple[int, int | None]] = [(0, 0)]
    for number, line in lines[1:]:
        indent = _indent(line, number, name)
        while open_at and open_at[-1][0] >= indent:
            open_at.pop()
        if not open_at:
            raise FileFormatError(
                f"Hierarchy {name!r} has no single root: line {number} is not indented below the first line."
            )
        parent = open_at[-1][1]
        if parent is None:
            raise FileFormatError(f"Hierarchy {name!r}, line {number}: it is indented below a line of several labels.")
        heads, below = _parts(line.strip(), number, name)
        labels += heads
        parents += [parent] * len(heads)
        node = len(labels) - 1
        labels += below
        parents += [node] * len(below)
        open_at.append((indent, node if len(heads) == 1 else None))
    sound = Hierarchy(name, tuple(labels), tuple(parents), kind)  # a message would quote its name
    return replace(sound, name=title)


def _title(first: tuple[int, str], name: str) -> tuple[str, Leaves, list[str]]:
    number, line = first
    if line != line.lstrip():
        raise FileFormatError(f"Hierarchy {name!r}, line {number}: begin with the attribute, not indented.")
    marked = _TITLE.match(line)
    if marked:
        line = marked[1] + line[marked.end(2) + 1 :]
    heads, below = _parts(line, number, name)
    if len(heads) != 1:
        raise FileFormatError(f"Hierarchy {name!r}, line {number}: the first line names one attribute.")
    return heads[0], Leaves(marked[2]) if marked else Leaves.VALUES, below


def _indent(line: str, number: int, name: str) -> int:
    blank = line[: len(line) - len(line.lstrip())]
    if blank.strip(" "):
        raise FileFormatError(f"Hierarchy {name!r}, line {number}: indent with spaces only.")
    return len(blank)


def _parts(line: str, number: int, name: str) -> tuple[list[str], list[str]]:
    """The labels of a line, and those after its colon."""
    heads: list[str] = []
    below: list[str] = []
    side, place, ended = heads, 0, ""
    while place < len(line):
        match = _LABEL.match(line, place)
        if not match or (match[2] == ":" and (side is below or heads)):
            raise FileFormatError(
                f"Hierarchy {name!r}, line {number}: it cannot be read. Put labels with commas, colons or quotes in "
                "double quotes."
            )
        side.append(_unquoted(match[1], number, name))
        place, ended = match.end(), match[2]
        side = below if ended == ":" else side
    if ended == ",":
        raise FileFormatError(f"Hierarchy {name!r}, line {number}: a comma at the end.")
    return heads, below


def _unquoted(text: str, number: int, name: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except json.JSONDecodeError:
        raise FileFormatError(f"Hierarchy {name!r}, line {number}: a quoted label cannot be read.") from None


def format_compact(hierarchy: Hierarchy) -> str:
    """Write the compact form.

    Examples
    --------
    >>> print(format_compact(Hierarchy.from_paths("job", [["cook", "service", "*"], ["nurse", "*"]])), end="")
    job
      service: cook
      nurse
    """
    mark = "" if hierarchy.kind is Leaves.VALUES else f" [{hierarchy.kind}]"
    lines: list[str] = []
    done = 0
    for node in range(len(hierarchy)):
        if node < done:
            continue
        head = "  " * (int(hierarchy.depths[node]) - 1) + _quoted(hierarchy.labels[node] if node else hierarchy.name)
        head += "" if node else mark
        children = hierarchy.children(node)
        line = f"{head}: {', '.join(_quoted(hierarchy.labels[child]) for child in children)}"
        if children and len(line) <= _WIDTH and not any(hierarchy.children(child) for child in children):
            lines.append(line)
            done = children[-1] + 1
        else:
            lines.append(head)
    return "\n".join(lines) + "\n"


def _quoted(label: str) -> str:
    match = _LABEL.match(label)
    plain = match is not None and match.end() == len(label) and match[1] == label and label.isprintable()
    if plain and label[0] not in '#"' and not _KIND.match(label):
        return label
    return json.dumps(label, ensure_ascii=not label.isprintable())
