"""What the values of a class tell: its sensitive values, the ends of its intervals, and its means.

Singling out: a description that one person alone fits, written from nothing but the release.

What: the attacker says "in the box of this class, and at the edge of its interval". Where intervals end at numbers that
somebody has, exactly one row often fits. Paper: Cohen, Nissim: Towards Formalizing the GDPR's Notion of Singling Out,
PNAS 2020, section on k-anonymity. Measured: the share of classes of which some edge isolates one original row.
Control: chance, the same number of tries at a random place of the same interval, reckoned exactly (the numbers a
column could have are those between the ends, as finely as the column is written). Leak: the lower end of the interval
is above chance.

Mean of a group: who knows all but one of the group solves for the last one.

What: the attacker knows the numbers of all other members of a class whose mean is released, multiplies and subtracts.
Paper: the difference attack on sums and means, Denning, Denning, Schwartz: The Tracker, TODS 1979; Adam, Wortmann,
Computing Surveys 1989. Measured: the share of numbers recovered exactly (the nearest number the column could have),
with the decimals the release has. Control: the share recovered by the most frequent number. Leak: the lower end of the
interval is above the control; it counts groups, for all of a group are recovered or none. The details tell what fewer
decimals would leave.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, Floats, ratio_interval, share_interval
from incrowd.attacks.scene import Scene, Traced
from incrowd.drawing.wording import counted
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released, histogram, written_cells
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_cell import CellReader, Ints, ReleasedCell
from incrowd.vocabulary.released_value import parse_day, parse_number
from incrowd.vocabulary.requirements.columns import RequirementSubject
from incrowd.vocabulary.schema import ColumnType


def homogeneity(scene: Scene) -> Finding:
    """Homogeneity: everybody of a class has the same sensitive value, so nobody needs to be picked out of it.

    What: the attacker finds somebody's class and reads the one value it has. Paper: Machanavajjhala, Gehrke, Kifer,
    Venkitasubramaniam: l-Diversity: Privacy Beyond k-Anonymity, ICDE 2006, section 2.1. Measured: the share of released
    rows in classes with one value, of the worst sensitive column; a missing value is a value. Control: the same share
    if the values were dealt to the classes at random, reckoned exactly. Leak: any such row, for what is read there is
    certain.
    """
    shares, chances = {}, {}
    for column in scene.secrets:
        counts = scene.released.histogram(column)
        shares[column] = share_alone(counts)
        chances[column] = chance_alone(counts)
    worst = max(shares, key=lambda column: shares[column])
    rows = len(scene.released.classes)
    count = round(shares[worst] * rows)
    return Finding(
        LEAK if count else NO_LEAK,
        f"{count:,} of {rows:,} rows lie in classes with one value of {worst!r}.",
        measured=shares[worst],
        control=chances[worst],
        interval=share_interval(count, rows),
        goal=0.0,
        unit="share of rows",
        details={f"share for {column}": share for column, share in shares.items()},
    )


def share_alone(counts: Ints) -> float:
    """Share of the rows in classes with one value."""
    sizes = counts.sum(axis=1)
    return float(sizes[(counts > 0).sum(axis=1) == 1].sum() / sizes.sum())


def chance_alone(counts: Ints) -> float:
    """The share to be expected if the values were dealt at random: all rows of a class drawn from one value."""
    from scipy.special import gammaln

    sizes, values = counts.sum(axis=1), counts.sum(axis=0)
    total = values.sum()
    kinds, often = np.unique(sizes, return_counts=True)
    share = 0.0
    for size, times in zip(kinds.tolist(), often.tolist(), strict=True):
        enough = values[values >= size]
        ways = gammaln(enough + 1) - gammaln(enough - size + 1) - gammaln(total + 1) + gammaln(total - size + 1)
        share += size * times * float(np.exp(ways).sum())
    return share / float(total)


DRAWS = 50


def background_knowledge(scene: Scene) -> Finding:
    """Background knowledge: how many values somebody must be able to exclude before he is certain.

    What: the attacker finds a person's class and excludes sensitive values he knows the person cannot have. Paper:
    Machanavajjhala and others: l-Diversity, ICDE 2006, section 2.1; Martin, Kifer, Machanavajjhala, Gehrke, Halpern:
    Worst-Case Background Knowledge, ICDE 2007. Measured: values to exclude in the weakest class, that is its distinct
    values less one, of the worst sensitive column. Control: the same, if the values were dealt to the classes at
    random. Leak: fewer than l - 1 for the l that was promised; fewer than one if none was.
    """
    least = {column: _to_exclude(scene.released.histogram(column)) for column in scene.secrets}
    goals = {column: max(1.0, math.ceil(scene.promised.diversity.get(column, 2.0)) - 1.0) for column in least}
    worst = min(least, key=lambda column: int(least[column].min()) - goals[column])
    exclusions, sizes = least[worst], scene.released.sizes
    goal, fewest = goals[worst], int(exclusions.min())
    generator = scene.generator("background knowledge")
    values, width = scene.released.values[worst], scene.released.widths[worst]
    classes, height = scene.released.classes, len(scene.released.boxes)
    dealt = [
        int(_to_exclude(histogram(classes, generator.permutation(values), height, width)).min()) for _ in range(DRAWS)
    ]
    drawn = exclusions[generator.integers(0, len(exclusions), (500, len(exclusions)))].min(axis=1)
    return Finding(
        LEAK if fewest < goal else NO_LEAK,
        f"In the weakest class {counted(fewest, 'value')} of {worst!r} must be excluded.",
        measured=float(fewest),
        control=float(np.mean(dealt)),
        interval=(float(fewest), float(np.quantile(drawn, 0.995))),
        goal=goal,
        unit="values to exclude",
        details={
            "mean over rows": float((exclusions * sizes).sum() / sizes.sum()),
            "share of rows with one exclusion or none": float(sizes[exclusions <= 1].sum() / sizes.sum()),
            **{f"fewest for {column}": float(one.min()) for column, one in least.items()},
        },
    )


def _to_exclude(counts: Ints) -> Ints:
    return np.asarray((counts > 0).sum(axis=1) - 1, np.int64)


DEALS = 199  # beaten by chance once in 200 times
TOLERANCE = 1e-9  # rounding errors of sums of shares are smaller


def skewness(scene: Scene) -> Finding:
    """Skewness: the values of a class are spread otherwise than in the whole table.

    What: the attacker finds a person's class and takes its shares for the person's chances. Paper: Li, Li,
    Venkatasubramanian: t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007. Measured: the largest
    distance of a class from the whole table, of the worst sensitive column: total variation, which is the earth mover's
    distance where all values are equally far apart; for numbers and ordered categories the earth mover's distance along
    the order. Control: the largest distance if the values were dealt to the classes at random. Leak: a class breaks the
    t that was promised, which is reckoned exactly; if none was, a class is farther away, for its size (distance times
    the root of its rows), than any in 199 random deals, so one false alarm in 200.
    """
    generator = scene.generator("skewness")
    findings = [_of_column(scene, column, generator) for column in scene.secrets]
    return max(findings, key=lambda one: (one.verdict == LEAK, one.measured))


def _of_column(scene: Scene, column: str, generator: np.random.Generator) -> Finding:
    released, promise = scene.released, scene.promised.closeness.get(column)
    measure = ordered_distance if scene.table[column].type.has_order else variation
    counts, sizes = released.histogram(column), released.sizes
    distances = measure(counts)
    dealt = [measure(_dealt_anew(released, column, generator)) for _ in range(DEALS)]
    by_chance = [float(one.max()) for one in dealt]
    if promise is None:  # small classes are far from the whole by chance, so each is held to its own size
        strangest = float((distances * np.sqrt(sizes)).max())
        leaks = strangest > max(float((one * np.sqrt(sizes)).max()) for one in dealt) + TOLERANCE
    else:
        own = scene.table[column]
        subject = RequirementSubject.of(own, own.counts, scene.schema[column].hierarchy)
        leaks = not promise.holds_each(counts, subject).all()
    promised = "no t was promised, so chance is the measure" if promise is None else f"{promise} was promised"
    return Finding(
        LEAK if leaks else NO_LEAK,
        f"The class farthest from the whole table is {distances.max():.3f} from it in {column!r}; {promised}.",
        measured=float(distances.max()),
        control=float(np.mean(by_chance)),
        interval=_drawn_anew(distances, generator),
        goal=None if promise is None else float(promise.t),
        unit="distance",
        details={
            "total variation": float(variation(counts).max()),
            "earth mover's distance along the order": float(ordered_distance(counts).max()),
            "largest posterior over prior": float(_lifts(counts).max()),
            "mean distance over rows": float((distances * sizes).sum() / sizes.sum()),
            "largest by chance": max(by_chance),
        },
    )


def _dealt_anew(released: Released, column: str, generator: np.random.Generator) -> Ints:
    """The counts of the classes, the values being dealt to the rows at random."""
    values = generator.permutation(released.values[column])
    return histogram(released.classes, values, len(released.boxes), released.widths[column])


def _shares(counts: Ints) -> tuple[Floats, Floats]:
    return counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=0) / counts.sum()


def variation(counts: Ints) -> Floats:
    """Total variation of each class from all: half the sum of the differences of shares."""
    shares, whole = _shares(counts)
    return np.asarray(np.abs(shares - whole).sum(axis=1) / 2)


def ordered_distance(counts: Ints) -> Floats:
    """Earth mover's distance of each class from all, values standing in their order, neighbours 1/(m-1) apart."""
    used = counts[:, counts.sum(axis=0) > 0]
    shares, whole = _shares(used)
    if used.shape[1] < 2:
        return np.zeros(len(counts))
    return np.asarray(np.abs(np.cumsum(shares - whole, axis=1)).sum(axis=1) / (used.shape[1] - 1))


