"""Column names: refuse those that cannot be told apart, warn of those that are hard to."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from incrowd.errors import HeaderError, Notice

PANDAS_INDEX = "__index_level_"
_SHOWN = 10  # positions in a message; it stays readable where thousands of columns have no name
# Cyrillic and Greek letters that look like a Latin one.
_LOOK_ALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧονικαρυχ",
    "ABESIJKMHOPCTYXaesijopcyxdqwhABEZHIKMNOPTYXovikapyx",
)


def check_headers(names: Sequence[str]) -> tuple[Notice, ...]:
    """Refuse empty, duplicate and indistinguishable names; warn of look-alike letters.

    Examples
    --------
    >>> check_headers(["age", "zip code", "height (cm)"])
    ()
    >>> check_headers(["age", "age"])
    Traceback (most recent call last):
    ...
    incrowd.errors.HeaderError: Columns 1 and 2 ('age' and 'age') have the same name. Rename one.
    """
    _refuse_empty(names)
    _refuse_nul(names)
    _refuse_twins(names, lambda name: name, "have the same name")
    _refuse_twins(names, _compact, "have names that differ only by spaces")
    _refuse_twins(names, _canonical, "have names that look the same but are spelled with different code points")
    return tuple(_look_alikes(names))


def without_pandas_index(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """The names that are not a stored pandas index, and a notice for each that is."""
    listed = tuple(names)
    kept = tuple(name for name in listed if not name.startswith(PANDAS_INDEX))
    dropped = tuple(name for name in listed if name.startswith(PANDAS_INDEX))
    message = "is the row index of another program, which links rows to their source; it was dropped."
    return kept, tuple(Notice("index-dropped", name, message) for name in dropped)


def _refuse_empty(names: Sequence[str]) -> None:
    empty = [position for position, name in enumerate(names, 1) if not _canonical(name)]
    if not empty:
        return
    trailing = " The header ends with a delimiter." if empty == [len(names)] and len(names) > 1 else ""
    raise HeaderError(f"{_columns(empty)} no name.{trailing} Give every column a name.")


def _refuse_nul(names: Sequence[str]) -> None:
    """A NUL ends a name for some programs and not for others."""
    places = [position for position, name in enumerate(names, 1) if "\0" in name]
    if places:
        raise HeaderError(f"{_columns(places)} a NUL character in the name. Rename it.")


def _columns(positions: Sequence[int]) -> str:
    if len(positions) == 1:
        return f"Column {positions[0]} has"
    more = f" and {len(positions) - _SHOWN} more" if len(positions) > _SHOWN else ""
    return f"Columns {', '.join(map(str, positions[:_SHOWN]))}{more} have"


def _refuse_twins(names: Sequence[str], key: Callable[[str], str], trouble: str) -> None:
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        earlier = first.setdefault(key(name), position)
        if earlier != position:
            both = f"{names[earlier - 1]!r} and {name!r}"
            raise HeaderError(f"Columns {earlier} and {position} ({both}) {trouble}. Rename one.")


def _compact(name: str) -> str:
    return "".join(name.split())


def _canonical(name: str) -> str:
    """Composed, without spaces and invisible characters."""
    composed = unicodedata.normalize("NFC", name)
    return "".join(c for c in composed if not c.isspace() and unicodedata.category(c) not in ("Cf", "Cc"))


def _look_alikes(names: Sequence[str]) -> Iterable[Notice]:
    """Names that mix alphabets into a Latin-looking word, or that equal another name to the eye."""
    seen: dict[str, str] = {}
    for name in names:
        shape = _canonical(name).translate(_LOOK_ALIKES)
        twin = seen.setdefault(shape, name)
        if twin != name:
            yield Notice("confusable-header", name, f"looks like the column {twin!r}; the letters differ.")
        elif shape != _canonical(name) and any("a" <= c.lower() <= "z" for c in _canonical(name)):
            yield Notice("confusable-header", name, "mixes letters of two alphabets that look alike.")
