"""polarfrost: Mondrian in Polars. A group keeps the set of its classes, not the class of each person."""

from __future__ import annotations

import polars as pl
from polarfrost import mondrian_k_anonymity  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import NUMBERS, TARGET, handed


def main() -> None:
    """Anonymize."""
    task = handed()
    frame = pl.read_csv(task.table)
    names = [name for name in frame.columns if name != TARGET]
    sets = [name for name in names if name not in NUMBERS]
    task.write_counted(mondrian_k_anonymity(frame, names, TARGET, task.k, sets).to_dicts())


if __name__ == "__main__":
    main()
