"""The hiders by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol, runtime_checkable

from incrowd.adversaries.adversary import Adversary
from incrowd.adversaries.id3 import ID3Adversary
from incrowd.adversaries.naive_bayes import NaiveBayes
from incrowd.adversaries.sklearn_adversary import ESTIMATORS, SklearnAdversary
from incrowd.algorithms.cell_hiding.decp import DecP
from incrowd.algorithms.cell_hiding.decp_g import DecPG
from incrowd.algorithms.cell_hiding.dropp import DropP
from incrowd.algorithms.cell_hiding.dropp_g import DropPG
from incrowd.algorithms.cell_hiding.e_decp import EDecP
from incrowd.algorithms.cell_hiding.e_decp_g import EDecPG
from incrowd.algorithms.cell_hiding.e_dropp import EDropP
from incrowd.algorithms.cell_hiding.e_dropp_g import EDropPG
from incrowd.algorithms.cell_hiding.generic import Generic
from incrowd.algorithms.cell_hiding.hid3 import Hid3
from incrowd.algorithms.cell_hiding.hid3_g import Hid3G
from incrowd.algorithms.cell_hiding.hybrid import Hider, Hybrid
from incrowd.algorithms.cell_hiding.incp import IncP
from incrowd.algorithms.cell_hiding.incp_g import IncPG
from incrowd.algorithms.cell_hiding.nrd import Nrd
from incrowd.algorithms.cell_hiding.opening import check_degree
from incrowd.algorithms.cell_hiding.quiet import Quiet
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status
from incrowd.errors import ParameterError


@runtime_checkable
class GroupHider(Protocol):
    """Hides several blanked cells at once."""

    @property
    def name(self) -> str:
        """Its name in the list of methods."""
        ...

    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """How each of the cells ended."""
        ...


AnyHider = Hider | GroupHider


@dataclass(frozen=True)
class Options:
    """How to hide.

    Parameters
    ----------
    degree
        The value that shall overtake the true one is drawn from so many most likely values, the true one included.
        Whoever knows the method is right with a probability of at most the success rate over the degree.
    lean
        HID3 does not hide cells where that does not change the way in the tree.
    nearest
        DROPP goes on where every other value is impossible, instead of deleting the row.
    """

    degree: int = 3
    lean: bool = False
    nearest: bool = False

    def __post_init__(self) -> None:
        check_degree(self.degree)


@dataclass(frozen=True)
class Method:
    """A hider that can be asked for: how it is made, whom it is made against, and which cells it takes together."""

    make: Callable[[Options], AnyHider]
    targets: tuple[Adversary, ...]
    together: Literal["", "value", "row"] = ""


BAYES: tuple[Adversary, ...] = (NaiveBayes("counted"),)
SHARING: tuple[Adversary, ...] = (NaiveBayes("shared"),)
TREE: tuple[Adversary, ...] = (ID3Adversary(),)

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "decp": Method(lambda o: DecP(o.degree), BAYES),
        "incp": Method(lambda o: IncP(o.degree), BAYES),
        "dropp": Method(lambda o: DropP(o.degree, o.nearest), BAYES),
        "hid3": Method(lambda o: Hid3(o.lean), TREE),
        "decp-g": Method(lambda o: DecPG(o.degree), SHARING),
        "incp-g": Method(lambda o: IncPG(o.degree), SHARING),
        "dropp-g": Method(lambda o: DropPG(o.degree, o.nearest), SHARING),
        "hid3-g": Method(lambda o: Hid3G(o.lean), TREE),
        "hid3+decp": Method(lambda o: Hybrid(Hid3(o.lean), DecP(o.degree)), TREE + BAYES),
        "hid3+incp": Method(lambda o: Hybrid(Hid3(o.lean), IncP(o.degree)), TREE + BAYES),
        "hid3+dropp": Method(lambda o: Hybrid(Hid3(o.lean), DropP(o.degree, o.nearest)), TREE + BAYES),
        "hid3-g+decp-g": Method(lambda o: Hybrid(Hid3G(o.lean), DecPG(o.degree)), TREE + SHARING),
        "hid3-g+incp-g": Method(lambda o: Hybrid(Hid3G(o.lean), IncPG(o.degree)), TREE + SHARING),
        "hid3-g+dropp-g": Method(lambda o: Hybrid(Hid3G(o.lean), DropPG(o.degree, o.nearest)), TREE + SHARING),
        "e-decp": Method(lambda o: EDecP(o.degree), BAYES, "value"),
        "e-decp-g": Method(lambda o: EDecPG(o.degree), SHARING, "value"),
        "e-dropp": Method(lambda o: EDropP(o.degree), BAYES, "row"),
        "e-dropp-g": Method(lambda o: EDropPG(o.degree), SHARING, "row"),
        "nrd": Method(lambda _: Nrd(), ()),
    }
)
NAMES = (*METHODS, Generic.name, Quiet.name)


def method_named(name: str, adversaries: Sequence[Adversary]) -> Method:
    """A method by its name; the generic and the quiet one work against the given adversaries.

    The quiet one has no targets: to do more where an adversary is right would give the value away.
    """
    if name == Generic.name:
        generic = Generic(tuple(adversaries))
        return Method(lambda _: generic, generic.adversaries)
    if name == Quiet.name:
        quiet = Quiet(tuple(adversaries))
        return Method(lambda _: quiet, ())
    if name not in METHODS:
        raise ParameterError(f"There is no method {name!r} to hide cells. Known: {', '.join(NAMES)}.")
    return METHODS[name]


def adversary_named(name: str) -> Adversary:
    """An adversary by its name: nb, nb-ignored, nb-shared, id3, or a scikit-learn one.

    Examples
    --------
    >>> adversary_named("id3").name
    'id3'
    """
    own: dict[str, Adversary] = {
        "nb": NaiveBayes(),
        "nb-ignored": NaiveBayes("ignored"),
        "nb-shared": NaiveBayes("shared"),
        "id3": ID3Adversary(),
    }
    if name in own:
        return own[name]
    if name in ESTIMATORS:
        return SklearnAdversary(name)
    raise ParameterError(f"There is no adversary {name!r}. Known: {', '.join([*own, *ESTIMATORS])}.")
