"""What unchanged columns undo, in words: beside the headline, in a refusal, in the certificate."""

from __future__ import annotations

from typing import Any

from incrowd.drawing.wording import counted, listed
from incrowd.errors import named_option
from incrowd.verification.unchanged_counts import Alone, SinglingSet, UnchangedCounts

NOT_COUNTED = "not counted"
_NOTHING_SAID = "other"


def headline_lines(counts: UnchangedCounts | None) -> tuple[str, ...]:
    """The lines beside the sentence about the guarantee."""
    if counts is None:
        return (f"effective k and people alone by unchanged columns: {NOT_COUNTED}",)
    return effective_sentence(counts), alone_sentence(counts)


def effective_sentence(counts: UnchangedCounts) -> str:
    """Effective k, with what is given back and how many people are left in small groups."""
    limited = ", as far as it could be counted" if counts.not_counted else ""
    return f"effective k {counts.effective_k}{limited}: " + "; ".join(
        [_cells(counts), *_people(counts), *_gaps(counts)]
    )


def _cells(counts: UnchangedCounts) -> str:
    if not counts.hidden_cells:
        return "no quasi-identifier cell hides anything"
    number = f"{counts.given_back:,}" if counts.given_back else "none"
    return f"unchanged columns give back {number} of {counted(counts.hidden_cells, 'hidden cell')}"


def _people(counts: UnchangedCounts) -> list[str]:
    if not counts.people_below_k:
        return []
    sizes = {one.k for one in counts.sets}
    limit = f"{sizes.pop():,}" if len(sizes) == 1 else "promised"
    are = "is" if counts.people_below_k == 1 else "are"
    return [f"{counts.people_below_k:,} of {counts.rows:,} people {are} in groups smaller than {limit}"]


def _gaps(counts: UnchangedCounts) -> list[str]:
    """What could not be counted, each reason once."""
    reasons = dict.fromkeys(one.why for one in counts.not_counted)
    return [f"{why}: {listed([one.what for one in counts.not_counted if one.why == why])}" for why in reasons]


def alone_sentence(counts: UnchangedCounts) -> str:
    """Who is alone by unchanged columns, and by which few of them."""
    alone = counts.alone
    if not alone.without_class:
        return "alone by unchanged columns: nobody"
    return f"alone by unchanged columns: {alone.without_class:,}{_telling(alone)}{_without_private(alone)}"


def _without_private(alone: Alone) -> str:
    """Who is left alone if nobody outside knows private columns, as the user states."""
    if "private" not in alone.roles.values():
        return ""
    people = f"{alone.not_private:,}" if alone.not_private else "none"
    return f"; {people} without those that, as you state, nobody outside knows"


def _telling(alone: Alone) -> str:
    if alone.telling is None:
        return ""
    return f" ({alone.telling.people:,} by {_described(alone.telling, alone)})"


def _described(columns: SinglingSet, alone: Alone) -> str:
    """Columns, with what the user said of them."""
    roles = {alone.roles[name] for name in columns.columns}
    if roles == {_NOTHING_SAID}:
        return f"{listed(columns.columns)}, without a stated role"
    if roles == {"shifted"}:
        return f"{listed(columns.columns)}, with shifted dates"
    if len(roles) == 1:
        return f"{listed(columns.columns)}, which you called {roles.pop()}"
    words = {name: "no role stated" if role == _NOTHING_SAID else role for name, role in alone.roles.items()}
    return listed([f"{name} ({words[name]})" for name in columns.columns])


def singling_out_line(counts: UnchangedCounts, alone_by_quasi_identifiers: int) -> str:
    """Both ways of singling somebody out, in per cent of the people."""
    shares = [100 * people / max(1, counts.rows) for people in (alone_by_quasi_identifiers, counts.alone.without_class)]
    first, second = (f"{share:.1f} %" if 0 < share < 100 else f"{share:.0f} %" for share in shares)
    return f"singling out: {first} by quasi-identifiers, {second} by unchanged columns"


def refusal(counts: UnchangedCounts, *, despite: bool = False, alone_at_most: int | None = None) -> str | None:
    """Why a release must not appear, and what to do; None if it may.

    ``despite``: it is to appear although unchanged columns leave fewer than k. ``alone_at_most``: how many people may
    be alone by unchanged columns that are not private; None for any number.
    """
    if not counts.sound and not despite:
        return f"Not published: {_reasons(counts)}. {_cure(counts)} Or use {named_option(despite_unchanged=True)}."
    alone = counts.alone.not_private
    if alone_at_most is not None and alone > alone_at_most:
        telling = _telling(counts.alone) if alone == counts.alone.without_class else ""
        return (
            f"Not published: {alone:,} {'person is' if alone == 1 else 'people are'} alone by unchanged columns"
            f"{telling}, more than the {alone_at_most:,} you allow. Name columns as quasi-identifiers, drop them, call "
            f"them private if nobody outside knows them, or allow more: {named_option(alone_at_most=alone)}."
        )
    return None


def _reasons(counts: UnchangedCounts) -> str:
    """What each column to be named or dropped gives back; pairs are named where no single column is to blame."""
    chosen = set(counts.advice.columns if counts.advice else ())
    blamed = [one for one in counts.by if chosen.intersection(one.columns)]
    singles = [one for one in blamed if len(one.columns) == 1]
    what: dict[tuple[str, ...], list[str]] = {}
    for one in singles or blamed[:3]:
        what.setdefault(one.columns, []).append(one.quasi_identifier)
    reasons = [f"{' with '.join(columns)} gives back {listed(names)}" for columns, names in what.items()]
    return ", ".join(reasons) or f"effective k is {counts.effective_k}"


def _cure(counts: UnchangedCounts) -> str:
    if counts.advice is None:
        return "Name unchanged columns as quasi-identifiers or drop them."
    columns = counts.advice.columns
    if all(counts.alone.roles.get(name) == "pseudonym" for name in columns):
        return (
            "By a pseudonym that repeats, rows of one person are linked, and one row tells what another hides. Drop "
            f"{listed(columns)}: effective k is then {counts.advice.effective_k}."
        )
    singles = {one.columns for one in counts.by}
    it, kind = ("it", "a quasi-identifier") if len(columns) == 1 else ("them", "quasi-identifiers")
    which = it if all((name,) in singles for name in columns) else listed(columns)
    return f"Name {which} as {kind} or drop {it}: effective k is then {counts.advice.effective_k}."


def certified_unchanged(counts: UnchangedCounts | None) -> dict[str, Any] | str:
    """The entry of the certificate: names and counts. A release that is not sound was published despite that."""
    if counts is None:
        return NOT_COUNTED
    despite = None if counts.sound else f"Published despite unchanged columns: {effective_sentence(counts)}."
    return {**counts.to_json(), "published_despite": despite}
