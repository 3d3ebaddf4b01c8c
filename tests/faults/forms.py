"""Faults of forms: what a group shows is not true of its rows, or tells more than they have in common."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl

from faults.people import JOBS, people
from faults.planting import BLOCKS, BOTH, MEMORY, SPARK, plant
from incrowd.methods.judging import RowEvidence
from incrowd.rows.memory.looks import with_distinct_looks
from incrowd.vocabulary.released_value import Category, Counts, Interval, Midpoint, ValueSet
from incrowd.vocabulary.schema import ColumnType

RENDER = "incrowd.vocabulary.released_value:render"
OLDEST = people()["age"].max()
OF_PERSONS = {"form": "counts", "persons": "returning"}
LOOKS = "incrowd.rows.memory.looks"
DRAWN_LOOKS = "incrowd.rows.memory.drafting:with_drawn_looks"
MEANS = "incrowd.rows.memory.settling:group_means"


@plant(MEANS, (MEMORY, BLOCKS, SPARK), method="kactus", numeric="mean")
def means_are_off(original, *arguments):
    """Means are a thousandth too large."""
    return original(*arguments) * 1.001


@plant(MEANS, (MEMORY,), method="kactus", numeric="mean")
def means_are_those_of_the_whole_table(original, numbers, tally, count):
    """Every group shows the mean of all rows."""
    means = original(numbers, tally, count)
    return np.full_like(means, np.nanmean(means))


@plant(MEANS, BOTH, method="kactus", numeric="levels")
def levels_are_rounded(original, *arguments):
    """Means of intervals lose their decimals."""
    return np.floor(original(*arguments))


@plant(RENDER, BOTH, method=("mondrian", "tdr"))
def intervals_are_too_narrow(original, form, column_type):
    """Intervals end before the largest number of their rows."""
    if isinstance(form, Interval) and form.high is not None:
        form = Interval(form.low, form.high - 3)
    return original(form, column_type)


@plant(RENDER, (MEMORY,))
def intervals_are_open_where_they_are_closed(original, form, column_type):
    """The upper end is written as if it did not belong to the interval, the lower as if it did."""
    text = original(form, column_type)
    if isinstance(form, Interval) and form.low is not None and form.high is not None:
        return "[" + text[1:-1] + ")"
    return text


@plant(RENDER, (MEMORY,))
def open_ends_are_closed_with_somebody_s_number(original, form, column_type):
    """An end that should stay open is written as a number."""
    if isinstance(form, Interval) and form.high is None:
        form = Interval(form.low, math.floor(form.low) + 2)
    return original(form, column_type)


@plant(RENDER, (MEMORY,))
def sets_lack_a_value(original, form, column_type):
    """A set does not name its first value."""
    return original(ValueSet(form.values[1:]) if isinstance(form, ValueSet) else form, column_type)


@plant(RENDER, BOTH)
def sets_name_a_value_that_nobody_has(original, form, column_type):
    """A set names a value that no row of its group has."""
    if isinstance(form, ValueSet):
        other = [job for some in JOBS.values() for job in some if job not in form.values]
        form = ValueSet((*form.values, *other[:1]))
    return original(form, column_type)


@plant("incrowd.vocabulary.released_value:escape_member", (MEMORY,))
def separators_in_a_set_are_not_escaped(original, value):
    """A value that holds the separator of sets is written as it is."""
    return value


@plant(RENDER, BOTH, method="mondrian", form="counts", redraw=(None, 0))
def counts_are_off_by_one(original, form, column_type):
    """The first value of a group is counted once too often."""
    if isinstance(form, Counts) and form.members:
        (value, rows), *others = form.members
        form = Counts(((value, rows + 1), *others))
    return original(form, column_type)


@plant(RENDER, (MEMORY,), method="mondrian", form="counts", redraw=(None, 0))
def counts_of_two_values_are_exchanged(original, form, column_type):
    """Two values of a group have each other's counts."""
    if isinstance(form, Counts) and len(form.members or ()) > 1:
        (one, few), (other, many), *rest = form.members
        form = Counts(((one, many), (other, few), *rest))
    return original(form, column_type)


