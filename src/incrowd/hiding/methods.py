"""The hiders by name: two ideas with switches.

``decp``, ``incp`` and ``dropp`` hide from naive Bayes, ``hid3`` from ID3. With ``-g`` they generalize cells instead of
blanking them, with ``e-`` they take several cells at once, and joined by ``+`` they work in turn. ``nrd`` deletes the
row: what all others are measured against. ``generic`` and ``quiet`` work against any adversaries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Literal, Protocol

from incrowd.errors import ParameterError
from incrowd.hiding.adversaries import Adversary, Student
from incrowd.hiding.bayes_hiders import COUNTED, SHARED, DropP, GroupHider, JointDropP, check_degree
from incrowd.hiding.id3 import Hid3, ID3Adversary
from incrowd.hiding.other_rows import DecP, IncP, JointDecP
from incrowd.hiding.secret import Chose, Secret, Status
from incrowd.hiding.taxonomy import HIDDEN


class Hider(Protocol):
    """Hides one blanked cell."""

    @property
    def name(self) -> str:
        """Its name in the list of methods."""

    def hide(self, secret: Secret) -> Status:
        """Change cells until the adversary fails; if that is impossible, delete the row."""


@dataclass(frozen=True)
class Nrd:
    """Naive row deletion: blank the row; it stays in the table, so that row numbers line up."""

    name = "nrd"

    def hide(self, secret: Secret) -> Status:
        """Blank every cell of the row."""
        secret.delete_row()
        return Status.DELETED


@dataclass(frozen=True)
class Hybrid:
    """Two hiders in turn, until both adversaries fail.

    The thesis runs one after the other once. That is not enough: what the second one hides can bring the first
    adversary back. So they take turns; each turn hides more cells, so it ends. Generalizing ones never lower the level
    the confidential cell has reached.
    """

    first: Hider
    second: Hider

    @property
    def name(self) -> str:
        """Both names, joined."""
        return f"{self.first.name}+{self.second.name}"

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from both adversaries."""
        start, ended = secret.mark(), Status.NOT_PREDICTED
        while True:
            turns = [self.first.hide(secret)]
            before = secret.shown(secret.attribute)
            turns.append(self.second.hide(secret))
            if any(turn is not Status.NOT_PREDICTED for turn in turns):
                ended = _together(secret, turns, start)
                if ended is not Status.HIDDEN:
                    return ended
            elif secret.shown(secret.attribute) == before:  # a raised level may bring the other adversary back
                return ended


def _together(secret: Secret, turns: list[Status], start: tuple[int, int]) -> Status:
    """How a round ended: as its worst turn did. Where the row has to go, nothing else is left changed."""
    if Status.DELETED in turns:
        secret.back(start)
        secret.delete_row()
        return Status.DELETED
    return Status.COIN if Status.COIN in turns else Status.HIDDEN


