"""The facts and the certificate of a verified release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from incrowd.databases.new_table import NewTable
from incrowd.errors import Notice
from incrowd.job import Job
from incrowd.measured import Measured
from incrowd.plan.release_plan import ReleasePlan
from incrowd.recipe import Recipe
from incrowd.report.certificate import certificate, hmac_of, owner_key
from incrowd.report.earlier_facts import Earlier
from incrowd.report.facts import Facts, facts_of
from incrowd.report.plan_notices import plan_notices
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn


def issue(
    job: Job,
    plan: ReleasePlan,
    verdict: Verdict,
    notices: Sequence[Notice],
    columns: Mapping[str, EncodedColumn],
    *,
    source: str,
    written: str,
    sha256: str | None = None,
    measured: Measured | None = None,
    earlier: Earlier | None = None,
    groups: dict[str, Any] | None = None,
) -> tuple[Facts, dict[str, Any]]:
    """Facts and certificate of a verified release."""
    found = measured or Measured()
    facts = facts_of(
        plan,
        verdict,
        source=source,
        output=job.outputs.name,
        notices=(*notices, *plan_notices(plan, columns)),
        accuracy=found.accuracy,
        risk=found.risk,
        attacks=found.attacks,
        earlier=earlier,
        written=written,
        seconds=job.clock.seconds,
        columns=columns,
        class_sensitive=job.recipe.class_sensitive,
        responsible=job.outputs.responsible,
    )
    return facts, certificate(
        facts,
        output_sha256=sha256,
        recipe_sha256=_recipe_hash(job.recipe),
        input_hmac=hmac_of(job.path, owner_key()) if job.path and job.path.is_file() else None,
        responsible=job.outputs.responsible,
        table=_table_facts(job.outputs.table, plan),
        groups=groups,
    )


def _table_facts(table: NewTable | None, plan: ReleasePlan) -> dict[str, Any] | None:
    """What the certificate says of a table, which has no bytes to be hashed."""
    if table is None:
        return None
    columns = [column.name for column in plan.written]
    return {"database": table.address.database, "table": str(table.name), "columns": columns}


def _recipe_hash(recipe: Recipe) -> str:
    text = json.dumps(asdict(recipe), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
