"""Combinations that are rare, and what becomes of them: they show nothing, or what a group of them has in common.

IACk hides a rare combination whole. Its authors suggest something milder (section 6): rare rows are "further
generalized by a k-anonymization algorithm, and then inconsistent values are subsequently suppressed". A value is
inconsistent if it is not of the attribute's one level. So a group of rare rows shows those attributes in which all of
them show the same part, and nothing of the others; what is left to decide is the groups (:func:`common_cells`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import Counts, bits
from incrowd.methods.mutual_information.generalizing import (
    EquivalenceClasses,
    Generalized,
    Whole,
    classes_of,
    tally,
)
from incrowd.plan.steps import Hide
from incrowd.vocabulary.requirement import KnownSet

ON_SMALL = ("suppress", "drop")
ON_RARE = ("hide", "generalize")
DIGITS = 9  # gains that differ by rounding only are equal
Flags = npt.NDArray[np.bool_]
Judged = Callable[[Whole, Whole, int], tuple[Whole, Flags]]
"""Some combinations, the part of each, and how many parts: the sizes of the parts, and which may be released."""


class CombinationHiding:
    """The combinations of a generalized table, and what is hidden of them so far.

    ``raised``: combinations are rare below k and that many more rows; the promise is still k. ``strict``: whether the
    rows that show nothing must be k as well, or none. ``on_small``: if they are fewer: ``"suppress"`` hides one more
    combination, ``"drop"`` leaves them out. Where more than sizes is required no row is left out: shares are those of
    the whole table. ``on_rare``: rare combinations show nothing (``"hide"``), or what groups of them have in common
    (``"generalize"``).

    ``hidden``: combinations x attributes: what was hidden, or left out. ``dropped``: the combinations left out.
    ``steps``: what was done, in order. ``e_min``: rows of the largest combination that was hidden for being rare; 0 if
    none was. ``smallest``: for each set the rows of the smallest combination that still shows something; None if there
    is none.
    """

    def __init__(
        self,
        generalized: Generalized,
        *,
        raised: int = 0,
        strict: bool = True,
        on_small: str = "suppress",
        on_rare: str = "hide",
    ) -> None:
        self._generalized = generalized
        self.raised = raised
        self._strict = strict
        self._on_small = on_small
        self._on_rare = on_rare
        self._rows = generalized.counts.sum(axis=1)
        self._evidence, self._persons = generalized.evidence, generalized.persons
        self.hidden: Flags = np.zeros(generalized.codes.shape, bool)
        self.dropped: Flags = np.zeros(len(generalized.codes), bool)
        self.steps: list[Hide] = []
        self.e_min = 0
        self.smallest: dict[KnownSet, int | None] = {}

    @property
    def rows_hidden(self) -> int:
        """Rows of which something was hidden, without those left out."""
        return int(self._rows[self.hidden.any(axis=1) & ~self.dropped].sum())

    @property
    def rows_dropped(self) -> int:
        """Rows left out."""
        return int(self._rows[self.dropped].sum())

    @property
    def next_raise(self) -> int | None:
        """The smallest raise at which more is rare in some set; None if nothing is shown any more."""
        gaps = [size - known.k for known, size in self.smallest.items() if size is not None]
        return min(gaps) + 1 if gaps else None

    def settle(self, sets: Sequence[KnownSet]) -> None:
        """Hide what is rare in each set, in turn, until all of them are content.

        Hiding for one set changes what the others count. It ends, because cells and rows only disappear.
        """
        content, turn = 0, 0
        while content < len(sets):
            content = 1 if self._treat(sets[turn]) else content + 1
            turn = (turn + 1) % len(sets)

    def classes(self, names: Sequence[str]) -> EquivalenceClasses:
        """What rows show of some attributes as things are now, in classes."""
        if not self.steps:
            return self._generalized.classes(names)
        nothing = self._generalized.nothing[self._generalized.columns(names)]
        return classes_of(self._shown(names), nothing, np.where(self.dropped, 0, self._rows), self._persons)

    def _shown(self, names: Sequence[str]) -> Whole:
        """What combinations show of some attributes as things are now."""
        columns = self._generalized.columns(names)
        nothing = self._generalized.nothing[columns]
        return np.where(self.hidden[:, columns], nothing, self._generalized.codes[:, columns])

    def _treat(self, known: KnownSet) -> bool:
        """Hide or leave out what is rare in one set; False if there was nothing to do."""
        classes = self.classes(known.names)
        present = classes.sizes > 0
        shown = present & ~classes.blank
        large = classes.sizes >= known.k + self.raised
        rare = shown & ~(large & self._allowed(classes, np.arange(len(large)), len(large)))
        self.e_min = int(classes.sizes[rare].max(initial=self.e_min))
        unseen = rare | (present & classes.blank)
        too_few = self._strict and bool(unseen.any()) and not self._may_hide(classes, unseen, known.k)
        drop = too_few and self._on_small == "drop" and self._sizes_decide
        marked = rare | (present & classes.blank & drop)
        if too_few and not drop:
            marked |= self._more(classes, unseen, shown & ~rare, known.k)
        left = classes.sizes[shown & ~marked]
        self.smallest[known] = int(left.min()) if len(left) else None
        if not marked.any():
            return False
        if self._on_rare == "generalize" and not drop:
            self._generalize(known, marked[classes.of], (present & classes.blank)[classes.of])
            return True
        gone = self.dropped.copy()
        self._mark(marked[classes.of], known.names, drop)
        named = tuple(tuple(codes) for codes in classes.codes[marked & shown & large].tolist())
        rows = int(self._rows[marked[classes.of] & ~gone].sum())
        self.steps.append(Hide(known.names, known.k + self.raised, named, drop, rows))
        return True

    @property
    def _sizes_decide(self) -> bool:
        """Whether nothing is required beyond the size of a class, in rows or in persons."""
        return self._evidence is None and (self._persons is None or self._persons.judge.counts_only)

    def _allowed(self, classes: EquivalenceClasses, group: Whole, groups: int) -> Flags:
        """Whether groups of classes may be released, but for their size; -1 is in no group."""
        if self._sizes_decide:
            return np.ones(groups, np.bool_)
        of = np.where(self.dropped, -1, group[classes.of])
        if self._persons is not None:
            return self._persons.holds(of, groups)
        assert self._evidence is not None
        sizes = np.bincount(of[of >= 0], self._rows[of >= 0], groups).astype(np.int64)
        return self._evidence.holds(np.arange(len(of)), of, sizes)

    def _may_hide(self, classes: EquivalenceClasses, unseen: Flags, k: int) -> bool:
        """Whether these classes may look alike, showing nothing."""
        together = np.where(unseen, 0, -1)
        if self._persons is None:
            size = int(classes.sizes[unseen].sum())
        else:
            size = int(self._persons.sizes(np.where(self.dropped, -1, together[classes.of]), 1)[0])
        return size >= k and bool(self._allowed(classes, together, 1)[0])

    def _more(self, classes: EquivalenceClasses, unseen: Flags, among: Flags, k: int) -> Flags:
        """Further classes to be hidden, the smallest first: one, two, four, ... until all that is hidden may be."""
        places = np.flatnonzero(among)
        places = places[np.argsort(classes.sizes[places], kind="stable")]
        more, count = np.zeros_like(among), 1
        while len(places):
            more[places[:count]] = True
            if count >= len(places) or self._may_hide(classes, unseen | more, k):
                break
            count *= 2
        return more

    def _generalize(self, known: KnownSet, marked: Flags, blank: Flags) -> None:
        """Show of rare combinations what groups of them have in common; rows that show nothing are in the last.

        A step names combinations by what they show at that time. Those that show least come first, so that none of a
        later step looks like one that was hidden before.
        """
        rare = np.flatnonzero((marked | blank) & ~self.dropped)
        columns = self._generalized.columns(known.names)
        codes, nothing = self._shown(known.names)[rare], self._generalized.nothing[columns]

        def judged(some: Whole, part: Whole, parts: int) -> tuple[Whole, Flags]:
            sizes, allowed = self._judged(rare[some], part, parts)
            return sizes, (sizes >= known.k + self.raised) & allowed

        common = common_cells(codes, nothing, self._generalized.counts[rare], judged, self._strict)
        gone = ~common & (codes != nothing)
        seen = (codes != nothing).sum(axis=1)
        kinds, of = np.unique(np.column_stack([seen, gone]), axis=0, return_inverse=True)
        for number, kind in enumerate(kinds):
            if not kind[1:].any():
                continue
            mine = of == number
            named = tuple(dict.fromkeys(map(tuple, codes[mine].tolist())))
            only = tuple(name for name, hidden in zip(known.names, kind[1:], strict=True) if hidden)
            rows = int(self._rows[rare[mine]].sum())
            self.steps.append(Hide(known.names, 0, named, False, rows, only if len(only) < len(known.names) else ()))
        self.hidden[np.ix_(rare, columns)] |= gone

    def _judged(self, combinations: Whole, part: Whole, parts: int) -> tuple[Whole, Flags]:
        """How large parts of some combinations are, and whether they may be released, but for their size."""
        if self._persons is not None:
            of = np.full(len(self._rows), -1, np.int64)
            of[combinations] = part
            return self._persons.sizes(of, parts), self._persons.holds(of, parts)
        sizes = np.bincount(part, self._rows[combinations], parts).astype(np.int64)
        every = np.ones(parts, np.bool_)
        return sizes, every if self._evidence is None else self._evidence.holds(combinations, part, sizes)

    def _mark(self, combinations: Flags, names: Sequence[str], drop: bool) -> None:
        if drop:
            self.dropped |= combinations
            self.hidden[self.dropped] = True
        else:
            self.hidden[np.ix_(np.flatnonzero(combinations), self._generalized.columns(names))] = True


def common_cells(codes: Whole, nothing: Whole, counts: Counts, judged: Judged, strict: bool) -> Flags:
    """Which cells of rare combinations are shown: combinations x attributes.

    At first they are one group that shows nothing. A group is parted by the attribute that tells most of its class,
    then by the one that shows most rows: parts that may be released show their value, and the rest does not. If the
    rest may not be released, the smallest parts join it. So every group that shows something may be released; the one
    that shows nothing as well, if ``strict``, provided that it was at first.

    Examples
    --------
    >>> codes, classes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> def pairs(some, part, parts):
    ...     sizes = np.bincount(part, minlength=parts)
    ...     return sizes, sizes >= 2
    >>> common_cells(codes, np.array([2, 2]), classes, pairs, strict=True).tolist()
    [[True, False], [True, False], [True, False], [True, False]]
    """
    shown = np.zeros(codes.shape, np.bool_)
    left = [(np.arange(len(codes)), tuple(range(codes.shape[1])))]
    while left:
        some, open_ = left.pop()
        best: tuple[tuple[float, int, int], Whole] | None = None
        for attribute in open_:
            part = _parted(codes[some, attribute], int(nothing[attribute]), some, judged)
            rest_counts = strict or bool(shown[some].any())
            part = _rest_joined(part, some, judged) if rest_counts else part
            if not part.any():
                continue
            parts = tally(part, counts[some], int(part.max()) + 1)
            gain = float(bits(parts.sum(axis=0)) - bits(parts).sum())
            worth = (round(gain, DIGITS), int(parts[1:].sum()), -attribute)
            if best is None or worth > best[0]:
                best = worth, part
        if best is None:
            continue
        (_, _, attribute), part = best
        shown[some[part > 0], -attribute] = True
        further = tuple(each for each in open_ if each != -attribute)
        left += [(some[part == number], further) for number in np.unique(part).tolist()]
    return shown


def _parted(codes: Whole, nothing: int, some: Whole, judged: Judged) -> Whole:
    """The part of each combination by its value, from 1 on; 0 is the rest: what may not be shown, or is nothing."""
    values, part = np.unique(np.append(codes, nothing), return_inverse=True)
    part = (part[:-1] + 1) % len(values)  # nothing is the largest code
    part[~judged(some, part, len(values))[1][part]] = 0
    return np.asarray(part, np.int64)


def _rest_joined(part: Whole, some: Whole, judged: Judged) -> Whole:
    """The parts, the smallest of them moved to the rest until it is empty or may be released."""
    while (part == 0).any() and part.any():
        sizes, allowed = judged(some, part, int(part.max()) + 1)
        if allowed[0]:
            break
        present = np.unique(part[part > 0])
        part = np.where(part == present[np.argmin(sizes[present])], 0, part)
    return part
