"""What is counted beside the promise: released cells read back, columns as codes, and tables that are too large."""

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from incrowd.verification.beside import MOST_CELLS, MOST_ROWS_FOR_PAIRS, quasi_identifier, unchanged_counts
from incrowd.verification.input_table import ColumnOrigin
from incrowd.verification.opening import connect, register
from incrowd.verification.request import Expected, Hint, InputFile, Original, Originals, Request
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role


def allowed(own, texts, **options):
    """The values that each text allows, as the first row of each value shows it."""
    rows = np.zeros(len(texts), np.int64)
    column = quasi_identifier("q", own, rows, texts, np.arange(len(texts)), **options)
    everything = [*own, None]
    return [one if one is None else [everything[int(code)] for code in one] for one in column.allows]


JOBS = ["cook", "nurse", "a|b", "50%", "?", "=sum"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (None, None),
        ("*", None),
        ("nurse", ["nurse"]),
        ("cook|nurse", ["cook", "nurse"]),
        ("a|b", ["a|b"]),
        ("a%7Cb|50%25", ["a|b", "50%"]),
        ("'=sum", ["=sum"]),
        ("unheard", None),
        ("cook|unheard", None),
        ("'cook", None),
        ("'=sum|cook", ["cook", "=sum"]),
        ("care", ["cook", "nurse"]),
    ],
)
def test_cells_of_text(text, values):
    care = Hierarchy("q", ("*", "care", "cook", "nurse", "a|b", "50%", "?", "=sum"), (-1, 0, 1, 1, 0, 0, 0, 0))
    assert allowed(JOBS, [text], hierarchy=care) == [values]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("cook:3|nurse:4", ["cook", "nurse"]),
        ("a%7Cb:3|?:4", ["a|b", None]),
        ("%3F:3|%3Dsum:1", ["?", "=sum"]),
        ("*", None),
        ("nurse", ["nurse"]),
        ("pope:3", None),
        ("cook:3|pope:3", None),
    ],
)
def test_cells_of_counts(text, values):
    assert allowed(JOBS, [text], counts=True) == [values]


def test_a_large_set_of_numbers_takes_few_bytes():
    """A release in groups has as many of them as groups."""
    texts, rows = ["(0, 29000]|30000"], np.zeros(1, np.int64)
    [allows] = quasi_identifier("q", list(range(40_000)), rows, texts, rows).allows
    assert allows.tolist() == [*range(1, 29_001), 30_000]
    assert allows.nbytes == 2 * len(allows)


def test_counts_are_read_only_where_counts_are_written():
    assert allowed(["cook", "cook:3"], ["cook:3"], counts=True) == [["cook"]]
    assert allowed(["cook", "cook:3"], ["cook:3"]) == [["cook:3"]]


def test_a_value_that_reads_like_a_set_may_be_either():
    assert allowed(["a", "a|b", "b"], ["a|b", "a%7Cb", "a", "a|c"]) == [["a", "a|b", "b"], None, ["a"], None]


def test_cells_of_truth_values():
    assert allowed([False, True], ["true", "false", "True", "false|true"]) == [[True], [False], None, [False, True]]


def test_of_a_column_without_values_a_cell_tells_nothing():
    assert allowed([], ["a", None, "5", (None, None)]) == [None] * 4


def test_a_number_is_a_value_only_if_it_is_that_of_all_its_rows():
    """The first row shows its own value, the next two show one number, which is the second's own, the last no value."""
    texts, labels = ["20", "30", "35", "(20, 30]", "40"], np.array([0, 1, 1, 2, 3, 3])
    column = quasi_identifier("q", [20, 30, 40], np.array([0, 1, 2, 2, 1, 1]), texts, labels)
    assert [one if one is None else list(one) for one in column.allows] == [[0], None, None, [1], [2]]
    assert (column.name, column.missing) == ("q", 3)


def test_a_number_that_is_the_name_of_a_group_is_no_value():
    """The group 1 has 10 and 11, the group 2 nobody; 10 is a value, and that of its row."""
    tens = Hierarchy("q", ("*", "1", "10", "11", "2", "20"), (-1, 0, 1, 1, 0, 4))
    column = quasi_identifier("q", [10, 11], np.array([0, 0, 0]), ["1", "2", "10"], np.array([0, 1, 2]), hierarchy=tens)
    assert [one if one is None else list(one) for one in column.allows] == [None, None, [0]]


