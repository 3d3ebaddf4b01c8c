"""All planted faults, by the part of the program they are planted in."""

from __future__ import annotations

from faults import (  # noqa: F401, each enters its faults
    algorithms,
    applying,
    coarsening,
    encoding,
    engines,
    forms,
    keys,
    other_programs,
    persons,
    publication,
    reading,
    requirements,
    understanding,
    writing,
)
from faults.planting import FAULTS

__all__ = ["FAULTS"]
