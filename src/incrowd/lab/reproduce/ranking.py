"""Algorithms ranked over all cases of a part: Friedman's test, then Bonferroni and Dunn's against the paper's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incrowd.lab.reproduce.evidence import Value
from incrowd.lab.statistics.critical_difference import CriticalDifference, bonferroni_dunn
from incrowd.lab.statistics.friedman import FriedmanTest, friedman_test


@dataclass(frozen=True)
class Ranking:
    """What the tests say. The cases share their data, so they are no independent cases and the tests are optimistic."""

    algorithms: tuple[str, ...]
    friedman: FriedmanTest
    against: CriticalDifference


def ranked(values: Iterable[Value], algorithms: Sequence[str], control: str) -> Ranking | None:
    """Rank algorithms over the cases that have them all; None if there are fewer than two cases.

    Examples
    --------
    >>> from incrowd.lab.papers.tables import printed
    >>> rows = printed("kactus_table5").iter_rows(named=True)
    >>> values = [Value("5", r["quasi_identifiers"], r["inducer"], r["algorithm"], r["k"], r["mean"]) for r in rows]
    >>> found = ranked(values, ["Mondrian", "kACTUS"], "kACTUS")
    >>> round(found.friedman.f_statistic, 1), found.against.finding()
    (586.3, 'kACTUS is better than Mondrian')
    """
    cases: dict[tuple[str, str, int], dict[str, float]] = {}
    for value in values:
        cases.setdefault((value.label, value.inducer, value.k), {})[value.algorithm] = value.mean
    rows = [[case[name] for name in algorithms] for case in cases.values() if all(name in case for name in algorithms)]
    if len(rows) < 2:
        return None
    found = friedman_test(rows)
    named = dict(zip(algorithms, found.mean_ranks, strict=True))
    return Ranking(tuple(algorithms), found, bonferroni_dunn(named, len(rows), control))