def test_of_texts_a_cell_is_taken_for_what_it_says():
    column = quasi_identifier("q", ["20", "30"], np.array([0, 1]), ["20"], np.array([0, 0]))
    assert [list(one) for one in column.allows if one is not None] == [[0]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(20, 40]", [30, 40]),
        ("(-inf, 30]", [20, 30]),
        ("(30, inf)", [40, 55.5]),
        ("[20, 40]", [20, 30, 40]),
        ("(10, 20]|(40, 60]", [20, 55.5]),
        ("20|40", [20, 40]),
        ("20", [20]),
        ("30", None),
        ("31.5", None),
        (("20", "40"), [30, 40]),
        ((None, "30"), [20, 30]),
        (("40", "40"), [40]),
        ((None, None), None),
        (("*", "*"), None),
        (("20", None), [30, 40, 55.5]),
        (("30", "20"), []),
        (("20", "31.5"), [30]),
        (("19", "20"), [20]),
        ("[20, 20]", [20]),
        ("[40, 30]", []),
        ("[20, ten]", None),
        ("[ten, 20]", None),
        ("(40, 20]", None),
        ("ten", None),
        ("20|ten", None),
        ("(5, 10]", []),
        ("(99, inf)", []),
    ],
)
def test_cells_of_numbers(text, values):
    """A number that is not the value of all its rows is a mean, and allows all; here all rows have 20."""
    assert allowed([20, 30, 40, 55.5], [text]) == [values]


def test_cells_of_dates_and_of_groups_of_numbers():
    days = [datetime.date(2024, 1, 5), datetime.date(2024, 2, 6), datetime.date(2025, 1, 1)]
    assert allowed(days, ["2024", "(2024-01-05, 2024-12-31]", "2024-01-05"]) == [days[:2], days[1:2], days[:1]]
    assert allowed(days, ["[2024-01-05, 2024-02-06]", "2024-02-06", "2024-01-05|2025-01-01", "5"]) == [
        days[:2],
        None,
        [days[0], days[2]],
        None,
    ]
    assert allowed(days, [("2024-01-05", "2025-01-01"), ("2024-01-05", "2024-01-05")]) == [days[1:], days[:1]]
    ages = Hierarchy("q", ("*", "young", "(0, 20]", "(20, 30]", "(30, 99]"), (-1, 0, 1, 1, 0), Leaves.NUMBERS)
    assert allowed([20, 30, 40], ["young", "(30, 99]"], hierarchy=ages) == [[20, 30], [40]]
    assert allowed([20, 30, 400], ["young", "(30, 99]", "*"], hierarchy=ages) == [[20, 30], [], None]


ROLES = {"q": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE, "class": Role.TARGET}


def asked_for(names, *, spread=(), counts=(), memory=None, hierarchy=None):
    """A request with k = 2, the columns of its release, and what is expected of it."""
    kinds = {name: Column(name, ROLES.get(name, Role.OTHER), ColumnType.TEXT, (), "", None) for name in names}
    if hierarchy is not None:
        kinds["q"] = Column("q", Role.QUASI_IDENTIFIER, ColumnType.TEXT, (), "", hierarchy)
    sources = [
        ColumnOrigin(written, kinds[name])
        for name in names
        for written in ((f"{name}_low", f"{name}_high") if name in spread else (name,))
    ]
    request = Request(
        InputFile(Path("people.csv"), "csv"),
        Path("release.csv"),
        FileForm(),
        tuple(kinds.values()),
        KAnonymity(2),
        Hint(Path("origin.npy"), ()),
        memory=memory,
    )
    bounds = [(f"{name}_low", f"{name}_high") for name in spread]
    return request, sources, Expected([], [one.name for one in sources], ["q"], 0, bounds=bounds, counts=counts)


