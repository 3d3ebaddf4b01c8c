"""Plans as JSON or Parquet; what is read back equals what was written."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from incrowd.errors import ParameterError, PlanError, guarded
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import (
    DROPPED,
    AsCounts,
    Bin,
    Drop,
    Group,
    Hide,
    JointCounts,
    Link,
    Part,
    Place,
    Rarest,
    Reasons,
    Recode,
    Recoding,
    Seat,
    Share,
    Show,
    Spread,
    Step,
)
from incrowd.trees.tree import tree_from_json, tree_to_json
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.plain_data import read_plain_json
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.released_value import (
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    Value,
    ValueSet,
    form_from_json,
    form_to_json,
    member_from_json,
    member_to_json,
    plain_end,
    plain_value,
)
from incrowd.vocabulary.requirement import requirement_from_json
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

VERSION = 1
_METADATA = b"incrowd.plan"
_MOST = 1 << 62  # so that two counts together still are a number of 64 bits
_FIRST_DAY, _LAST_DAY = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))


@guarded
def write_plan(plan: ReleasePlan, path: str | Path) -> None:
    """Write a plan as ``.json`` or ``.parquet``; only its owner may read the file."""
    path = Path(path)
    path.touch(mode=0o600)
    path.chmod(0o600)
    if path.suffix == ".parquet":
        _write_parquet(plan, path)
    else:
        path.write_text(json.dumps(plan_to_json(plan), ensure_ascii=False), encoding="utf-8")


@guarded
def read_plan(path: str | Path) -> ReleasePlan:
    """Read a plan that :func:`write_plan` wrote."""
    path = Path(path)
    try:
        data = _read_parquet(path) if path.suffix == ".parquet" else read_plain_json(path.read_text("utf-8"))
        return plan_from_json(data)
    except FileNotFoundError:
        raise PlanError(f"There is no file {path.name}.") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise PlanError(f"{path.name} is not a plan that incrowd wrote ({type(error).__name__}).") from None


def plan_to_json(plan: ReleasePlan) -> dict[str, Any]:
    """A plan as plain data."""
    return {
        "incrowd_plan": VERSION,
        "method": plan.method,
        "parameters": dict(plan.parameters),
        "requirement": plan.requirement.to_json(),
        "rows": plan.rows,
        "limits": _limits_to_json(plan.preferences),
        "columns": [
            {
                "name": c.name,
                "role": c.role,
                "type": c.type,
                "order": list(c.order),
                "reason": c.reason,
                "hierarchy": c.hierarchy and c.hierarchy.to_json(),
            }
            for c in plan.schema.columns
        ],
        "steps": [_step_to_json(step) for step in plan.steps],
    }


def _limits_to_json(preferences: Preferences) -> dict[str, Any]:
    """Weights and limits, with the sets of values that stay apart: a plan is its owner's."""
    limits = asdict(preferences)
    del limits["promised"]
    return {name: wish for name, wish in limits.items() if wish not in ({}, None)}


def _limits_from_json(data: dict[str, Any]) -> Preferences:
    try:
        return Preferences(**data)
    except ParameterError:
        raise ValueError from None


def plan_from_json(data: dict[str, Any]) -> ReleasePlan:
    """The plan that :func:`plan_to_json` wrote."""
    if data.get("incrowd_plan") != VERSION:
        raise PlanError("This plan has another version than this incrowd reads. Make it again, or update.")
    columns = tuple(_column_from_json(column) for column in data["columns"])
    plan = ReleasePlan(
        method=_text(data["method"]),
        parameters=tuple(data["parameters"].items()),
        requirement=requirement_from_json(data["requirement"]),
        schema=Schema(columns),
        rows=_count(data["rows"]),
        steps=tuple(_step_from_json(step) for step in data["steps"]),
        preferences=_limits_from_json(data.get("limits", {})),
    )
    _check(plan)
    return plan


def _column_from_json(data: dict[str, Any]) -> Column:
    hierarchy = Hierarchy.from_json(data["hierarchy"]) if data.get("hierarchy") else None
    role, kind = Role(data["role"]), ColumnType(data["type"])
    return Column(
        name=_text(data["name"]),
        role=role,
        type=kind,
        order=_texts(data["order"]),
        reason=_text(data["reason"]),
        hierarchy=hierarchy,
    )


