"""Larger tables out of a small one, as the kACTUS paper made them to measure time against rows (section 5.8).

For each row, sigma - 1 variations are added: each keeps ``rho`` of the attributes and draws the others from their
domains. The paper leaves open which attributes are kept (here: drawn anew for each variation), from what they are
drawn (here: uniformly from the values that occur) and whether the class varies (here: columns not named stay).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import HeaderError, ParameterError


def expanded(
    frame: pl.DataFrame, attributes: Sequence[str], sigma: int, rho: int = 3, seed: int = 0
) -> Iterator[pl.DataFrame]:
    """The expanded table, block by block: the table itself, then its variations, each of the same height.

    Parameters
    ----------
    frame
        The original rows. A null is missing: it may be kept, but is never drawn.
    attributes
        The columns that vary.
    sigma
        How many times larger the table becomes.
    rho
        How many of the attributes each variation keeps.
    seed
        The same seed gives the same rows. A smaller sigma gives the first blocks of a larger one.

    Examples
    --------
    >>> table = pl.DataFrame({"a": [1, 2], "b": ["x", "y"], "class": ["no", "yes"]})
    >>> [block.height for block in expanded(table, ["a", "b"], sigma=3, rho=1)]
    [2, 2, 2]
    """
    _check(frame, attributes, sigma, rho, seed)
    return _blocks(frame, attributes, sigma, rho, seed)


def _check(frame: pl.DataFrame, attributes: Sequence[str], sigma: int, rho: int, seed: int) -> None:
    unknown = [name for name in attributes if name not in frame.columns]
    if unknown:
        raise HeaderError(f"The table has no column {', '.join(map(repr, unknown))}. It has: {frame.columns}.")
    if sigma < 1:
        raise ParameterError("sigma, how many times larger the table becomes, must be at least 1.")
    if not 0 <= rho <= len(attributes):
        raise ParameterError(f"rho, how many attributes are kept, must be between 0 and {len(attributes)}.")
    if seed < 0:
        raise ParameterError("A seed must be a whole number of at least 0.")


def _blocks(frame: pl.DataFrame, attributes: Sequence[str], sigma: int, rho: int, seed: int) -> Iterator[pl.DataFrame]:
    domains = {name: frame[name].drop_nulls().unique().sort() for name in attributes}
    yield frame
    for variation in range(1, sigma):
        chance = np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, variation))))
        kept = _kept(frame.height, len(attributes), rho, chance)
        yield frame.with_columns(
            _varied(frame[name], kept[:, position], domains[name], chance) for position, name in enumerate(attributes)
        )


def _kept(rows: int, attributes: int, rho: int, chance: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Which cells stay: in each row ``rho`` of them, every choice equally likely."""
    order = np.argsort(chance.random((rows, attributes)), axis=1)
    kept = np.zeros((rows, attributes), dtype=np.bool_)
    np.put_along_axis(kept, order[:, :rho], True, axis=1)
    return kept


def _varied(
    column: pl.Series, kept: npt.NDArray[np.bool_], domain: pl.Series, chance: np.random.Generator
) -> pl.Series:
    """The column with the cells that do not stay drawn anew; a column without values stays."""
    if domain.is_empty():
        return column
    drawn = domain.gather(chance.integers(0, len(domain), len(column)))
    return column.zip_with(pl.Series(kept), drawn)
