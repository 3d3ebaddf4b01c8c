"""Check the structure of delimited text, byte by byte, before anyone trusts a parser's reading of it.

Fast CSV parsers are lenient: they pad short records, keep stray quotes and let a missing closing quote
swallow the rest of the file. A padded record is a person with invented values, so each of these is a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from incrowd.errors import FileFormatError, reading_option
from incrowd.trees.compiled import compiled

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

_ORDINARY, _DELIMITER, _LINE_END, _QUOTE, _NUL, _RETURN = range(6)


class Fault(IntEnum):
    """What can be wrong with the structure."""

    NONE = 0
    NUL = 1
    RAGGED = 2
    UNCLOSED_QUOTE = 3
    STRAY_QUOTE = 4
    BARE_RETURN = 5


@dataclass(frozen=True)
class TextStructure:
    """What a scan found."""

    records: int  # records below the header, blank lines at the end not counted
    blank_end: int  # blank lines at the end of a table of two or more columns
    fields: int  # fields of the header
    # the first fault, the line it starts in (the header starts in line 1), and for a ragged record the number of its
    # fields
    fault: Fault
    line: int
    width: int

    def check(self, delimiter: str) -> None:
        """Raise if there is a fault, naming its line."""
        match self.fault:
            case Fault.NUL:
                utf_16 = reading_option(encoding="utf-16")
                trouble = f"has a NUL byte. Is this a text file, or UTF-16 without a mark ({utf_16})?"
            case Fault.RAGGED:
                trouble = (
                    f"has {self.width} fields where the header has {self.fields}. "
                    f"Mend it, or name another delimiter than {delimiter!r}."
                )
            case Fault.UNCLOSED_QUOTE:
                trouble = "opens a quote that is never closed. Close it; double those that are part of the text."
            case Fault.STRAY_QUOTE:
                trouble = "has a quote inside a field. Put the whole field in quotes and double the inner ones."
            case Fault.BARE_RETURN:
                trouble = "has a carriage return outside quotes, while lines end in a line feed. Use one of them."
            case Fault.NONE:
                return
        raise FileFormatError(f"Line {self.line} {trouble}")


def scan(data: Bytes, delimiter: str, line_end: str, *, headless: bool = False) -> TextStructure:
    """Find the first structural fault of delimited text, and count its records."""
    scanner = Scanner(delimiter, line_end, headless=headless)
    scanner.feed(data, final=True)
    return scanner.structure


class Scanner:
    r"""Scan delimited text that comes in pieces; ``headless``: a line that is not counted was put before it.

    Examples
    --------
    >>> scanner = Scanner(",", "\n")
    >>> scanner.feed(np.frombuffer(b"a,b\n1,2\n3", np.uint8), final=False)
    8
    >>> scanner.feed(np.frombuffer(b"3,4\n", np.uint8), final=True)
    4
    >>> scanner.structure.records
    2
    """

    def __init__(self, delimiter: str, line_end: str, *, headless: bool = False) -> None:
        self._kinds = np.zeros(256, np.int64)
        self._kinds[ord(delimiter)] = _DELIMITER
        self._kinds[ord('"')] = _QUOTE
        self._kinds[0] = _NUL
        if line_end == "\n":
            self._kinds[ord("\r")] = _RETURN
        self._kinds[ord(line_end)] = _LINE_END
        self._state = np.array([0, 0, 0, 0, 0 if headless else 1], np.int64)
        self._fault = (Fault.NONE.value, 0, 0)

    def feed(self, data: Bytes, *, final: bool) -> int:
        """Scan whole records from the start of ``data``; returns how many bytes they take.

        What is left, if this is not the end of the text, is the start of a record: it comes again with the next
        piece. After a fault nothing more is to be fed.
        """
        consumed, fault, line, width = _scan(data, self._kinds, self._state, final)
        self._fault = (int(fault), int(line), int(width))
        return int(consumed)

    @property
    def line(self) -> int:
        """The line in which the next record starts."""
        return int(self._state[4])

    @property
    def structure(self) -> TextStructure:
        """What was found so far."""
        records, blank_end, _, fields, _ = (int(number) for number in self._state)
        fault, line, width = self._fault
        return TextStructure(records, blank_end, fields, fault=Fault(fault), line=line, width=width)


@compiled
def _scan(data: Bytes, kinds: Numbers, state: Numbers, final: bool) -> tuple[int, int, int, int]:
    """Header and records in one pass: (bytes of whole records, fault, line, found).

    ``state`` is (records, blank lines at the end, line of the first of them, fields, line of the next record).
    """
    records, blanks, first_blank, expected, line = state
    size = len(data)
    bom = expected == 0 and size >= 3 and data[0] == 0xEF and data[1] == 0xBB and data[2] == 0xBF
    i = start = 3 if bom else 0
    fault, width, fault_line, fields, record_line = Fault.NONE.value, 0, 0, 1, line
    last = size if final else size - 1
    while i <= last:
        kind = kinds[data[i]] if i < size else _LINE_END
        if kind <= _DELIMITER:
            fields += kind
        elif kind == _QUOTE:
            if i > start and kinds[data[i - 1]] != _DELIMITER:
                fault, fault_line = Fault.STRAY_QUOTE.value, line
                break
            i, line, fault = _quoted(data, kinds, i + 1, line)
            if fault:
                fault_line = record_line if fault == Fault.UNCLOSED_QUOTE.value else line
                break
            continue
        elif kind == _NUL:
            fault, fault_line = Fault.NUL.value, line
            break
        elif kind == _RETURN:
            if i + 1 == size or kinds[data[i + 1]] != _LINE_END:
                fault, fault_line = Fault.BARE_RETURN.value, line
                break
        else:
            length = i - start - (i > start and kinds[data[i - 1]] == _RETURN)
            if i == size and length == 0:
                start = size
                break
            if expected == 0:
                expected = fields
            elif length == 0 and expected > 1:
                first_blank = first_blank if blanks else record_line
                blanks += 1
            elif blanks or fields != expected:
                fault, fault_line = Fault.RAGGED.value, first_blank if blanks else record_line
                width = 1 if blanks else fields
                break
            else:
                records += 1
            fields = 1
            line += 1
            record_line = line
            start = min(i + 1, size)
        i += 1
    if not final and (fault == Fault.UNCLOSED_QUOTE.value or (fault == Fault.BARE_RETURN.value and i + 1 == size)):
        fault = Fault.NONE.value
    state[:] = (records, blanks, first_blank, expected, record_line)
    if not final and expected == 0:
        start = 0  # a byte order mark belongs to the header
    return start, fault, fault_line, width


@compiled
def _quoted(data: Bytes, kinds: Numbers, i: int, line: int) -> tuple[int, int, int]:
    """From just after an opening quote to just after the closing one: (position, line, fault)."""
    size = len(data)
    while i < size:
        kind = kinds[data[i]]
        if kind == _LINE_END:
            line += 1
        elif kind == _NUL:
            return i, line, Fault.NUL.value
        elif kind == _QUOTE:
            after = kinds[data[i + 1]] if i + 1 < size else _LINE_END
            if after in (_DELIMITER, _LINE_END, _RETURN):
                return i + 1, line, Fault.NONE.value
            if after != _QUOTE:
                return i, line, Fault.STRAY_QUOTE.value
            i += 1
        i += 1
    return i, line, Fault.UNCLOSED_QUOTE.value
