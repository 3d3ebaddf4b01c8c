"""What was asked for: cells to be hidden, of what, how, to where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from incrowd.adversaries.adversary import Adversary
from incrowd.adversaries.sklearn_adversary import SklearnAdversary
from incrowd.algorithms.cell_hiding.generic import Generic
from incrowd.algorithms.cell_hiding.methods import Options, adversary_named, method_named
from incrowd.clock import Clock
from incrowd.errors import OutputError, ParameterError
from incrowd.publishing.staging import check_target
from incrowd.recipe import Recipe
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.randomness import Randomness

AUTO = "auto"
MOST_ROWS = 200_000
"""Rows that an adversary of scikit-learn is trained on, of a table larger than memory."""


@dataclass(frozen=True, eq=False)
class HidingJob:
    """Cells to be hidden: of what, how, to where. Rows of cells are counted from ``first_row``."""

    given: Any
    cells: tuple[tuple[int, str], ...]
    method: str = AUTO
    adversaries: tuple[str, ...] = ("nb", "id3")
    options: Options = field(default_factory=Options)
    recipe: Recipe = field(default_factory=Recipe)
    predictors: tuple[str, ...] = ()
    to: Path | None = None
    report_to: Path | None = None
    first_row: int = 0
    strict: bool = False
    attack: bool = False
    randomness: Randomness | None = None
    clock: Clock = field(default_factory=Clock)
    memory: int | None = None

    @property
    def path(self) -> Path | None:
        """The input file, if it is one."""
        return Path(self.given) if isinstance(self.given, str | Path) else None

    @property
    def hider(self) -> str:
        """The name of the method; the generic one where none is chosen."""
        return Generic.name if self.method == AUTO else self.method

    @property
    def form(self) -> FileForm:
        """How the table is written; one for this process goes through Parquet."""
        return FileForm.of(self.to) if self.to else FileForm("parquet")

    def judges(self, *, large: bool = False) -> tuple[Adversary, ...]:
        """Who checks the result; of a table larger than memory, some learn from a sample."""
        if not self.adversaries:
            raise ParameterError("Name at least one adversary, for instance nb and id3: nobody would check the result.")
        if len(set(self.adversaries)) < len(self.adversaries):
            raise ParameterError("An adversary is named more than once. Name each once.")
        named = (adversary_named(name) for name in self.adversaries)
        return tuple(replace(a, most_rows=MOST_ROWS) if large and isinstance(a, SklearnAdversary) else a for a in named)

    def check(self) -> None:
        """Refuse what cannot be done before any work is done."""
        method_named(self.hider, self.judges())
        if not self.cells:
            raise ParameterError("No cell is named. Name at least one: its row and its column.")
        targets = [path for path in (self.to, self.report_to) if path is not None]
        for path in targets:
            check_target(path, (self.path,) if self.path else ())
        if len({path.resolve() for path in targets}) < len(targets):
            raise OutputError("Table and report need different file names.")
        _ = self.form
