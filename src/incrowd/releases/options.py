"""What may be asked when a table or a release is verified, declared once; see :mod:`incrowd.vocabulary.option`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict

from incrowd.tables.options import (
    Hierarchies,
    KnownTogether,
    MemoryLimit,
    Population,
    QuasiIdentifiers,
    Reading,
    RecipeFile,
    Require,
)
from incrowd.vocabulary.option import Kind, Option


class Certified(TypedDict, total=False):
    """A release, held next to its certificate."""

    certificate: Annotated[
        Mapping[str, Any] | str | Path | None,
        Option("The certificate of the release; else it is FILE.certificate.json beside the release.", Kind.FILE),
    ]
    signed_by: Annotated[
        str | Path | None, Option("The public key of whoever must have signed the certificate.", Kind.FILE)
    ]


class Kept(TypedDict, total=False):
    """What any table must keep."""

    k: Annotated[int | None, Option("The smallest group of rows that may look alike.", Kind.WHOLE, flags=("-k",))]
    quasi_identifiers: QuasiIdentifiers
    known_together: KnownTogether
    require: Require
    population: Population
    hierarchies: Hierarchies
    recipe: RecipeFile


class VerifyOptions(Certified, Kept, MemoryLimit, Reading, total=False):
    """All options of a verification."""


VERIFY = {"Certificate": (Certified,), "Promise": (Kept,), "Engine": (MemoryLimit,), "Reading files": (Reading,)}
"""All options of ``incrowd verify``, in groups."""
