"""Groups published as counts, and what their recipient learns from: the values dealt out again, several times."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from incrowd.engines.embedded.binning import bin_table
from incrowd.lab.examples import Examples
from incrowd.lab.fed_cells import raw_cells
from incrowd.lab.feeding import Parts, joined, label_names
from incrowd.plan.steps import Bin
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn


def deal(codes: Codes, groups: Codes, generator: np.random.Generator) -> Codes:
    """The values of each group, dealt over its rows at random.

    Examples
    --------
    >>> found = deal(np.array([1, 2, 3, 3]), np.array([0, 0, 1, 1]), np.random.default_rng(1))
    >>> sorted(found[:2].tolist()), found[2:].tolist()
    ([1, 2], [3, 3])
    """
    dealt = np.empty_like(codes)
    dealt[np.argsort(groups, kind="stable")] = codes[np.lexsort((generator.random(len(codes)), groups))]
    return dealt


def feed_counts(
    parts: Parts,
    bins: Bin,
    names: Collection[str],
    groups: Codes,
    hidden: Collection[str] = (),
    deals: int = 5,
    seed: int = 0,
) -> tuple[Examples, Examples]:
    """Training rows as dealt from counts, every row once for each deal, and test rows in the same public bins.

    Parameters
    ----------
    parts
        The rows to learn from and to test on.
    bins
        The public cuts of the numbers among ``names``.
    names, hidden
        The attributes that are released as counts, and those of them that show nothing.
    groups
        The group of each row to learn from.
    """
    generator = np.random.default_rng(seed)
    train, test = bin_table(parts.train, bins), bin_table(parts.test, bins)
    target, rows = parts.train[parts.target], np.tile(np.arange(parts.train.height), deals)
    pairs = []
    for name in parts.inputs:
        if name in hidden:
            continue
        own = train[name]
        codes = own.codes[rows] if name not in names else _deals(own.codes, groups, deals, generator)
        pairs.append(joined(name, raw_cells(_with(own, codes)), raw_cells(test[name])))
    labels = label_names(target, bool(target.counts[-1] or parts.test[parts.target].counts[-1]))
    weights = np.full(len(rows), 1 / deals) if deals > 1 else None
    return (
        Examples(tuple(pair[0] for pair in pairs), target.codes[rows].astype(np.int64), labels, weights),
        Examples(tuple(pair[1] for pair in pairs), parts.truth, labels),
    )


def _deals(codes: Codes, groups: Codes, deals: int, generator: np.random.Generator) -> Codes:
    return np.concatenate([deal(codes, groups, generator) for _ in range(deals)])


def _with(column: EncodedColumn, codes: Codes) -> EncodedColumn:
    return EncodedColumn(column.name, column.type, codes, column.dictionary)


def purity(groups: Codes, labels: Codes) -> tuple[float, float]:
    """Share of the rows in groups of one class, and the largest share that one class has in a group.

    Examples
    --------
    >>> purity(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]))
    (0.5, 1.0)
    """
    classes = int(labels.max(initial=0)) + 1
    cells = groups.astype(np.int64) * classes + labels
    counts: npt.NDArray[np.int64] = np.bincount(cells, minlength=(int(groups.max()) + 1) * classes).reshape(-1, classes)
    sizes, most = counts.sum(axis=1), counts.max(axis=1)
    return float(sizes[most == sizes].sum() / sizes.sum()), float((most / np.maximum(sizes, 1)).max())
