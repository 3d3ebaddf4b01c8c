"""``python -m quality faults [WORD …] [--engine E] [--write PAGE]``: a release with each planted fault.

The catalogue is ``tests/faults``. A word chooses the faults of a place, or those whose name it is in. Exit status
1 if a release was published, or never came to its fault.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quality.page import table, write_section

ENGINES = ("memory", "blocks", "spark")
TESTS = Path(__file__).parents[1] / "tests"


@dataclass(frozen=True)
class Trial:
    """A release with a fault planted, and how it ended."""

    fault: str
    place: str
    sentence: str
    engine: str
    case: str
    ending: str
    message: str = ""

    @property
    def refused(self) -> bool:
        """Whether the program noticed."""
        return self.ending in ("by its verdict", "by an error")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the catalogue; print what was published, and write the section of the page if asked for."""
    arguments = _arguments(argv)
    trials = run(arguments.words, arguments.engine or ENGINES, verbose=arguments.verbose)
    survivors = [trial for trial in trials if not trial.refused]
    for trial in survivors:
        print(f"{trial.ending}: {trial.place}: {trial.fault} ({trial.case})", flush=True)
    faults = {trial.fault for trial in trials}
    print(f"{len(faults)} faults, {len(trials)} releases, {len(trials) - len(survivors)} refused")
    if arguments.write:
        write_section(arguments.write, "faults", section(trials))
    return 1 if survivors else 0


def run(words: Sequence[str], engines: Sequence[str], *, verbose: bool = False) -> list[Trial]:
    """Every release of the catalogue that is asked for."""
    sys.path.insert(0, str(TESTS))
    if "spark" in engines:
        importlib.import_module("support.spark_session").local_session()
    trials = []
    with TemporaryDirectory(prefix="incrowd-faults-") as home:
        os.environ["XDG_CONFIG_HOME"] = home
        for fault in importlib.import_module("faults.catalogue").FAULTS:
            if words and not any(word == fault.place or word in fault.name for word in words):
                continue
            for case in fault.cases:
                if case.engine in engines:
                    trials.append(_trial(fault, case))
                    if verbose:
                        print(
                            f"{trials[-1].ending}: {fault.place}: {fault.name} ({case}) {trials[-1].message}",
                            flush=True,
                        )
    return trials


def _trial(fault: Any, case: Any) -> Trial:
    attempt = importlib.import_module("faults.running").attempt
    with TemporaryDirectory(prefix="incrowd-faults-") as folder:
        try:
            outcome = attempt(case, Path(folder), fault)
        except Exception as error:  # whatever it is, it is not a refusal
            ending, message = "not refused on purpose", type(error).__name__
        else:
            message = str(outcome.error or "")
            status = outcome.error.exit_status if outcome.error else 0
            ending = ("published", "by its verdict", "by an error")[status] if outcome.met else "never met"
            ending = "left something behind" if outcome.error and outcome.left else ending
    return Trial(fault.name, fault.place, fault.sentence, case.engine, str(case), ending, message)


def section(trials: Sequence[Trial]) -> str:
    """What was planted and refused, place by place, and every survivor by name."""
    places = sorted({trial.place for trial in trials})
    rows = [_row(place, [trial for trial in trials if trial.place == place]) for place in places]
    rows.append(_row("**all**", list(trials)))
    header = ["planted in", "faults", *(f"{engine}: refused / run" for engine in ENGINES), "by its verdict"]
    survivors = [trial for trial in trials if not trial.refused]
    names = "\n".join(
        f"- {trial.place}, {trial.engine}: *{trial.fault}* ({trial.ending}). {trial.sentence}" for trial in survivors
    )
    return (
        "A fault is a function of the program that does something else than it should: rows get lost, codes are "
        "permuted, an identifier is released, the order of rows is kept, a file holds more than it shows. A release of "
        "an invented table is run with each; without a fault every one of them is published. Refused means: an error "
        "with status 1 or 2, nothing published, no folder left behind. The catalogue is `tests/faults`; this was "
        f"written by `python -m quality faults --write docs/results/quality.md`.\n\n{table(header, rows)}\n\n"
        + (f"Published all the same:\n\n{names}" if survivors else "None was published.")
    )


def _row(place: str, trials: Sequence[Trial]) -> list[object]:
    run, refused = Counter(trial.engine for trial in trials), Counter(t.engine for t in trials if t.refused)
    engines = [f"{refused[engine]} / {run[engine]}" if run[engine] else "" for engine in ENGINES]
    verified = sum(trial.ending == "by its verdict" for trial in trials)
    return [place, len({trial.fault for trial in trials}), *engines, verified]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m quality faults", description="A release with each planted fault.")
    parser.add_argument("words", nargs="*", help="places, or parts of names")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="only these engines; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="tell how every release ended")
    parser.add_argument("--write", type=Path, help="the page to write the section into")
    return parser.parse_args(argv)
