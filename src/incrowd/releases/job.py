"""What was asked for: a release of what, by what, to where."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.errors import OutputError, ParameterError
from incrowd.report.signature import private_key
from incrowd.rows.held import Engine
from incrowd.rows.memory.engine import EmbeddedEngine
from incrowd.tables.databases.address import is_address
from incrowd.tables.databases.tables import NewTable, Query, query_of
from incrowd.tables.databases.writing import check_table
from incrowd.tables.options import Book, Measuring, Outputs, Run
from incrowd.tables.publishing.staging import check_target
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.clock import Clock
from incrowd.vocabulary.forms import PAIR, FileForm, groups_path


@dataclass(frozen=True)
class Targets:
    """Where the results go; ``None`` is not written. The release is a file or a table."""

    release: Path | None = None
    plan: Path | None = None
    report: Path | None = None
    table: NewTable | None = None
    certified: Path | None = None

    @classmethod
    def at(cls, to: str | Path | NewTable | None, others: Outputs | None = None) -> Targets:
        """With the release at a path or an address, and others beside it."""
        others = others or Outputs()
        beside = {"plan": others.plan, "report": others.report, "certified": others.certificate}
        paths: dict[str, Any] = {what: Path(path) for what, path in beside.items() if path is not None}
        if isinstance(to, NewTable):
            return cls(table=to, **paths)
        if isinstance(to, str) and is_address(to):
            return cls(table=NewTable.of(to), **paths)
        return cls(None if to is None else Path(to), **paths)

    @property
    def certificate(self) -> Path | None:
        """Where it is to go, or ``OUT.certificate.json`` beside a file OUT; for a table OUT in the current folder."""
        if self.certified is not None:
            return self.certified
        if self.table is not None:
            return Path(f"{self.table.file_name}.certificate.json")
        return self.release and self.release.with_name(f"{self.release.name}.certificate.json")

    @property
    def name(self) -> str | None:
        """What the release is called."""
        if self.table is not None:
            return str(self.table)
        return self.release.name if self.release else None

    def check(self, *inputs: Path | None, query: Query | None = None) -> None:
        """Refuse impossible targets before any work is done: every file has its own name, none is an input."""
        targets = [path for path in (self.release, self.plan, self.report, self.certificate) if path is not None]
        for path in targets:
            check_target(path, tuple(given for given in inputs if given is not None))
        if len({path.resolve() for path in targets}) < len(targets):
            raise OutputError("Release, certificate, plan and report need different file names.")
        if self.table is not None:
            check_table(self.table.address, replace=self.table.replace, source=query)


@dataclass(frozen=True, eq=False)
class Job:
    """One release to be made: what, from what, to where, by what.

    What is measured, the book of earlier releases, the run, ``despite_unchanged`` and ``alone_at_most`` are as
    :mod:`incrowd.tables.options` declares them.
    """

    given: Any
    recipe: Recipe
    outputs: Targets = field(default_factory=Targets)
    engine: Engine = field(default_factory=EmbeddedEngine)
    recipe_path: Path | None = None
    clock: Clock = field(default_factory=Clock)
    responsible: str | None = None
    sign: Path | None = None
    measuring: Measuring = field(default_factory=Measuring)
    ledger: Book | None = None
    run: Run = field(default_factory=Run)
    despite_unchanged: bool = False
    alone_at_most: int | None = None

    @property
    def seed(self) -> int | None:
        """For experiments: what makes the draw repeatable."""
        return self.run.seed

    @property
    def memory(self) -> int | None:
        """The bytes of memory that the run may use."""
        return self.run.bytes

    @property
    def path(self) -> Path | None:
        """The input file, if it is one."""
        return Path(self.given) if isinstance(self.given, str | Path) and self.query is None else None

    @property
    def query(self) -> Query | None:
        """What is read from a server, if it is on one."""
        return query_of(self.given)

    @property
    def pair(self) -> bool:
        """Whether the release is to be two tables, rows and groups."""
        return self.recipe.form == PAIR

    def check(self) -> None:
        """Refuse impossible targets before any work is done."""
        self.outputs.check(self.path, self.recipe_path, query=self.query)
        if self.sign is not None:
            private_key(self.sign)
        if self.alone_at_most is not None and (isinstance(self.alone_at_most, bool) or self.alone_at_most < 0):
            raise ParameterError("alone_at_most is a whole number of people, 0 or more.")
        if not self.pair:
            return
        if self.outputs.table is not None:
            raise OutputError("Two tables cannot appear in a database at once. Choose form counts, or write files.")
        if self.path is not None and self.path.is_dir():
            raise OutputError("Folders of files are released as one table. Choose form counts.")
        measuring = ((self.measuring.risk, "Risk looks"), (self.measuring.attacks, "Attacks look"))
        for wanted, what in ((self.ledger, "A ledger looks"), *measuring):
            if wanted:
                raise ParameterError(
                    f"{what} at what rows show, and a pair of tables shows it apart from them. Choose form counts."
                )
        if self.outputs.release is not None:
            second, others = groups_path(self.outputs.release), [self.outputs.plan, self.outputs.report]
            check_target(second, tuple(path for path in (self.path, self.recipe_path) if path is not None))
            if any(path is not None and path.resolve() == second.resolve() for path in others):
                raise OutputError(f"{second.name} is where the table of groups goes. Name another file.")

    @property
    def form(self) -> FileForm:
        """How the release is written; a release for this process goes through Parquet."""
        return FileForm.of(self.outputs.release) if self.outputs.release else FileForm("parquet")
