"""python-anonymity: Datafly, which raises the attribute with most values until every group has k rows."""

from __future__ import annotations

from anonymity.tools import data_fly  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import attributes, handed

SUPPRESSED = 0


def main() -> None:
    """Anonymize. Its level of suppression is the size of the smallest group, not a share of rows: 0 drops none."""
    task = handed()
    frame = task.read().astype(str)
    task.write(data_fly(frame, [], attributes(frame), task.k, SUPPRESSED, task.paths()))


if __name__ == "__main__":
    main()
