"""``incrowd explain``: a plan in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.shared import Json, Replace, print_json


def explain(
    plan: Annotated[Path, typer.Argument(help="A plan that 'incrowd release --plan' wrote.")],
    groups: Annotated[int, typer.Option(help="How many groups to describe, largest first.")] = 10,
    tree: Annotated[bool, typer.Option("--tree", help="Draw the decision tree behind the plan as well.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw the tree to an SVG file.")] = None,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Say in sentences what a plan does. The plan is private; so is what this prints."""
    from incrowd.plan.explain import explain as sentences
    from incrowd.plan.plan_file import plan_to_json, read_plan
    from incrowd.tables.publishing.staging import check_target, staged
    from incrowd.trees.draw import to_svg, to_text

    if svg:
        check_target(svg, (plan,), replace=replace)
    explained = read_plan(plan)
    if svg:
        with staged(svg, replace=replace) as hidden:
            hidden.write_text(to_svg(explained.places[0].tree), encoding="utf-8")
    if json:
        print_json(plan_to_json(explained))
        return
    typer.echo(sentences(explained, groups))
    if tree:
        for step in explained.places[:1]:
            typer.echo("\n" + to_text(step.tree))
