"""openmed: levels of hierarchies for all rows, at most 5 % of rows suppressed; ages by its own bands."""

from __future__ import annotations

import pandas as pd
from openmed.structured.generalize import anonymize_table  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import attributes, handed

AGE = "age"


def main() -> None:
    """Anonymize."""
    task = handed()
    frame = task.read()
    names = attributes(frame)
    above = {name: _above(ways) for name, ways in task.paths().items() if name != AGE}
    kinds = {name: "age" if name == AGE else "clinical_code" for name in names}
    frame = frame.astype({name: "str" for name in names if name != AGE})
    options = {"target_k": task.k, "suppression_rate": 0.05, "clinical_code_hierarchies": above}
    released = anonymize_table(frame.to_dict("records"), kinds, **options)
    task.write(pd.DataFrame(list(released.records)))


def _above(ways: list[list[str]]) -> dict[str, list[str]]:
    """For every value the groups above it, as many for each, without the root; no name is twice on a way."""
    most = max(map(len, ways))
    whole = {way[0]: [way[0]] * (most - len(way)) + way[1:-1] or way[:1] for way in ways}
    return {value: [f"{level}: {group}" for level, group in enumerate(groups)] for value, groups in whole.items()}


if __name__ == "__main__":
    main()