# Hiders against any adversaries at once, by blanking cells of the row. No other row changes, so the adversaries learn
# once. The thesis leaves adversaries other than naive Bayes and ID3 open.
@dataclass(frozen=True)
class RowBlanker(ABC):
    """Blanks cells of the row until all adversaries of a list fail."""

    adversaries: tuple[Adversary, ...]  # all of them must fail
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if not self.adversaries:
            raise ParameterError(
                f"The {self.name} hider needs at least one adversary. Name some, for instance nb and id3."
            )

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell."""
        shown = secret.shown(secret.attribute)
        students = [adversary.study(secret.published, secret.attribute, shown) for adversary in self.adversaries]
        return self.hide_from(secret, students)

    @abstractmethod
    def hide_from(self, secret: Secret, students: Sequence[Student]) -> Status:
        """Hide a blanked cell from adversaries that have learnt already."""


@dataclass(frozen=True)
class Generic(RowBlanker):
    """Hide a cell from every adversary of a list.

    Cells are blanked in the order of the evidence they give for the true value, until none of the adversaries predicts
    it; then every blanked cell that is not needed is shown again.
    """

    name = "generic"

    def hide_from(self, secret: Secret, students: Sequence[Student]) -> Status:
        """Hide a blanked cell from adversaries that have learnt already; if that is impossible, delete the row."""
        if not right(secret, students):
            return Status.NOT_PREDICTED
        if secret.coin_says_stop():
            return Status.COIN
        weights = {name: evidence(secret, name, secret.actual) for name in secret.known}
        names = _by_evidence(secret, students, weights) or _by_trial(secret, students, weights)
        if names is None:
            secret.delete_row()
            return Status.DELETED
        for name in _needed(secret, names, lambda: bool(right(secret, students))):
            secret.steps.append(Chose(name, tuple(weights), {"evidence": weights}))
            secret.show([secret.row], name, HIDDEN)
        return Status.HIDDEN


def right(secret: Secret, students: Sequence[Student]) -> int:
    """How many adversaries take the cell for what it is."""
    return sum(student.guess(secret.row) == secret.actual for student in students)


def evidence(secret: Secret, name: str, value: int) -> Fraction:
    """How much more common what the row shows is among rows with a value than among those with another one.

    A ratio of frequencies, each with half a row added for and against, so that it is never without bound.
    """
    published = secret.published
    others = [leaf for leaf in secret.taxonomy.leaves if leaf != value]
    classes = published.counts(secret.attribute)
    cells = published.joint(secret.attribute, name)[:, secret.shown(name)]
    among_same = Fraction(2 * int(cells[value]) + 1, 2 * int(classes[value]) + 2)
    among_others = Fraction(2 * int(cells[others].sum()) + 1, 2 * int(classes[others].sum()) + 2)
    return among_same / among_others


def _by_evidence(secret: Secret, students: Sequence[Student], weights: Mapping[str, Fraction]) -> list[str] | None:
    """Blank the strongest evidence first; the cells it took, or None. The row is left as it was."""
    blanked: list[str] = []
    with secret.published.trial():
        for name in sorted(weights, key=lambda name: -weights[name]):
            secret.published.show([secret.row], name, HIDDEN)
            blanked.append(name)
            if not right(secret, students):
                return blanked
    return None


def _by_trial(secret: Secret, students: Sequence[Student], weights: Mapping[str, Fraction]) -> list[str] | None:
    """Blank the cell after which the fewest adversaries are right, again and again; as above."""
    blanked, left = [], dict(weights)

    def outcome(name: str) -> tuple[int, Fraction]:
        with secret.published.trial():
            secret.published.show([secret.row], name, HIDDEN)
            return right(secret, students), -left[name]

    with secret.published.trial():
        while left and right(secret, students):
            chosen = min(left, key=outcome)
            del left[chosen]
            secret.published.show([secret.row], chosen, HIDDEN)
            blanked.append(chosen)
        return None if right(secret, students) else blanked


def _needed(secret: Secret, names: Sequence[str], exposed: Callable[[], bool]) -> list[str]:
    """Those of the cells to blank without which the secret is exposed, the last tried first; the row stays as it is."""
    kept, before = list(names), {name: secret.shown(name) for name in names}
    with secret.published.trial():
        for name in names:
            secret.published.show([secret.row], name, HIDDEN)
        for name in reversed(names):
            secret.published.show([secret.row], name, before[name])
            if exposed():
                secret.published.show([secret.row], name, HIDDEN)
            else:
                kept.remove(name)
    return kept


@dataclass(frozen=True)
class Quiet(RowBlanker):
    """Blank cells of the row until no adversary makes anything of it, whatever the true value is.

    All other hiders act only if the true value is predicted. Whoever knows the method and sees that cells were hidden
    can turn this around (see :func:`incrowd.hiding.evaluation.pattern_attack`). The quiet hider never looks at the true
    value: it blanks cells of the row until every adversary says of it what it would say of a blank row. An adversary is
    then right only where the value is the one it takes everybody for.
    """

    name = "quiet"

    def hide_from(self, secret: Secret, students: Sequence[Student]) -> Status:
        """Hide a blanked cell from adversaries that have learnt already."""
        calm = blank_guesses(secret, students)
        start, names = secret.known, []
        with secret.published.trial():
            while misled := _deviating(secret, students, calm):
                weights = {name: abs(evidence(secret, name, misled) - 1) for name in secret.known}
                names.append(max(weights, key=lambda name: weights[name]))
                secret.published.show([secret.row], names[-1], HIDDEN)
        names = _needed(secret, names, lambda: _deviating(secret, students, calm) is not None)
        for name in names:
            secret.steps.append(Chose(name, tuple(start), {}))
            secret.show([secret.row], name, HIDDEN)
        if not names:
            return Status.NOT_PREDICTED
        blank = all(secret.shown(name) == HIDDEN for name in secret.published.attributes)
        return Status.DELETED if blank else Status.HIDDEN


def blank_guesses(secret: Secret, students: Sequence[Student]) -> list[int | None]:
    """What adversaries would say if the whole row were blank."""
    with secret.published.trial():
        for name in secret.known:
            secret.published.show([secret.row], name, HIDDEN)
        return [student.guess(secret.row) for student in students]


def _deviating(secret: Secret, students: Sequence[Student], calm: Sequence[int | None]) -> int | None:
    """The value an adversary takes the cell for because of the row; None if none makes anything of it."""
    for student, usual in zip(students, calm, strict=True):
        guess = student.guess(secret.row)
        if guess != usual:
            return guess or usual
    return None


@dataclass(frozen=True)
class Options:
    """How to hide."""

    degree: int = 3  # the value that overtakes is drawn from so many likely ones, the true one among them
    lean: bool = False  # HID3 does not hide cells where that does not change the way in the tree
    nearest: bool = False  # DROPP goes on where every other value is impossible, instead of deleting the row

    def __post_init__(self) -> None:
        check_degree(self.degree)


@dataclass(frozen=True)
class HidingMethod:
    """A hider that can be asked for: how it is made, whom it is made against, and which cells it takes together."""

    make: Callable[[Options], Hider | GroupHider]
    targets: tuple[Adversary, ...]
    together: Literal["", "value", "row"] = ""


def make_hider(name: str, options: Options) -> Hider:
    """A hider of one cell, by the switches its name stands for."""
    kind, generalize = name.removesuffix("-g"), name.endswith("-g")
    match kind:
        case "decp":
            return DecP(options.degree, generalize)
        case "incp":
            return IncP(options.degree, generalize)
        case "dropp":
            return DropP(options.degree, generalize, options.nearest)
        case "hid3":
            return Hid3(options.lean, generalize)
    first, _, second = name.partition("+")
    return Hybrid(make_hider(first, options), make_hider(second, options))


def _single(name: str) -> HidingMethod:
    bayes = SHARED if name.endswith("-g") else COUNTED
    targets = tuple(ID3Adversary() if part.startswith("hid3") else bayes for part in name.split("+"))
    return HidingMethod(partial(make_hider, name), targets)


METHODS: Mapping[str, HidingMethod] = MappingProxyType(
    {f"{kind}{form}": _single(f"{kind}{form}") for form in ("", "-g") for kind in ("decp", "incp", "dropp", "hid3")}
    | {
        name: _single(name)
        for form in ("", "-g")
        for name in (f"hid3{form}+{kind}{form}" for kind in ("decp", "incp", "dropp"))
    }
    | {
        "e-decp": HidingMethod(lambda o: JointDecP(o.degree), (COUNTED,), "value"),
        "e-decp-g": HidingMethod(lambda o: JointDecP(o.degree, generalize=True), (SHARED,), "value"),
        "e-dropp": HidingMethod(lambda o: JointDropP(o.degree), (COUNTED,), "row"),
        "e-dropp-g": HidingMethod(lambda o: JointDropP(o.degree, generalize=True), (SHARED,), "row"),
        "nrd": HidingMethod(lambda _: Nrd(), ()),
    }
)
NAMES = (*METHODS, Generic.name, Quiet.name)


def method_named(name: str, adversaries: Sequence[Adversary]) -> HidingMethod:
    """A method by its name; the generic and the quiet one work against the given adversaries.

    The quiet one has no targets: to do more where an adversary is right would give the value away.
    """
    if name == Generic.name:
        generic = Generic(tuple(adversaries))
        return HidingMethod(lambda _: generic, generic.adversaries)
    if name == Quiet.name:
        quiet = Quiet(tuple(adversaries))
        return HidingMethod(lambda _: quiet, ())
    if name not in METHODS:
        raise ParameterError(f"There is no method {name!r} to hide cells. Known: {', '.join(NAMES)}.")
    return METHODS[name]
