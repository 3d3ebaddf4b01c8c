"""The peers: packages on PyPI that make a table k-anonymous, with versions that work together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """One package: its name on PyPI, its version, what it needs, and what it does here."""

    name: str
    version: str
    needs: tuple[str, ...]
    does: str

    @property
    def packages(self) -> list[str]:
        """What is installed."""
        return [f"{self.name}=={self.version}", *self.needs]

    @property
    def module(self) -> str:
        """Its script."""
        return f"bench.peers.scripts.{self.name.replace('-', '_')}"


MONDRIAN = "Mondrian, no hierarchies"
PEERS = (
    Peer("anjana", "1.2.3", ("pandas==2.3.3",), "levels of hierarchies, at most 5 % of rows suppressed"),
    Peer(
        "ai-privacy-toolkit",
        "0.2.1",
        (
            "adversarial-robustness-toolbox==1.18.2",
            "numpy==1.26.4",
            "packaging==25.0",
            "pandas==2.2.3",
            "scikit-learn==1.3.2",
            "torch==2.13.0",
        ),
        "leaves of a tree on a model's predictions, one real row for each",
    ),
    Peer(
        "python-anonymity",
        "0.0.1.post1",
        ("numpy==1.26.4", "pandas==2.2.3", "pycanon==1.0.1.post2"),
        "Datafly by hierarchies, no row suppressed",
    ),
    Peer("anonypy", "0.2.1", ("pandas==3.1.1",), MONDRIAN),
    Peer("anonypyx", "0.2.11", ("pandas==3.1.1",), MONDRIAN),
    Peer("privacy-preserver", "1.0.1", ("pandas==3.1.1",), MONDRIAN),
    Peer(
        "polarfrost",
        "0.2.1",
        ("pandas==3.1.1", "polars==1.30.0", "pyspark==4.3.0"),
        f"{MONDRIAN}; the class becomes a set",
    ),
    Peer("openmed", "3.1.0", ("pandas==3.1.1",), "levels of hierarchies, at most 5 % of rows suppressed"),
    Peer("crowds", "0.0.1", ("pandas==3.1.1",), "OLA by hierarchies, at most 5 % of rows suppressed"),
)
NOT_HERE = (
    "Not here: `pycanon` and `anonymeter` measure and do not anonymize; `pyarxaas` needs a server; "
    "`anonymizedf` and `cape-dataframes` mask cells and know no k; the MDAV of `anonypyx` ends with an error on "
    "categories with the pandas that it installs."
)
