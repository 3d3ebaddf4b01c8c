"""Faults of methods: what is decided does not keep what was asked for, or is not true of the rows."""

from __future__ import annotations

from dataclasses import replace

from faults.planting import BLOCKS, BOTH, MEMORY, SPARK, plant
from incrowd.plan.steps import DROPPED, Bin, Group, Hide, Place, Recode, Seat, Show
from incrowd.vocabulary.released_value import Interval, Shown, Suppressed
from incrowd.vocabulary.requirement import KAnonymity

ROOM = "incrowd.methods"
KACTUS = f"{ROOM}.tree_suppression.kactus:KActus.decide"
KACTUS_PLUS = f"{ROOM}.tree_suppression.kactus_plus:KActusPlus.decide"
MONDRIAN = f"{ROOM}.partitioning.mondrian:Mondrian.decide"
INFOGAIN = f"{ROOM}.partitioning.mondrian:InfoGainMondrian.decide"
TDR = f"{ROOM}.top_down_refinement.tdr:TDR.decide"
IACK = f"{ROOM}.mutual_information.iac:IACk.decide"
IACC = f"{ROOM}.mutual_information.iac:IACc.decide"
BLEND = f"{ROOM}.blending.blend:Blend.decide"
EVERYWHERE = (MEMORY, BLOCKS, SPARK)
FEW = {"known": "sex job age", "hierarchies": True}  # of many attributes of few rows IAC hides everything


def changed(steps, kind, change):
    """The steps, those of a kind changed."""
    return tuple(change(step) if isinstance(step, kind) else step for step in steps)


def for_less(original, self, population, requirement, randomness, preferences):
    """What the method decides if it thinks that two rows are enough."""
    return original(self, population, KAnonymity(2), randomness, preferences)


def _planted_for_less(method, target, engines=BOTH, **asked):
    def faulty(*arguments):
        return for_less(*arguments)

    faulty.__name__, faulty.__module__ = f"{method.replace('-', ' ')} keeps 2 instead of k", __name__
    faulty.__doc__ = f"The method {method} makes groups of two."
    plant(target, engines, method=method, **asked)(faulty)


_planted_for_less("kactus", KACTUS, EVERYWHERE)
_planted_for_less("kactus-plus", KACTUS_PLUS, (MEMORY,))
_planted_for_less("mondrian", MONDRIAN, EVERYWHERE)
_planted_for_less("infogain-mondrian", INFOGAIN, (MEMORY,))
_planted_for_less("tdr", TDR)
_planted_for_less("iack", IACK, **FEW)
_planted_for_less("iacc", IACC, (MEMORY,), **FEW)
_planted_for_less("blend", BLEND, (MEMORY,))


@plant(TDR, BOTH, method="tdr", hierarchies=True, at_most=1)
def a_group_is_hidden_below_the_limit(original, *arguments):
    """One group of jobs shows nothing, though the user wants to see it."""

    def hide(recode):
        columns = [replace(c, parts=c.parts[1:]) if c.name == "job" else c for c in recode.columns]
        return Recode(tuple(columns))

    return changed(original(*arguments), Recode, hide)


@plant(MONDRIAN, (MEMORY,), method="mondrian", hierarchies=True, at_most=0)
def boxes_forget_the_limit(original, self, population, requirement, randomness, _preferences):
    """The table is cut as if no limit was set."""
    return original(self, population, requirement, randomness)


@plant(MONDRIAN, EVERYWHERE, method="mondrian", apart="nurse,Nurse|cook")
def boxes_join_what_stays_apart(original, self, population, requirement, randomness, _preferences):
    """The table is cut as if any two jobs could be in one set."""
    return original(self, population, requirement, randomness)


@plant(f"{ROOM}.limits:limit_of", (MEMORY,), method="mondrian", apart="doctor")
def one_value_that_is_shown_always_is_another(original, column, known, preferences):
    """It is not the doctors who are shown in any case, but the bakers."""
    wrong = replace(preferences, apart={"job": "baker"}) if preferences.apart else preferences
    return original(column, known, wrong)


@plant(f"{ROOM}.limits:decide_within", BOTH, method=("mondrian", "kactus-plus"), lose="1%")
def more_rows_are_left_out_than_may_be(original, method, population, requirement, randomness, preferences):
    """A limit of one row in a hundred is taken for one of half of all."""
    return original(method, population, requirement, randomness, replace(preferences, lose="50%"))


@plant(KACTUS, BOTH, method="kactus")
def kactus_drops_a_group(original, *arguments):
    """A group that could be released is left out with those that cannot."""
    last = [0]

    def drop(place):
        last[0] = max(share.group for share in place.shares)
        return replace(
            place, shares=tuple(replace(s, group=DROPPED) if s.group == last[0] else s for s in place.shares)
        )

    steps = changed(original(*arguments), Place, drop)
    return changed(steps, Show, lambda show: replace(show, groups=show.groups[: last[0]]))


@plant(KACTUS, (MEMORY,), method="kactus")
def kactus_shows_a_group_another_group_s_values(original, *arguments):
    """Each group shows what the next one has."""
    return changed(original(*arguments), Show, _rotated)


@plant(KACTUS_PLUS, (MEMORY,), method="kactus-plus")
def kactus_plus_shows_the_wrong_branch(original, *arguments):
    """Each group shows what another branch of the tree has."""
    return changed(original(*arguments), Show, _rotated)


