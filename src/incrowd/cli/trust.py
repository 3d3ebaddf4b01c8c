"""``incrowd attack``: how far an attacker comes with a release. ``incrowd risk``: who can be found in a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.attacks.options import ATTACK, AttackOptions
from incrowd.cli.options import names, takes
from incrowd.cli.shared import File, Json, Replace, enough_memory, plugged, print_json, progress, write_text
from incrowd.errors import ParameterError
from incrowd.risk.options import RISK, RiskOptions
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from incrowd.attacks.attack import Finding
    from incrowd.attacks.run import AttackReport
    from incrowd.risk.assessment import Risk
    from incrowd.risk.telling import RiskTable

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
    from incrowd.attacks.run import attack_release, report_page
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
        write_text(report, report_page(attack_report, release.name), replace=replace)
    if json:
        print_json(attack_report.to_json())
    else:
        _print(attack_report)
    ran = any(finding.measured is not None for finding in attack_report.findings)
    raise typer.Exit(1 if attack_report.leaks else 0 if ran else 2)


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


@takes(RISK)
def risk(
    file: File,
    *,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the whole as an HTML page there.")] = None,
    replace: Replace = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Measure the risk of any table: re-identification, uniques, Safe Harbor, the three risks of WP216.

    Everything is counted on all rows; a missing value is a value. A release is measured by the classes it shows. No
    cell value is told. What cannot be measured is said to be so.
    """
    from incrowd.risk.assessment import measure_risk as measure
    from incrowd.risk.charts import risk_html
    from incrowd.tables.publishing.staging import check_target

    tables = [enough_memory(options[name]) for name in ("population_table", "after") if options[name]]
    if report:
        check_target(report, (file, *tables, *([options["zip3"]] if options["zip3"] else [])), replace=replace)
    with progress(json) as show:
        show("measuring")
        measured = measure(file, **part(RiskOptions, options))
    if report:
        write_text(report, risk_html(measured), replace=replace)
    if json:
        print_json(measured.to_json())
        return
    from rich.console import Console

    print_risk(measured, Console())
    if report:
        typer.echo(f"\nwritten report: {report}")


def print_risk(risk: Risk, console: Console) -> None:
    """Print every part with its table."""
    from rich.text import Text

    from incrowd.drawing.wording import plain
    from incrowd.risk.telling import headline, parts_of

    console.print(Text(plain(headline(risk)), style="bold"))
    for section in parts_of(risk):
        console.print()
        console.print(Text(plain(section.title), style="bold"))
        for sentence in section.sentences:
            console.print(Text(plain(sentence)))
        if section.table:
            console.print(_rich_table(section.table))
        for aside in section.asides:
            console.print(Text(plain(aside), style="dim"))


def _rich_table(table: RiskTable) -> RichTable:
    from rich.table import Table as Shown
    from rich.text import Text

    from incrowd.drawing.wording import plain
    from incrowd.risk.telling import CONDITION

    shown = Shown(box=None, pad_edge=False, header_style="dim")
    for place, head in enumerate(table.header):
        words = place < table.words or head == CONDITION
        shown.add_column(Text(plain(head)), justify="left" if words else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(plain(cell)) for cell in row))
    return shown
