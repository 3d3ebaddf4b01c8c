"""Plans as JSON or Parquet; what is read back equals what was written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd.errors import PlanError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, Bin, Drop, Group, Place, Share, Show, Step
from incrowd.trees.tree_file import tree_from_json, tree_to_json
from incrowd.vocabulary.released_value import form_from_json, form_to_json
from incrowd.vocabulary.requirement import requirement_from_json
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

VERSION = 1
_METADATA = b"incrowd.plan"


def write_plan(plan: ReleasePlan, path: str | Path) -> None:
    """Write a plan as ``.json`` or ``.parquet``; only its owner may read the file."""
    path = Path(path)
    path.touch(mode=0o600)
    path.chmod(0o600)
    if path.suffix == ".parquet":
        _write_parquet(plan, path)
    else:
        path.write_text(json.dumps(plan_to_json(plan), ensure_ascii=False), encoding="utf-8")


def read_plan(path: str | Path) -> ReleasePlan:
    """Read a plan that :func:`write_plan` wrote."""
    path = Path(path)
    try:
        data = _read_parquet(path) if path.suffix == ".parquet" else json.loads(path.read_text("utf-8"))
        return plan_from_json(data)
    except FileNotFoundError:
        raise PlanError(f"There is no file {path.name}.") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise PlanError(f"{path.name} is not a plan that incrowd wrote ({type(error).__name__}).") from None


def plan_to_json(plan: ReleasePlan) -> dict[str, Any]:
    """A plan as plain data."""
    return {
        "incrowd_plan": VERSION,
        "method": plan.method,
        "parameters": dict(plan.parameters),
        "requirement": plan.requirement.to_json(),
        "rows": plan.rows,
        "columns": [
            {"name": c.name, "role": c.role, "type": c.type, "order": list(c.order), "reason": c.reason}
            for c in plan.schema.columns
        ],
        "steps": [_step_to_json(step) for step in plan.steps],
    }


def plan_from_json(data: dict[str, Any]) -> ReleasePlan:
    """The plan that :func:`plan_to_json` wrote."""
    if data.get("incrowd_plan") != VERSION:
        raise PlanError("This plan has another version than this incrowd reads. Make it again, or update.")
    columns = tuple(
        Column(_text(c["name"]), Role(c["role"]), ColumnType(c["type"]), tuple(c["order"]), c["reason"])
        for c in data["columns"]
    )
    plan = ReleasePlan(
        method=data["method"],
        parameters=tuple(data["parameters"].items()),
        requirement=requirement_from_json(data["requirement"]),
        schema=Schema(columns),
        rows=_count(data["rows"]),
        steps=tuple(_step_from_json(step) for step in data["steps"]),
    )
    _check(plan)
    return plan


def _check(plan: ReleasePlan) -> None:
    """Steps must refer to columns, nodes, classes and groups that exist."""
    sound = all(name in plan.schema for name in plan.show.names)
    for place in plan.places:
        for share in place.shares:
            sound &= 0 <= share.node < len(place.tree.nodes)
            sound &= share.label is None or 0 <= share.label < len(place.tree.classes)
    for share in plan.places[-1].shares if plan.places else ():
        sound &= DROPPED <= share.group < len(plan.groups)
    if not sound:
        raise PlanError("This plan refers to columns, nodes or groups that it does not have. Make it again.")


def _step_to_json(step: Step) -> dict[str, Any]:
    match step:
        case Drop(names):
            return {"is": "drop", "names": list(names)}
        case Bin(cuts):
            return {"is": "bin", "cuts": {name: list(places) for name, places in cuts}}
        case Place(tree, shares):
            rows = [[share.node, share.label, share.group, share.rows] for share in shares]
            return {"is": "place", "tree": tree_to_json(tree), "shares": rows}
        case Show(names, groups):
            return {"is": "show", "names": list(names), "groups": [_group_to_json(group) for group in groups]}


def _step_from_json(data: dict[str, Any]) -> Step:
    match data["is"]:
        case "drop":
            return Drop(tuple(data["names"]))
        case "bin":
            return Bin(tuple((name, tuple(places)) for name, places in data["cuts"].items()))
        case "place":
            return Place(tree_from_json(data["tree"]), tuple(_share_from_json(*share) for share in data["shares"]))
        case "show":
            return Show(tuple(data["names"]), tuple(_group_from_json(group) for group in data["groups"]))
        case _:
            raise PlanError("This plan has a step this incrowd does not know. Update incrowd.")


def _share_from_json(node: Any, label: Any, group: Any, rows: Any) -> Share:
    return Share(_count(node), None if label is None else _count(label), _count(group, DROPPED), _count(rows))


def _count(value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise PlanError("A count in this plan is not a whole number.")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PlanError("The name of a column in this plan is not text.")
    return value


def _group_to_json(group: Group) -> dict[str, Any]:
    return {"rows": group.rows, "forms": [form_to_json(form) for form in group.forms]}


def _group_from_json(data: dict[str, Any]) -> Group:
    return Group(_count(data["rows"]), tuple(form_from_json(form) for form in data["forms"]))


def _write_parquet(plan: ReleasePlan, path: Path) -> None:
    """One row per group, a column per quasi-identifier; everything else as metadata of the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {"rows": [group.rows for group in plan.groups]}
    for i, name in enumerate(plan.show.names):
        columns[f"shows {name}"] = [json.dumps(form_to_json(group.forms[i])) for group in plan.groups]
    bare = replace(
        plan, steps=tuple(replace(step, groups=()) if isinstance(step, Show) else step for step in plan.steps)
    )
    table = pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(plan_to_json(bare)).encode()})
    pq.write_table(table, path)


def _read_parquet(path: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    data: dict[str, Any] = json.loads((table.schema.metadata or {})[_METADATA])
    shown = [[json.loads(form) for form in column.to_pylist()] for column in table.columns[1:]]
    groups = [
        {"rows": rows, "forms": list(forms)}
        for rows, forms in zip(table["rows"].to_pylist(), zip(*shown, strict=True), strict=True)
    ]
    for step in data["steps"]:
        if step["is"] == "show":
            step["groups"] = groups
    return data
