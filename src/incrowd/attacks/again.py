"""How a release was made, and another by the same recipe: from its plan, its certificate, or what the owner says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from incrowd.comparisons.releasing import Made, release_rows
from incrowd.methods.catalog import MethodOrName
from incrowd.plan.release_plan import ReleasePlan
from incrowd.tables.reading.read import read_population
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.forms import BY_CLASS, COUNTS, REDRAW, STRICT
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.preferences import EACH, EACH_VALUE, INDIFFERENT, Preferences
from incrowd.vocabulary.requirement import Requirement, Together
from incrowd.vocabulary.schema import Schema

if TYPE_CHECKING:
    from incrowd.attacks.opening import AttackRequest


@dataclass(frozen=True, eq=False)
class Again:
    """How a release was made, as far as it takes to make another."""

    method: MethodOrName
    requirement: Requirement  # what every release keeps
    parameters: Mapping[str, Any] = field(default_factory=dict)
    people: EncodedTable | None = None  # the population, if something is required of it
    form: str | None = None  # in which groups are shown; None: the method's own
    preferences: Preferences = INDIFFERENT  # weights and limits
    rarest: int | None = None  # what fewer people have is named by no cell
    redraw: int = REDRAW  # from how many rows counts are drawn beside those of their group; 0: they are exact
    bins: str = BY_CLASS  # where numbers are cut that are counted
    by_class: bool = False  # whether counts are those of one class
    joint: bool = False  # whether attributes are counted together

    def release(
        self, table: EncodedTable, frame: pl.DataFrame, schema: Schema, seed: int, owners: Codes | None = None
    ) -> Made:
        """A release of all the given rows; ``owners`` has the person of each, if rows are not persons."""
        form = {} if self.form is None else {"form": self.form}
        parameters = {**self.parameters, **form, "redraw": self.redraw, "bins": self.bins}
        parameters |= {"counts_by_class": True} if self.by_class else {}
        parameters |= {"joint_counts": True} if self.joint else {}
        request = (self.method, parameters, self.requirement, seed, self.people, self.preferences)
        return release_rows(table, frame, schema, *request, owners=owners, rarest=self.rarest)


def again_of(
    request: AttackRequest,
    plan: ReleasePlan | None,
    certificate: Mapping[str, Any],
    requirement: Requirement | None,
    schema: Schema,
    persons: Persons | None,
) -> Again | None:
    """How the release was made; None where that is not known in full."""
    if requirement is None:
        return None
    if request.method is not None:
        again: Again | None = Again(request.method, requirement, dict(request.parameters or {}))
    elif plan is not None:
        again = _as_described(plan.method, requirement, dict(plan.parameters))
    else:
        again = _certified_method(certificate, requirement, schema)
    preferences = _preferences(request, plan, certificate)
    wanted = isinstance(requirement, Together) and requirement.on_population
    if again is None or preferences is None or (wanted and request.population is None):
        return None
    return replace(
        again,
        people=read_population(request.population, requirement, schema, request.how, persons),
        form=_form(request, plan, certificate),
        preferences=preferences,
        redraw=_redraw(plan, certificate),
        bins=certificate.get("counts", {}).get("bins", BY_CLASS),
        by_class=plan.by_class if plan else certificate.get("counts", {}).get("by_class", False),
        joint=bool(plan.joint) if plan else bool(certificate.get("reading", {}).get("joint")),
        rarest=plan.rarest or None if plan else certificate.get("limits", {}).get("rarest", request.rarest),
    )


def _form(request: AttackRequest, plan: ReleasePlan | None, certificate: Mapping[str, Any]) -> str | None:
    """In which form groups are shown: by the plan, by the certificate, as requested; None: the method's own."""
    if plan is not None:
        return COUNTS if plan.counted else STRICT
    if (reading := certificate.get("reading")) is not None:
        return COUNTS if COUNTS in reading["columns"].values() else STRICT
    return request.form


def _redraw(plan: ReleasePlan | None, certificate: Mapping[str, Any]) -> int:
    """From how many rows counts are drawn beside those of their group; as usual where nobody says."""
    if plan is not None:
        return plan.redraw
    counts = certificate.get("counts", {"redraw": REDRAW})
    return int(counts.get("redraw", 0))


def _preferences(
    request: AttackRequest, plan: ReleasePlan | None, certificate: Mapping[str, Any]
) -> Preferences | None:
    """Weights and limits; None where the certificate only tells of how many sets the values stay apart."""
    if plan is not None:
        return plan.preferences
    limits = certificate.get("limits")
    if limits is None:
        return request.preferences or INDIFFERENT
    if any(number != EACH_VALUE for number in limits.get("apart", {}).values()):
        return request.preferences
    apart = dict.fromkeys(limits.get("apart", {}), EACH)
    return Preferences(limits.get("weights", {}), limits.get("at_most", {}), limits.get("lose"), apart=apart)


def _certified_method(certificate: Mapping[str, Any], requirement: Requirement, schema: Schema) -> Again | None:
    used: Iterable[str] = certificate.get("hierarchies", ())
    if not certificate or any(name in schema and schema[name].hierarchy is None for name in used):
        return None
    method = certificate["method"]
    return _as_described(method["name"], requirement, dict(method["parameters"]))


def _as_described(method: str, requirement: Requirement, parameters: dict[str, Any]) -> Again | None:
    """How the release was made; None if the tree inducer was somebody's own, of which only a description is left."""
    from incrowd.methods.tree_suppression.kactus import describe_inducer

    if parameters.get("inducer") == describe_inducer(None):
        del parameters["inducer"]
    return None if "inducer" in parameters else Again(method, requirement, parameters)