def _check(plan: ReleasePlan) -> None:
    """Steps must refer to columns, nodes, classes and groups that exist."""
    hidden = [name for step in plan.hides for name in step.names]
    sound = all(name in plan.schema for name in plan.names)
    sound &= plan.link is None or plan.schema.person == plan.link
    sound &= all(set(step.only) <= set(step.names) for step in plan.hides)
    sound &= set(hidden) <= set(plan.names) and {*plan.spread, *plan.counted} <= set(plan.names)
    sound = sound and all(_fits(form, plan.schema[name].type) for name in plan.names for form in plan.forms(name))
    for place in plan.places:
        for share in place.shares:
            sound &= 0 <= share.node < len(place.tree.nodes)
            sound &= share.label is None or 0 <= share.label < len(place.tree.classes)
    for share in plan.places[-1].shares if plan.places else ():
        sound &= DROPPED <= share.group < len(plan.groups)
    if not sound:
        raise PlanError("This plan refers to columns, nodes or groups that it does not have. Make it again.")


def _fits(form: Form, kind: ColumnType) -> bool:
    """Whether values of this type can be shown so: numbers as numbers of 64 bits, dates as days, all else as text."""
    match form:
        case Shown(value):
            return _is_value(value, kind)
        case ValueSet(values):  # of numbers, the names of their bins
            return all(isinstance(value, str) or _is_value(value, kind) for value in values)
        case Interval(low, high) | Range(low, high):
            return kind.is_numeric and all(end is None or _is_value(end, kind) for end in (low, high))
        case Level(low, high, value) | Midpoint(low, high, value):
            return kind.is_numeric and all(end is None or _is_value(end, kind) for end in (low, high, value))
        case Mean(value):
            return kind.is_numeric and (value is None or _is_value(value, kind))
        case _:
            return True


def _is_value(value: Value, kind: ColumnType) -> bool:
    if isinstance(value, str) or not kind.is_numeric:
        return isinstance(value, str) and not kind.is_numeric
    if kind is ColumnType.DATE:
        return _FIRST_DAY <= value <= _LAST_DAY
    return isinstance(value, float) or -(1 << 63) <= value < 1 << 63


def _step_to_json(step: Step) -> dict[str, Any]:
    match step:
        case Drop(names):
            return {"is": "drop", "names": list(names)}
        case Bin(cuts):
            return {"is": "bin", "cuts": {name: list(places) for name, places in cuts}}
        case Place(tree, shares):
            rows = [[share.node, share.label, share.group, share.rows] for share in shares]
            return {"is": "place", "tree": tree_to_json(tree), "shares": rows}
        case Seat(sizes, left_out=left_out):
            return {"is": "seat", "sizes": list(sizes)} | ({"left_out": left_out} if left_out else {})
        case Link(name):
            return {"is": "link", "name": name}
        case Show(names, groups):
            shown = [{"rows": group.rows, "forms": list(map(form_to_json, group.forms))} for group in groups]
            return {"is": "show", "names": list(names), "groups": shown}
        case Recode(columns):
            return {"is": "recode", "columns": {c.name: [_part_to_json(p) for p in c.parts] for c in columns}}
        case Hide(names, below, also, drop, hidden, only):
            rare = {"names": list(names), "below": below, "also": [list(codes) for codes in also]}
            return {"is": "hide", **rare, "drop": drop, "rows": hidden} | ({"only": list(only)} if only else {})
        case Spread(names):
            return {"is": "spread", "names": list(names)}
        case AsCounts(names, cuts, redraw, by_class=by_class, joint=joint):
            places = {name: list(places) for name, places in cuts}
            counted = {"is": "as counts", "names": list(names), "cuts": places, "redraw": redraw}
            together = [[list(one.names), [list(map(member_to_json, each)) for each in one.values]] for one in joint]
            return counted | ({"by_class": True} if by_class else {}) | ({"joint": together} if together else {})
        case Rarest(people):
            return {"is": "rarest", "people": people}
        case Reasons(title, heads, lines, facts):
            grid = {"title": title, "columns": list(heads), "rows": [list(line) for line in lines]}
            return {"is": "reasons", **grid, "facts": [list(fact) for fact in facts]}