@plant(MONDRIAN, EVERYWHERE, method="mondrian")
def mondrian_shows_the_wrong_box(original, *arguments):
    """Each group shows the box of another."""
    return changed(original(*arguments), Show, _rotated)


@plant(INFOGAIN, (MEMORY,), method="infogain-mondrian")
def infogain_mondrian_shows_the_value_of_one_row(original, *arguments):
    """One group shows one value where its rows have several."""

    def narrow(show):
        at = show.names.index("sex")
        first = next(i for i, group in enumerate(show.groups) if not isinstance(group.forms[at], Shown))
        groups = list(show.groups)
        forms = list(groups[first].forms)
        forms[at] = Shown("f")
        groups[first] = Group(groups[first].rows, tuple(forms))
        return replace(show, groups=tuple(groups))

    return changed(original(*arguments), Show, narrow)


def _rotated(show):
    forms = [group.forms for group in show.groups]
    groups = zip(show.groups, [*forms[1:], forms[0]], strict=True)
    return replace(show, groups=tuple(Group(group.rows, other) for group, other in groups))


@plant(TDR, BOTH, method=("tdr", "tds"), hierarchies=True)
def tdr_cuts_intervals_too_short(original, *arguments, **named):
    """Intervals end below the largest number of their rows."""

    def shorter(part):
        form = part.form
        if not isinstance(form, Interval):
            return part
        return replace(part, form=Interval(form.low, (30 if form.high is None else form.high) - 1))

    def short(step):
        return Recode(tuple(replace(c, parts=tuple(map(shorter, c.parts))) for c in step.columns))

    return changed(original(*arguments, **named), Recode, short)


@plant(TDR, (MEMORY,), method="tds", known="sex job", hierarchies=True)
def tds_names_the_wrong_group_of_values(original, *arguments, **named):
    """Values show the name of the group beside their own."""

    def wrong(step):
        def rotated(column):
            if column.name != "job":
                return column
            forms = [part.form for part in column.parts]
            return replace(
                column,
                parts=tuple(replace(p, form=f) for p, f in zip(column.parts, forms[1:] + forms[:1], strict=True)),
            )

        return Recode(tuple(map(rotated, step.columns)))

    return changed(original(*arguments, **named), Recode, wrong)


@plant(IACK, BOTH, method="iack", **FEW)
def iack_hides_nothing(original, *arguments):
    """Rare combinations are not hidden."""
    return changed(original(*arguments), Hide, lambda hide: replace(hide, below=0, also=()))


@plant(IACK, (MEMORY,), method="iack", **FEW)
def iack_hides_all_but_the_rarest(original, *arguments):
    """Combinations of one row less than k are not taken for rare."""
    return changed(original(*arguments), Hide, lambda hide: replace(hide, below=hide.below - 3))


@plant(
    f"{ROOM}.mutual_information.rare_combinations:common_cells",
    BOTH,
    method="iack",
    on_rare="generalize",
    **FEW,
)
def rare_combinations_show_one_cell_too_many(original, codes, *arguments):
    """The groups of rare combinations are judged without their first attribute, which is shown all the same."""
    shown = original(codes, *arguments)
    shown[:, 0] = True
    return shown


@plant(IACC, (MEMORY,), method="iacc", **FEW)
def iacc_drops_rows_instead_of_hiding_them(original, *arguments):
    """Rows of rare combinations are left out."""
    return changed(original(*arguments), Hide, lambda hide: replace(hide, drop=True, below=max(hide.below, 9)))


@plant(BLEND, (MEMORY,), method="blend")
def blend_divides_a_group(original, *arguments):
    """One row sits alone in a group of its own."""

    def alone(seat):
        seats = seat.known.copy()
        sizes = list(seat.sizes)
        sizes[seats[0]] -= 1
        seats[0] = len(sizes)
        return Seat((*sizes, 1), seats)

    def shown(show):
        groups = list(show.groups)
        return replace(show, groups=(*groups, Group(1, groups[0].forms)))

    return changed(changed(original(*arguments), Seat, alone), Show, shown)


@plant(MONDRIAN, (MEMORY,), method="mondrian")
def mondrian_shows_an_attribute_it_should_hide(original, *arguments):
    """Where nothing is to be shown of an attribute, the whole range of a group's value is."""

    def told(show):
        at = show.names.index("job")
        groups = []
        for group in show.groups:
            forms = list(group.forms)
            forms[at] = Shown("nurse") if isinstance(forms[at], Suppressed) else forms[at]
            groups.append(Group(group.rows, tuple(forms)))
        return replace(show, groups=tuple(groups))

    return changed(original(*arguments), Show, told)


@plant(KACTUS, (MEMORY,), method="kactus")
def kactus_cuts_at_private_places(original, *arguments):
    """Numbers are shown by cuts that are one away from those the rows were dealt by."""
    steps = original(*arguments)

    def moved(show):
        def form(one):
            return replace(one, high=one.high - 1) if isinstance(one, Interval) and one.high is not None else one

        return replace(show, groups=tuple(Group(g.rows, tuple(map(form, g.forms))) for g in show.groups))

    return changed(changed(steps, Show, moved), Bin, lambda step: step)
