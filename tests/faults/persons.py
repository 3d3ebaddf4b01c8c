"""Faults about persons who have several rows: rows are counted for them, or recipients can tell whose rows they are."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import polars as pl

from faults.planting import BLOCKS, MEMORY, plant
from incrowd.vocabulary.requirement import KAnonymity

SPELLED = "incrowd.tables.reading.persons:normalised"
OWNERS = "incrowd.tables.reading.persons:owners_of"
NUMBERS = "incrowd.tables.streams.gathering:PersonNumbers.add"
DRAFT = "incrowd.rows.memory.held:EmbeddedEngine.draft"
COLUMNS = "incrowd.rows.memory.drafting:draft_columns"
PSEUDONYMS = "incrowd.rows.memory.drafting:pseudonyms_of"
KEPT = "incrowd.methods.histories.rows_of_persons:Histories.kept"
DAYS = "incrowd.tables.reading.persons:since_first"
FOLLOWED = ("linked", "known rows")
FEW = {"known": "age sex"}  # few columns, so that something is shown of them


@plant(OWNERS, (MEMORY,), method=("mondrian", "infogain-mondrian"), persons="unlinked")
def every_row_is_taken_for_a_person(original, source, persons):
    """Groups have k rows, of fewer persons."""
    owners = original(source, persons)
    return replace(owners, codes=np.arange(len(owners.codes), dtype=np.int32), persons=len(owners.codes))


@plant(OWNERS, (MEMORY,), persons="unlinked", **FEW)
def two_persons_are_one_too_few(original, source, persons):
    """Two persons are counted for each one that there is: groups have half as many as they should."""
    owners = original(source, persons)
    halves = np.arange(len(owners.codes)) % 2
    codes = np.unique(2 * owners.codes + halves, return_inverse=True)[1].astype(np.int32)
    return replace(owners, codes=codes, persons=int(codes.max()) + 1)


@plant(SPELLED, persons="misspelled", **FEW)
def what_nobody_sees_makes_another_person(original, text):
    """A person whose key has a space of no width in some rows is two."""
    return text.strip().casefold()


@plant(NUMBERS, (BLOCKS,), persons="unlinked")
def every_row_is_taken_for_a_person_in_blocks(original, self, cells):
    """Groups have k rows, of fewer persons, wherever the rows are."""
    return np.arange(len(original(self, cells)), dtype=np.uint32)


@plant(NUMBERS, (BLOCKS,), persons="unlinked")
def blocks_cut_persons_apart(original, self, cells):
    """A person of several blocks is several persons, for every 40 rows number them anew."""
    numbers = original(self, cells)
    return numbers + (1000 * (np.arange(len(numbers)) // 40)).astype(np.uint32)


@plant(DRAFT, (MEMORY,), persons="unlinked")
def the_person_is_in_a_column_of_another_name(original, self, plan, population, source, *others):
    """The ward of each row is its patient."""
    draft = original(self, plan, population, source, *others)
    return replace(draft, frame=draft.frame.with_columns(source["patient"][draft.origin.tolist()].alias("ward")))


@plant(DRAFT, (MEMORY,), persons="unlinked")
def the_person_is_released(original, self, plan, population, source, *others):
    """The column of the person is one more column."""
    draft = original(self, plan, population, source, *others)
    return replace(draft, frame=draft.frame.with_columns(source["patient"][draft.origin.tolist()]))


@plant(DRAFT, (MEMORY,), persons="unlinked")
def a_row_of_a_person_is_released_twice(original, self, plan, population, source, *others):
    """One row stands for two, of somebody who has one more of them then."""
    draft = original(self, plan, population, source, *others)
    origin = draft.origin.copy()
    origin[0] = origin[1]
    return replace(draft, frame=pl.concat([draft.frame[1:2], draft.frame[1:]]), origin=origin)


# ------------------------------------------------------------- persons who can be followed


@plant(PSEUDONYMS, (MEMORY,), persons=FOLLOWED, **FEW)
def pseudonyms_follow_the_keys(original, persons, randomness):
    """The first of all keys has the first pseudonym."""
    return original(persons, randomness).sort()


@plant(PSEUDONYMS, (MEMORY,), persons=FOLLOWED, **FEW)
def pseudonyms_are_numbers(original, persons, randomness):
    """Pseudonyms count persons, from the last key to the first."""
    return pl.Series([f"p{persons - number:032x}" for number in range(persons)])


@plant(PSEUDONYMS, (MEMORY,), persons=FOLLOWED, **FEW)
def pseudonyms_are_short(original, persons, randomness):
    """Pseudonyms have half as many letters as they should: somebody may try them all."""
    return original(persons, randomness).str.slice(0, 17)


@plant(PSEUDONYMS, (MEMORY,), persons=("linked", "known rows", "two tables"), **FEW)
def two_who_can_be_followed_have_one_pseudonym(original, persons, randomness):
    """The last two persons are one to recipients."""
    names = original(persons, randomness).to_list()
    return pl.Series([*names[:-1], names[-2]])


def _by(function):
    def faulty(original, self, plan, population, source, randomness, pseudonyms=None):
        words = dict(zip(population.owners.tolist(), source["patient"].to_list(), strict=True))
        names = [f"p{hashlib.new(function, words[one].encode()).hexdigest()[:32]}" for one in sorted(words)]
        return original(self, plan, population, source, randomness, pl.Series(names))

    faulty.__name__, faulty.__module__ = f"pseudonyms_are_digests_by_{function}", __name__
    faulty.__doc__ = f"Pseudonyms are what {function} makes of the key."
    plant(DRAFT, (MEMORY,), persons="linked", **FEW)(faulty)


for _function in ("md5", "sha1", "sha256", "sha3_256", "blake2s"):
    _by(_function)


@plant(DRAFT, (MEMORY,), persons=FOLLOWED, **FEW)
def a_person_has_two_pseudonyms(original, *arguments):
    """One row has a pseudonym of its own."""
    draft = original(*arguments)
    names = draft.frame["patient"].to_list()
    names[next((at for at, name in enumerate(names) if names.count(name) > 1), 0)] = f"p{'5a' * 16}"
    return replace(draft, frame=draft.frame.with_columns(pl.Series("patient", names)))


@plant(DRAFT, (MEMORY,), persons=FOLLOWED, **FEW)
def rows_change_their_persons(original, *arguments):
    """Two rows of different persons have each other's pseudonym."""
    draft = original(*arguments)
    names = draft.frame["patient"].to_list()
    other = next(at for at, name in enumerate(names) if name != names[0])
    names[0], names[other] = names[other], names[0]
    return replace(draft, frame=draft.frame.with_columns(pl.Series("patient", names)))


