"""A release beside the earlier ones about the same people: the same groups where the same is asked, else recounted."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import LedgerError, Notice, ParameterError, VerificationError, named_option
from incrowd.methods.catalog import make_method
from incrowd.plan.release_plan import ReleasePlan
from incrowd.releases.job import Job
from incrowd.releases.ledger.book import Ledger, PreparedEntry, open_ledger
from incrowd.releases.ledger.entry import BOUND, RELEASE, SOUND, LedgerEntry, Recorded
from incrowd.releases.ledger.judging import CANNOT, REFUSED, SAME, Beside, Judgement, judge, vouched
from incrowd.releases.ledger.marks import Marker, are_unique, subkey
from incrowd.releases.ledger.overlap import MarkedTable, Overlap
from incrowd.releases.ledger.upkeep import pending, upgraded
from incrowd.report.attack_facts import Earlier, EarlierRelease
from incrowd.report.certificate import sha256_of
from incrowd.rows.memory.held import InMemory
from incrowd.tables.options import Book
from incrowd.tables.publishing.serialise import safe_name
from incrowd.tables.recipe import Recipe
from incrowd.verification.joint import classes_of_rows
from incrowd.verification.request import Original, Request
from incrowd.vocabulary.certificates import version
from incrowd.vocabulary.forms import BY_CLASS, REDRAW
from incrowd.vocabulary.requirement import KAnonymity

if TYPE_CHECKING:
    from incrowd.rows.held import Held

_KEY_BYTES = 32  # 256 bits, as long as the hashes that are keyed with it
_WAY_OUT = (
    "What passes: the same groups for the same people; earlier groups joined whole; people who are new in groups of "
    "their own, for instance as a release of them alone. Or use {option}, which the certificate then states."
)


@dataclass(frozen=True, eq=False)
class Page:
    """The releases of the book, while a further one is made; ``as_read`` has the rows in the order they came in."""

    job: Job
    book: Ledger
    as_read: InMemory

    @property
    def recipe(self) -> Recipe:
        """What is asked for."""
        return self.job.recipe

    @property
    def terms(self) -> Book:
        """What is said of the earlier releases."""
        assert self.job.ledger is not None
        return self.job.ledger

    @cached_property
    def table(self) -> MarkedTable:
        """The people of the table, in the order of its rows."""
        same = dict(self.terms.same_columns or {})
        return MarkedTable(self.as_read.source, self.as_read.schema, Marker(self.book.key), same)

    @cached_property
    def request(self) -> str:
        """The digest of what decides the groups; the order of columns is no part of it."""
        method = make_method(self.recipe.method, dict(self.recipe.parameters))
        columns = [self.as_read.schema[name] for name in self.as_read.columns]
        named, preferences = self.table.same_columns, self.recipe.preferences
        plain = sorted(
            json.dumps(
                [
                    *(named.get(c.name, c.name), c.type, c.role, c.order, c.hierarchy and c.hierarchy.to_json()),
                    *preferences.of(c.name),
                ],
                default=str,
            )
            for c in columns
        )
        parts = [method.name, method.parameters(), self.recipe.requirement.to_json(), self.recipe.form, plain]
        parts += [] if preferences.lose is None else [str(preferences.lose)]
        parts += [] if self.recipe.persons is None else ["persons"]
        parts += [] if self.recipe.redraw == REDRAW else [f"redraw {self.recipe.redraw}"]
        parts += [] if self.recipe.bins == BY_CLASS else [f"bins {self.recipe.bins}"]
        parts += ["counts by class"] if self.recipe.counts_by_class else []
        parts += ["joint counts"] if self.recipe.joint_counts else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()

    @cached_property
    def beside(self) -> Beside:
        """Who of the table is in which entry; entries of version 1 of this very table are brought up to date first."""
        upgraded(self.book, self.table)
        entries = self.book.releases()
        if pending(self.book):
            entries = [*(one for one in self.book.read() if one.entry.kind == BOUND), *entries]
        strange = set(self.terms.other_people) - {one.number for one in entries}
        if strange:
            raise ParameterError(f"The ledger has no release with the number {min(strange)}. See: incrowd ledger list.")
        return Beside(self.table, entries, self.request, self.terms.other_people)

    @property
    def _repeated(self) -> tuple[Recorded, Overlap] | None:
        """The last release of the same people for which the same was asked."""
        return self.beside.repeated[-1] if self.beside.repeated else None

    @cached_property
    def key(self) -> bytes:
        """The secret of the last release that was asked for in the same way, or a new one."""
        return bytes.fromhex(self._repeated[0].entry.secret) if self._repeated else secrets.token_bytes(_KEY_BYTES)

    @property
    def counts_key(self) -> bytes:
        """The key that counts are drawn by: one for the whole book, so that a group which stays is drawn alike."""
        return subkey(self.book.key, "counts")

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """The rows of the table in the order of their marks: draws must not depend on the order they came in."""
        if self._repeated:
            (one, overlap), table = self._repeated, self.table
            assert overlap.marks is not None
            marks = overlap.marks if overlap.rows is None else overlap.rows
            names = [table.known_as(name) for name in one.entry.unchanged]
        else:
            persons = list(self.table.persons.values())
            marks = persons[0] if persons else self.table.rows(self._entry_names(self.as_read.schema.quasi_identifiers))
            names = list(self.as_read.schema.untouched)
        return self.table.order(marks, [] if are_unique(marks) else [name for name in names if name])

    @cached_property
    def held(self) -> InMemory:
        """The table with its rows in that order; row i of it is row ``order[i]`` of the input."""
        return self.as_read.reordered(self.order)

    def check(self) -> None:
        """Refuse before any work is done if it cannot be told who is in an entry."""
        if self.beside.unknown and not self.terms.despite_earlier:
            raise LedgerError(_not_told(self.beside.unknown[0]))

    def together(self, plan: ReleasePlan, request: Request) -> JointRecount:
        """What a written release and the earlier ones tell together; raises if that is more than was promised."""
        quasi, written = self.as_read.schema.quasi_identifiers, request.release
        rename = safe_name if request.form.kind == "csv" else str
        columns = [rename(column.name) for column in plan.written if column.source in quasi]
        origin, kept = np.load(request.hint.origin), self.as_read.order
        rows = self.as_read.rows if kept is None else int(kept.max(initial=-1)) + 1
        classes = classes_of_rows(written, request.form, columns, Original(None, origin, rows))
        classes = classes if kept is None else classes.take(kept)
        judgement = self._judged(classes)
        if judgement.decision == CANNOT:
            raise LedgerError(_not_told(self.beside.unknown[0]))
        if judgement.decision == REFUSED:
            way_out = _WAY_OUT.format(option=named_option(despite_earlier=True))
            raise VerificationError(f"{self._broken(judgement)} The release was not published. {way_out}")
        people = self.table.people_of(classes.to_numpy(), self._entry_names(quasi))
        prepared = self.book.prepared(self._entry(written), people)
        return JointRecount(self, prepared, judgement, self._facts(judgement, prepared))

    def _judged(self, classes: Any) -> Judgement:
        """The decision; columns that one release shows by groups and another as they are count as known."""
        entries = [one.entry for one, _ in self.beside.counted]
        schema = self.as_read.schema
        hidden = {*self._entry_names(schema.quasi_identifiers), *(n for e in entries for n in e.quasi_identifiers)}
        now = set(self._entry_names(schema.untouched)) & hidden
        before = {name for entry in entries for name in entry.unchanged} & hidden
        called = {name: self.table.known_as(name) for name in sorted(now | before)}
        return judge(
            self.beside,
            classes,
            self.recipe.requirement.smallest_group,
            bare={name: self.table.cells(here).ranks() for name, here in called.items() if here is not None},
            bare_now=now,
            sizes_only=_size(self.recipe) is not None and all(entry.k is not None for entry in entries),
            presence_known=self.terms.presence_known,
            despite=self.terms.despite_earlier,
        )

    def _entry_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Columns as entries call them."""
        return tuple(self.table.same_columns.get(name, name) for name in names)

    def _broken(self, judgement: Judgement) -> str:
        number = len(self.beside.counted)
        return f"Together with {number} earlier {'release' if number == 1 else 'releases'}, {judgement.reason}"

    def _entry(self, written: Path) -> LedgerEntry:
        schema, recipe = self.as_read.schema, self.recipe
        return LedgerEntry(
            RELEASE,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            sha256=sha256_of(written),
            requirement=str(recipe.requirement),
            incrowd=version("incrowd"),
            request=self.request,
            secret=self.key.hex(),
            k=_size(recipe),
            quasi_identifiers=self._entry_names(schema.quasi_identifiers),
            unchanged=self._entry_names(schema.untouched),
            identifiers=tuple(self.table.persons),
            people=self.table.people,
            vouched=self._vouched,
        )

    @property
    def _vouched(self) -> tuple[dict[str, Any], ...]:
        return vouched(self.terms.other_people, self.job.responsible or "the owner of the ledger")

    def _facts(self, judgement: Judgement, prepared: PreparedEntry) -> Earlier:
        overlaps, joint = self.beside.overlaps, judgement.joint
        shared = joint.shared if joint else max((one.shared or 0 for one in overlaps), default=0)
        return Earlier(
            tuple(_release(*pair) for pair in zip(self.beside.entries, overlaps, strict=True)),
            joint,
            people=self.table.everybody,
            shared=shared,
            same_groups=judgement.decision == SAME,
            vouched=self._vouched,
            despite=bool(judgement.reason),
            not_counted=tuple(self._not_counted),
            entry=int(prepared.link.number),
            mac=prepared.link.mac,
        )

    @property
    def _not_counted(self) -> Iterator[str]:
        if self.book.fault != SOUND:
            yield f"the ledger was not sound, {self.book.fault}"
        for one in self.beside.unknown:
            yield f"entry {one.number}, {one.by}"


