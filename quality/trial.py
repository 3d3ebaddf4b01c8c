"""One damaged file given to a reader: what it must do, and how the judge sees whether it did."""

from __future__ import annotations

import gzip
import re
import resource
import traceback
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from quality.readers import CANARY, Reader, Seed

MOST_SECONDS = 5.0
MOST_BYTES = 400 << 20
"""More than anything that a file of some thousand bytes can need."""


@dataclass(frozen=True)
class Violation:
    """A file that a reader neither read nor refused as it must."""

    reader: str
    case: int
    trouble: str


def damaged(reader: Reader, seeds: Sequence[Seed], seed: int, case: int) -> tuple[str, bytes]:
    """The file of a case: how its name ends, and its bytes; the same each time."""
    chance = Random(f"{seed} {reader.name} {case}")
    chosen = chance.choice(seeds)
    others = [other.data for other in seeds if other.ending == chosen.ending]
    data = chosen.data
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
        way = chance.choice(reader.ways[chosen.ending])
        try:
            data = way(data, others, chance) or data
        except Exception:
            continue
    return chosen.ending, data


def judge(reader: Reader, path: Path) -> str | None:
    """What a reader did wrong with a file, if anything: success and an error of the program's own are right."""
    from incrowd.errors import IncrowdError, UnexpectedError

    with suppress(OSError):  # what was held before is forgotten, where the system can
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _most_held()
    trouble = None
    try:
        reader.read(path)
    except IncrowdError as error:
        if isinstance(error, UnexpectedError):
            trouble = _told(error)
        elif _quotes(error, path):
            trouble = f"a cell in the message of {_told(error)}"
    except BaseException as error:  # panics are no exceptions
        trouble = _told(error)
    held = _most_held() - before
    return trouble or (f"{held >> 20} MB of memory" if held > MOST_BYTES else None)


def _told(error: BaseException) -> str:
    """Type and place of an error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"


def _quotes(error: BaseException, path: Path) -> bool:
    """Whether a cell stands in what a user sees of an error, other than as the name of a column in a damaged header."""
    shown = "".join(traceback.format_exception(error))
    data = path.read_bytes()
    if path.suffix == ".gz":
        with suppress(OSError, EOFError, zlib.error):
            data = gzip.decompress(data)
    head = data[:4096].replace(b"\0", b"").decode("latin-1").splitlines()
    return any(match not in "".join(head[:1]) for match in CANARY.findall(shown))


def _most_held() -> int:
    with suppress(OSError):
        match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        return int(match[1]) << 10 if match else 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
