"""What is written for an option, taken as it is where there is nothing to convert or to check.

Typer has Pydantic read every option, also those that were left out. To load it takes a tenth of a small release, so it
is asked only for numbers and for what may be wrong: then the message is its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin


class PlainValues:
    """A command whose options are read so; an older typer does not load Pydantic, and reads them itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words after its name."""
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            if hasattr(parameter, "get_runtime_param"):
                plain = _Read(parameter.type_descriptor.annotation, parameter.get_runtime_param)
                parameter.get_runtime_param = lambda plain=plain: plain
        return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]


class _Read(NamedTuple):
    """How one option is read, and how typer reads it."""

    kind: Any
    by_typer: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of the option."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        kind = get_args(self.kind)[0] if several and get_origin(self.kind) is list else self.kind
        read = [_plain(one, kind) for one in (value if several else [value])]
        if any(one is None for one in read):
            return self.by_typer().coerce(value, param=param, ctx=ctx)
        return read if several else read[0]


def _plain(value: Any, kind: Any) -> Any:
    """A text or an answer as it is, a path that can be read or is not there, a word among the choices; else None."""
    if kind in (str, bool):
        return value if type(value) is kind else None
    if kind is Path and isinstance(value, str):
        return Path(value) if os.access(value, os.R_OK) or not os.path.exists(value) else None
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((one for one in kind if one.value == value), None)
    return None
