"""A release beside the earlier ones of the same table: the same groups where the same is asked, else recounted."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from incrowd.algorithms.catalog import make_method
from incrowd.errors import Notice, ParameterError, VerificationError
from incrowd.holding.held import Held
from incrowd.holding.memory import InMemory
from incrowd.job import Job
from incrowd.ledger import Entry, Ledger, Recorded, mark_of, open_ledger
from incrowd.plan.release_plan import ReleasePlan
from incrowd.recipe import Recipe
from incrowd.report.certificate import sha256_of
from incrowd.report.earlier_facts import Earlier, EarlierRelease
from incrowd.verification.asked import Original, Originals
from incrowd.verification.joint import Joint, classes_of_rows, recount_joint, recount_pair
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.requirement import KAnonymity

_KEY_BYTES = 32
_WAY_OUT = (
    "Ask for the same groups as before: the same method, parameters, requirement and quasi-identifiers. Or say "
    "despite-earlier, and the certificate says so too."
)


@dataclass(frozen=True, eq=False)
class Page:
    """The releases of one table in the book, while a further one is made.

    Parameters
    ----------
    book
        The ledger.
    recipe, held
        What is asked for, of which table.
    despite
        Whether to publish despite what earlier releases and this one tell together.
    """

    book: Ledger
    recipe: Recipe
    held: InMemory
    despite: bool = False

    @cached_property
    def mark(self) -> str:
        """By what the table is known."""
        return mark_of(self.held.source.frame, self.book.key)

    @cached_property
    def asked(self) -> str:
        """The digest of what decides the groups."""
        method = make_method(self.recipe.method, dict(self.recipe.parameters))
        columns = [self.held.schema[name] for name in self.held.columns]
        plain = [(c.name, c.type, c.role, c.order, c.hierarchy and c.hierarchy.to_json()) for c in columns]
        said = [method.name, method.parameters(), self.recipe.requirement.to_json(), plain]
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()

    @cached_property
    def _all(self) -> tuple[list[Recorded], list[str]]:
        return self.book.read()

    @cached_property
    def earlier(self) -> list[Recorded]:
        """The earlier releases of this table."""
        return [one for one in self._all[0] if one.entry.mark == self.mark and len(one.classes) == self.held.rows]

    @cached_property
    def key(self) -> bytes:
        """The secret of the last release that was asked for in the same way, or a new one."""
        same = [one.entry.key for one in self.earlier if one.entry.asked == self.asked]
        return bytes.fromhex(same[-1]) if same else secrets.token_bytes(_KEY_BYTES)

    def check(self) -> None:
        """Refuse before any work is done if an entry of the book cannot be read."""
        unread = self._all[1]
        if unread and not self.despite:
            raise VerificationError(
                f"{unread[0]} in the ledger is damaged, or incrowd did not write it: what was released before is not "
                "known. Put it back from a copy, or say despite-earlier. Remove it only if that release never went out."
            )

    def together(
        self,
        plan: ReleasePlan,
        written: Path,
        form: FileForm,
        rename: Callable[[str], str],
        original: Original | Originals,
    ) -> Recounted:
        """What this release and the earlier ones tell together; raises if that is more than was promised.

        ``rename`` goes from the name of a column to its name in the written file.
        """
        assert isinstance(original, Original)
        quasi = self.held.schema.quasi_identifiers
        columns = [rename(column.name) for column in plan.written if column.source in quasi]
        classes = classes_of_rows(written, form, columns, original)
        unread = len(self._all[1])
        if not self.earlier:
            return Recounted(self, classes, Earlier(not_recounted=unread))
        joint = self._joint(classes)
        broken = self._broken(joint)
        if broken and not self.despite:
            raise VerificationError(f"{broken} The release was not published. {_WAY_OUT}")
        releases = []
        for one in self.earlier:
            pair, entry = recount_pair(classes, one.classes), one.entry
            releases.append(EarlierRelease(entry.sha256, entry.made, entry.requirement, pair.smallest, pair.same))
        return Recounted(self, classes, Earlier(tuple(releases), joint, unread, bool(broken)), broken)

    def _joint(self, classes: Any) -> Joint:
        """The groups of all releases; columns that one shows by groups and another as they are count as known."""
        entries = [one.entry for one in self.earlier]
        schema = self.held.schema
        hidden = {*schema.quasi_identifiers, *(name for entry in entries for name in entry.quasi_identifiers)}
        before = {name for entry in entries for name in entry.unchanged} & hidden
        bare = sorted(before | (set(schema.untouched) & hidden))
        frame = self.held.source.frame
        return recount_joint(
            classes,
            [one.classes for one in self.earlier],
            max([self.recipe.requirement.smallest_group, *(entry.k or 1 for entry in entries)]),
            bare={name: frame[name].to_arrow() for name in bare},
            bare_before=sorted(before),
        )

    def _broken(self, joint: Joint) -> str:
        """What the releases together break, in words; nothing if they keep what each promised.

        What is promised beyond sizes is not counted for groups that releases make together: it is kept if this release
        shows nobody in a smaller group than the earlier ones do.
        """
        said = f"Together with {len(self.earlier)} earlier {'release' if len(self.earlier) == 1 else 'releases'}"
        if joint.broken:
            return (
                f"{said} of this table it would show {joint.broken:,} of {joint.rows:,} rows in groups smaller than "
                f"{joint.k}, the smallest of {joint.smallest:,}."
            )
        sizes_only = _size(self.recipe) is not None and all(one.entry.k is not None for one in self.earlier)
        if joint.closer and not sizes_only:
            return (
                f"{said} of this table it makes smaller groups, and what is promised of groups beside their size was "
                "not counted for those."
            )
        return ""


@dataclass(frozen=True, eq=False)
class Recounted:
    """What was counted of a release and the earlier ones; ``broken`` says in words what they break together."""

    page: Page
    classes: Any
    facts: Earlier
    broken: str = ""

    @property
    def notices(self) -> Iterator[Notice]:
        """What should be known."""
        if self.broken:
            yield Notice("despite-earlier", "ledger", f"{self.broken} It was published despite that, as you said.")
        entries, unread = self.page._all
        if unread:
            message = f"{len(unread)} of its files cannot be read: what those releases tell with this one is not known."
            yield Notice("not-recounted", "ledger", message)
        others = len(entries) - len(self.page.earlier)
        if others:
            message = (
                f"{others} of its releases are of other tables, or of this one before it changed. If they are about "
                "the same people, what they tell together with this one was not counted."
            )
            yield Notice("other-tables", "ledger", message)

    def enter(self, made: str, written: Path) -> None:
        """Write the release into the book: before it appears, so that none is out that the book does not know.

        If the run dies in between, the book has an entry for a release that never appeared. That makes later ones
        more careful than they need be, never less.
        """
        held, recipe = self.page.held, self.page.recipe
        entry = Entry(
            mark=self.page.mark,
            asked=self.page.asked,
            key=self.page.key.hex(),
            made=made,
            sha256=sha256_of(written),
            requirement=str(recipe.requirement),
            version=version("incrowd"),
            k=_size(recipe),
            quasi_identifiers=tuple(held.schema.quasi_identifiers),
            unchanged=tuple(held.schema.untouched),
        )
        self.page.book.add(entry, self.classes)


@contextmanager
def opened_book(job: Job) -> Iterator[Ledger | None]:
    """The ledger of a job, locked, if one is kept."""
    if job.ledger is None:
        if job.despite_earlier:
            raise ParameterError("despite-earlier is about the releases in a ledger. Name the ledger.")
        yield None
        return
    if job.seed is not None:
        raise ParameterError("A ledger keeps its own secret for draws. Leave out the seed, or the ledger.")
    with open_ledger(job.ledger) as book:
        yield book


def page_of(job: Job, book: Ledger | None, held: Held) -> Page | None:
    """What the ledger knows of the table; refuses if a part of it cannot be read."""
    if book is None:
        return None
    assert isinstance(held, InMemory)
    page = Page(book, job.recipe, held, job.despite_earlier)
    page.check()
    return page


def _size(recipe: Recipe) -> int | None:
    """The k of plain k-anonymity; None if something else is promised."""
    return recipe.requirement.k if isinstance(recipe.requirement, KAnonymity) else None
