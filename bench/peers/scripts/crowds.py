"""crowds: OLA, a search through all combinations of levels of the hierarchies."""

from __future__ import annotations

from collections.abc import Callable

from crowds.kanonymity import ola  # type: ignore[import-not-found,unused-ignore]
from crowds.kanonymity.generalizations import GenRule  # type: ignore[import-not-found,unused-ignore]

from bench.peers.scripts.handed import handed

SUPPRESSED = 5  # at most so many per cent of the rows


def main() -> None:
    """Anonymize. Its last level, where nothing is shown, is its own."""
    task = handed()
    rules = {name: GenRule([_level(paths, place) for place in range(1, len(paths[0]) - 1)]) for name, paths in _paths()}
    released, _ = ola.anonymize(task.read().astype(str), rules, k=task.k, max_sup=SUPPRESSED)
    task.write(released)


def _paths() -> list[tuple[str, list[list[str]]]]:
    return list(handed().paths().items())


def _level(paths: list[list[str]], place: int) -> Callable[[str], str]:
    return {path[0]: path[place] for path in paths}.__getitem__


if __name__ == "__main__":
    main()
