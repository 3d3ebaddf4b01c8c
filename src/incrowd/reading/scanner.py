"""Check the structure of delimited text, byte by byte, before anyone trusts a parser's reading of it.

Fast CSV parsers are lenient: they pad short records, keep stray quotes and let a missing closing quote
swallow the rest of the file. A padded record is a person with invented values, so each of these is a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from numba import njit

from incrowd.errors import FileFormatError

Bytes = npt.NDArray[np.uint8]

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
class Structure:
    """What a scan found.

    Parameters
    ----------
    records
        Records below the header, blank lines at the end not counted.
    blank_end
        Blank lines at the end of a table of two or more columns.
    fields
        Fields of the header.
    fault, line, found
        The first fault, the line it starts in (the header starts in line 1), and for a ragged record the
        number of its fields.
    """

    records: int
    blank_end: int
    fields: int
    fault: Fault
    line: int
    found: int

    def check(self, delimiter: str) -> None:
        """Raise if there is a fault, naming its line."""
        match self.fault:
            case Fault.NUL:
                trouble = "has a NUL byte. Is this a text file, or UTF-16 without a mark (give encoding='utf-16')?"
            case Fault.RAGGED:
                trouble = (
                    f"has {self.found} fields where the header has {self.fields}. "
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


def scan(data: Bytes, delimiter: str, line_end: str) -> Structure:
    r"""Find the first structural fault of delimited text, and count its records.

    Examples
    --------
    >>> scan(np.frombuffer(b"a,b\n1,2\n3\n", np.uint8), ",", "\n").line
    3
    """
    kinds = np.zeros(256, np.uint8)
    kinds[ord(delimiter)] = _DELIMITER
    kinds[ord('"')] = _QUOTE
    kinds[0] = _NUL
    if line_end == "\n":
        kinds[ord("\r")] = _RETURN
    kinds[ord(line_end)] = _LINE_END
    records, blank_end, fields, fault, line, found = _scan(data, kinds)
    return Structure(records, blank_end, fields, Fault(fault), line, found)


@njit(cache=True, nogil=True)
def _scan(data: Bytes, kinds: Bytes) -> tuple[int, int, int, int, int, int]:
    """Header and records in one pass: (records, blank end, fields, fault, line, found)."""
    size = len(data)
    bom = size >= 3 and data[0] == 0xEF and data[1] == 0xBB and data[2] == 0xBF
    i = start = 3 if bom else 0
    records, blanks, first_blank, expected, fields = 0, 0, 0, 0, 1
    line = record_line = 1
    while i <= size:
        kind = kinds[data[i]] if i < size else _LINE_END
        if kind <= _DELIMITER:
            fields += kind
        elif kind == _QUOTE:
            if i > start and kinds[data[i - 1]] != _DELIMITER:
                return records, blanks, expected, Fault.STRAY_QUOTE.value, line, 0
            i, line, fault = _quoted(data, kinds, i + 1, line)
            if fault:
                return records, blanks, expected, fault, record_line if fault == 3 else line, 0
            continue
        elif kind == _NUL:
            return records, blanks, expected, Fault.NUL.value, line, 0
        elif kind == _RETURN:
            if i + 1 == size or kinds[data[i + 1]] != _LINE_END:
                return records, blanks, expected, Fault.BARE_RETURN.value, line, 0
        else:
            length = i - start - (i > start and kinds[data[i - 1]] == _RETURN)
            if i == size and length == 0:
                break
            if expected == 0:
                expected = fields
            elif length == 0 and expected > 1:
                first_blank = first_blank if blanks else record_line
                blanks += 1
            elif blanks:
                return records, blanks, expected, Fault.RAGGED.value, first_blank, 1
            elif fields != expected:
                return records, blanks, expected, Fault.RAGGED.value, record_line, fields
            else:
                records += 1
            fields = 1
            line += 1
            record_line = line
            start = i + 1
        i += 1
    return records, blanks, expected, Fault.NONE.value, 0, 0


@njit(cache=True, nogil=True)
def _quoted(data: Bytes, kinds: Bytes, i: int, line: int) -> tuple[int, int, int]:
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
