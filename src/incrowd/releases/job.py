"""What was asked for: a release of what, by what, to where."""

from __future__ import annotations

from collections.abc import Sequence
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
from incrowd.tables.publishing.staging import check_target
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.clock import Clock
from incrowd.vocabulary.forms import PAIR, FileForm, groups_path


@dataclass(frozen=True)
class Outputs:
    """Where the results go; ``None`` is not written. The release is a file or a table."""

    release: Path | None = None
    plan: Path | None = None
    report: Path | None = None
    responsible: str | None = None
    table: NewTable | None = None
    certified: Path | None = None

    @classmethod
    def at(cls, to: str | Path | NewTable | None, **others: Any) -> Outputs:
        """With the release at a path or an address."""
        table = NewTable.of(to) if isinstance(to, str) and is_address(to) else to if isinstance(to, NewTable) else None
        return cls(None if to is None or table else Path(to), table=table, **others)  # type: ignore[arg-type]

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

    ``risk`` None: measured where a report is written. ``attacks`` are all, or some by name. ``ledger`` is the folder of
    the book of earlier releases, ``ledger_key`` the file of its key where that is elsewhere; ``despite_earlier``
    publishes whatever they tell together with this one; ``other_people`` are numbers of entries that are about other
    people, ``same_columns`` what columns were called in earlier tables; with ``presence_known`` outsiders may know who
    joined and who left. ``despite_unchanged`` publishes whatever unchanged columns give back; ``alone_at_most`` people
    may be alone by such columns. ``sign`` is the private key that signs the certificate.
    """

    given: Any
    recipe: Recipe
    outputs: Outputs = field(default_factory=Outputs)
    engine: Engine = field(default_factory=EmbeddedEngine)
    recipe_path: Path | None = None
    seed: int | None = None
    accuracy: bool = False
    clock: Clock = field(default_factory=Clock)
    memory: int | None = None
    risk: bool | None = None
    attacks: bool | Sequence[str] = False
    ledger: Path | None = None
    despite_earlier: bool = False
    sign: Path | None = None
    despite_unchanged: bool = False
    alone_at_most: int | None = None
    ledger_key: Path | None = None
    other_people: tuple[int, ...] = ()
    same_columns: tuple[tuple[str, str], ...] = ()
    presence_known: bool = False

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
        for asked, what in ((self.ledger, "A ledger looks"), (self.risk, "Risk looks"), (self.attacks, "Attacks look")):
            if asked:
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
