"""The method of a release, where the user leaves it to a comparison on the table itself."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from incrowd.comparisons.choices import Choice, default_methods
from incrowd.comparisons.persons import RowPersons
from incrowd.comparisons.recommend import choose
from incrowd.comparisons.subject import Subject
from incrowd.errors import IncrowdError, ParameterError, named_option
from incrowd.methods.automatic import Auto
from incrowd.methods.catalog import make_method
from incrowd.releases.job import Job
from incrowd.report.certificate import owner_key
from incrowd.rows.memory.held import InMemory


def with_method(job: Job, held: InMemory) -> Job:
    """The job with the method and the form that serve the learners best, among those that can do what is asked for."""
    recipe, target = job.recipe, held.schema.target
    if target is None:
        raise ParameterError(
            f"auto compares by what learners learn of the class. Name it with {named_option(target='COLUMN')}, or name "
            "the method, for instance mondrian."
        )
    candidates = dict(_able(job, held))
    if not candidates:
        raise ParameterError("auto: no method can do all that is asked for. Name one, to be told why.")
    auto = make_method(recipe.method, dict(recipe.parameters))
    assert isinstance(auto, Auto)
    persons = None if held.owners is None or recipe.persons is None else RowPersons(recipe.persons.column, held.owners)
    subject = Subject("the table", held.source.frame, held.schema, held.table, persons=persons, people=held.people)
    chosen = choose(subject, tuple(candidates), recipe, auto, _seed(job), job.clock.progress)
    return replace(candidates[chosen.choice], chosen=chosen)


def _able(job: Job, held: InMemory) -> Iterator[tuple[Choice, Job]]:
    """The candidates that can do what is asked for, with the jobs they would be."""
    recipe = job.recipe
    for name in default_methods(held.schema, form=recipe.form):
        choice = Choice.of(name).in_form(recipe.form)
        own = dict(choice.parameters)
        form = own.pop("form", recipe.form)
        single = replace(job, recipe=replace(recipe, method=choice.method, parameters=own, form=form))
        with suppress(IncrowdError):
            single.check_method()
            yield choice, single


def _seed(job: Job) -> int:
    """What splits are drawn by: the seed of an experiment, else a key of the owner, so that nobody else can try it."""
    if job.seed is not None:
        return job.seed
    return int.from_bytes(hmac.digest(owner_key(), b"incrowd auto", "sha256")[:7], "big")
