"""Axes that write down what is drawn on them, instead of Matplotlib's: its methods, and no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

POINTS = {"errorbar", "plot", "step", "barh"}  # x and y, equally long
WORDS = {"annotate", "text", "set_title", "set_xlabel", "set_ylabel", "set_xticks", "set_yticks", "legend"}
SCALES = {"set_xscale", "set_xlim", "set_ylim", "invert_yaxis", "set_axis_off", "axhline"}


@dataclass
class RecordedAxes:
    """All calls by their names, in order."""

    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in POINTS | WORDS | SCALES:
            raise AttributeError(f"axes of Matplotlib are not known to have {name!r} here")

        def record(*values: Any, **named: Any) -> None:
            if name in POINTS and isinstance(values[0], list):
                assert len(values[0]) == len(values[1])
            self.calls.append((name, values, named))

        return record

    def named(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """The arguments of all calls of a method."""
        return [(values, named) for called, values, named in self.calls if called == name]

    @property
    def labels(self) -> list[str]:
        """What the legend would say."""
        return [named["label"] for _, _, named in self.calls if "label" in named]
