"""The facts, the notices and the certificate of a verified release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.drawing.wording import counted, percent
from incrowd.errors import Notice, VerificationError, named_option
from incrowd.methods.catalog import find_method
from incrowd.methods.method import Population
from incrowd.plan.release_plan import HIGH, LOW, ReleasePlan, rare_names
from incrowd.plan.steps import Bin
from incrowd.releases.job import Job, has_counts
from incrowd.releases.measured import measure
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
from incrowd.tables.reading.read import is_known
from incrowd.tables.recipe import Recipe
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.column_rules import coarsenings
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.released_value import Counts, Member
from incrowd.vocabulary.requirements.words import bounds_purity
from incrowd.vocabulary.schema import Role

if TYPE_CHECKING:
    from incrowd.releases.ledger.page import JointRecount
    from incrowd.rows.held import Held, Unverified


LITTLE = 0.1  # of the cells: a release that shows less is of little use
SMALL_GROUPS, LARGER_GROUPS = 50, 100
"""Below, Blend's groups are mostly of one class (Adult, 14 quasi-identifiers: 55 % of the rows at k = 10); proposed."""
PEOPLE, FEWEST, WORK = 1_000, 100, 50_000_000
"""Of a table, so many people's classes are guessed; fewer where there are many groups to compare each with."""


def notices_asked(job: Job, columns: Mapping[str, EncodedColumn] | None = None) -> Iterator[Notice]:
    """What the user should know about what was asked for; ``columns``: of the table, where its rows are persons."""
    if job.path is not None and job.path.is_file() and not is_known(job.path):
        from incrowd.tables.reading.read import conversion_notice, converter_of

        if (converter := converter_of(job.path)) is not None:
            yield conversion_notice(converter)
    if job.recipe.requirement.smallest_group == 1:
        yield Notice("k-is-1", "k", "k=1 promises nothing: every row may be unique. Choose k of at least 5.")
    if job.recipe.class_sensitive is None and job.recipe.target is not None:
        message = "it is not stated whether the class is sensitive. Groups of one class reveal it: set class_sensitive."
        yield Notice("class-not-said", job.recipe.target, message)
    known = None if job.recipe.persons is not None or columns is None else columns.get(job.recipe.target or "")
    yield from _notices_of_classes(job, None if known is None else known.counts.tolist())
    if job.recipe.parameters.get("boxes") == "extremes":
        message = "intervals end at numbers that somebody has, which helps to single people out. The default is splits."
        yield Notice("extremes", "boxes", message)
    release, key = job.outputs.release, job.key_file
    if release is not None and key is not None and key.resolve().parent == release.resolve().parent:
        message = "it lies in the folder of the release. Whoever has it can try any identifier: do not pass it on."
        yield Notice("key-beside", key.name, message)
    if has_counts(job.recipe) and not job.redraw:
        message = (
            "counts are exact, as you asked: whoever has two such releases of tables that differ by one row reads the "
            "record off. The default draws them."
        )
        yield Notice("exact-counts", "redraw", message)
    if job.chosen is not None:
        yield Notice("method-chosen", "method", str(job.chosen))
    if job.seed is not None:
        message = "a seed was set: whoever knows it and the program can undo the shuffling. For experiments only."
        yield Notice("seeded", "seed", message)


def _notices_of_classes(job: Job, classes: Sequence[int] | None) -> Iterator[Notice]:
    """What groups tell of the class, where the user asked for little that would keep them from it."""
    recipe = job.recipe
    if recipe.target is None or bounds_purity(recipe.requirement, recipe.target, classes):
        return
    bound = named_option(purest=0.9)
    if recipe.class_sensitive:
        message = (
            "it is sensitive, and what is required of it may leave groups of one class. Require entropy-l or alpha of "
            f"it as well, for instance {bound}."
        )
        yield Notice("class-may-be-pure", recipe.target, message)
    k = recipe.requirement.smallest_group
    if find_method(recipe.method).counts and has_counts(recipe) and k < SMALL_GROUPS:
        message = (
            f"{k:,} is small for {find_method(recipe.method).name}, whose groups are alike in their class: many are of "
            f"one class, and their counts tell much. Choose a larger k, {LARGER_GROUPS} if the table allows, or bound "
            f"how pure groups are: {bound}."
        )
        yield Notice("small-k", "k", message)


def plan_notices(
    plan: ReleasePlan, columns: Mapping[str, EncodedColumn], owners: Codes | None = None
) -> Iterator[Notice]:
    """Whether little is shown, which columns name what few people have, and whether a class is too rare for counts.

    ``owners`` has the person of each row, if somebody may have several.
    """
    if plan.share_of_cells_shown < LITTLE:
        message = (
            f"less than {100 * LITTLE:.0f} % of the quasi-identifier cells show something. Try "
            f"{'another method, ' if plan.link is None else ''}hierarchies, fewer quasi-identifiers or a smaller k."
        )
        yield Notice("little-shown", plan.method, message)
    k = plan.requirement.smallest_group
    if plan.counted and plan.schema.target is not None:
        yield from _rare_class(columns[plan.schema.target], k, owners)
    yield from _rare_values(plan, columns, k, owners)


