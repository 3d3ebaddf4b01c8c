"""What was asked for: a release of what, by what, to where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import OutputError, ParameterError, RequirementError, named_option, option_name
from incrowd.methods.catalog import AUTO, check_preferences, find_method
from incrowd.optional import optional
from incrowd.tables.databases.tables import DatabaseFile, NewTable, Query, is_address, query_of
from incrowd.tables.options import Book, Measuring, Outputs, Run
from incrowd.tables.publishing.staging import check_target, check_targets
from incrowd.tables.reading.source import is_spark_frame
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.column_rules import Keying, coarsenings
from incrowd.vocabulary.forms import BY_CLASS, COUNTS, PAIR, REDRAW, FileForm, groups_path
from incrowd.vocabulary.persons import ORPHANS
from incrowd.vocabulary.preferences import APART, AT_MOST, LOSE
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.resources import Clock
from incrowd.vocabulary.schema import KEYED

if TYPE_CHECKING:
    from incrowd.comparisons.automatic import MethodChoice


@dataclass(frozen=True)
class Targets:
    """Where the results go; ``None`` is not written. The release is a file or a table."""

    release: Path | None = None
    plan: Path | None = None
    report: Path | None = None
    table: NewTable | None = None
    certified: Path | None = None
    replace: bool = False

    @classmethod
    def at(cls, to: str | Path | NewTable | None, others: Outputs | None = None) -> Targets:
        """With the release at a path or an address, and others beside it."""
        others = others or Outputs()
        beside = {"plan": others.plan, "report": others.report, "certified": others.certificate}
        paths: dict[str, Any] = {what: Path(path) for what, path in beside.items() if path is not None}
        if isinstance(to, str) and is_address(to):
            to = NewTable.of(to, replace=others.replace)
        if isinstance(to, NewTable):
            return cls(table=to, **paths, replace=others.replace or to.replace)
        return cls(None if to is None else Path(to), **paths, replace=others.replace)

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
        targets = (self.release, self.plan, self.report, self.certificate)
        check_targets("Release, certificate, plan and report", targets, inputs, replace=self.replace)
        if self.table is not None:
            from incrowd.tables.databases.writing import check_table

            check_table(self.table.address, replace=self.table.replace, source=query)


@dataclass(frozen=True, eq=False)
class Events:
    """The second table, with events of the persons of the first; and what becomes of events of others."""

    table: Any
    orphans: str = "refuse"

    def __post_init__(self) -> None:
        if self.orphans not in ORPHANS:
            raise ParameterError(f"{option_name('orphans', '--orphans')} is one of {', '.join(ORPHANS)}.")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Events | None:
        """What the options say of it; None if there is none."""
        table, key, orphans = (options.get(name) for name in ("with_table", "key_column", "orphans"))
        if table is None:
            if key is not None or orphans is not None:
                raise ParameterError(f"Name the second table: {option_name('with_table', '--with')}.")
            return None
        if key is None:
            option = option_name("key_column='COLUMN'", "--key COLUMN")
            raise ParameterError(f"Which column of both tables says whose row it is? {option}.")
        return cls(query_of(table) or table, orphans or "refuse")


@dataclass(frozen=True, eq=False)
class Job:
    """One release to be made: what, from what, to where, by what.

    What is measured, the book of earlier releases, the run, ``despite_unchanged``, ``key_file`` and ``new_key`` are as
    :mod:`incrowd.tables.options` declares them; ``sign`` is the private key that signs the certificate; ``events`` the
    second table of two. While it runs, ``private`` is the folder that nobody else can read, and ``counts_key`` what
    fixes the draws of counts, ``chosen`` how its method was chosen, if by ``auto``.
    """

    table: Any
    recipe: Recipe
    outputs: Targets = field(default_factory=Targets)
    recipe_path: Path | None = None
    clock: Clock = field(default_factory=Clock)
    responsible: str | None = None
    sign: Path | None = None
    share_hierarchies: bool = False
    measuring: Measuring = field(default_factory=Measuring)
    ledger: Book | None = None
    run: Run = field(default_factory=Run)
    despite_unchanged: bool = False
    key_file: Path | None = None
    new_key: bool = False
    events: Events | None = None
    counts_key: bytes | None = field(default=None, repr=False)
    chosen: MethodChoice | None = None
    private: Path | None = None

    @property
    def redraw(self) -> int:
        """From how many rows counts are drawn beside those of their group; 0 where they are exact, or none."""
        return self.recipe.redraw if has_counts(self.recipe) else 0

    @property
    def keying(self) -> Keying | None:
        """The columns that a key makes, if there are some."""
        if not self.recipe.named(*KEYED):
            return None
        if self.key_file is None:
            raise ParameterError(
                "Pseudonyms and shifted dates are made with a key that stays with you. Name its file, for instance "
                f"{named_option(key_file='key.txt')}; to make a new one there, add {named_option(new_key=True)}."
            )
        return self.recipe.keying(self.key_file)

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
        return Path(self.table) if isinstance(self.table, str | Path) and self.query is None else None

    @property
    def query(self) -> Query | None:
        """What is read from a server, if it is on one."""
        return query_of(self.table)

    @property
    def pair(self) -> bool:
        """Whether the release is to be two tables, rows and groups."""
        return self.recipe.form == PAIR

    @property
    def automatic(self) -> bool:
        """Whether the method is still to be chosen."""
        return find_method(self.recipe.method) is AUTO

    @property
    def looked_at_whole(self) -> tuple[str, int]:
        """What asks for all rows at once, in words, and how many times it holds them; nothing if they may be blocks."""
        recipe, persons = self.recipe, self.recipe.persons
        reasons = {
            ("A table that is attacked", 3): self.measuring.attacks,
            ("A table of persons who can be followed", 2): persons is not None and persons.linked,
            ("A table with a ledger", 2): self.ledger is not None,
            ("A table with rare values of persons", 1): persons is not None and recipe.rarest is not None,
            ("A table with columns to coarsen", 1): recipe.reading.get("coarsen"),
            ("A table under a preset", 1): recipe.preset is not None and recipe.preset.kinds,
            ("A release of two tables", 1): self.pair,
        }
        return next((reason for reason, holds in reasons.items() if holds), ("", 1))

    @property
    def on_spark(self) -> bool:
        """Whether Spark has the rows."""
        return self.run.engine is not None or is_spark_frame(self.table)

    def check(self) -> None:
        """Refuse what cannot be done before any work is done."""
        if self.on_spark:
            self._check_on_spark()
        else:
            file = self.query.address.path if self.query and isinstance(self.query.address, DatabaseFile) else self.path
            self.outputs.check(file, self.recipe_path, query=self.query)
        self.check_method()
        if self.sign is not None:
            from incrowd.report.signature import private_key

            private_key(self.sign)
        if self.measuring.attacks:
            optional("sklearn", "attacking the release")  # before the work, not after it
        if self.recipe.counts_by_class:
            self._check_by_class()
        if self.pair:
            self._check_pair()
        self._check_linked()
        self._check_key()

    def check_method(self) -> None:
        """Refuse what the method, or the form, cannot do."""
        check_preferences(self.recipe.method, self.recipe.preferences)
        self._check_limits()
        self._check_lose()
        usual = {"redraw": REDRAW, "bins": BY_CLASS, "joint_counts": False}
        for name in () if has_counts(self.recipe) or self.automatic else usual:
            if getattr(self.recipe, name) != usual[name]:
                raise ParameterError(f"{name} is about counts, which this release has none of. Choose form counts.")

    def _check_by_class(self) -> None:
        """Refuse counts that tell the class where it may not be told."""
        from incrowd.methods.class_blocks import check_class_told

        recipe = self.recipe
        if recipe.class_sensitive is not False:
            raise ParameterError(
                "Counts by class tell the class of most people whose values are known. State that it is not sensitive, "
                f"{named_option(class_sensitive=False)}, or leave counts_by_class out."
            )
        check_class_told(has_counts(recipe), recipe.requirement, recipe.target)

    def _check_pair(self) -> None:
        """Refuse what a release of two tables does not have."""
        if self.outputs.table is not None:
            raise OutputError("Two tables cannot appear in a database at once. Choose form counts, or write files.")
        measuring = ((self.measuring.risk, "Risk looks"), (self.measuring.attacks, "Attacks look"))
        for wanted, what in ((self.ledger, "A ledger looks"), *measuring):
            if wanted:
                raise ParameterError(
                    f"{what} at what rows show, and a pair of tables shows it apart from them. Choose form counts."
                )
        if self.outputs.release is not None:
            second, others = groups_path(self.outputs.release), [self.outputs.plan, self.outputs.report]
            check_target(second, tuple(filter(None, (self.path, self.recipe_path))), replace=self.outputs.replace)
            if any(path is not None and path.resolve() == second.resolve() for path in others):
                raise OutputError(f"{second.name} is where the table of groups goes. Name another file.")

    def _check_linked(self) -> None:
        """Refuse what is not known of a release in which persons can be followed."""
        recipe, option = self.recipe, option_name("keep_link", "--keep-link")
        if recipe.persons is None or not recipe.persons.linked:
            return
        if recipe.form in (COUNTS, PAIR):
            raise ParameterError(f"{option} takes plain values, not counts of them. Choose form strict.")
        if recipe.requirement.on_population:
            raise ParameterError(
                f"k-map and delta-presence are about single rows, and {option} about whole histories. Leave one out."
            )
        if recipe.known_together and recipe.persons.known_rows is not None:
            raise ParameterError("Known rows are known in all columns. Name no sets of columns known together.")
        if self.ledger is not None:
            raise ParameterError(
                f"A ledger does not know what histories tell together with other releases. Leave it or {option} out."
            )

    def _check_key(self) -> None:
        """Refuse keys for nothing, and columns that a key and something else would make; make the key, or read it."""
        keying, path = self.keying, self.key_file
        if keying is None or path is None:
            if path is not None or self.new_key or self.recipe.shift_by or self.recipe.shift_days:
                raise ParameterError(
                    "Nothing is made with a key. Name columns: "
                    f"{named_option(pseudonyms=['patient_id'])} or {named_option(shift_dates=['admitted'])}."
                )
            return
        if self.recipe.preset is not None and self.recipe.preset.kinds:
            raise ParameterError(
                f"{self.recipe.preset.name} allows neither pseudonyms made from identifiers nor dates finer than a "
                "year. Name no preset, or leave them out."
            )
        for name in coarsenings(self.recipe.reading.get("coarsen")):
            if name in (*keying.columns, keying.persons):
                raise ParameterError(
                    f"Column {name!r} is made with a key, and cannot be coarsened. Choose one of the two."
                )
        own, outputs = path.resolve(), self.outputs
        second = groups_path(outputs.release) if outputs.release and self.pair else None
        others = (outputs.release, second, outputs.plan, outputs.report, outputs.certificate)
        for other in (*others, self.path, self.recipe_path):
            if other is not None and (other.resolve() == own or other.resolve() in own.parents):
                raise OutputError(f"The key cannot be where {other.name} is. Name another file for it.")
        from incrowd.tables.reading.keyed import make_key, read_key

        if self.new_key:
            make_key(path)
        read_key(path)

    def _check_limits(self) -> None:
        """Refuse what hides cells beside a limit that hidden cells exceed."""
        recipe, option = self.recipe, option_name(*(AT_MOST if self.recipe.at_most else APART))
        if not recipe.at_most and not recipe.apart:
            return
        if has_counts(recipe):
            raise ParameterError(f"{option} is about plain values, not counts of them. Choose form strict.")
        if recipe.rarest is not None:
            raise ParameterError(f"rarest hides cells, which {option} does not allow. Leave one of the two out.")
        if recipe.requirement.on_population:
            raise ParameterError(
                f"k-map and delta-presence hide cells, which {option} does not allow. Leave one of the two out."
            )
        if recipe.at_most and recipe.parameters.get("numeric") in ("mean", "midpoint"):
            raise ParameterError(
                f"{option} is counted on what cells show, and a mean or a middle does not show its interval. Choose "
                "numeric=interval or numeric=bounds."
            )

    def _check_lose(self) -> None:
        """Refuse rows left out beside what looks at all rows, or at those beyond the end of an interval."""
        recipe, option = self.recipe, option_name(*LOSE)
        if recipe.lose is None:
            return
        from incrowd.vocabulary.requirements.closeness import ConfidenceCap
        from incrowd.vocabulary.requirements.diversity import (
            DistinctDiversity,
            EntropyDiversity,
            PowerBound,
            RecursiveDiversity,
        )

        # a group keeps or breaks these by itself, whichever other rows there are
        of_groups = (KAnonymity, DistinctDiversity, EntropyDiversity, RecursiveDiversity, ConfidenceCap, PowerBound)
        if others := [part for part in recipe.requirement.parts if not isinstance(part, of_groups)]:
            raise ParameterError(
                f"{option} leaves out rows, and with them changes what groups are compared with: {others[0]} is kept "
                "with all rows. Leave one of the two out. What groups keep by themselves may stand beside it: k, "
                "l-diversity, a confidence cap."
            )
        if recipe.parameters.get("numeric") == "midpoint":
            raise ParameterError(
                f"A middle needs k rows beyond the end of its interval, and {option} may leave them out. Choose "
                "another numeric."
            )

    def _check_on_spark(self) -> None:
        """Refuse what only one machine does; the folder of the release is Spark's business."""
        if self.automatic:
            raise ParameterError(
                "auto tries methods on rows of the table, and none leaves the executors. Ask incrowd compare about a "
                "sample, and name the method."
            )
        if self.memory is not None:
            raise ParameterError(
                "How much memory Spark may use is set in its session, spark.driver.memory and spark.executor.memory. "
                f"Leave {option_name('memory', '--memory')} out."
            )
        if self.measuring.accuracy:
            raise ParameterError("Accuracy is not measured on Spark. Take a sample and ask incrowd compare.")
        if self.measuring.risk and self.recipe.persons is not None:
            raise ParameterError(
                "On Spark risk is measured of tables with a row for each person. Leave risk out, or release on one "
                "machine."
            )
        if self.measuring.attacks or self.ledger is not None:
            raise ParameterError(
                "On Spark no attack is run and no ledger is kept: that takes the whole table on one machine. Leave "
                "them out, or release there."
            )
        if self.recipe.joint_counts:
            raise ParameterError(
                "Who has which combination of values is recounted on one machine. Leave joint_counts out on Spark."
            )
        if self.recipe.persons is not None and self.recipe.persons.column in (self.recipe.reading.get("coarsen") or {}):
            raise ParameterError("On Spark the column of persons is not coarsened. Name another column, or no rule.")
        if self.recipe.named(*KEYED):
            raise ParameterError(
                "Pseudonyms and shifted dates are made and verified on one machine. Leave them out, or release there."
            )
        if self.recipe.persons is not None and len(self.recipe.requirement.parts) > 1:
            raise RequirementError(
                "On Spark persons who may have several rows are promised k. Further requirements on them are kept on "
                "one machine."
            )
        if self.recipe.persons is not None and self.recipe.rarest is not None:
            raise ParameterError(
                "On Spark it is not counted how many persons, who may have several rows, have a value. Leave rarest "
                "out, or release on one machine."
            )
        if self.recipe.persons is not None and self.recipe.persons.linked:
            raise ParameterError(
                f"{option_name('keep_link', '--keep-link')} looks at all rows of a person, on one machine. Leave it "
                "out, or release there."
            )
        if self.query is not None:
            raise ParameterError(
                "Rows of a database are read without Spark. Leave the engine out, or read them with spark.read."
            )
        if self.pair:
            raise ParameterError("Spark writes one table. Choose form counts, or release without Spark.")
        if self.outputs.table is not None:
            raise OutputError("With Spark the release goes to a folder of Parquet files. Name one.")
        replace(self.outputs, release=None, certified=self.outputs.certificate).check(self.recipe_path)

    @property
    def form(self) -> FileForm:
        """How the release is written; one of Spark or for this process as Parquet."""
        return FileForm("parquet") if self.on_spark or not self.outputs.release else FileForm.of(self.outputs.release)


def has_counts(recipe: Recipe) -> bool:
    """Whether the user asks for counts, by the form or by a method that releases them by itself."""
    return recipe.form in (COUNTS, PAIR) or (recipe.form is None and find_method(recipe.method).counts)
