"""Hiding cells: the whole way, many cells at once, any adversary, what is read, what patterns give away."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from incrowd.errors import HeaderError, IncrowdError, ParameterError
from incrowd.hiding.adversaries import BayesAdversary, SklearnAdversary, adversary_named
from incrowd.hiding.bayes_hiders import DropP, open_case
from incrowd.hiding.evaluation import Script, costs, pattern_attack, patterns
from incrowd.hiding.id3 import Hid3, ID3Adversary
from incrowd.hiding.methods import METHODS, NAMES, Generic, Nrd, Options, Quiet, method_named
from incrowd.hiding.other_rows import DecP, IncP
from incrowd.hiding.pipeline import withheld
from incrowd.hiding.planner import Cell, plan_hiding, replay
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import FairChance, Status, secret_at
from incrowd.report.hiding_report import Guess
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema


def wards(rows=300, values=4, attributes=5, seed=3, strength=0.6):
    """A table whose columns all follow a common cause, each with a hierarchy of pairs."""
    random = np.random.default_rng(seed)
    cause = random.integers(0, values, rows)
    labels = [f"v{place}" for place in range(values)]
    columns, schema = [], []
    for name in (*[f"a{place}" for place in range(attributes)], "ill"):
        codes = np.where(random.random(rows) < strength, cause, random.integers(0, values, rows))
        codes = np.where(random.random(rows) < 0.03, values, codes).astype(np.int32)
        tree = Hierarchy.from_paths(name, [[label, f"g{place // 2}", "*"] for place, label in enumerate(labels)])
        columns.append(EncodedColumn(name, ColumnType.CATEGORICAL, codes, pl.Series(labels)))
        schema.append(Column(name, Role.OTHER, hierarchy=tree))
    return EncodedTable.of(columns), Schema(tuple(schema))


def known_cells(table, name, count, step=7):
    known = np.flatnonzero(table[name].codes != table[name].missing_code)
    return [Cell(int(row), name) for row in known[:: max(1, step)][:count]]


def decoded(table):
    known = {name: pl.Series(column.codes).replace(column.missing_code, None) for name, column in table.columns.items()}
    return pl.DataFrame({name: table[name].dictionary.gather(codes) for name, codes in known.items()})


@pytest.fixture(scope="module")
def ward():
    return wards()


@pytest.mark.parametrize("method", NAMES)
def test_every_method_hides_many_cells(ward, method):
    table, schema = ward
    cells = [
        *known_cells(table, "ill", 8),
        *known_cells(table, "a1", 4),
        Cell(known_cells(table, "ill", 1)[0].row, "a2"),
    ]
    cells = [cell for cell in cells if table[cell.attribute].codes[cell.row] != table[cell.attribute].missing_code]
    seen = []
    hiding = plan_hiding(
        table,
        schema,
        cells,
        method,
        randomness=SeededRandomness(5),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (len(cells), len(cells))
    assert [outcome.cell for outcome in hiding.outcomes] == cells
    changed = {(change.row, change.attribute) for change in hiding.changes}
    assert {(cell.row, cell.attribute) for cell in cells} <= changed
    shown = replay(table, schema, hiding.changes)
    targets = method_named(method, [BayesAdversary(), ID3Adversary()]).targets
    assert targets or method in ("nrd", "quiet")
    for outcome in hiding.outcomes:
        row, name = outcome.cell.row, outcome.cell.attribute
        actual = shown.original(row, name)
        assert shown.node(row, name) != actual
        if outcome.status is Status.DELETED:
            assert all(shown.node(row, other) == 0 for other in shown.attributes)
        elif outcome.status is not Status.COIN:
            for target in targets:
                assert target.study(shown, name, shown.node(row, name)).guess(row) != actual


def test_what_is_published_holds_no_true_value(ward):
    table, schema = ward
    cells = known_cells(table, "ill", 5)
    hiding = plan_hiding(table, schema, cells, "dropp-g", randomness=SeededRandomness(1))
    frame = withheld(decoded(table), hiding.changes)
    labels = [*table["ill"].dictionary.to_list(), None]
    for row in range(table.height):
        for name in schema.names:
            before = labels[table[name].codes[row]]
            changes = [c for c in hiding.changes if (c.row, c.attribute) == (row, name)]
            assert frame[name][row] == (changes[0].shows if changes else before)
    for cell in cells:
        assert frame["ill"][cell.row] not in table["ill"].dictionary.to_list()


def test_a_column_with_blanks_only_keeps_its_type():
    ages = EncodedColumn("age", ColumnType.INTEGER, np.array([0, 1, 2], np.int32), pl.Series([3, 4]))
    table, schema = EncodedTable.of([ages]), Schema((Column("age", type=ColumnType.INTEGER),))
    hiding = plan_hiding(table, schema, [Cell(0, "age")], "nrd")
    frame = withheld(decoded(table), hiding.changes)
    assert frame["age"].to_list() == [None, 4, None]
    assert frame["age"].dtype == pl.Int64


def test_before_and_after_are_told_for_each_adversary(ward):
    table, schema = ward
    judges = [BayesAdversary(), ID3Adversary(), BayesAdversary("ignored"), SklearnAdversary("svm")]
    hiding = plan_hiding(table, schema, known_cells(table, "ill", 20), "generic", judges, SeededRandomness(2))
    assert any(each.before is Guess.RIGHT for outcome in hiding.outcomes for each in outcome.judged)
    for outcome in hiding.outcomes:
        assert [each.adversary for each in outcome.judged] == ["nb", "id3", "nb-ignored", "svm"]
        assert outcome.exposed is any(each.after is Guess.RIGHT for each in outcome.judged)
        if outcome.status.success:
            assert not outcome.exposed
    effects = hiding.side_effects
    assert len(effects) == len(hiding.changes) - 20
    assert {change.row for change in effects} <= {outcome.cell.row for outcome in hiding.outcomes}
    assert hiding.attacker_confidence == hiding.success_rate / 3


def test_the_generic_hider_blanks_no_cell_it_does_not_need(ward):
    table, schema = ward
    judges = (BayesAdversary(), ID3Adversary())
    hidden = 0
    for cell in known_cells(table, "ill", 25):
        shown = PublishedTable(table, schema)
        secret = secret_at(shown, cell.row, cell.attribute, FairChance(SeededRandomness(0)))
        if Generic(judges).hide(secret) is not Status.HIDDEN:
            continue
        hidden += 1
        blanked = [name for _, name in shown.touched() if name != "ill"]
        for name in blanked:
            mark = shown.mark()
            shown.show([cell.row], name, shown.original(cell.row, name))
            assert any(judge.study(shown, "ill", 0).guess(cell.row) == secret.actual for judge in judges)
            shown.back(mark)
    assert hidden >= 5


@dataclass(frozen=True)
class Stubborn:
    """Always says the same."""

    value: int
    name: str = "stubborn"
    costly: bool = False

    def study(self, published, attribute, shown):
        return self

    def guess(self, row):
        return self.value


@dataclass(frozen=True)
class Contrary:
    """Is right unless exactly the cells it does not name are blank."""

    published: PublishedTable
    value: int
    shown: tuple[str, ...]
    name: str = "contrary"
    costly: bool = False

    def study(self, published, attribute, shown):
        return replace(self, published=published)

    def guess(self, row):
        names = [n for n in self.published.others("ill") if self.published.node(row, n) != 0]
        return self.value if tuple(names) != self.shown else None


def test_what_cannot_be_hidden_is_said(ward):
    table, schema = ward
    cell = known_cells(table, "ill", 1)[0]
    actual = PublishedTable(table, schema).original(cell.row, "ill")
    hiding = plan_hiding(table, schema, [cell], "generic", [Stubborn(actual)])
    assert hiding.outcomes[0].status is Status.DELETED
    assert hiding.outcomes[0].exposed
    assert hiding.outcomes[0].only_by_chance
    assert hiding.success_rate == 0


def test_the_generic_hider_tries_cells_where_their_order_does_not_help(ward):
    table, schema = ward
    shown = PublishedTable(table, schema)
    row = next(r for r in range(table.height) if all(shown.original(r, n) for n in shown.attributes))
    secret = secret_at(shown, row, "ill", FairChance(SeededRandomness(0)))
    from incrowd.hiding.methods import evidence

    strongest = max(shown.others("ill"), key=lambda name: evidence(secret, name, secret.actual))
    kept = (strongest, *[n for n in shown.others("ill") if n != strongest][:3])
    wanted = tuple(name for name in shown.others("ill") if name in kept)
    judge = Contrary(shown, secret.actual, wanted)
    assert Generic((judge,)).hide(secret) is Status.HIDDEN
    assert tuple(name for name in secret.known) == wanted


def test_a_row_of_several_confidential_cells_goes_as_one(ward):
    table, schema = ward
    row = next(r for r in range(table.height) if all(c.codes[r] != c.missing_code for c in table.columns.values()))
    cells = [Cell(row, "ill"), Cell(row, "a0")]
    actual = PublishedTable(table, schema).original(row, "ill")
    hiding = plan_hiding(table, schema, cells, "generic", [Stubborn(actual)])
    assert {outcome.status for outcome in hiding.outcomes} == {Status.DELETED}


@pytest.mark.parametrize(
    ("cells", "method", "error", "text"),
    [
        ([Cell(0, "age")], "dropp", HeaderError, "There is no column 'age'"),
        ([Cell(3, "ill"), Cell(3, "ill")], "dropp", ParameterError, "1 cells are named more than once"),
        ([Cell(10**6, "ill")], "dropp", ParameterError, "There is no row 1000000"),
        ([Cell(-1, "ill")], "dropp", ParameterError, "There is no row -1"),
        ([Cell(0, "ill")], "magic", ParameterError, "There is no method 'magic'"),
    ],
)
def test_bad_requests(ward, cells, method, error, text):
    with pytest.raises(error, match=text):
        plan_hiding(*ward, cells, method)


def test_a_missing_cell_cannot_be_hidden(ward):
    table, schema = ward
    row = int(np.flatnonzero(table["ill"].codes == table["ill"].missing_code)[0])
    with pytest.raises(ParameterError, match="shows no value"):
        plan_hiding(table, schema, [Cell(row, "ill")])


@pytest.mark.parametrize("degree", [1, 0, 2.5, True, "3"])
def test_the_degree_is_checked(degree):
    with pytest.raises(ParameterError, match="degree"):
        Options(degree)


def test_adversaries_by_name():
    assert [adversary_named(name).name for name in ("nb", "nb-shared", "id3", "knn")] == [
        "nb",
        "nb-shared",
        "id3",
        "knn",
    ]
    with pytest.raises(ParameterError, match="There is no adversary 'me'"):
        adversary_named("me")
    with pytest.raises(ParameterError, match="at least one adversary"):
        method_named("generic", [])


def test_no_cells_no_changes(ward):
    hiding = plan_hiding(*ward, [], "decp")
    assert (hiding.changes, hiding.outcomes, hiding.success_rate) == ((), (), 1)


def test_nothing_says_a_value_by_accident(ward):
    table, schema = ward
    shown = PublishedTable(table, schema)
    secret = secret_at(shown, known_cells(table, "ill", 1)[0].row, "ill", FairChance(SeededRandomness(0)))
    assert "v" not in repr(secret).rpartition("Secret")[2]
    assert "codes" not in repr(shown)
    for bad in (lambda: plan_hiding(table, schema, [Cell(0, "nowhere")]), lambda: Options(0)):
        with pytest.raises(IncrowdError) as refused:
            bad()
        assert not any(label in str(refused.value) for label in table["ill"].dictionary.to_list())


@pytest.mark.parametrize("method", ["decp", "incp", "dropp", "generic", "dropp-g", "decp-g"])
def test_the_table_is_counted_and_indexed_once_however_many_cells_are_hidden(method):
    table, schema = wards(rows=20_000, seed=9, strength=0.5)
    shown = PublishedTable(table, schema)
    hider = method_named(method, [BayesAdversary()]).make(Options(2))
    chance, width = FairChance(SeededRandomness(3)), len(schema.names)
    largest = int(np.bincount(table["ill"].codes).max())
    for cell in known_cells(table, "ill", 15, step=101):
        rows, changed = shown.work.rows, len(shown.touched())
        hider.hide(secret_at(shown, cell.row, cell.attribute, chance))
        read, hidden = shown.work.rows - rows, len(shown.touched()) - changed
        if method in ("dropp", "generic", "dropp-g"):
            assert read <= 40 * width  # no row but its own
        else:
            assert read <= width * largest + 4 * hidden  # only rows that share the value
    # each column is laid out once, counted with the class once, and indexed at most once with it and once without
    assert shown.work.scans <= 4 * width


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dropp", "decp", "incp", "hid3", "generic"])
def test_many_rows_are_not_scanned_for_one_more_cell(method):
    rows, width = 250_000, 20
    table, schema = wards(rows, 8, width - 1, strength=0.35)
    shown = PublishedTable(table, schema)
    hider = method_named(method, [BayesAdversary(), ID3Adversary()]).make(Options(2))
    chance, ends = FairChance(SeededRandomness(1)), []
    cells = known_cells(table, "ill", 12, step=1000)
    cells.sort(key=lambda cell: not all(column.codes[cell.row] < 8 for column in table.columns.values()))
    hider.hide(secret_at(shown, cells[0].row, "ill", chance))  # of a row that shows every column, so all are counted
    assert shown.work.scans <= 2 * width + 1
    for cell in cells[1:]:
        scans, read = shown.work.scans, shown.work.rows
        ends.append(hider.hide(secret_at(shown, cell.row, "ill", chance)))
        assert shown.work.scans - scans <= (2 if method in ("decp", "incp") else 0)  # an index that is made once
        most = {"dropp": width, "decp": rows // 4, "incp": rows // 2, "hid3": rows // 2}
        assert shown.work.rows - read <= most.get(method, rows)  # a tree reads the rows of the branches it walks
    assert Status.HIDDEN in ends


@pytest.mark.slow
def test_a_thousand_cells_in_one_run_with_progress():
    table, schema = wards(30_000, 8, 13, strength=0.4)
    cells = [cell for name in schema.names[:10] for cell in known_cells(table, name, 100, step=211)]
    seen = []
    hiding = plan_hiding(table, schema, cells, "dropp", progress=lambda done, total: seen.append(done))
    assert seen[-1] == len(cells) == 1000
    assert seen == sorted(seen)
    assert not any(
        outcome.exposed for outcome in hiding.outcomes if outcome.status in (Status.HIDDEN, Status.NOT_PREDICTED)
    )


def test_dropp_may_go_on_where_all_else_is_impossible():
    codes = np.array([0, 0, 0, 1, 1, 2, 2], np.int32)
    columns = [EncodedColumn(n, ColumnType.CATEGORICAL, codes, pl.Series(["x", "y", "z"])) for n in ("a", "b", "ill")]
    table, schema = EncodedTable.of(columns), Schema(tuple(Column(c.name) for c in columns))
    plain = plan_hiding(table, schema, [Cell(3, "ill")], "dropp")
    nearest = plan_hiding(table, schema, [Cell(3, "ill")], "dropp", options=Options(nearest=True))
    assert plain.outcomes[0].status is Status.DELETED
    assert nearest.outcomes[0].status is Status.HIDDEN


def test_the_nearest_is_one_of_the_top_k():
    """All but the true value score 0. The last agrees in two cells of three, but is not among the first two."""
    rows = {"a": [0, 0, 0, 1, 0], "b": [0, 0, 0, 1, 0], "c": [0, 0, 0, 1, 1], "ill": [0, 0, 0, 1, 2]}
    columns = [
        EncodedColumn(n, ColumnType.CATEGORICAL, np.array(codes, np.int32), pl.Series(["x", "y", "z"]))
        for n, codes in rows.items()
    ]
    shown = PublishedTable(EncodedTable.of(columns), Schema(tuple(Column(name) for name in rows)))
    secret = secret_at(shown, 0, "ill", Script([]))
    guesses = [open_case(secret, BayesAdversary(), degree, nearest=True).guess for degree in (2, 3)]
    labels = shown.taxonomy("ill").labels
    assert [labels[guess] for guess in guesses] == ["y", "z"]


def test_nrd_costs_every_known_cell_of_the_row(ward):
    table, schema = ward
    cell = known_cells(table, "ill", 1)[0]
    shown = PublishedTable(table, schema)
    known = sum(shown.node(cell.row, name) != 0 for name in schema.names)
    Nrd().hide(secret_at(shown, cell.row, "ill", FairChance(SeededRandomness(0))))
    found = costs(shown, schema.names)
    assert found.direct_distance == known
    assert found.divergence.bits >= 0
    assert found.uncertainty >= 0


def test_costs_refuse_a_column_of_too_many_values():
    wide = EncodedColumn("n", ColumnType.INTEGER, np.zeros(2, np.int32), pl.Series(range(6000)))
    shown = PublishedTable(EncodedTable.of([wide]), Schema((Column("n"),)))
    with pytest.raises(ParameterError, match="more than 5000 distinct values"):
        costs(shown, ["n"])


def test_chance_is_fair():
    chance = FairChance(SeededRandomness(1))
    drawn = [chance.one_of([4, 5, 6]) for _ in range(3000)]
    assert all(900 < drawn.count(value) < 1100 for value in (4, 5, 6))
    assert 450 < sum(chance.coin() for _ in range(1000)) < 550


def test_scripts_go_through_all_draws_once():
    seen, following = [], []
    while following is not None:
        script = Script(following)
        first = script.one_of([10, 20])
        seen.append((first, script.coin() if first == 20 else None, script.probability))
        following = script.following()
    assert seen == [(10, None, Fraction(1, 2)), (20, False, Fraction(1, 4)), (20, True, Fraction(1, 4))]


@pytest.mark.parametrize(
    "hider", [DecP(3), IncP(3), DropP(3), Hid3(), Nrd(), Generic((BayesAdversary(),))], ids=lambda h: h.name
)
def test_the_pattern_attack_is_bayes_rule_and_leaves_the_table_alone(hider):
    table, schema = wards(rows=60, values=3, attributes=3)
    shown = PublishedTable(table, schema)
    for cell in known_cells(table, "ill", 6):
        attack = pattern_attack(shown, cell.row, "ill", hider)
        assert shown.touched() == []
        assert 0 < attack.prior < 1
        assert 0 < attack.expected <= attack.worst <= 1
        assert attack.lift == attack.expected / attack.prior
        odds = patterns(shown, cell.row, "ill", shown.node(cell.row, "ill"), hider)
        assert sum(odds.values()) == 1
        assert len(odds) == attack.patterns
        shown.back(0)


def test_blanking_the_row_tells_nothing_and_hiding_without_a_coin_tells_all():
    table, schema = wards(rows=60, values=2, attributes=3, strength=0.8)
    shown = PublishedTable(table, schema)
    cells = known_cells(table, "ill", 10)
    assert all(pattern_attack(shown, cell.row, "ill", Nrd()).lift == 1 for cell in cells)
    worst = max(pattern_attack(shown, cell.row, "ill", DropP(2)).worst for cell in cells)
    assert worst == 1  # the coin said yes: cells are gone, and only the predicted value explains that


def test_all_methods_have_names_of_their_own():
    for name, method in METHODS.items():
        assert method.make(Options()).name == name


def test_the_quiet_hider_leaves_adversaries_with_what_they_say_of_a_blank_row_and_its_pattern_tells_nothing():
    table, schema = wards(rows=200, values=3, attributes=4, strength=0.7)
    judges = (BayesAdversary(), ID3Adversary())
    shown, quiet, blanked = PublishedTable(table, schema), Quiet((BayesAdversary(), ID3Adversary())), 0
    for cell in known_cells(table, "ill", 20):
        attack = pattern_attack(shown, cell.row, "ill", quiet)
        assert (attack.lift, attack.worst_lift, attack.patterns) == (1, 1, 1)
        mark = shown.mark()
        quiet.hide(secret_at(shown, cell.row, "ill", FairChance(SeededRandomness(0))))
        said = [judge.study(shown, "ill", 0).guess(cell.row) for judge in judges]
        touched = [name for _, name in shown.touched() if name != "ill"]
        blanked += len(touched)
        for name in shown.others("ill"):
            shown.show([cell.row], name, 0)
        assert said == [judge.study(shown, "ill", 0).guess(cell.row) for judge in judges]
        shown.back(mark)
    assert 0 < blanked < 20 * 4


def test_the_quiet_hider_needs_somebody_to_hide_from():
    with pytest.raises(ParameterError, match="at least one adversary"):
        method_named("quiet", [])
