"""anonypyx: Mondrian, groups written as ranges and sets."""

from __future__ import annotations

from anonypyx import Anonymiser  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import TARGET, attributes, handed


def main() -> None:
    """Anonymize."""
    task = handed()
    frame = task.read(categories="category")
    options = {"k": task.k, "algorithm": "Mondrian", "generalisation_strategy": "human-readable"}
    names = {"feature_columns": attributes(frame), "sensitive_column": TARGET}
    released = Anonymiser(frame, **options, **names).anonymise()
    if "count" in released.columns:
        task.write_counted(released.to_dict("records"))
    else:
        task.write(released)


if __name__ == "__main__":
    main()
