"""What the thesis of 2011 found: tables 5.2 and 5.3, and the orders its figures 5.1 to 5.6 are described by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from incrowd.lab.inference.success import SINGLE

Chain = Sequence[Sequence[str]]

MILLISECONDS: Mapping[str, Mapping[str, float]] = {
    "breast cancer": dict(zip(SINGLE, (0.129, 0.127, 0.131, 0.129, 0.159, 0.160, 0.169, 0.159), strict=True)),
    "Car": dict(zip(SINGLE[:4], (0.036, 0.036, 0.037, 0.036), strict=True)),
}
SUCCESS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "breast cancer": {
        "nb": dict(zip(SINGLE, (100, 100, 100, 84, 100, 100, 100, 81), strict=True)),
        "id3": dict(zip(SINGLE, (77, 75, 90, 100, 74, 73, 85, 100), strict=True)),
        "svm": dict(zip(SINGLE, (41, 41, 89, 86, 40, 39, 87, 84), strict=True)),
    },
    "Car": {
        "nb": dict(zip(SINGLE[:4], (100, 100, 100, 65), strict=True)),
        "id3": dict(zip(SINGLE[:4], (86, 84, 85, 100), strict=True)),
        "svm": dict(zip(SINGLE[:4], (65, 56, 88, 80), strict=True)),
    },
}

_BLANKING: Chain = [["hid3"], ["dropp"], ["incp"], ["decp"]]
_RAISING: Chain = [["hid3-g"], ["dropp-g"], ["incp-g"], ["decp-g"]]
_ABOVE: Sequence[Chain] = [[[name], [f"{name}-g"]] for name in ("hid3", "dropp", "incp", "decp")]
_BELOW: Sequence[Chain] = [[[f"{name}-g"], [name]] for name in ("hid3", "dropp", "incp", "decp")]
_ALL: Chain = [["hid3-g"], ["hid3"], ["dropp-g"], ["dropp"], ["incp-g"], ["incp"], ["decp-g"], ["decp"]]


@dataclass(frozen=True)
class Claim:
    """Chains of methods, least first, that a figure is said to show for a quantity."""

    figure: str
    quantity: str
    chains: Sequence[Chain]

    def pairs(self, known: Mapping[str, float]) -> Iterator[tuple[str, str]]:
        """All pairs of known methods of which the first is claimed to be less."""
        for chain in self.chains:
            for place, lower in enumerate(chain):
                for higher in chain[place + 1 :]:
                    yield from ((low, high) for low in lower for high in higher if low in known and high in known)


CLAIMS = (
    Claim(
        "5.1",
        "average direct distance",
        [[["hid3", "hid3-g"], ["dropp", "dropp-g"], ["nrd"], ["incp", "decp", "incp-g", "decp-g"]], *_ABOVE],
    ),
    Claim("5.2", "direct distance", [_BLANKING, _RAISING, *_ABOVE]),
    Claim("5.3", "SKLD", [_BLANKING, _RAISING, *_BELOW]),
    Claim("5.4", "ACMI", [_ALL]),
    Claim("5.5", "SCE", [_ALL]),
    Claim(
        "5.6",
        "hybrids, average direct distance",
        [
            [
                ["hid3+dropp", "hid3-g+dropp-g"],
                ["hid3+incp"],
                ["hid3-g+incp-g"],
                ["hid3+decp"],
                ["hid3-g+decp-g"],
            ]
        ],
    ),
)


def against(claim: Claim, values: Mapping[str, float]) -> tuple[int, list[str]]:
    """How many pairs were compared, and those that came out the other way; equal values agree.

    Examples
    --------
    >>> against(Claim("1", "cost", [[["a"], ["b", "c"]]]), {"a": 2.0, "b": 3.0, "c": 1.0})
    (2, ['a > c'])
    """
    pairs = list(claim.pairs(values))
    return len(pairs), [f"{low} > {high}" for low, high in pairs if values[low] > values[high]]
