"""What a certificate tells recipients of how the cells of a release are read."""

from __future__ import annotations

from typing import Any

from incrowd.methods.catalog import find_method
from incrowd.plan.release_plan import ReleasePlan


def reading_of(plan: ReleasePlan) -> dict[str, Any]:
    """The form of each released attribute, and how new rows are seen in the words of the release.

    New rows are seen "by value" where a value looks the same in every row; "by box" where what is shown depends on the
    whole row; "as they are" where a release has the values of the table, or counts of them, and only fewer.
    """
    if plan.recode is not None:
        seen = "by value"
    else:
        seen = "by box" if find_method(plan.method).generalizes and not plan.counted else "as they are"
    return {"new_rows": seen, "columns": {name: plan.shown_as(name) for name in plan.names}}
