"""What a certificate says of the measured risk: figures that may be published with the release.

Of the table itself only totals are told: not the sizes of its classes, not which columns single people out, and not the
ends of number lines that one row alone reaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.report.attack_facts import rounded

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk


def certified_risk(risk: Risk) -> dict[str, Any]:
    """Attackers, uniques and the three risks of WP216, before and after; the Safe Harbor checklist of the release."""
    after = risk.after
    return {
        "before": _figures(risk),
        "after": "not measured" if after is None else _figures(after),
        "safe_harbor": "not measured" if after is None else [_item(item.to_json()) for item in after.safe_harbor],
    }


def _figures(risk: Risk) -> dict[str, Any]:
    data: dict[str, Any] = risk.to_json()
    kept = ("rows", "population", "prosecutor", "journalist", "marketer", "uniques", "wp216")
    figures: dict[str, Any] = plain({name: data[name] for name in kept})
    return figures


def _item(item: dict[str, Any]) -> dict[str, Any]:
    columns = [found["column"] for found in item["found"]]
    return {"item": item["item"], "identifier": item["identifier"], "standing": item["standing"], "columns": columns}


def plain(data: Any) -> Any:
    """The same with rounded numbers; what is no finite number is null."""
    if isinstance(data, dict):
        return {name: plain(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    return rounded(data) if isinstance(data, float) else data
