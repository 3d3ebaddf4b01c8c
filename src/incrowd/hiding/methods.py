"""The hiders by name: two ideas with switches.

``decp``, ``incp`` and ``dropp`` hide from naive Bayes, ``hid3`` from ID3. With ``-g`` they generalize cells instead of
blanking them, with ``e-`` they take several cells at once, and joined by ``+`` they work in turn. ``nrd`` deletes the
row: what all others are measured against. ``generic`` and ``quiet`` work against any adversaries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal, Protocol

from incrowd.errors import ParameterError
from incrowd.hiding.adversaries import Adversary
from incrowd.hiding.bayes_hiders import COUNTED, SHARED, DropP, GroupHider, JointDropP, check_degree
from incrowd.hiding.generic import Generic, Quiet
from incrowd.hiding.id3 import Hid3, ID3Adversary
from incrowd.hiding.other_rows import DecP, IncP, JointDecP
from incrowd.hiding.secret import Secret, Status


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
