"""Columns as a key of the holder makes them, by :mod:`incrowd.vocabulary.column_rules`, as the table is read.

So no method, form or step knows of it, and what is counted of a release is counted of what it shows.

The file of the key that makes pseudonyms and shifts dates: 32 random bytes or more, as hexadecimal digits.

The key stays with its holder. It is not in the recipe, the certificate, the report, the plan or the ledger, and before
anything appears those files are searched for it.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import (
    FileFormatError,
    InputError,
    Notice,
    OutputError,
    ValuesError,
    VerificationError,
    named_option,
    reading_option,
)
from incrowd.tables.reading.coarsen import cleaned
from incrowd.tables.reading.convert import parse_dates
from incrowd.tables.reading.source import EXACT, Source
from incrowd.vocabulary.column_rules import Keying

_BYTES = 32
_LARGEST = 10_000  # bytes of a file: beyond, it is no key
_DIFFERENT = 16  # 32 random bytes have fewer different ones once in 10^14 keys


def make_key(path: Path) -> None:
    """Make a key in a new file that only its owner can read; an existing file is never touched."""
    try:
        put_key(path, secrets.token_bytes(_BYTES))
    except FileExistsError:
        raise OutputError(
            f"The key file {path.name} exists, and a key is never replaced: without it nobody can tell what pseudonyms "
            f"stand for. To use it, leave {named_option(new_key=True)} out."
        ) from None
    except OSError as error:
        raise OutputError(f"The key file {path.name} cannot be made: {error.strerror}.") from None


def put_key(path: Path, key: bytes) -> None:
    """Write a key to a new file that only its owner can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(key.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_key(path: Path) -> bytes:
    """The key in a file that only its owner can read."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST)
    except FileNotFoundError:
        way = named_option(key_file=str(path), new_key=True)
        raise InputError(f"The key file {path.name} does not exist. To make a new key in it: {way}.") from None
    except OSError as error:
        raise InputError(f"The key file {path.name} cannot be read: {error.strerror}.") from None
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"The key file {path.name} can be read by others. Take that away: chmod 600 {path.name}")
    key = b""
    with contextlib.suppress(ValueError):
        key = bytes.fromhex(text.decode("ascii"))
    if len(key) < _BYTES or len(set(key)) < _DIFFERENT:
        raise FileFormatError(
            f"{path.name} holds no key: that is {2 * _BYTES} random hexadecimal digits or more. To make one in a new "
            f"file: {named_option(key_file='NEW FILE', new_key=True)}."
        )
    return key


def key_name(key: bytes) -> str:
    """What a key is called in certificates: it tells keys apart, and nothing about what they make.

    Examples
    --------
    >>> key_name(bytes(range(32)))
    'b7a248b26d37fe47'
    """
    return hmac.digest(key, b"incrowd key", "sha256").hex()[:16]


def check_absent(key: bytes, contents: Iterable[bytes]) -> None:
    """Raise if what is about to appear holds the key, in whatever common spelling."""
    digits, coded = key.hex().encode(), base64.b64encode(key).rstrip(b"=")
    spellings = (key, digits, digits.upper(), coded, coded.translate(bytes.maketrans(b"+/", b"-_")), repr(key).encode())
    if any(spelling in content for content in contents for spelling in spellings):
        raise VerificationError("What would appear holds the key of pseudonyms or of counts. Nothing was published.")


_CLOCK = r"(?:[T ,]+[0-9]{1,2}:[0-9]{2}[0-9:.,]*(?: ?[AaPp][Mm])?(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
_LONGEST_DATE = 18  # letters: 30 September 2020 and one more; what is longer is no date, and is not kept to be read
_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FIRST, _LAST = -719_162, 2_932_896  # the days of the years 1 to 9999, counted from 1970
_NANOSECONDS = 106_750  # days on either side of 1970 that a 64-bit count of nanoseconds reaches


def pseudonym(key: bytes, value: str) -> str:
    """The pseudonym of a value under the key of its column.

    Examples
    --------
    >>> pseudonym(bytes(32), "17")
    'p_4c25b0ad8ea42f5625bb08583a42e54d'
    """
    return f"p_{hmac.digest(key, value.encode(), 'sha256').hex()[:32]}"


def shift(key: bytes, value: str, days: int) -> int:
    """By how many days the dates of a person are shifted: at most so many, and never none.

    Examples
    --------
    >>> sorted({shift(bytes(32), str(person), 2) for person in range(99)})
    [-2, -1, 1, 2]
    """
    draw = int.from_bytes(hmac.digest(key, value.encode(), "sha256")[:16]) % (2 * days)
    return draw - days + (draw >= days)


def subkey(key: bytes, purpose: str, column: str) -> bytes:
    """The key of one column for one purpose."""
    return hmac.digest(key, f"incrowd {purpose} {column}".encode(), "sha256")


@dataclass(frozen=True, eq=False)
class KeyedCells:
    """What makes the cells; ``dates`` has for each column of dates in text the day of each text."""

    keying: Keying
    missing: Sequence[str]
    key: bytes = field(repr=False)
    dates: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls, keying: Keying, frames: Callable[[list[str]], Iterable[pl.DataFrame]], missing: Sequence[str]
    ) -> KeyedCells:
        """For a table whose named columns come in frames; what all dates of a column say together is settled first."""
        texts: dict[str, pl.Series] = {}
        for frame in frames(list(keying.shifted)) if keying.shifted else ():
            for name in keying.shifted:
                if _is_text(frame[name]):
                    parts = _parted(frame[name], missing)["date"].drop_nulls().unique()
                    texts[name] = pl.concat([texts[name], parts]).unique() if name in texts else parts
                    _refuse(name, int((parts.str.len_chars() > _LONGEST_DATE).sum()))
        return cls(
            keying, missing, read_key(keying.key), {name: _days_of(name, parts) for name, parts in texts.items()}
        )

    def needed(self, names: Sequence[str]) -> list[str]:
        """The columns that must be read to make these."""
        persons = self.keying.persons
        beside = [persons] if persons and persons not in names and set(self.keying.shifted) & set(names) else []
        return [*names, *beside]

    def made(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with those of its columns that a key makes."""
        columns = [self._pseudonyms(frame[name]) for name in self.keying.pseudonyms if name in frame.columns]
        shifted = [name for name in self.keying.shifted if name in frame.columns]
        if shifted:
            days = self._shifts(frame[str(self.keying.by)])
            columns += [self._shifted(frame[name], days) for name in shifted]
        return frame.with_columns(columns)

    def _pseudonyms(self, cells: pl.Series) -> pl.Series:
        key, texts = subkey(self.key, "pseudonym", cells.name), identifiers(cells, self.missing)
        known = texts.drop_nulls().unique()
        pseudonyms = pl.Series([pseudonym(key, text) for text in known.to_list()], dtype=pl.String)
        if pseudonyms.n_unique() < len(known):
            raise ValuesError(f"Column {cells.name!r}: two identifiers have one pseudonym. Use another key.")
        return _replaced(texts, known, pseudonyms).alias(cells.name)

    def _shifts(self, cells: pl.Series) -> pl.Series:
        """By how many days each row is shifted; null where there is no person."""
        key, texts = subkey(self.key, "shift", cells.name), identifiers(cells, self.missing)
        known = texts.drop_nulls().unique()
        days = pl.Series([shift(key, text, self.keying.days) for text in known.to_list()], dtype=pl.Int64)
        return _replaced(texts, known, days)

    def _shifted(self, cells: pl.Series, days: pl.Series) -> pl.Series:
        if _is_text(cells):
            parts = _parted(cells, self.missing)
            dates = self.dates[cells.name]
            after = _replaced(parts["date"], dates["text"], dates["day"]) + self._present(cells, parts["date"], days)
            self._check(cells.name, after, (_FIRST, _LAST))
            moved = after.cast(pl.Int32).cast(pl.Date).cast(pl.String) + parts["time"].fill_null("")
            return moved.alias(cells.name)
        if not isinstance(cells.dtype, pl.Date | pl.Datetime):
            raise ValuesError(
                f"Column {cells.name!r} holds no dates, and cannot be shifted. Leave it out of the dates."
            )
        unit = getattr(cells.dtype, "time_unit", None)
        of_a_day = _DAY[unit] if unit else 1
        before, added = cells.to_physical().cast(pl.Int64), self._present(cells, cells, days)
        bounds = (-_NANOSECONDS, _NANOSECONDS) if unit == "ns" else (_FIRST, _LAST)
        self._check(cells.name, before // of_a_day + added, bounds)
        moved = before + added * of_a_day
        return (moved if unit else moved.cast(pl.Int32)).cast(cells.dtype).alias(cells.name)

    def _present(self, cells: pl.Series, dates: pl.Series, days: pl.Series) -> pl.Series:
        """The shifts, where every date has one."""
        if alone := int((dates.is_not_null() & days.is_null()).sum()):
            raise ValuesError(
                f"Column {cells.name!r}: {counted(alone, 'row')} with a date {'has' if alone == 1 else 'have'} no "
                f"{self.keying.by!r} to shift it by. Fill it in, or leave these rows out."
            )
        return days

    def _check(self, name: str, days: pl.Series, bounds: tuple[int, int]) -> None:
        if beyond := int((~days.is_between(*bounds)).sum()):
            raise ValuesError(
                f"Column {name!r}: {counted(beyond, 'date')} would leave the calendar if shifted by up to "
                f"{self.keying.days:,} days. Mend them, name the text that means missing, or shift by fewer days."
            )


def keyed(source: Source, keying: Keying) -> Source:
    """The table with the columns that a key makes; what they were is kept for who must know people again."""
    keying.check_columns(source.frame.columns)
    cells = KeyedCells.of(keying, lambda names: [source.frame.select(names)], source.origin.missing)
    before = source.frame.select(keying.columns)
    return replace(
        source,
        frame=cells.made(source.frame),
        notices=(*source.notices, *keyed_notices(keying)),
        declared=tuple(column for column in source.declared if column.name not in keying.columns),
        finer=before if source.finer is None else source.finer.hstack(before),
    )


def keyed_notices(keying: Keying) -> Iterator[Notice]:
    """What pseudonyms and shifted dates are, and are not."""
    if keying.pseudonyms:
        message = (
            "released as pseudonyms, by HMAC-SHA-256 under your key. A pseudonym is no protection of its own: rows of "
            "one person can be linked, in this release and with all others under the same key."
        )
        yield Notice("pseudonyms", ", ".join(keying.pseudonyms), message)
    if keying.shifted:
        message = (
            f"dates are shifted by up to {keying.days:,} days, all with the same {keying.by} alike. That is no "
            "protection of its own: intervals stay, and whoever knows one true date of a person knows the others."
        )
        yield Notice("shifted-dates", ", ".join(keying.shifted), message)


def identifiers(cells: pl.Series, missing: Sequence[str]) -> pl.Series:
    """What identifies persons, as text; null where it is missing.

    Examples
    --------
    >>> identifiers(pl.Series([17.0, None]), ()).to_list(), identifiers(pl.Series([" A7", "?"]), ["?"]).to_list()
    (['17', None], ['A7', None])
    """
    if _is_text(cells):
        return cleaned(cells.cast(pl.String), missing)
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
        if ((cells != cells.floor()) | (cells.abs() > EXACT)).any():
            raise ValuesError(f"Column {cells.name!r} has numbers that are not whole, and identifies nobody.")
        cells = cells.cast(pl.Int64)
    if not cells.dtype.is_integer():
        raise ValuesError(f"Column {cells.name!r} identifies nobody: identifiers are texts or whole numbers.")
    return cells.cast(pl.String)


def _is_text(cells: pl.Series) -> bool:
    return cells.dtype == pl.String or isinstance(cells.dtype, pl.Categorical | pl.Enum)


def _replaced(cells: pl.Series, old: pl.Series, new: pl.Series) -> pl.Series:
    """Each cell by what stands for it; null stays null."""
    if not len(old):
        return pl.Series(cells.name, [None] * len(cells), new.dtype)
    return cells.replace_strict(old, new, default=None, return_dtype=new.dtype)


def _parted(cells: pl.Series, missing: Sequence[str]) -> pl.DataFrame:
    """The date of each text, and the time of day behind it."""
    text, time = pl.col("text"), pl.col("time")
    texts = pl.DataFrame({"text": cleaned(cells.cast(pl.String), missing)})
    parted = texts.with_columns(text.str.extract(f"({_CLOCK})$", 1).alias("time"))
    return parted.select(text.str.head(text.str.len_chars() - time.str.len_chars()).alias("date"), time)


def _days_of(name: str, texts: pl.Series) -> pl.DataFrame:
    """The day of each text, by the one reading that fits them all."""
    dates = parse_dates(texts)
    if dates.ambiguous:
        raise ValuesError(
            f"Column {name!r}: the order of day, month and year cannot be told, or years have two digits. Say it: "
            f"{reading_option(dates='dmy')}, or write YYYY-MM-DD."
        )
    _refuse(name, int(dates.values.is_null().sum()))
    return pl.DataFrame({"text": texts, "day": dates.values.to_physical().cast(pl.Int64)})


def _refuse(name: str, bad: int) -> None:
    if bad:
        raise ValuesError(
            f"Column {name!r}: {counted(bad, 'different text')} cannot be read as dates of one style, and cannot be "
            "shifted. Write YYYY-MM-DD, or name the text that means missing."
        )
