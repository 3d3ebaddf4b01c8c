"""Faults of coarsening: a rule that the user named is not kept, or kept in another column."""

from __future__ import annotations

import polars as pl

from faults.planting import MEMORY, SPARK, plant
from incrowd.vocabulary.column_rules import TOP, YEAR, ZIP3, Coarsening

COARSER = {MEMORY: "incrowd.tables.reading.coarsen:coarser"}
RULES = "age=top-60 born=year zip=zip3"
AGE = "weight sex job"  # known beside; age is released as it is then
BOTH_FORMATS = ("csv", "parquet")
KINDS = {MEMORY: "incrowd.risk.safe_harbor:found_kinds"}


@plant(COARSER, coarsen=RULES, known=f"{AGE} age")
def a_date_is_not_coarsened(original, cells, rule, missing=()):
    """Dates of an unchanged column stay what they are."""
    return cells if rule.kind == YEAR else original(cells, rule, missing)


@plant(COARSER, coarsen=RULES, given=BOTH_FORMATS)
def a_year_begins_in_february(original, cells, rule, missing=()):
    """Dates in January are put into the year before."""
    after = original(cells, rule, missing)
    return after - cells.cast(pl.String).str.contains("-01-").cast(pl.Int64) if rule.kind == YEAR else after


@plant(COARSER, coarsen=RULES)
def a_small_area_is_kept(original, cells, rule, missing=()):
    """Three digits are shown where few people live."""
    return cells.str.slice(0, 3) if rule.kind == ZIP3 else original(cells, rule, missing)


@plant(COARSER, coarsen=RULES)
def an_area_has_four_digits(original, cells, rule, missing=()):
    """One digit of the ZIP code too many is shown."""
    return cells.str.slice(0, 4) if rule.kind == ZIP3 else original(cells, rule, missing)


@plant(COARSER, coarsen=RULES, known=(f"{AGE} age born", f"{AGE} born"), given=BOTH_FORMATS)
def the_oldest_are_shown(original, cells, rule, missing=()):
    """Ages above the bound are shown, as it is taken for a higher one."""
    return original(cells, Coarsening(TOP, 80) if rule.kind == TOP else rule, missing)


@plant({MEMORY: "incrowd.tables.reading.coarsen:coarsened"}, coarsen=RULES, known=f"{AGE} age")
def no_rule_is_kept(original, source, rules):
    """The rules are read, and forgotten."""
    return source


@plant({MEMORY: "incrowd.tables.reading.coarsen:coarsened"}, coarsen=RULES)
def a_column_is_forgotten(original, source, rules):
    """The last rule is not kept."""
    return original(source, dict(list(rules.items())[:-1]))


@plant({SPARK: "incrowd.rows.spark.coarsening:coarsened"}, coarsen=RULES, known=f"{AGE} age")
def a_rule_is_forgotten_on_spark(original, table, named, missing):
    """The last rule is not kept by the executors."""
    return original(table, dict(list(named.items())[:-1]), missing)


def unseen(kind, original, frame):
    return tuple(found for found in original(frame) if kind not in found.kind)


@plant(KINDS, preset="safe-harbor")
def an_address_is_not_seen(original, frame):
    """Addresses of e-mail are not found among the cells."""
    return unseen("e-mail", original, frame)


@plant(KINDS, preset="safe-harbor", known=f"{AGE} age", written=BOTH_FORMATS)
def a_date_is_not_seen(original, frame):
    """Dates are not found among the cells of a column that is released as it is."""
    return unseen("dates", original, frame)


@plant(KINDS, preset="safe-harbor", written=BOTH_FORMATS, known=f"{AGE} born")
def a_great_age_is_not_seen(original, frame):
    """Ages over 89 are not found."""
    return unseen("ages", original, frame)


@plant(KINDS, preset="safe-harbor", written=BOTH_FORMATS)
def a_zip_code_is_not_seen(original, frame):
    """ZIP codes are not found."""
    return unseen("ZIP", original, frame)