@dataclass(frozen=True, eq=False)
class JointRecount:
    """What was counted of a release and the earlier ones."""

    page: Page
    prepared: PreparedEntry
    judgement: Judgement
    facts: Earlier

    @property
    def notices(self) -> Iterator[Notice]:
        """What should be known."""
        if self.judgement.reason:
            message = f"{self.page._broken(self.judgement)} It was published despite that, as you requested."
            yield Notice("despite-earlier", "ledger", message)
        for one in self.facts.not_counted:
            yield Notice("not-counted", "ledger", f"{one}: what that tells together with this release is not known.")
        joint = self.judgement.joint
        if joint is not None and not self.judgement.reason and (joint.below.new or joint.below.left):
            message = (
                f"{joint.below.new or 0:,} new people and {joint.below.left or 0:,} who left are among fewer than "
                f"{joint.k} for somebody who knows who joined and who left. If outsiders may know, use presence-known."
            )
            yield Notice("joined-or-left", "ledger", message)

    def enter(self, written: Path) -> None:
        """Write the release into the book: before it appears, so that none is out that the book does not know.

        If the run dies in between, the book has an entry for a release that never appeared. That makes later ones
        more careful than they need be, never less; ``incrowd ledger withdraw`` says that it never went out.
        """
        if sha256_of(written) != self.prepared.link.header["sha256"]:
            raise VerificationError("The release changed after it was counted, and was not published.")
        self.page.book.add(self.prepared)


