"""``incrowd attack``: how far does an attacker come with a release?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.attacks.options import ATTACK, AttackOptions
from incrowd.cli.options import names, takes
from incrowd.cli.shared import Json, Replace, enough_memory, plugged, print_json, progress
from incrowd.errors import ParameterError
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part

if TYPE_CHECKING:
    from incrowd.attacks.attack import Finding
    from incrowd.attacks.run import AttackReport

FIRST_ROW = 1


@takes(ATTACK)
def attack(
    release: Annotated[Path | None, typer.Argument(help="The release to attack.")] = None,
    original: Annotated[Path | None, typer.Option(metavar="FILE", help="The table it was made from.")] = None,
    only: Annotated[
        str | None, typer.Option(metavar="a,b,c", help="Names of attacks: row-order,skewness; all by default.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Name the attacks, and what each does and needs.")] = False,
    *,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML report there; it stays private.")
    ] = None,
    replace: Replace = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Attack a release and say how far that goes. Exit status 0: no leak found, 1: a leak, 2: nothing could be run.

    Roles and method are read from the certificate beside the release, from its plan, or from a recipe, which also says
    how the original is read; the release is read as it was written. Attacks that compare people in
    a release with others use the control rows, or release a random half of the original under the same recipe. What
    did not run is told, with the reason: it says nothing about the risk.
    """
    if listed:
        _list(json)
        return
    if release is None or original is None:
        raise ParameterError("State what to attack and what it was made from: incrowd attack RELEASE --original FILE.")
    from incrowd.attacks.run import attack_release
    from incrowd.tables.publishing.staging import check_target

    if report is not None:
        check_target(report, (release, original), replace=replace)
    options["cells"] = [(row - FIRST_ROW, column) for row, column in options["cells"] or ()]
    options["reading"] = part(Reading, options) or None
    chosen = None if only is None else names(only)
    with progress(json) as show:
        attack_report = attack_release(
            release, enough_memory(original), only=chosen, progress=show, **part(AttackOptions, options)
        )
    if report is not None:
        _write(attack_report, release, report, replace)
    if json:
        print_json(attack_report.to_json())
    else:
        _print(attack_report)
    ran = any(finding.measured is not None for finding in attack_report.findings)
    raise typer.Exit(1 if attack_report.leaks else 0 if ran else 2)


def _write(attacks: AttackReport, release: Path, to: Path, replace: bool) -> None:
    from incrowd.attacks.run import report_page
    from incrowd.tables.publishing.staging import staged

    with staged(to, replace=replace) as hidden:
        hidden.write_text(report_page(attacks, release.name), encoding="utf-8")


def _list(json: bool) -> None:
    from incrowd.attacks.catalog import ATTACKS, attack_of, find_attacks

    attacks = [*find_attacks(), *plugged("attacks", ATTACKS, attack_of).values()]
    if json:
        facts = ("name", "asks", "needs", "package")
        print_json([{fact: getattr(one, fact) for fact in facts} for one in attacks])
        return
    for one in attacks:
        typer.echo(f"{one.name} [{one.package}]\n    {one.asks}\n    Needs: {one.needs}.")


def _print(attacks: AttackReport) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from incrowd.attacks.run import MARKS
    from incrowd.drawing.wording import plain

    styles = {"leak": "bold red", "no leak found": "green", "not run": "yellow"}
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for place, head in enumerate(("attack", "verdict", "measured (99 %)", "control", "goal")):
        shown.add_column(head, justify="left" if place < 2 else "right", no_wrap=True)
    for finding in attacks.findings:
        verdict = Text(f"{MARKS[finding.verdict]} {finding.verdict}", style=styles[finding.verdict])
        shown.add_row(Text(finding.attack), verdict, *_numbers(finding))
    console = Console()
    console.print(shown)
    console.print()
    for finding in attacks.findings:
        unit = f" ({finding.unit})" if finding.unit else ""
        console.print(Text.assemble((f"{finding.attack}{unit}: ", "bold"), plain(finding.words)))
    console.print(Text(attacks.summary, style="bold"))


def _numbers(finding: Finding) -> tuple[str, str, str]:
    """Measured with its interval, control and goal."""
    measured, control, goal = (
        "" if one is None else f"{one:.3g}" for one in (finding.measured, finding.control, finding.goal)
    )
    if finding.interval is not None:
        measured += f" ({' to '.join(f'{end:.2g}' for end in finding.interval)})"
    return measured, control, goal
