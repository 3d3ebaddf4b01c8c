"""The facts, the notices and the certificate of a verified release."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from types import NoneType
from typing import TYPE_CHECKING, Any

from incrowd.errors import Notice, VerificationError
from incrowd.methods.catalog import find_method
from incrowd.plan.release_plan import HIGH, LOW, ReleasePlan
from incrowd.releases.job import Job, has_counts
from incrowd.releases.measured import measure
from incrowd.releases.notices import plan_notices
from incrowd.report.certificate import (
    certificate,
    certified_draws,
    certified_keying,
    hmac_of,
    owner_key,
    reading_of,
    sha256_of,
)
from incrowd.report.facts import facts_of
from incrowd.report.outcome import Release
from incrowd.rows.memory.held import InMemory
from incrowd.tables.databases.tables import Query
from incrowd.tables.publishing.serialise import safe_name
from incrowd.tables.recipe import Recipe
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.coarsening import coarsenings
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.schema import Role

if TYPE_CHECKING:
    from incrowd.releases.ledger.page import JointRecount
    from incrowd.rows.held import Held, Unverified


def describe(
    job: Job,
    held: Held,
    notices: tuple[Notice, ...],
    plan: ReleasePlan,
    verdict: Verdict,
    draft: Unverified,
    beside: JointRecount | None = None,
) -> Release:
    """A verified release with its facts and its certificate; ``beside`` is what was counted with earlier releases."""
    outputs = job.outputs
    source = job.path.name if job.path else str(job.query or f"a {held.origin.form} table")
    measured = measure(job, held, plan, draft, source)
    owners = held.owners if isinstance(held, InMemory) else None
    counted_together = beside.notices if beside else ()
    all_notices = (*notices, *measured.notices, *counted_together, *plan_notices(plan, held.columns, owners))
    facts = facts_of(
        plan,
        verdict,
        source=source,
        output=outputs.name,
        notices=all_notices,
        accuracy=measured.accuracy,
        risk=measured.risk,
        attacks=measured.attacks,
        earlier=beside.facts if beside else None,
        unchanged=verdict.unchanged,
        written=held.writes if outputs.table is None else "table",
        seconds=dict(job.clock.seconds),
        columns=held.columns,
        persons=job.recipe.persons,
        class_sensitive=job.recipe.class_sensitive,
        preset=job.recipe.preset.name if job.recipe.preset else None,
        coarsened={name: str(rule) for name, rule in coarsenings(job.recipe.reading.get("coarsen")).items()},
        limits=job.recipe.preferences.stated() | ({"rarest": job.recipe.rarest} if job.recipe.rarest else {}),
        keyed=keyed_entries(job),
        responsible=job.responsible,
        reading=reading_of(plan, job.recipe.method, hierarchies=job.share_hierarchies),
        chosen={} if job.chosen is None else job.chosen.to_json(),
        method_package=None if (entry := find_method(job.recipe.method)).foreign is None else entry.package,
    )
    issued = certificate(
        facts,
        output=_output(job, verdict, draft),
        columns=_released(plan, job.form),
        requirement=plan.requirement.to_json(),
        recipe_sha256=_recipe_hash(job.recipe if job.chosen is None else job.chosen.asked),
        input_hmac=hmac_of(job.path, owner_key()) if job.path and job.path.is_file() else None,
    )
    if job.sign is not None:
        from incrowd.report.signature import signed

        issued = signed(issued, job.sign)
    if outputs.table is not None:
        from incrowd.tables.databases.reading import read_query

        place = outputs.table.address
        return Release(plan, issued, facts, None, lambda: read_query(Query.of(place)))
    second = draft.loader(outputs.release and groups_path(outputs.release), 1) if job.pair else NoneType
    return Release(plan, issued, facts, outputs.release, draft.loader(outputs.release), second)


def keyed_entries(job: Job) -> dict[str, Any]:
    """What the certificate states of pseudonyms and shifted dates, if the user asked for some, and of counts."""
    from incrowd.tables.reading.keyed import key_name, read_key

    key, keying = job.counts_key, job.keying
    entries: dict[str, Any] = {}
    if has_counts(job.recipe):
        name = None if key is None else key_name(key)
        entries = certified_draws(job.redraw, name, job.recipe.bins, by_class=job.recipe.counts_by_class)
    return entries if keying is None else entries | certified_keying(keying, key_name(read_key(keying.key)))


def _output(job: Job, verdict: Verdict, draft: Unverified) -> dict[str, Any]:
    """Where the release is, and how it is read, if its bytes are still those that were verified.

    A table of a database has no bytes to be hashed, nor has a release for this process a file.
    """
    table = job.outputs.table
    if table is not None:
        return {"database": table.address.database, "table": str(table.name)}
    if tuple(map(sha256_of, draft.files)) != verdict.digests:
        raise VerificationError("The written file changed after it was verified. Nothing was published.")
    digests = verdict.digests if job.outputs.release else ()
    file = {"file": job.outputs.name, "sha256": next(iter(digests), None), "form": asdict(job.form)}
    groups = {"file": draft.files[1].name, "sha256": digests[1]} if job.pair and digests else None
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
            "as": _written_as(plan, column.source, ends.get(column.end, "value")),
        }
        for column in plan.written
    ]


def _written_as(plan: ReleasePlan, name: str, otherwise: str) -> str:
    if name in plan.counted:
        return "counts"
    return "pseudonym" if plan.schema[name].role is Role.PERSON else otherwise


def _recipe_hash(recipe: Recipe) -> str:
    text = json.dumps(asdict(recipe), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
