"""``python -m experiments reproduce``: a paper's experiment, run again, beside what was printed."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from experiments.inference.experiment import run_inference, write_inference
from experiments.inference.sets import run_sets
from experiments.reproduce.evidence import distance, distances, distinct
from experiments.reproduce.experiment import Experiment
from experiments.reproduce.iac import IAC
from experiments.reproduce.kactus import KACTUS
from experiments.reproduce.kadet import KADET
from experiments.reproduce.preparing import Options, Prepared, prepare
from experiments.reproduce.reproduction import Reproduction
from experiments.reproduce.running import run, work_left
from experiments.reproduce.tdr import TDR
from incrowd.cli.compare import watched
from incrowd.cli.shared import Json, print_json
from incrowd.comparisons.choices import listed
from incrowd.comparisons.comparison import Results
from incrowd.comparisons.run import Watcher
from incrowd.comparisons.workers import in_words
from incrowd.drawing.wording import counted
from incrowd.errors import ParameterError

EXPERIMENTS = {experiment.name: experiment for experiment in (KACTUS, KADET, TDR, IAC)}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name.

    Examples
    --------
    >>> find_experiment("kactus").title
    'kACTUS: accuracy by k, and against rivals'
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    close = get_close_matches(name, EXPERIMENTS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"There is no experiment {name!r}.{hint} Experiments: {', '.join(EXPERIMENTS)}, inference.")


INFERENCE, SETS = "inference", "sets"


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(metavar="kactus|kadet|tdr|iac|inference", help="Whose experiment; inference: hiding cells."),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer splits, k and rows: minutes, not hours.")] = False,
    parts: Annotated[
        str | None,
        typer.Option(help="Only these: kactus 2,3,4,5 (else without 4); kadet id3,c45; iac 8,4,c; inference sets."),
    ] = None,
    learners: Annotated[str | None, typer.Option(help="Only these of the paper's: c45,nb")] = None,
    weka: Annotated[bool, typer.Option("--weka", help="Weka's learners in place of ours.")] = False,
    splits: Annotated[int | None, typer.Option(help="Only so many of the splits, the first ones.", min=1)] = None,
    to: Annotated[
        Path | None, typer.Option(help="A folder for results and pages; reproduction-NAME if not given.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write the Markdown page there as well, plots beside it.")] = None,
    data: Annotated[Path | None, typer.Option(help="A folder with the data sets; else INCROWD_DATA.")] = None,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.", min=0)] = 1,
    jobs: Annotated[int | None, typer.Option(help="Processes; by default one for each core.", min=1)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what it would cost, and stop.")] = False,
    json: Json = False,
) -> None:
    """Run a paper's experiment again and show the results beside the printed numbers.

    An interrupted run goes on where it stopped. Differences from the paper are a finding, not an error.
    """
    if experiment == INFERENCE:
        others = {
            "--parts": parts not in (None, SETS),
            "--learners": learners,
            "--weka": weka,
            "--splits": splits,
            "--jobs": jobs,
            "--dry-run": dry_run,
        }
        _refuse([option for option, is_set in {**others, "--json": json, "--seed": seed != 1}.items() if is_set])
        _inference(quick, to or Path(f"reproduction-{INFERENCE}{'-quick' if quick else ''}"), page, data, parts)
        return
    chosen = find_experiment(experiment)
    options = Options(
        quick,
        None if parts is None else tuple(listed(parts)),
        None if learners is None else tuple(listed(learners)),
        weka,
        seed,
        jobs,
        splits,
    )
    folder = to or Path(f"reproduction-{chosen.name}{'-quick' if quick else ''}")
    with watched(json) as watch:
        prepared = prepare(chosen, options, data, watch)
        if dry_run:
            cost = _cost_of(prepared, watch)
        else:
            done = _run(prepared, folder, watch, quiet=json)
    if dry_run:
        print_json(cost) if json else typer.echo(_cost(**cost))
        return
    if page is not None:
        done.write_page(page)
    print_json(_as_json(done)) if json else _print(done, folder, page)


def _refuse(options: list[str]) -> None:
    if options:
        raise ParameterError(f"The experiments of {INFERENCE} take no {options[0]}. Leave it out.")


def _inference(quick: bool, folder: Path, page: Path | None, data: Path | None, parts: str | None) -> None:
    """Run the experiments on hiding cells; they take minutes and are not resumed."""
    experiment = run_inference if parts is None else run_sets
    section = experiment(quick, data, lambda line: typer.echo(line, err=True))
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / "README.md", *([page] if page else [])):
        write_inference(path, section, quick, parts)
    typer.echo(section.text(pictures=False))
    typer.echo(f"Written: {folder / 'README.md'}" + (f"; {page}" if page else ""))


def _cost_of(prepared: Prepared, watch: Watcher) -> dict[str, Any]:
    """What it would cost; results of former runs are not looked at."""
    works = work_left(prepared, Results(), False, watch)
    seconds = sum(work.whole(prepared.options.cores) for work in works)
    return {"trials": prepared.trials, "seconds": seconds, "cores": prepared.options.cores}


def _cost(trials: int, seconds: float, cores: int) -> str:
    return f"{counted(trials, 'trial')}, about {in_words(seconds)} on {counted(cores, 'core')}."


def _run(prepared: Prepared, folder: Path, watch: Watcher, quiet: bool) -> Reproduction:
    """Run; if it is interrupted, say what is left of it."""

    def announce(trials: int, seconds: float) -> None:
        if trials and not quiet:
            typer.echo(_cost(trials, seconds, prepared.options.cores), err=True)

    try:
        return run(prepared, folder, watch, announce)
    except BaseException:
        if folder.is_dir():
            typer.echo(f"Finished trials are kept in {folder}; the same command goes on from them.", err=True)
        raise


def _as_json(done: Reproduction) -> dict[str, Any]:
    return {
        "command": done.options.command(done.experiment.name),
        "protocol": str(done.setup.protocol),
        "points": [
            {
                "point": one.point.claim,
                "ours": one.standing,
                "figures": None if one.ours is None else one.ours.figures,
                "paper": one.paper,
            }
            for one in done.judged
        ],
        "cells": [
            {
                "part": cell.part,
                "label": cell.label,
                "learner": cell.inducer,
                "algorithm": cell.algorithm,
                "k": cell.k,
                "ours": cell.mean,
                "sd": cell.sd,
                "flag": cell.flag,
                "printed": None if cell.printed is None else cell.printed.mean,
                "status": cell.status or "done",
            }
            for cell in done.cells
        ],
    }


def _print(done: Reproduction, folder: Path, page: Path | None) -> None:
    console = Console()
    colours = {"met": "bold green", "missed": "bold yellow"}
    for one in done.judged:
        figures = "" if one.ours is None else f" ({one.ours.figures})"
        console.print(
            Text.assemble((f"{one.standing:<13}", colours.get(one.standing, "dim")), one.point.claim, figures)
        )
    once = distinct(done.cells)
    whole = distance("all", once)
    if whole is not None:
        for each in dict.fromkeys([whole, *distances(once, lambda cell: cell.inducer)]):
            console.print(
                f"{each.name}: {each.cells} cells, mean absolute difference from {done.experiment.reference} "
                f"{each.absolute:.2f} points, {each.within[1]} within 2",
                highlight=False,
            )
    failed = sum(bool(cell.status) for cell in done.cells)
    if failed:
        console.print(Text(f"{failed} cells could not be done on every split; the page says why.", "bold yellow"))
    named = f"{folder}/index.html, README.md, results.csv, results.parquet" + (f"; {page}" if page else "")
    console.print(Text(f"Written: {named}", overflow="fold"))
