"""The one door for hierarchy files; the name says the form."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

from incrowd.errors import FileFormatError, OutputError
from incrowd.tables.hierarchies.forms import (
    format_arx,
    format_compact,
    format_json,
    format_yaml,
    parse_arx,
    parse_compact,
    parse_json,
    parse_yaml,
)
from incrowd.vocabulary.hierarchy import Hierarchy

_PARSERS: dict[str, Callable[[str, str], Hierarchy]] = {
    ".csv": parse_arx,
    ".txt": parse_compact,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
    ".json": parse_json,
}
_WRITERS: dict[str, Callable[[Hierarchy], str]] = {
    ".csv": format_arx,
    ".txt": format_compact,
    ".yaml": format_yaml,
    ".yml": format_yaml,
    ".json": format_json,
}
_PICKLES = (".pkl", ".pickle", ".p", ".joblib", ".dill")
_LARGEST = 64 << 20  # bytes; a file is read whole, and is hardly a hierarchy if it is longer


def read_hierarchy(path: str | Path, name: str | None = None) -> Hierarchy:
    """Read a hierarchy: ARX's ``.csv``, compact ``.txt``, nested ``.yaml`` or ``.json``.

    A pickle is refused: reading one runs the code in it. Without a name it has the one in the file, or of the file.
    """
    path = Path(path)
    parse = _PARSERS.get(path.suffix.lower())
    content = _content(path)
    if path.suffix.lower() in _PICKLES or content.startswith(b"\x80"):
        raise FileFormatError(f"{path.name!r} is a pickle; reading it could run foreign code. Export it as CSV.")
    if parse is None:
        raise FileFormatError(f"{path.name!r} does not say its form. Known endings: {', '.join(_PARSERS)}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{path.name!r} is not UTF-8: see line {line}. Save it as UTF-8.") from None
    hierarchy = parse(text, name or path.stem)
    return hierarchy if name is None else Hierarchy(name, hierarchy.labels, hierarchy.parents, hierarchy.kind)


def hierarchies_in(folder: str | Path) -> dict[str, Hierarchy]:
    """The hierarchies of a folder: a file for each column, named like it (``age.txt``, ``sex.csv``)."""
    if not Path(folder).is_dir():
        raise FileFormatError(f"{str(folder)!r} is not a folder of hierarchies. Check the path.")
    files = sorted(file for file in Path(folder).iterdir() if file.suffix.lower() in _PARSERS)
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
    write = _WRITERS.get(Path(path).suffix.lower())
    if write is None:
        raise OutputError(f"{Path(path).name}: a hierarchy is written to one of {', '.join(_WRITERS)}.")
    return write(hierarchy)


def write_hierarchy(hierarchy: Hierarchy, path: str | Path) -> None:
    """Write a hierarchy in the form that the file name asks for."""
    text = hierarchy_text(hierarchy, path)
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise OutputError(f"{Path(path).name} cannot be written: {error.strerror}.") from None