def _step_from_json(data: dict[str, Any]) -> Step:
    match data["is"]:
        case "drop":
            return Drop(_texts(data["names"]))
        case "bin":
            return Bin(_cuts(data["cuts"]))
        case "place":
            return Place(tree_from_json(data["tree"]), tuple(_share_from_json(*share) for share in data["shares"]))
        case "seat":
            return Seat(tuple(map(_count, data["sizes"])), left_out=_count(data.get("left_out", 0)))
        case "link":
            return Link(_text(data["name"]))
        case "show":
            groups = ((_count(group["rows"]), tuple(map(form_from_json, group["forms"]))) for group in data["groups"])
            return Show(_texts(data["names"]), tuple(Group(rows, forms) for rows, forms in groups))
        case "recode":
            columns = data["columns"].items()
            return Recode(tuple(Recoding(name, tuple(map(_part_from_json, parts))) for name, parts in columns))
        case "hide":
            also = tuple(tuple(_count(code) for code in codes) for codes in data["also"])
            below, rows = _count(data["below"]), _count(data["rows"])
            return Hide(_texts(data["names"]), below, also, bool(data["drop"]), rows, _texts(data.get("only", [])))
        case "spread":
            return Spread(_texts(data["names"]))
        case "as counts":
            names, cuts, redraw = _texts(data["names"]), _cuts(data["cuts"]), _count(data.get("redraw", 0))
            joint = tuple(
                JointCounts(_texts(together), tuple(tuple(map(member_from_json, each)) for each in values))
                for together, values in data.get("joint", [])
            )
            return AsCounts(names, cuts, redraw, by_class=bool(data.get("by_class", False)), joint=joint)
        case "rarest":
            return Rarest(_count(data["people"], 1))
        case "reasons":
            lines = tuple(tuple(line) for line in data["rows"])
            facts = tuple((_text(name), _frozen(fact)) for name, fact in data["facts"])
            return Reasons(_text(data["title"]), _texts(data["columns"]), lines, facts)
        case _:
            raise PlanError("This plan has a step this incrowd does not know. Update incrowd.")


def _part_to_json(part: Part) -> dict[str, Any]:
    values = None if isinstance(part.members, Interval) else list(part.members)
    between = [part.members.low, part.members.high] if isinstance(part.members, Interval) else None
    return {"form": form_to_json(part.form), "rows": part.rows, "values": values, "between": between}


def _part_from_json(data: dict[str, Any]) -> Part:
    members = (
        tuple(map(plain_value, data["values"]))
        if data["between"] is None
        else Interval(*map(plain_end, data["between"]))
    )
    return Part(members, form_from_json(data["form"]), _count(data["rows"]))


def _frozen(value: Any) -> Any:
    """Lists as tuples, as they were before they were written."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _share_from_json(node: Any, label: Any, group: Any, rows: Any) -> Share:
    return Share(_count(node), None if label is None else _count(label), _count(group, DROPPED), _count(rows))


def _count(value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < _MOST:
        raise PlanError("A count in this plan is not a whole number, or too large.")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PlanError("A name in this plan is not text.")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise PlanError("A cut in this plan is not a number.")
    return value


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise PlanError("The names of columns in this plan are not a list.")
    return tuple(map(_text, values))


def _cuts(data: dict[str, Any]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    return tuple((name, tuple(map(_number, places))) for name, places in data.items())


def _write_parquet(plan: ReleasePlan, path: Path) -> None:
    """One row per group, a column per quasi-identifier; everything else as metadata of the file.

    A plan without groups is all metadata.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {"rows": [group.rows for group in plan.groups]}
    for name in plan.names if plan.show else ():
        columns[f"shows {name}"] = [json.dumps(form_to_json(form)) for form in plan.forms(name)]
    bare = replace(
        plan, steps=tuple(replace(step, groups=()) if isinstance(step, Show) else step for step in plan.steps)
    )
    table = pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(plan_to_json(bare)).encode()})
    pq.write_table(table, path)


def _read_parquet(path: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        table.validate(full=True)
    except pa.ArrowException as error:
        raise ValueError from error
    data: dict[str, Any] = read_plain_json((table.schema.metadata or {})[_METADATA])
    shown = [[read_plain_json(form) for form in column.to_pylist()] for column in table.columns[1:]]
    groups = [
        {"rows": rows, "forms": list(forms)}
        for rows, forms in zip(table["rows"].to_pylist(), zip(*shown, strict=True), strict=True)
    ]
    for step in data["steps"]:
        if step["is"] == "show":
            step["groups"] = groups
    return data
