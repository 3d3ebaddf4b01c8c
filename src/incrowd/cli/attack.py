"""``incrowd attack``: how far does an attacker come with a release?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.hide import _cell
from incrowd.cli.memory import enough_memory
from incrowd.cli.shared import (
    Delimiter,
    Encoding,
    Json,
    MissingMarks,
    QuasiIdentifiers,
    names,
    print_json,
    progress,
    reading_options,
)
from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.attacks.attack import Finding
    from incrowd.attacks.run import AttackReport

FIRST_ROW = 1


def attack(
    release: Annotated[Path | None, typer.Argument(help="The release to attack.")] = None,
    original: Annotated[Path | None, typer.Option(help="The table it was made from.")] = None,
    control: Annotated[
        Path | None, typer.Option(help="Rows like those of the original that are not in the release.")
    ] = None,
    only: Annotated[str | None, typer.Option(help="Names of attacks: row-order,skewness; all if not given.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Name the attacks, and what each does and needs.")] = False,
    plan: Annotated[Path | None, typer.Option(help="The private plan of the release: how it was made.")] = None,
    quasi_identifiers: QuasiIdentifiers = None,
    target: Annotated[str | None, typer.Option(help="The class recipients learn.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Columns that must not be inferred: a,b")] = None,
    require: Annotated[str | None, typer.Option(help='What was promised: "k=10, t=0.2 on income"')] = None,
    method: Annotated[str | None, typer.Option(help="How the release was made; see: incrowd methods.")] = None,
    hierarchies: Annotated[Path | None, typer.Option(help="A folder with a hierarchy file for each column.")] = None,
    population: Annotated[
        Path | None, typer.Option(help="The people the rows are from, if something was promised of them.")
    ] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="An earlier release of the same people; may be repeated.")
    ] = None,
    model: Annotated[Path | None, typer.Option(help="A published model of the same people.")] = None,
    cell: Annotated[
        list[str] | None, typer.Option(help="A confidential cell that was withheld: 17:diagnosis; may be repeated.")
    ] = None,
    hider: Annotated[str | None, typer.Option(help="The method that withheld the cells; see: incrowd hide.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report there; it stays private.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: MissingMarks = None,
    json: Json = False,
) -> None:
    """Attack a release and say how far that goes. Exit status 0: no leak found, 1: a leak, 2: nothing could be run.

    Roles and method are read from the certificate beside the release, or from its plan. Attacks that compare people in
    a release with others use the control rows, or release a random half of the original under the same recipe. What
    did not run is told, with the reason: it says nothing about the risk.
    """
    if listed:
        _list(json)
        return
    if release is None or original is None:
        raise ParameterError("Say what to attack and what it was made from: incrowd attack RELEASE --original FILE.")
    from incrowd.attacks.run import attack_release

    with progress(json) as show:
        found = attack_release(
            release,
            enough_memory(original),
            only=names(only),
            progress=show,
            control=control,
            plan=plan,
            quasi_identifiers=names(quasi_identifiers),
            target=target,
            sensitive=names(sensitive),
            requirement=require,
            method=method,
            hierarchies=hierarchies,
            population=population,
            earlier=earlier or (),
            model=model,
            cells=[(row - FIRST_ROW, column) for row, column in map(_cell, cell or ())],
            hider=hider,
            reading=reading_options(delimiter, encoding, missing),
        )
    if report is not None:
        _write(found, release, report)
    if json:
        print_json(found.to_json())
    else:
        _print(found)
    ran = any(finding.measured is not None for finding in found.findings)
    raise typer.Exit(1 if found.leaks else 0 if ran else 2)


def _write(found: AttackReport, release: Path, to: Path) -> None:
    from incrowd.attacks.page import report_page
    from incrowd.tables.publishing.staging import check_target, staged

    check_target(to, (release,))
    with staged(to) as hidden:
        hidden.write_text(report_page(found, release.name), encoding="utf-8")


def _list(json: bool) -> None:
    from incrowd.attacks.catalog import find_attacks

    attacks = find_attacks()
    if json:
        print_json([{"name": one.name, "asks": one.asks, "needs": one.needs} for one in attacks])
        return
    for one in attacks:
        typer.echo(f"{one.name}\n    {one.asks}\n    Needs: {one.needs}.")


def _print(found: AttackReport) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from incrowd.attacks.page import MARKS
    from incrowd.drawing.wording import plain

    styles = {"leak": "bold red", "no leak found": "green", "not run": "yellow"}
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for place, head in enumerate(("attack", "verdict", "measured (99 %)", "control", "goal")):
        shown.add_column(head, justify="left" if place < 2 else "right", no_wrap=True)
    for finding in found.findings:
        verdict = Text(f"{MARKS[finding.verdict]} {finding.verdict}", style=styles[finding.verdict])
        shown.add_row(Text(finding.attack), verdict, *_numbers(finding))
    console = Console()
    console.print(shown)
    console.print()
    for finding in found.findings:
        unit = f" ({finding.unit})" if finding.unit else ""
        console.print(Text.assemble((f"{finding.attack}{unit}: ", "bold"), plain(finding.words)))
    console.print(Text(found.summary, style="bold"))


def _numbers(finding: Finding) -> tuple[str, str, str]:
    """Measured with its interval, control and goal."""
    measured, control, goal = (
        "" if one is None else f"{one:.3g}" for one in (finding.measured, finding.control, finding.goal)
    )
    if finding.interval is not None:
        measured += f" ({' to '.join(f'{end:.2g}' for end in finding.interval)})"
    return measured, control, goal