def _rare_values(
    plan: ReleasePlan, columns: Mapping[str, EncodedColumn], k: int, owners: Codes | None
) -> Iterator[Notice]:
    """One sentence for all columns whose cells name values, bins or groups that fewer than k people have."""
    rare = {name: rare_names(plan, name, columns[name], k, owners) for name in plan.names}
    named = [name for name, many in rare.items() if many]
    if not named:
        return
    many = sum(rare.values())
    message = (
        f"{many:,} {'value is' if many == 1 else 'values are'} in {_fewer(k, owners)} of the table, and released "
        f"cells name {'it' if many == 1 else 'them'}, alone, in sets or in counts, and so the group of who has "
        f"{'it' if many == 1 else 'them'}. {named_option(rarest=k)} keeps "
        f"such values out; or coarsen or drop the {'column' if len(named) == 1 else 'columns'}."
    )
    yield Notice("rare-values", ", ".join(named), message)


def _fewer(k: int, owners: Codes | None) -> str:
    return f"fewer than {k:,} rows" if owners is None else f"rows of fewer than {k:,} persons"


def _rare_class(target: EncodedColumn, k: int, owners: Codes | None) -> Iterator[Notice]:
    counts, unit = target.counts, "row"
    if owners is not None:
        pairs = np.unique(owners.astype(np.int64) * target.width + target.codes)
        counts, unit = np.bincount(pairs % target.width), "person"
    fewest = int(counts[counts > 0].min(initial=k))
    if fewest < k:
        message = (
            f"the rarest class has {counted(fewest, unit)}, fewer than k = {k:,}: no group can consist of it, and "
            "learners will hardly tell it. Choose a smaller k, or join classes."
        )
        yield Notice("rare-class", target.name, message)


def notices_of_class(plan: ReleasePlan, population: Population) -> Iterator[Notice]:
    """How often the class is guessed right from a release of counts by class, for people of the table."""
    target = plan.schema.target
    if not plan.by_class or target is None or not plan.groups:
        return
    right, people, most = share_told(plan, population)
    message = (
        f"counts are by class, as you asked. Whoever knows all values of a person takes the likeliest class by the "
        f"counts of all groups: right for {percent(right)} of {people:,} people of the table; the most "
        f"frequent class, {percent(most)}. The attack 'attribute inference' tells how often it is right for others."
    )
    yield Notice("class-by-counts", target, message)


def share_told(plan: ReleasePlan, population: Population) -> tuple[float, int, float]:
    """The share of people guessed right by Bayes' rule, how many were looked at, and the share of the largest class.

    Values are taken as independent within a group, and each group as if it had one more row, of the whole table.
    """
    table, classes = population.sample(), _rows_by_class(plan)
    sizes = classes.sum(axis=1)
    people = min(table.height, PEOPLE, max(FEWEST, WORK // len(sizes)))
    rows = np.linspace(0, table.height - 1, people).astype(np.int64)
    likely = np.zeros((len(sizes), people)) + np.log(sizes)[:, None]
    for name in plan.names:
        forms = plan.forms(name)
        codes, places, whole = _places(table[name], plan.cuts.get(name), rows)
        had = np.zeros((len(sizes), int(codes.max()) + 1))
        for group, form in enumerate(forms):
            for member, many in form.rows.items() if isinstance(form, Counts) else ():
                if (at := places.get(member)) is not None:
                    had[group, at] = many
        shown = np.array([isinstance(form, Counts) for form in forms])
        total = np.array([sum(form.rows.values()) if isinstance(form, Counts) else 0 for form in forms])
        shares = np.where(shown[:, None], (had + whole) / (total + 1)[:, None], whole)
        likely += np.log(shares)[:, codes]
    weights = np.exp(likely - likely.max(axis=0)).T @ (classes / sizes[:, None])
    truth = table[str(plan.schema.target)].codes[rows]
    whole_classes = classes.sum(axis=0)
    return float(np.mean(weights.argmax(axis=1) == truth)), people, float(whole_classes.max() / whole_classes.sum())


def _rows_by_class(plan: ReleasePlan) -> npt.NDArray[np.float64]:
    """The rows of each class in each group, by the step that parted groups by class."""
    place = plan.places[-1]
    classes = np.zeros((len(plan.groups), len(place.tree.classes)))
    for share in place.shares:
        if share.group >= 0 and share.label is not None:
            classes[share.group, share.label] += share.rows
    return classes


def _places(
    column: EncodedColumn, cuts: tuple[float, ...] | None, rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], dict[Member, int], npt.NDArray[np.float64]]:
    """The value or bin of some rows, numbered; the number of each; and how frequent each is in the whole column."""
    members: list[Member] = list(column.dictionary.to_list())
    if cuts is not None:
        bins = Bin.intervals(cuts)
        members = [bins[at] for at in np.searchsorted(np.asarray(cuts, np.float64), column.numbers, side="left")]
    members.append(None)
    places: dict[Member, int] = {}
    numbers = np.array([places.setdefault(members[code], len(places)) for code in column.codes[rows]], np.int64)
    whole = np.zeros(len(places))
    for member, many in zip(members, column.counts.tolist(), strict=True):
        if member in places:
            whole[places[member]] += many
    return numbers, places, whole / column.counts.sum()


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
        recipe_sha256=_recipe_hash(job.recipe if job.chosen is None else job.chosen.recipe),
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
    key, keying = job.counts_key, job.keying
    if key is None and keying is None and not has_counts(job.recipe):
        return {}
    from incrowd.tables.reading.keyed import key_name, read_key

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
