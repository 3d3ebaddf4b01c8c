"""anonypyx: Mondrian, groups written as ranges and sets."""

from __future__ import annotations

from anonypyx import Anonymiser  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import TARGET, attributes, handed


def main() -> None:
    """Anonymize."""
    given = handed()
    frame = given.read(categories="category")
    asked = {"k": given.k, "algorithm": "Mondrian", "generalisation_strategy": "human-readable"}
    names = {"feature_columns": attributes(frame), "sensitive_column": TARGET}
    released = Anonymiser(frame, **asked, **names).anonymise()
    if "count" in released.columns:
        given.write_counted(released.to_dict("records"))
    else:
        given.write(released)


if __name__ == "__main__":
    main()
