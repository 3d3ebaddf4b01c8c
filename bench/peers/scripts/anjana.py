"""anjana: one level of its hierarchy for every attribute, raised until few enough rows are left to suppress."""

from __future__ import annotations

from anjana.anonymity import k_anonymity  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import attributes, handed

SUPPRESSED = 5  # at most so many per cent of the rows


def main() -> None:
    """Anonymize."""
    task = handed()
    frame = task.read().astype(str)
    levels = {name: dict(enumerate(zip(*paths, strict=True))) for name, paths in task.paths().items()}
    hierarchies = {name: {level: list(column) for level, column in each.items()} for name, each in levels.items()}
    task.write(k_anonymity(frame, [], attributes(frame), task.k, SUPPRESSED, hierarchies))


if __name__ == "__main__":
    main()