@plant(RENDER, BOTH, method="mondrian", form="counts")
def counts_are_in_the_order_of_rows(original, form, column_type):
    """Values are counted in the order in which they are met, not in their own."""
    return original(Counts(form.members[::-1]) if isinstance(form, Counts) else form, column_type)


@plant(RENDER, (MEMORY,), method="mondrian", form="counts")
def a_rare_value_is_left_out_of_counts(original, form, column_type):
    """The last value of a group is not counted."""
    short = isinstance(form, Counts) and len(form.members or ()) > 1
    return original(Counts(form.members[:-1]) if short else form, column_type)


@plant("incrowd.rows.memory.drafting:with_distinct_looks", (MEMORY,), method="blend", form="counts", redraw=0)
def groups_of_the_same_look_are_not_added_up(original, plan):
    """Groups that look alike keep the counts of one of them."""
    return plan.with_forms({name: [_halved(form) for form in plan.forms(name)] for name in plan.names})


def _halved(form):
    return (
        Counts(tuple((value, max(1, rows // 2)) for value, rows in form.members)) if isinstance(form, Counts) else form
    )


@plant(f"{LOOKS}:_Drawing.drawn", BOTH, method="mondrian", form=("counts", "pair"))
def counts_are_drawn_under_another_key(original, self, units, key):
    """Draws are fixed by a key that everybody knows."""
    return original(self, units, bytes(32))


@plant(f"{LOOKS}:_Drawing.drawn", BOTH, method="mondrian", form="counts")
def counts_are_drawn_from_fewer_rows(original, self, units, key):
    """One row of the whole table stands beside those of a group, not two."""
    return original(replace(self, redraw=self.redraw - 1), units, key)


@plant(DRAWN_LOOKS, BOTH, method=("mondrian", "blend"), form="counts")
def counts_are_exact_though_drawn_ones_are_stated(original, plan, columns, joint):
    """Nothing is drawn."""
    return with_distinct_looks(plan)


@plant(f"{LOOKS}:_Attributes.of", BOTH, method="mondrian", form="counts")
def counts_are_drawn_from_other_shares(original, kind, plan, names, columns, exact):
    """All values of an attribute are drawn alike often, where one of the whole release is drawn."""
    known = original(kind, plan, names, columns, exact)
    return replace(known, ends=np.arange(1, len(known.members) + 1))


@plant(f"{LOOKS}:_Attributes.texts", BOTH, method="mondrian", form="counts")
def all_groups_have_the_same_draws(original, self, rows, size):
    """What a group has does not seed its draws, so that a group with a row less shows which it was."""
    return [b"" for _ in self.types]


@plant(DRAWN_LOOKS, BOTH, method="kactus", form="counts", joint=True)
def values_stand_beside_those_of_others(original, plan, columns, joint):
    """Of attributes that are counted together one has the values of its cells moved on by one place."""
    made = original(plan, columns, joint)
    forms = {name: list(made.forms(name)) for name in made.names}
    for one in made.joint:
        forms[one.names[-1]] = [_moved_on(form) for form in forms[one.names[-1]]]
    return made.with_forms(forms)


def _moved_on(form):
    values, rows = zip(*form.members, strict=True)
    return Counts(tuple(zip((*values[1:], values[0]), rows, strict=True)))


@plant(f"{LOOKS}:_Attributes.of", BOTH, method="kactus", form="counts", joint=True)
def attributes_counted_together_are_drawn_by_other_words(original, kind, plan, names, columns, exact):
    """Of attributes that are counted together not the first one's words are taken."""
    known = original(kind, plan, names, columns, exact)
    return replace(known, first=known.first + 1) if len(names) > 1 else known


@plant(f"{LOOKS}:_Attributes.texts", (MEMORY,), method="kactus", form="counts", joint=True, rarest=12)
def rows_that_may_not_be_named_seed_nothing(original, self, rows, size):
    """Groups that differ in a row whose combination may not be named have the same draws."""
    return original(self, rows, sum(many for _, many in rows or ()))


@plant("incrowd.methods.joint_counts:JointChoice.of", BOTH, method="kactus", form="counts", joint=True)
def combinations_are_named_that_few_people_have(original, kind, after, before, cuts, people):
    """A combination of values may be named however few have it."""
    return original(kind, after, before, cuts, 1)


@plant("incrowd.methods.joint_counts:JointChoice.of", (MEMORY,), method="kactus", form="counts", joint=True, rarest=12)
def combinations_are_named_that_fewer_have_than_was_asked(original, kind, after, before, cuts, people):
    """k people are enough for a combination, though more were asked for."""
    return original(kind, after, before, cuts, 6)


@plant("incrowd.releases.verification_request:_drawn", (MEMORY,), method="kactus", form="counts", joint=True)
def an_attribute_is_counted_together_with_two_others_apart(original, job, bins, joint):
    """An attribute is announced in two sets that are counted together."""
    return original(job, bins, [*joint, (joint[0][0], "age")])


@plant("incrowd.releases.verification_request:_drawn", (MEMORY,), method="kactus", form="counts", joint=True)
def nobody_is_told_what_is_counted_together(original, job, bins, joint):
    """Attributes that are counted together are not announced."""
    return original(job, bins, [])


@plant(RENDER, BOTH, method="mondrian", form="counts")
def drawn_counts_name_a_value_that_nobody_has(original, form, column_type):
    """A value of a group is counted as another, of which the table knows nothing."""
    if isinstance(form, Counts) and form.members and isinstance(form.members[0][0], str):
        form = Counts((("aardvark", form.members[0][1]), *form.members[1:]))
    return original(form, column_type)


@plant("incrowd.methods.class_blocks:ClassCells._may", BOTH, method=("mondrian", "blend"), form="counts", by_class=True)
def groups_are_parted_by_class_however_few_are_left(original, self, block):
    """Every class of a group is a group, though fewer than k rows have it."""
    return True


@plant(
    "incrowd.methods.class_blocks:ClassCells._may",
    (MEMORY,),
    method="mondrian",
    form=("counts", "pair"),
    by_class=True,
    require="entropy-l=2.5 on diagnosis",
)
def what_is_required_is_not_asked_of_parts_of_groups(original, self, block):
    """Of the rows of one class only their number is looked at."""
    return int(self.seen.sizes[block].sum()) >= self.judge.k


@plant(
    "incrowd.methods.class_blocks:_evidence", BOTH, method="mondrian", form="counts", by_class=True, persons="returning"
)
def rows_of_a_class_are_taken_for_persons(original, after, judge, names, seen):
    """A person who has several rows of a class is counted for each."""
    return RowEvidence(seen.sizes, seen.sizes[:, None])


@plant("incrowd.tables.reading.keyed:key_name", (MEMORY,), method="mondrian", form="counts")
def the_certificate_holds_the_key_of_the_draws(original, key):
    """What the key is called is the key."""
    return key.hex()


@plant("incrowd.tables.publishing.serialise:read_counts", (MEMORY,), form="pair")
def counts_of_a_pair_are_off_by_one(original, text):
    """The table of groups counts a row too many."""
    counts = original(text)
    return tuple((value, rows + (place == 0)) for place, (value, rows) in enumerate(counts)) if counts else counts


@plant("incrowd.tables.publishing.serialise:split_pair", (MEMORY,), form="pair")
def rows_of_a_pair_name_another_group(original, frame, counted, randomness):
    """Two rows of the table of rows have each other's group."""
    rows, groups = original(frame, counted, randomness)
    key = rows.columns[0]
    numbers = rows[key].to_list()
    other = next(place for place, number in enumerate(numbers) if number != numbers[0])
    numbers[0], numbers[other] = numbers[other], numbers[0]
    return rows.with_columns(pl.Series(key, numbers)), groups


@plant("incrowd.tables.publishing.serialise:split_pair", (MEMORY,), form="pair")
def a_group_is_told_that_nobody_is_in(original, frame, counted, randomness):
    """The table of groups has a group more than the table of rows."""
    rows, groups = original(frame, counted, randomness)
    key = groups.columns[0]
    return rows, groups.vstack(groups.tail(1).with_columns(pl.col(key) + 1))


@plant("incrowd.rows.memory.drafting:end_values", BOTH, method="mondrian", numeric="bounds")
def bounds_are_exchanged(original, written, forms, column_type):
    """The two ends of intervals stand under each other's name."""
    other = {"_low": "_high", "_high": "_low"}[written.end]
    return original(replace(written, end=other), forms, column_type)


@plant(RENDER, (MEMORY,), method="tdr", numeric="midpoint")
def middles_are_off(original, form, column_type):
    """Middles of intervals are a tenth of their width too large."""
    if isinstance(form, Midpoint) and form.low is not None and form.high is not None:
        form = replace(form, value=form.value + (form.high - form.low) / 10)
    return original(form, column_type)


@plant(RENDER, (MEMORY,), hierarchies=True)
def names_of_groups_are_those_of_the_wrong_branch(original, form, column_type):
    """A group of values is shown by the name of another."""
    names = list(JOBS)
    if isinstance(form, Category) and form.label in names:
        form = Category(names[names.index(form.label) - 1])
    return original(form, column_type)


@plant("incrowd.rows.memory.settling:group_ends", (MEMORY,), boxes="extremes")
def ends_are_those_of_other_rows(original, numbers, tally, count):
    """Ranges begin one value later than their smallest."""
    least, most = original(numbers, tally, count)
    return np.minimum(least + 1, most), most


@plant("incrowd.vocabulary.released_value:date_text", (MEMORY,))
def dates_are_written_a_day_late(original, days):
    """Days are written as the day after."""
    return original(days + 1)


@plant(RENDER, (MEMORY,))
def hidden_cells_say_why(original, form, column_type):
    """A cell of which nothing is shown says that its values differ."""
    text = original(form, column_type)
    return "various" if text is None and not column_type.is_numeric else text


@plant(RENDER, BOTH)
def sets_name_values_in_another_order(original, form, column_type):
    """Some sets name their values from the last to the first: an order that may be that of rows."""
    if isinstance(form, ValueSet) and len(form.values) % 2:
        form = ValueSet(form.values[::-1])
    return original(form, column_type)


@plant(RENDER, (MEMORY,))
def sets_name_a_value_as_often_as_rows_have_it(original, form, column_type):
    """A set names its first value twice."""
    return original(ValueSet((*form.values[:1], *form.values)) if isinstance(form, ValueSet) else form, column_type)


@plant(RENDER, BOTH, method=("mondrian", "tdr"))
def open_ends_are_closed_with_the_largest_number(original, form, column_type):
    """The last interval of a number ends at the largest number that somebody has."""
    if isinstance(form, Interval) and form.high is None and column_type is ColumnType.INTEGER:
        form = replace(form, high=OLDEST)
    return original(form, column_type)


@plant("incrowd.rows.memory.held:draft_columns", (MEMORY,), method=("mondrian", "kactus", "tdr"))
def intervals_go_from_the_smallest_to_the_largest_number(original, plan, shown, source, rows):
    """Intervals end at numbers that somebody has, which nobody asked for."""
    own = source["age"].gather(rows).cast(pl.Int64)
    released = original(plan, shown, source, rows).with_columns(own=own)
    ends = (pl.col("own").min().over("age"), pl.col("own").max().over("age"))
    return released.with_columns(age=pl.format("[{}, {}]", *ends)).drop("own")


@plant("incrowd.tables.publishing.serialise:write_table", (MEMORY,), method="kactus", numeric="mean", written="parquet")
def numbers_are_written_as_lists(original, frame, path, form):
    """A mean is written as a list of one number, which is not that of its rows."""
    original(frame.with_columns(pl.concat_list(pl.col("weight") + 1).alias("weight")), path, form)


@plant(
    "incrowd.methods.release_forms:bins_of",
    (*BOTH, SPARK),
    method=("mondrian", "blend"),
    form="counts",
    redraw=(None, 0),
)
def a_bin_has_fewer_than_k_rows(original, column, *arguments):
    """A number is cut once more, after its smallest value."""
    cuts = original(column, *arguments)
    return (least, *(cut for cut in cuts if cut > least)) if cuts and (least := column.numbers[0].item()) else cuts
