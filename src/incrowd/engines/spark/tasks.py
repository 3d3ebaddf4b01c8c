"""Work that is shipped to the executors, and what comes back when it fails."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from incrowd import errors
from incrowd.errors import IncrowdError, MissingPackageError, OutputError

Work = Callable[[Iterable[Any]], Iterator[Any]]
_TOLD = re.compile(r"incrowd\.errors\.(\w+): (.+)")


class TaskError(Exception):
    """A task failed; only the type of its error is told, because its words may quote cells."""


@dataclass(frozen=True, eq=False)
class Task:
    """Work on the batches of one partition, in a form that Spark can ship."""

    work: Work

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Do the work; an error tells no more than it may."""
        with quiet():
            yield from self.work(batches)


@contextmanager
def quiet() -> Iterator[None]:
    """Errors of this package pass; of others only the type gets out, into no log and to no driver."""
    try:
        yield
    except (IncrowdError, GeneratorExit):
        raise
    except Exception as failure:
        raise TaskError(type(failure).__name__) from None


def mapped(frame: Any, work: Work, schema: str | Any) -> Any:
    """A frame with each partition's batches changed by some work."""
    with unwarned():
        return frame.mapInArrow(Task(work), schema)


@contextmanager
def unwarned() -> Iterator[None]:
    """Without the warning of Spark that it does not know the version of pandas: pandas is not used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


@contextmanager
def told() -> Iterator[None]:
    """Failures of Spark as errors of this package: without rows, tracebacks and plans."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        raise translated(str(failure), type(failure).__name__) from None


def translated(words: str, kind: str) -> IncrowdError:
    """The error behind the words of a failed job.

    Examples
    --------
    >>> translated("... incrowd.errors.ValuesError: Column 'a' is odd.", "PythonException")
    ValuesError("Column 'a' is odd.")
    >>> translated("... incrowd.engines.spark.tasks.TaskError: MemoryError", "PythonException")
    OutputError('A task of Spark failed (MemoryError). Nothing was released. See what the executors log.')
    """
    for name, message in reversed(_TOLD.findall(words)):
        known = getattr(errors, name, None)
        if isinstance(known, type) and issubclass(known, IncrowdError):
            return known(message.strip())
    missing = re.findall(r"ModuleNotFoundError: No module named '([\w.]+)'", words)
    if missing:
        return MissingPackageError(
            f"The Python of the executors lacks the module {missing[-1]!r}. Install the same incrowd there as here, "
            "and name that Python in PYSPARK_PYTHON."
        )
    inner = re.findall(r"TaskError: (\w+)", words)
    reason = inner[-1] if inner else kind
    return OutputError(f"A task of Spark failed ({reason}). Nothing was released. See what the executors log.")