@plant(DRAFT, (MEMORY,), persons="two tables")
def the_second_table_has_other_pseudonyms(original, self, plan, population, source, randomness, pseudonyms=None):
    """Somebody is one person in the one table and another one in the other."""
    other = pseudonyms if "sex" in source.columns else pseudonyms.reverse()
    return original(self, plan, population, source, randomness, other)


REQUIRED = ("t=0.25 on ward", "t=0.25 on diagnosis")


@plant("incrowd.methods.judging:Judge.holds", (MEMORY,), persons="two tables", require=REQUIRED)
def of_two_tables_only_k_is_judged(original, self, evidence):
    """Groups of persons are large enough, whatever values they have in the one table or the other."""
    return evidence[:, 0] >= self.k


@plant("incrowd.methods.histories.two_tables:required_of", (MEMORY,), persons="two tables", require=REQUIRED)
def nothing_is_required_of_either_table(original, requirement, columns, target):
    """What is required beyond k is lost on the way to the two tables."""
    return KAnonymity(requirement.smallest_group)


@plant("incrowd.releases.two_tables:_with_rows_of", (MEMORY,), persons="orphans")
def rows_of_orphans_have_values(original, *arguments):
    """Who is not in the first table gets the values of the first row there."""
    source = original(*arguments)
    filled = source.frame.with_columns(pl.exclude("patient").fill_null(pl.exclude("patient").first()))
    return replace(source, frame=filled)


@plant("incrowd.releases.two_tables:_orphans", (MEMORY,), persons="orphans")
def an_orphan_is_forgotten(original, *arguments):
    """One of those who are not in the first table gets no row there, and its events are left out."""
    return original(*arguments)[1:]


@plant(KEPT, (MEMORY,), persons="linked", **FEW)
def surplus_rows_are_kept(original, self, lengths):
    """Somebody keeps a row more than the others of the group."""
    kept = original(self, lengths)
    left = np.flatnonzero(~kept)
    kept[left[:1]] = True
    return kept


@plant(DAYS, (MEMORY,), persons=("ordered", "two tables"), known="born sex")
def days_are_counted_from_the_last_row(original, source, schema, persons):
    """Days since the first row are days before the last one."""
    days = original(source, schema, persons)
    return days.max() - days


@plant(DAYS, (MEMORY,), persons=("ordered", "two tables"), known="born sex")
def days_are_counted_from_the_first_row_of_all(original, source, schema, persons):
    """Days are those since the first row of anybody: dates as they are."""
    original(source, schema, persons)
    dates = source.frame["born"].cast(pl.String).str.to_date()
    return (dates - dates.min()).dt.total_days().alias("born")
