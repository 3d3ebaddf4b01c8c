"""The facts and the certificate of a verified release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from incrowd.errors import Notice
from incrowd.plan.release_plan import HIGH, LOW, ReleasePlan
from incrowd.releases.job import Job
from incrowd.releases.measured import Measured
from incrowd.report.certificate import WrittenRelease, certificate, form_facts, hmac_of, owner_key
from incrowd.report.earlier_facts import Earlier
from incrowd.report.facts import Facts, facts_of
from incrowd.report.plan_notices import plan_notices
from incrowd.report.signature import signed
from incrowd.tables.publishing.serialise import safe_name
from incrowd.tables.recipe import Recipe
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.forms import FileForm


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
    form: FileForm | None = None,
) -> tuple[Facts, dict[str, Any]]:
    """Facts and certificate of a verified release; ``form`` is how it is written if its name does not tell."""
    found, laid_out = measured or Measured(), form or job.form
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
        unchanged=verdict.unchanged,
        written=written,
        seconds=job.clock.seconds,
        columns=columns,
        class_sensitive=job.recipe.class_sensitive,
        responsible=job.responsible,
    )
    issued = certificate(
        facts,
        WrittenRelease(_output(job, sha256, groups, laid_out), _released(plan, laid_out), plan.requirement.to_json()),
        recipe_sha256=_recipe_hash(job.recipe),
        input_hmac=hmac_of(job.path, owner_key()) if job.path and job.path.is_file() else None,
        responsible=job.responsible,
    )
    return facts, issued if job.sign is None else signed(issued, job.sign)


def _output(job: Job, sha256: str | None, groups: dict[str, Any] | None, form: FileForm) -> dict[str, Any]:
    """Where the release is, and how it is read; a table of a database has no bytes to be hashed."""
    table = job.outputs.table
    if table is not None:
        return {"database": table.address.database, "table": str(table.name)}
    file = {"file": job.outputs.name, "sha256": sha256, "form": form_facts(form)}
    return file | ({"groups": groups} if groups else {})


def _released(plan: ReleasePlan, form: FileForm) -> list[dict[str, str]]:
    """The released columns, in the names of the written file."""
    rename = safe_name if form.kind == "csv" else str
    ends = {LOW: "low end", HIGH: "high end"}
    return [
        {
            "name": rename(column.name),
            "from": column.source,
            "role": str(plan.schema[column.source].role),
            "as": "counts" if column.source in plan.counted else ends.get(column.end, "value"),
        }
        for column in plan.written
    ]


def _recipe_hash(recipe: Recipe) -> str:
    text = json.dumps(asdict(recipe), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