@contextmanager
def opened_book(job: Job) -> Iterator[Ledger]:
    """The ledger of a job, locked and found sound."""
    assert job.ledger is not None
    if job.seed is not None:
        raise ParameterError("A ledger keeps its own secret for draws. Leave out the seed, or the ledger.")
    folder, key = Path(job.ledger.folder), job.ledger.key
    with open_ledger(folder, None if key is None else Path(key)) as book:
        if book.fault != SOUND and not job.ledger.despite_earlier:
            raise LedgerError(
                f"The ledger {folder.name} is not sound: {book.fault}. So what was released before is not known. "
                f"Put the folder back from a copy, or use {named_option(despite_earlier=True)}, which the certificate "
                "then states."
            )
        yield book


def page_of(job: Job, book: Ledger, held: Held) -> Page:
    """What the ledger knows of the people of the table; refuses if that cannot be told."""
    assert isinstance(held, InMemory)
    page = Page(job, book, held)
    for new in page.terms.same_columns or ():
        held.schema[new]  # raises if there is no such column
    page.check()
    return page


def _not_told(one: Overlap) -> str:
    return (
        f"It could not be determined whether release {one.number} of the ledger is about the same people: {one.by}. "
        f"{one.hint} "
        f"If they are other people, use other-people {one.number}; the certificate states who vouched for it."
    ).replace("  ", " ")


def _release(one: Recorded, overlap: Overlap) -> EarlierRelease:
    entry = one.entry
    return EarlierRelease(entry.sha256, entry.made, entry.requirement, overlap.by, overlap.relation, overlap.shared)


def _size(recipe: Recipe) -> int | None:
    """The k of plain k-anonymity; None if something else is promised."""
    return recipe.requirement.k if isinstance(recipe.requirement, KAnonymity) else None
