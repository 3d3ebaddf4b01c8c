"""What follows from who is shared: pass, the same groups, counted together, or it cannot be told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.errors import VerificationError
from incrowd.releases.ledger.entry import Recorded
from incrowd.releases.ledger.marks import Marks, as_frame
from incrowd.releases.ledger.overlap import (
    COLUMNS,
    COMPLETE,
    OTHERS,
    PERSONS,
    UNKNOWN,
    WORD,
    MarkedTable,
    Overlap,
    compare,
)
from incrowd.verification.joint import Joint, Then, has_same_groups, recount_together

PASSES, SAME, REFUSED, DESPITE = "passes", "same groups", "refused", "published despite"
CANNOT = "cannot be told"  # the word of the specification and its goldens


@dataclass(frozen=True, eq=False)
class Beside:
    """A table beside the entries of the book.

    ``request`` is the digest of what decides the groups; ``other_people`` are numbers of entries that are about other
    people, as somebody vouches.
    """

    table: MarkedTable
    entries: Sequence[Recorded]
    request: str
    other_people: Collection[int] = ()
    overlaps: tuple[Overlap, ...] = field(init=False)

    def __post_init__(self) -> None:
        overlaps = tuple(
            Overlap(one.number, WORD, OTHERS) if one.number in self.other_people else compare(self.table, one)
            for one in self.entries
        )
        object.__setattr__(self, "overlaps", overlaps)

    @property
    def unknown(self) -> list[Overlap]:
        """Entries of which it cannot be told whether they are about the same people."""
        return [one for one in self.overlaps if one.relation == UNKNOWN]

    @property
    def counted(self) -> list[tuple[Recorded, Overlap]]:
        """Entries that share people with the table."""
        return [pair for pair in zip(self.entries, self.overlaps, strict=True) if pair[1].counts]

    @property
    def repeated(self) -> list[tuple[Recorded, Overlap]]:
        """Entries of the same people with the same request, the last one last."""
        return [
            (one, overlap)
            for one, overlap in self.counted
            if overlap.relation == COMPLETE and one.entry.request == self.request
        ]

    def k(self, k: int) -> int:
        """What the groups are held to: the largest k of this release and of those that share people with it."""
        return max([k, *(one.entry.k or 1 for one, _ in self.counted)])

    def has_same_groups(self, classes: Any, bare: Collection[str]) -> bool:
        """Whether one of the entries for which the same was asked has these groups, and shows the bare columns too."""
        return any(
            set(bare) <= set(one.entry.unchanged) and has_same_groups(classes, _then(one, overlap))
            for one, overlap in self.repeated
        )

    def together(self, classes: Any, k: int, bare: Mapping[str, Any]) -> Joint:
        """The groups that the release makes with the entries it shares people with."""
        earlier = [_then(one, overlap) for one, overlap in self.counted]
        joint = recount_together(classes, earlier, self.k(k), bare=bare, who=self.table.who)
        shared = [overlap.shared or 0 for _, overlap in self.counted]
        counted_alike = self.table.owners is None or all(one.by == PERSONS for _, one in self.counted)
        if counted_alike and not max(shared) <= joint.shared <= sum(shared):
            raise VerificationError("Two counts of who is in earlier releases differ. Nothing was published.")
        return joint


@dataclass(frozen=True)
class Judgement:
    """The decision about a release, with what was counted for it."""

    decision: str
    joint: Joint | None = None
    reason: str = ""

    @property
    def status(self) -> int:
        """The exit status."""
        return {REFUSED: 1, CANNOT: 2}.get(self.decision, 0)


def judge(
    beside: Beside,
    classes: Any,
    k: int,
    *,
    bare: Mapping[str, Any] | None = None,
    bare_now: Collection[str] = (),
    sizes_only: bool = True,
    presence_known: bool = False,
    despite: bool = False,
) -> Judgement:
    """Decide about a release, whose people are in these classes.

    ``sizes_only`` says that nothing is promised beside sizes of groups; what else is promised is kept only where nobody
    has fewer candidates than before. ``bare_now`` are columns that this release shows as they are.
    """
    if beside.unknown and not despite:
        return Judgement(CANNOT)
    if not beside.counted:
        return Judgement(DESPITE if beside.unknown else PASSES)
    if beside.has_same_groups(classes, bare_now):
        return Judgement(DESPITE if beside.unknown else SAME)
    joint = beside.together(classes, k, bare or {})
    reason = broken(joint, sizes_only=sizes_only, presence_known=presence_known)
    if reason and not despite:
        return Judgement(REFUSED, joint, reason)
    return Judgement(DESPITE if reason or beside.unknown else PASSES, joint, reason)


def broken(joint: Joint, *, sizes_only: bool, presence_known: bool) -> str:
    """What the releases together break, in words; nothing if they keep what each promised."""
    who = {"shared": "also in earlier releases", "new": "in none of them", "left": "in this one no more"}
    for name, words in who.items() if presence_known else [("shared", who["shared"])]:
        below, smallest = getattr(joint.below, name), getattr(joint.smallest, name)
        if below:
            return (
                f"{below:,} people who are {words} would be in groups smaller than {joint.k}, the smallest of "
                f"{smallest:,}."
            )
    if joint.closer and not sizes_only:
        return "groups become smaller, and what is promised of them beside their size was not counted in smaller ones."
    return ""


def vouched(entries: Collection[int], by: str) -> tuple[dict[str, Any], ...]:
    """Who said which entries are about other people, as an entry and a certificate keep it."""
    return tuple({"entry": number, "what": OTHERS, "by": by} for number in sorted(entries))


def _then(one: Recorded, overlap: Overlap) -> Then:
    assert overlap.marks is not None
    return Then(
        marks_table(overlap.marks, overlap.rows),
        lambda: _people(one, overlap),
        several=overlap.rows is not None,
        unique=overlap.unique,
        link=(overlap.by, one.entry.quasi_identifiers if overlap.by.startswith(COLUMNS) else overlap.side),
        complete=overlap.relation == COMPLETE,
        bare=one.entry.unchanged,
    )


def _people(one: Recorded, overlap: Overlap) -> Any:
    import pyarrow as pa

    people = one.people
    assert people is not None
    rows = None if overlap.rows is None else people.rows
    return marks_table(overlap.of(people), rows).append_column("class", pa.array(people.classes))


def marks_table(marks: Marks, rows: Marks | None = None) -> Any:
    """Marks as a PyArrow table with the columns ``high`` and ``low``; those of rows as ``row_high`` and ``row_low``."""
    frame = as_frame(marks)
    if rows is not None:
        frame = frame.hstack(as_frame(rows).rename({"high": "row_high", "low": "row_low"}))
    return frame.to_arrow()