def _lifts(counts: Ints) -> Floats:
    """The largest posterior over prior of each class."""
    shares, whole = _shares(counts)
    return np.asarray((shares[:, whole > 0] / whole[whole > 0]).max(axis=1))


def _drawn_anew(distances: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """The largest distance, if the classes had been drawn anew."""
    drawn = distances[generator.integers(0, len(distances), (500, len(distances)))].max(axis=1)
    return float(np.quantile(drawn, 0.005)), float(distances.max())


GOAL, ROUNDS = 1.1, 5


def de_finetti(scene: Scene) -> Finding:
    """deFinetti: people of one class are told apart by what the release teaches about all of them.

    What: the attacker knows the quasi-identifiers of everybody in a class and the sensitive values that occur in it,
    not who has which. He learns from all classes how values go with quasi-identifiers (naive Bayes, refined by
    expectation-maximization within the classes) and deals the values accordingly. Paper: Kifer: Attacks on Privacy and
    deFinetti's Theorem, SIGMOD 2009. Measured: people guessed right, over those guessed right by the most frequent
    value of their class, of the worst sensitive column (the lift). Control: class frequencies, so a lift of 1. Leak:
    the lower end of the interval is above 1.1.
    """
    guesses = {column: _both(scene, column) for column in scene.secrets}
    worst = max(guesses, key=lambda column: _lift(guesses[column]))
    both = guesses[worst]
    people = sum(both)
    learned, counted = both[1] + both[3], both[2] + both[3]
    interval = ratio_interval(both, scene.generator("deFinetti"))
    return Finding(
        LEAK if interval[0] > GOAL else NO_LEAK,
        f"{worst!r} is guessed right for {100 * learned / people:.1f} % of {people:,} {scene.units}, by the "
        f"frequencies of their class for {100 * counted / people:.1f} %.",
        measured=_lift(both),
        control=1.0,
        interval=interval,
        goal=GOAL,
        unit="lift",
        details={f"lift for {column}": _lift(one) for column, one in guesses.items()},
    )


def _both(scene: Scene, column: str) -> tuple[int, int, int, int]:
    """People guessed right by neither, by naive Bayes only, by frequencies only, by both."""
    counts = scene.released.histogram(column)
    shares = (counts / counts.sum(axis=1, keepdims=True))[scene.homes]
    codes = [scene.table[name].codes.astype(np.int64) for name in scene.schema.quasi_identifiers]
    widths = [scene.table[name].width for name in scene.schema.quasi_identifiers]
    truth = scene.table[column].codes
    first = learned_chances(counts, scene.homes, codes, widths).argmax(axis=1) == truth
    second = shares.argmax(axis=1) == truth
    kinds = np.bincount(first + 2 * second, minlength=4)
    return int(kinds[0]), int(kinds[1]), int(kinds[2]), int(kinds[3])


def learned_chances(counts: Ints, classes: Ints, codes: list[Ints], widths: list[int]) -> Floats:
    """The chances of each person's values, from the counts of the person's class and what all classes teach."""
    shares = (counts / counts.sum(axis=1, keepdims=True))[classes]
    chances = shares
    with np.errstate(divide="ignore"):
        start = np.log(shares)
    for _ in range(ROUNDS):
        logs = start.copy()
        for own, width in zip(codes, widths, strict=True):
            table = np.stack([np.bincount(own, chances[:, value], width) for value in range(shares.shape[1])], axis=1)
            table = (table + 1) / (table + 1).sum(axis=0)
            logs += np.log(table)[own]
        logs -= logs.max(axis=1, keepdims=True)
        chances = _dealt(np.exp(logs), counts, classes)
    return np.asarray(chances)


def _dealt(chances: Floats, counts: Ints, classes: Ints) -> Floats:
    """Chances brought to what a class has to deal: one value for a person, those counted for a class (Sinkhorn)."""
    chances = chances / chances.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        dealt = np.stack([np.bincount(classes, one, len(counts)) for one in chances.T], axis=1)
        chances = chances * (counts / np.maximum(dealt, 1e-12))[classes]
        chances = chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
    return chances


def _lift(both: tuple[int, int, int, int]) -> float:
    return (both[1] + both[3]) / max(1, both[2] + both[3])


def singling_out(scene: Scene) -> Finding:
    """Describes people by the edge of their box."""
    released = scene.released
    if not any(cell.edges for name in released.boxes.names for cell in released.boxes.cells[name]):
        raise CannotRunError("No released cell is an interval with an end: there is no edge to name.")
    people, times = _distinct(scene.table, released.boxes.names)
    numeric = [name for name in released.boxes.names if scene.table[name].type.is_numeric]
    steps = {name: CellReader(scene.schema[name], scene.table[name]).step for name in numeric}
    isolated, chances, tries = 0, 0.0, 0
    for number in range(len(released.boxes)):
        edged = [place for place in range(len(released.boxes.names)) if _cell(number, place, released).edges]
        edges = [_try(number, place, released, scene, (people, times), steps) for place in edged]
        hits = [hit for one in edges for hit in one[0]]
        tries += len(hits)
        isolated += any(hits)
        chances += 1 - float(np.prod([(1 - chance) ** len(caught) for caught, chance in edges]))
    rows = len(released.boxes)
    interval = share_interval(isolated, rows)
    return Finding(
        LEAK if interval[0] > chances / rows else NO_LEAK,
        f"An edge isolates one person in {isolated:,} of {rows:,} classes.",
        measured=isolated / rows,
        control=chances / rows,
        interval=interval,
        goal=chances / rows,
        unit="share of classes",
        details={"edges tried": float(tries)},
    )


def _distinct(table: EncodedTable, names: tuple[str, ...]) -> tuple[Ints, Ints]:
    """The different people, as far as the quasi-identifiers tell, and how many there are of each."""
    keys = np.stack([table[name].codes.astype(np.int64) for name in names], axis=1)
    people, times = np.unique(keys, axis=0, return_counts=True)
    return people, times.astype(np.int64)


def _cell(number: int, place: int, released: Released) -> ReleasedCell:
    return released.boxes.cells[released.boxes.names[place]][int(released.boxes.shown[number, place])]


def _try(
    number: int, place: int, released: Released, scene: Scene, crowd: tuple[Ints, Ints], steps: dict[str, float]
) -> tuple[list[bool], float]:
    """Whether each edge of one quasi-identifier isolates a row of the box, and the chance that a random place does."""
    people, times = crowd
    name, cell = released.boxes.names[place], _cell(number, place, released)
    own = scene.table[name]
    box = np.ones(len(people), np.bool_)
    for other in range(people.shape[1]):
        box &= _cell(number, other, released).covers[people[:, other]]
    counts = np.bincount(people[box, place], times[box], own.width)[: len(own.dictionary)].astype(np.float64)
    hits = [_count_at(counts, own, edge) == 1 for edge in cell.edges]
    return hits, _chance(counts, cell, own, steps[name])


def _count_at(counts: npt.NDArray[np.float64], own: EncodedColumn, number: float) -> int:
    places = np.flatnonzero(np.isclose(own.numbers.astype(np.float64), number, rtol=1e-12, atol=0))
    return int(counts[places[0]]) if len(places) else 0


def _chance(counts: npt.NDArray[np.float64], cell: ReleasedCell, own: EncodedColumn, step: float) -> float:
    """Numbers that isolate a row, over all the numbers the interval could hold; an open end ends at the data's."""
    numbers = own.numbers.astype(np.float64)
    low, high = cell.ends or (float(numbers[0]) - step, float(numbers[-1]))
    if cell.ends is None:
        low, high = (max(low, cell.edges[0] - step), high) if cell.covers[len(numbers) - 1] else (low, cell.edges[0])
    return float(min(1.0, (counts == 1).sum() / max(1.0, round((high - low) / step))))


DECIMALS = (2, 1, 0)


def mean_of_a_group(scene: Scene) -> Finding:
    """Solves a mean for the only number that is not known."""
    if not any(scene.released.averaged(name) for name in scene.schema.quasi_identifiers):
        raise CannotRunError("The release shows no means.")
    traced = scene.traced
    names = [name for name in scene.schema.quasi_identifiers if traced.released.averaged(name)]
    if not names:
        raise CannotRunError("A release made again shows no means.")
    shares = {name: _recovered_shares(scene, traced, name) for name in names}
    worst = max(names, key=lambda name: shares[name]["as released"])
    largest = shares[worst]
    groups = round(largest["groups"])
    interval = share_interval(largest["as released"] * groups, groups)
    return Finding(
        LEAK if interval[0] > largest["control"] else NO_LEAK,
        f"{100 * largest['as released']:.1f} % of the numbers of {worst!r} follow exactly from their group's mean.",
        measured=largest["as released"],
        control=largest["control"],
        interval=interval,
        goal=None,
        unit="share recovered",
        details={f"with {d} decimals": largest[f"with {d} decimals"] for d in DECIMALS},
    )


def _recovered_shares(scene: Scene, traced: Traced, name: str) -> dict[str, float]:
    """What is recovered with the decimals of the release, and with fewer."""
    own = scene.table[name]
    shown = _numbers(traced, name, own)
    truth = np.append(own.numbers.astype(np.float64), np.nan)[own.codes[traced.origin]]
    keys = np.unique(shown, return_inverse=True)[1] if name in traced.levelled else traced.released.classes
    usable = ~np.isnan(shown) & ~np.isnan(truth) & (traced.released.sizes[traced.released.classes] > 1)
    step = CellReader(scene.schema[name], own).step
    shares = {"as released": _recovered(shown[usable], truth[usable], keys[usable], step)}
    for decimals in DECIMALS:
        rounded = np.round(shown[usable], decimals)
        shares[f"with {decimals} decimals"] = _recovered(rounded, truth[usable], keys[usable], step)
    counts = np.unique(truth[usable], return_counts=True)[1]
    return {**shares, "control": float(counts.max() / usable.sum()), "groups": float(len(np.unique(keys[usable])))}


def _numbers(traced: Traced, name: str, own: EncodedColumn) -> Floats:
    """The released numbers of a column; NaN for what is none."""
    cells = written_cells(traced.frame, name)
    assert cells is not None
    parse = parse_day if own.type is ColumnType.DATE else parse_number
    known = {text: parse(text) for text in cells.drop_nulls().unique().to_list()}
    return np.array([np.nan if text is None or known[text] is None else known[text] for text in cells], np.float64)


def _recovered(shown: Floats, truth: Floats, groups: Ints, step: float) -> float:
    """Share of the numbers that are the nearest possible ones to size times mean less the others."""
    _, places = np.unique(groups, return_inverse=True)
    sizes, sums = np.bincount(places), np.bincount(places, truth)
    solved = sizes[places] * shown - (sums[places] - truth)
    return float(np.mean(np.abs(solved - truth) < step / 2))
