"""Hierarchy files, read and written; the name says the form: compact, nested (YAML or JSON), or ARX's, a line a value.

The compact form is a tree as one would jot it down.

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

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml

from incrowd.errors import FileFormatError, InputError, OutputError
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy, Leaves
from incrowd.vocabulary.released_value import parse_day, parse_interval

_LABEL = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\([^,()\[\]":]+,[^,()\[\]":]+[\])]|[^",:]+?)\s*(,|:|$)')
_TITLE = re.compile(r'^("(?:[^"\\]|\\.)*"|[^",:]+?)\s+\[(values|numbers|dates)\]\s*(?=:|$)')
_KIND = re.compile(r"^(.*\S)\s+\[(values|numbers|dates)\]\s*$")
_WIDTH = 110  # letters up to which the leaves of a group share its line


def parse_compact(text: str, name: str) -> Hierarchy:
    """Read the compact form; the name is for messages, the file has its own."""
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
    """The attribute, what its leaves are, and the labels after its colon."""
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
    """Write the compact form."""
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


# Nested trees in YAML or JSON: groups are keys, values are list items, or keys with nothing below.
Tree = list[tuple[str, Any]]
"""Labels with what is below them: a tree again, or an empty list. Unlike a dictionary, it keeps repeated keys."""


def parse_yaml(text: str, name: str) -> Hierarchy:
    """Read a tree in YAML. Every label is text as it is written, also ``no`` and ``1.0``."""
    try:
        if any(isinstance(event, yaml.events.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise FileFormatError(f"Hierarchy {name!r} uses YAML aliases (*name). Write every label out.")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return _hierarchy(_of_yaml(root), name)
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" near line {line + 1}"
        raise FileFormatError(f"Hierarchy {name!r} is not YAML{where}. Check indentation and quotes.") from None
    except RecursionError:
        raise FileFormatError(f"Hierarchy {name!r} is nested too deeply to be read.") from None


def parse_json(text: str, name: str) -> Hierarchy:
    """Read a tree in JSON."""
    try:
        data = json.loads(text, object_pairs_hook=_Pairs, parse_int=str, parse_float=str, parse_constant=str)
        return _hierarchy(_of_json(data), name)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"Hierarchy {name!r} is not JSON: see line {error.lineno}.") from None
    except RecursionError:
        raise FileFormatError(f"Hierarchy {name!r} is nested too deeply to be read.") from None


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, repeated keys included."""


