"""Earlier releases of the same table, as the report and the certificate tell them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from incrowd.verification.joint import Joint


@dataclass(frozen=True)
class EarlierRelease:
    """A release of the same table that was made before.

    Parameters
    ----------
    sha256, made, requirement
        The digest of its bytes, when, and what it promises.
    smallest
        The smallest group that it makes together with this release.
    same_groups
        Whether it shows every row in the same group as this release.
    """

    sha256: str
    made: str = ""
    requirement: str = ""
    smallest: int = 0
    same_groups: bool = False

    @property
    def when(self) -> str:
        """When it was made, for people.

        Examples
        --------
        >>> EarlierRelease("", "2026-01-02T03:04:05+00:00").when
        '2026-01-02 03:04 UTC'
        """
        date, _, time = self.made.partition("T")
        return f"{date} {time[:5]} UTC" if time else date


@dataclass(frozen=True)
class Earlier:
    """What the ledger knows of a table.

    Parameters
    ----------
    releases
        The earlier releases, the first one first.
    joint
        The groups that all of them make together with this release; None if there are none.
    not_recounted
        Entries of the ledger that cannot be read.
    despite
        Whether all of them tell more together than was promised, and this release was published despite that.
    """

    releases: tuple[EarlierRelease, ...] = ()
    joint: Joint | None = None
    not_recounted: int = 0
    despite: bool = False

    def to_json(self) -> dict[str, Any]:
        """The figures."""
        return {
            "releases": [asdict(one) for one in self.releases],
            "not_recounted": self.not_recounted,
            "published_despite": self.despite or self.not_recounted > 0,
            "together": None if self.joint is None else _figures(self.joint),
        }


def _figures(joint: Joint) -> dict[str, Any]:
    return {
        "k": joint.k,
        "rows": joint.rows,
        "smallest_group": joint.smallest,
        "share_below_k": round(joint.below / max(1, joint.rows), 6),
        "share_below_k_by_this": round(joint.broken / max(1, joint.rows), 6),
    }
