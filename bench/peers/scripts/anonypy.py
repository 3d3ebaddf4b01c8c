"""anonypy: Mondrian, groups written as ranges and sets."""

from __future__ import annotations

from anonypy import Preserver  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import TARGET, attributes, handed


def main() -> None:
    """Anonymize."""
    task = handed()
    frame = task.read(categories="category")
    groups = Preserver(frame, attributes(frame), TARGET).anonymize_k_anonymity(task.k)
    task.write_counted({name: _first(value) for name, value in group.items()} for group in groups)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