def _of_yaml(node: Any) -> Tree:
    if isinstance(node, yaml.MappingNode):
        return [(_text(key), _of_yaml(value)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        items = [[(item.value, [])] if isinstance(item, yaml.ScalarNode) else _of_yaml(item) for item in node.value]
        return [branch for item in items for branch in item]
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return []
    return [(str(node.value), [])]


def _text(node: Any) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise FileFormatError(f"Near line {node.start_mark.line + 1}, a label is not a plain text.")
    return str(node.value)


def _of_json(data: Any) -> Tree:
    if isinstance(data, _Pairs):
        return [(key, _of_json(value)) for key, value in data]
    if isinstance(data, list):
        return [branch for item in data for branch in _of_json(item)]
    if isinstance(data, bool):
        raise FileFormatError("true and false are no labels in JSON. Write them in quotes.")
    return [] if data is None else [(str(data), [])]


def _hierarchy(document: Tree, name: str) -> Hierarchy:
    """The document's ``tree``, with its ``name`` and kind of ``leaves``, if they are given."""
    parts = dict(document)
    if "tree" not in parts or len(parts) < len(document) or not set(parts) <= {"name", "leaves", "tree"}:
        raise FileFormatError(
            f"Hierarchy {name!r}: a nested hierarchy has a tree, and may have a name and leaves "
            f"({', '.join(Leaves)}); nothing else, and nothing twice."
        )
    title = _only(parts.get("name"), name, name)
    kind = _only(parts.get("leaves"), Leaves.VALUES, name)
    if kind not in list(Leaves):
        raise FileFormatError(f"Hierarchy {name!r}: leaves must be one of {', '.join(Leaves)}.")
    labels, parents = [ROOT], [-1]
    waiting = [(0, parts["tree"])]
    while waiting:
        parent, branches = waiting.pop()
        for label, below in branches:
            labels.append(label)
            parents.append(parent)
            waiting.append((len(labels) - 1, below))
    sound = Hierarchy(name, tuple(labels), tuple(parents), Leaves(kind))  # a message would quote its name
    return replace(sound, name=title)


def _only(branches: Tree | None, otherwise: str, name: str) -> str:
    if branches is None:
        return otherwise
    if len(branches) != 1 or branches[0][1]:
        raise FileFormatError(f"Hierarchy {name!r}: name and leaves are single words.")
    return branches[0][0]


def to_nested(hierarchy: Hierarchy) -> dict[str, Any]:
    """The hierarchy as nested plain data."""
    below: list[Any] = [None] * len(hierarchy)
    for node in range(len(hierarchy) - 1, -1, -1):
        children = hierarchy.children(node)
        if any(below[child] for child in children):
            below[node] = {hierarchy.labels[child]: below[child] for child in children}
        elif children:
            below[node] = [hierarchy.labels[child] for child in children]
    return {"name": hierarchy.name, "leaves": str(hierarchy.kind), "tree": below[0]}


def format_yaml(hierarchy: Hierarchy) -> str:
    """Write a tree in YAML."""
    return str(yaml.dump(to_nested(hierarchy), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


class _Dumper(yaml.SafeDumper):
    """Writes a text with signs that cannot be seen, such as odd line ends, in quotes and escaped."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _represent)


def format_json(hierarchy: Hierarchy) -> str:
    """Write a tree in JSON."""
    return json.dumps(to_nested(hierarchy), ensure_ascii=False, indent=2) + "\n"


# The form of ARX: a line for each value, with all groups up to the root.
def parse_arx(text: str, name: str) -> Hierarchy:
    """Read the text of an ARX file. If all leaves are intervals, it is a hierarchy of numbers or dates."""
    rows = _rows(text, name)
    leaves = [row[0] for row in rows]
    kind = guess_kind(leaves)
    if kind is Leaves.DATES and all(parse_day(leaf) is not None for leaf in leaves):
        return _days(name, rows)
    return Hierarchy.from_paths(name, rows, kind)


def _days(name: str, rows: list[list[str]]) -> Hierarchy:
    """Days are dates where every group is a run of days, else values like any other (weekdays, for instance)."""
    try:
        return Hierarchy.from_paths(name, rows, Leaves.DATES)
    except InputError:
        return Hierarchy.from_paths(name, rows)


def guess_kind(leaves: list[str]) -> Leaves:
    """What leaves are, from their texts; plain numbers are values."""
    if all(parse_interval(leaf) for leaf in leaves):
        return Leaves.NUMBERS
    dated = all(parse_interval(leaf, dates=True) for leaf in leaves)
    return Leaves.DATES if dated and not all(leaf.isdigit() for leaf in leaves) else Leaves.VALUES


def _rows(text: str, name: str) -> list[list[str]]:
    """The lines as fields, by the first separator that gives all the same number, or else at least two each."""
    if not text.strip():
        raise FileFormatError(f"Hierarchy {name!r} is empty. Write one line per value: value;group;*")
    tried = [rows for rows in (_split(text, delimiter) for delimiter in ";,\t") if rows and min(map(len, rows)) > 1]
    if not tried:
        raise FileFormatError(
            f"Hierarchy {name!r} cannot be split into levels by ; or , or tabs. Write one line per value: "
            "value;group;*, and close every quote."
        )
    rows = next((rows for rows in tried if len(set(map(len, rows))) == 1), tried[0])
    width = len(rows[0])
    ragged = next((line for line, row in enumerate(rows, start=1) if len(row) != width), None)
    if ragged:
        raise FileFormatError(
            f"Hierarchy {name!r}: entry {ragged} has {len(rows[ragged - 1])} fields, the first has {width}. "
            "Give each value as many levels as the others; repeat the value where a branch is short."
        )
    return rows


def _split(text: str, delimiter: str) -> list[list[str]]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [row for row in reader if row]
    except csv.Error:
        return []


def format_arx(hierarchy: Hierarchy) -> str:
    """Write ARX's form; a branch that ends early repeats its leaf."""
    leaves = [hierarchy.labels[leaf] for leaf in hierarchy.leaves]
    levels = [hierarchy.at_level(level) for level in range(hierarchy.height, 0, -1)]
    if hierarchy.kind is not guess_kind(leaves):
        raise OutputError(
            f"CSV cannot say that the leaves of hierarchy {hierarchy.name!r} are {hierarchy.kind}: they look like "
            f"{guess_kind(leaves)}. Write .yaml, .json or .txt."
        )
    lines = (";".join(_field(hierarchy.labels[node]) for node in way) for way in zip(*levels, strict=True))
    return "".join(f"{line}\n" for line in lines)


def _field(label: str) -> str:
    """The label, in quotes if it has a separator, a quote, a line end or a blank at its ends."""
    plain = not set(label) & set(';,\t"\r\n') and label == label.strip()
    return label if plain else '"' + label.replace('"', '""') + '"'


# The one door; the ending of a name says the form.
_FORMS: dict[str, tuple[Callable[[str, str], Hierarchy], Callable[[Hierarchy], str]]] = {
    ".csv": (parse_arx, format_arx),
    ".txt": (parse_compact, format_compact),
    ".yaml": (parse_yaml, format_yaml),
    ".yml": (parse_yaml, format_yaml),
    ".json": (parse_json, format_json),
}
_PICKLES = (".pkl", ".pickle", ".p", ".joblib", ".dill")
_LARGEST = 64 << 20  # bytes; a file is read whole, and is hardly a hierarchy if it is longer


def read_hierarchy(path: str | Path, name: str | None = None) -> Hierarchy:
    """Read a hierarchy: ARX's ``.csv``, compact ``.txt``, nested ``.yaml`` or ``.json``.

    A pickle is refused: reading one runs the code in it. Without a name it has the one in the file, or of the file.
    """
    path = Path(path)
    form = _FORMS.get(path.suffix.lower())
    content = _content(path)
    if path.suffix.lower() in _PICKLES or content.startswith(b"\x80"):
        raise FileFormatError(f"{path.name!r} is a pickle; reading it could run foreign code. Export it as CSV.")
    if form is None:
        raise FileFormatError(f"{path.name!r} does not say its form. Known endings: {', '.join(_FORMS)}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{path.name!r} is not UTF-8: see line {line}. Save it as UTF-8.") from None
    hierarchy = form[0](text, name or path.stem)
    return hierarchy if name is None else Hierarchy(name, hierarchy.labels, hierarchy.parents, hierarchy.kind)


def hierarchies_in(folder: str | Path) -> dict[str, Hierarchy]:
    """The hierarchies of a folder: a file for each column, named like it (``age.txt``, ``sex.csv``)."""
    if not Path(folder).is_dir():
        raise FileFormatError(f"{str(folder)!r} is not a folder of hierarchies. Check the path.")
    files = sorted(file for file in Path(folder).iterdir() if file.suffix.lower() in _FORMS)
    hierarchies = {file.stem: read_hierarchy(file, file.stem) for file in files}
    if len(hierarchies) < len(files):
        raise FileFormatError(f"The folder {Path(folder).name!r} has two hierarchies of the same column. Keep one.")
    return hierarchies


def adult_hierarchies() -> dict[str, Hierarchy]:
    """The hierarchies of age and of the eight categorical attributes of the Adult census table: an example to read."""
    with as_file(files("incrowd.tables.hierarchies") / "examples" / "adult") as folder:
        return hierarchies_in(folder)


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise FileFormatError(f"{str(path)!r} is not a file that can be read. Check the path.")
    if path.stat().st_size > _LARGEST:
        raise FileFormatError(f"{path.name!r} is larger than {_LARGEST >> 20} MB. Is it a hierarchy?")
    try:
        return path.read_bytes()
    except OSError:
        raise FileFormatError(f"{str(path)!r} cannot be opened. Check its permissions.") from None


def hierarchy_text(hierarchy: Hierarchy, path: str | Path) -> str:
    """The hierarchy in the form that a file name asks for."""
    form = _FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise OutputError(f"{Path(path).name}: a hierarchy is written to one of {', '.join(_FORMS)}.")
    return form[1](hierarchy)


def write_hierarchy(hierarchy: Hierarchy, path: str | Path) -> None:
    """Write a hierarchy in the form that the file name asks for."""
    text = hierarchy_text(hierarchy, path)
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise OutputError(f"{Path(path).name} cannot be written: {error.strerror}.") from None