def counted(released, original, *, pieces=(), **options):
    """The counts of a release, from columns of what it shows and of what people have."""
    original = original if isinstance(original, pa.Table) else pa.table(original)
    names = [name for name in original.column_names if not name.endswith(("_low", "_high"))]
    names += sorted({name.rpartition("_")[0] for name in original.column_names} - {""})
    request, sources, asked = asked_for(names, **options)
    rows = original.num_rows
    held = Original(original.select([one.name for one in sources]), np.arange(rows), rows)
    if pieces:
        starts = np.cumsum([0, *pieces]).tolist()
        cut = [
            Original(held.table.slice(start, size), np.arange(size), rows)
            for start, size in zip(starts, pieces, strict=False)
        ]
        held = Originals(rows, pieces, cut.__getitem__, np.arange(rows))
    with connect(threads=1) as connection:
        shown = {one.name: released.get(one.name, original[one.name]) for one in sources}
        register(connection, pa.table(shown), "released")
        return unchanged_counts(connection, request, sources, asked, held)


N = 400
HALF = [i // 200 for i in range(N)]
NOTHING = pa.nulls(N, pa.string())


def by(counts):
    return [(one.columns, one.quasi_identifier, one.cells) for one in counts.by]


@pytest.mark.parametrize(
    "weights",
    [
        list(range(N)),
        [str(i) for i in range(N)],
        [f"{i / 8}e1" for i in range(N)],
        [f"w{i:03}" for i in range(N)],
        [datetime.date(2000, 1, 1) + datetime.timedelta(i) for i in range(N)],
        pa.array([str(i) for i in range(N)], pa.large_string()),
        pa.array([str(i) for i in range(N)]).dictionary_encode(),
        pa.chunked_array([[str(i) for i in range(N) if i < 250], [str(i) for i in range(250, N)]]),
    ],
    ids=["numbers", "texts of numbers", "decimals", "texts", "dates", "large texts", "dictionary", "chunks"],
)
@pytest.mark.parametrize("pieces", [(), (100, 300), (1, 399)])
def test_columns_are_ordered_by_size(weights, pieces):
    """In blocks of 120 in the right order, the first and the third tell of which half somebody is."""
    counts = counted({"q": NOTHING}, {"q": HALF, "weight": weights}, pieces=pieces)
    assert by(counts) == [(("weight",), "q", 240)]
    assert (counts.rows, counts.hidden_cells, counts.effective_k) == (N, N, 120)


def test_texts_that_are_not_numbers_throughout_are_ordered_by_letters():
    """'0' to '399' and one word are no numbers: of the 240, some are lost."""
    weights = [str(i) for i in range(N - 1)] + ["none"]
    assert counted({"q": NOTHING}, {"q": HALF, "weight": weights}).given_back < 240


def test_missing_cells_of_unchanged_columns_are_a_value():
    counts = counted({"q": NOTHING}, {"q": HALF, "code": [None if one else "a" for one in HALF]})
    assert by(counts) == [(("code",), "q", N)]


def test_missing_values_of_quasi_identifiers_are_a_value():
    values = [None if one else "a" for one in HALF]
    counts = counted({"q": pa.array(["?:1|a:1"] * N)}, {"q": values, "code": HALF}, counts=("q",))
    assert by(counts) == [(("code",), "q", N)]


def test_what_the_user_called_columns_is_told():
    counts = counted({"q": NOTHING}, {"q": HALF, "ill": HALF, "class": HALF, "size": HALF})
    assert counts.alone.roles == {"ill": "sensitive", "class": "target", "size": "other"}
    assert counts.sets[0].columns == ("q",)
    assert counts.sets[0].k == 2


def test_cells_are_read_as_the_hierarchy_and_the_form_say():
    """Two groups of two values each; a code gives back the value."""
    values = [f"v{i % 4}" for i in range(N)]
    groups = [f"g{i % 4 // 2}" for i in range(N)]
    tree = Hierarchy("q", ("*", "g0", "v0", "v1", "g1", "v2", "v3"), (-1, 0, 1, 1, 0, 4, 4))
    original = {"q": values, "code": values}
    assert counted({"q": groups}, original, hierarchy=tree).hidden_cells == N
    assert counted({"q": groups}, original, hierarchy=tree).effective_k == 100
    sets = [f"v{i % 4 // 2 * 2}:1|v{i % 4 // 2 * 2 + 1}:1" for i in range(N)]
    assert counted({"q": sets}, original, counts=("q",)).given_back == N
    assert counted({"q": [f"{value}:1" for value in values]}, original, counts=("q",)).hidden_cells == 0
    assert counted({"q": [f"{value}:1" for value in values]}, original).hidden_cells == N
    shown = [value if i < 100 else None for i, value in enumerate(values)]
    assert counted({"q": shown}, original).hidden_cells == 300


def test_two_ends_in_two_columns_are_one_cell():
    """Ages 0 to 3; the low half is shown as up to 1, the high half from 1 on; three rows show one age, one nothing."""
    ages = [i % 4 for i in range(N)]
    low = [None if age < 2 else 1.0 for age in ages]
    high = [1.0 if age < 2 else None for age in ages]
    low[:4], high[:4] = [0.0, 1.0, 2.0, None], [0.0, 1.0, 2.0, None]
    counts = counted({"q_low": low, "q_high": high}, {"q_low": ages, "q_high": ages, "code": ages}, spread=("q",))
    assert (counts.hidden_cells, counts.given_back) == (N - 3, N - 3)
    assert counts.by[0].quasi_identifier == "q"
    assert counts.effective_k == 1


def test_two_ends_are_told_apart():
    """Above the age before, and at most the age: one value. The other way round it is none, and all are allowed."""
    ages = [i % 4 for i in range(N)]
    before, after = [age - 1.0 for age in ages], [float(age) for age in ages]
    original = {"q_low": ages, "q_high": ages, "code": ages}
    assert counted({"q_low": before, "q_high": after}, original, spread=("q",)).hidden_cells == 0
    assert counted({"q_low": after, "q_high": before}, original, spread=("q",)).hidden_cells == N
    below = [-1.0] * N  # up to each age: only the youngest are shown
    assert counted({"q_low": below, "q_high": after}, original, spread=("q",)).hidden_cells == N - N // 4
    above = [3.0] * N  # from each age on: only the oldest are
    assert counted({"q_low": before, "q_high": above}, original, spread=("q",)).hidden_cells == N - N // 4


def test_nothing_is_counted_of_no_rows_or_of_more_than_memory_holds():
    original = {"q": HALF, "code": HALF}
    assert counted({"q": pa.nulls(0, pa.string())}, pa.table(original).slice(0, 0)) is None
    assert counted({"q": NOTHING}, original, memory=64 * 2 * N) is not None
    assert counted({"q": NOTHING}, original, memory=64 * 2 * N - 1) is None
    assert counted({"q": NOTHING}, original, memory=2**60) is not None


@pytest.mark.parametrize(("rows", "columns"), [(MOST_CELLS // 2 + 1, 2), (25_000_001, 1)])
def test_nothing_is_counted_of_more_than_25_million_cells(rows, columns):
    request, sources, asked = asked_for(["q", "code"][:columns])
    for memory in (None, 2**60):
        request = asked_for(["q"], memory=memory)[0]
        large = Originals(rows, (rows,), lambda _: pytest.fail("is read"), np.broadcast_to(np.intp(0), rows))
        assert unchanged_counts(None, request, sources, asked, large) is None


def test_25_million_cells_are_counted():
    class ReadError(Exception):
        pass

    def read(_):
        raise ReadError

    request, sources, asked = asked_for(["q"])
    large = Originals(25_000_000, (25_000_000,), read, np.broadcast_to(np.intp(0), 25_000_000))
    with pytest.raises(ReadError):
        unchanged_counts(None, request, sources, asked, large)


@pytest.mark.parametrize(("rows", "told"), [(300_000, 0), (300_001, 1)])
def test_of_more_than_300_000_rows_pairs_are_not_asked(rows, told):
    assert MOST_ROWS_FOR_PAIRS == 300_000
    noise = np.arange(rows) // 3 % 2
    counts = counted({"q": pa.nulls(rows, pa.string())}, {"q": noise, "a": noise * 0, "b": noise * 0})
    assert [one.what for one in counts.not_counted] == ["1 of 1 tests of pairs of columns"] * told
