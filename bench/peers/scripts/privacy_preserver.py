"""privacy-preserver: Mondrian, groups written as ranges, rounded to fives, and sets."""

from __future__ import annotations

from preserver.mondrian_preserver import Preserver  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import TARGET, attributes, categories, handed


def main() -> None:
    """Anonymize."""
    task = handed()
    frame = task.read()
    sets = {*categories(frame), TARGET}
    released = Preserver.k_anonymize(frame, task.k, attributes(frame), TARGET, sets, None)
    task.write_counted(released.to_dict("records"))


if __name__ == "__main__":
    main()
