"""Small trees and tables: their spans by hand, and every check with the numbers it tells."""

from __future__ import annotations

import math

import pytest

from incrowd.errors import ParameterError, PlanError, SchemaError
from incrowd.verification.spans import verify_spans
from support.small_trees import encoded, model, number, tree, verify, word

BIG = 2**53

P, Q, N = word("p", True), word("q", False, domain="xy"), number("n", True)
BELOW = [("p", ("u", 1), ("vw", 2)), (), ()]  # a public test with two leaves
UVW = {"p": ["u"] * 3 + ["v"] * 2 + ["w"] * 2}


NUMBERED = [("n", ("<=3", 1), (">3", 2)), (), ()]
SPANS = {  # attributes, nodes, columns, the rows of each span from the smallest
    "a leaf": ([P], tree(()), UVW, [7]),
    "a public word": ([P], tree(*BELOW), UVW, [3, 4]),
    "a private word": ([word("p", False)], tree(*BELOW), UVW, [7]),
    "a word without a branch": ([P], tree(("p", ("u", 1), ("v", 2)), (), ()), UVW, [2, 2, 3]),
    "a missing word": ([P], tree(*BELOW), {"p": ["u", "u", None, "v"]}, [1, 1, 2]),
    "a missing word that has a branch": (
        [P],
        tree(("p", ("u", 1), ("?", 2)), (), ()),
        {"p": ["u", "v", None]},
        [1, 1, 1],
    ),
    "a missing word that is filled": ([word("p", True, fill="u")], tree(*BELOW), {"p": ["u", None, "v"]}, [1, 2]),
    "a filled word is not missing": (
        [word("p", True, fill="v")],
        tree(("p", ("?", 1), ("uvw", 2)), (), ()),
        {"p": ["u", None, "v"]},
        [3],
    ),
    "a public number": ([N], tree(*NUMBERED), {"n": [3, 4, 2, 3, 5]}, [2, 3]),
    "a missing number": ([N], tree(*NUMBERED), {"n": [3, 4, None, None, None]}, [1, 1, 3]),
    "a missing number that is filled": ([number("n", True, fill=4)], tree(*NUMBERED), {"n": [3, 4, None]}, [1, 2]),
    "a number that is filled by a fraction": (
        [number("n", True, fill=3.5)],
        tree(("n", ("<=3", 1), (">3", 2)), (), ("n", ("<=3.75", 3), (">3.75", 4)), (), ()),
        {"n": [3, 4, None, None]},
        [1, 1, 2],
    ),
    "a private number": ([number("n", False)], tree(*NUMBERED), {"n": [3, 4, 2]}, [3]),
    "a real number": (
        [number("n", True, kind="real")],
        tree(("n", ("<=3.5", 1), (">3.5", 2)), (), ()),
        {"n": [3.5, 3.25, 4.0]},
        [1, 2],
    ),
    "public before private": (
        [P, Q],
        tree(("p", ("u", 1), ("vw", 2)), ("q", ("x", 3), ("y", 4)), (), (), ()),
        UVW | {"q": list("xyxxxyy")},
        [3, 4],
    ),
    "private before public": (
        [P, Q],
        tree(("q", ("x", 1), ("y", 2)), ("p", ("u", 3), ("v", 4)), (), (), ()),
        UVW | {"q": list("xyxxxyy")},
        [2, 2, 3],
    ),
    "a private word that is asked twice": (
        [P, Q],
        tree(("q", ("x", 1), ("y", 2)), ("q", ("x", 3), ("y", 4)), (), (), ("p", ("u", 5), ("vw", 6)), (), ()),
        UVW | {"q": list("xyxxxyy")},
        [7],
    ),
    "a private word that goes nowhere": (
        [P, Q],
        tree(("p", ("u", 1), ("v", 2)), ("q", ("z", 3)), ("q", ("z", 4)), (), ()),
        UVW | {"q": list("xyxxxyy")},
        [2, 2, 3],
    ),
    "a private word of which a part goes nowhere": (
        [P, Q],
        tree(("q", ("x", 1)), ("p", ("u", 2), ("v", 3)), (), ()),
        UVW | {"q": list("xyxxxyy")},
        [2, 2, 3],
    ),
    "two nodes at which public values end": (
        [P, N],
        tree(("p", ("u", 1), ("v", 2)), ("n", ("<=1", 3)), ("n", ("<=1", 4)), (), ()),
        {"p": list("uuvuvvv"), "n": [5, 6, 7, 1, 1, 1, 1]},
        [1, 1, 2, 3],
    ),
    "spans that share places": (
        [P, Q],
        tree(("q", ("x", 1), ("y", 2)), ("p", ("u", 3), ("vw", 4)), ("p", ("uv", 5), ("w", 6)), (), (), (), ()),
        UVW | {"q": list("xyxxxyy")},
        [2, 2, 3],
    ),
    "two public attributes": (
        [P, N],
        tree(("p", ("u", 1), ("v", 2)), ("n", ("<=1", 3), (">1", 4)), ("n", ("<=2", 5), (">2", 6)), (), (), (), ()),
        {"p": list("uuuvvvuvv"), "n": [1, 2, 3, 1, 2, 3, 3, 3, 3]},
        [1, 2, 3, 3],
    ),
    "a private number between two thresholds": (
        [P, number("n", False)],
        tree(("n", ("<=3", 1), (">3", 2)), (), ("n", ("<=4", 3), (">4", 4)), ("p", ("u", 5), ("vw", 6)), (), (), ()),
        UVW | {"n": [1] * 7},
        [3, 4],
    ),
    "a private number above the last threshold": (
        [P, number("n", False)],
        tree(("n", ("<=-3", 1), (">-3", 2)), (), ("p", ("u", 3), ("vw", 4)), (), ()),
        UVW | {"n": [1] * 7},
        [3, 4],
    ),
    "a private number that cannot be": (
        [P, number("n", False)],
        tree(("n", ("<=3", 1), (">3", 2)), ("n", (">3", 3)), (), ("p", ("u", 4), ("vw", 5)), (), ()),
        UVW | {"n": [1] * 7},
        [7],
    ),
    "a private whole number between two fractions": (
        [P, number("n", False)],
        tree(("n", ("<=3.5", 1), (">3.5", 2)), ("n", (">3", 3)), (), ("p", ("u", 4), ("vw", 5)), (), ()),
        UVW | {"n": [1] * 7},
        [7],
    ),
    "a private real number between two fractions": (
        [P, number("n", False, kind="real")],
        tree(("n", ("<=3.5", 1), (">3.5", 2)), ("n", (">3", 3)), (), ("p", ("u", 4), ("vw", 5)), (), ()),
        UVW | {"n": [1.0] * 7},
        [3, 4],
    ),
    "a private whole number that floats cannot tell": (
        [P, number("n", False)],
        tree(
            ("n", (f"<={BIG}", 1), (f">{BIG}", 2)), (), ("n", (f"<={BIG + 1}", 3)), ("p", ("u", 4), ("vw", 5)), (), ()
        ),
        UVW | {"n": [1] * 7},
        [3, 4],
    ),
    "a private real number beyond all whole ones": (
        [P, number("n", False, kind="real")],
        tree(("n", ("<=1e300", 1), (">1e300", 2)), (), ("p", ("u", 3), ("vw", 4)), (), ()),
        UVW | {"n": [1.0] * 7},
        [3, 4],
    ),
    **{
        f"a private {what} that {'may' if may else 'cannot'} be missing": (
            [P, make("n", False, missing=may)],
            tree(("n", (one, 1), ("?", 2)), (), ("p", ("u", 3), ("vw", 4)), (), ()),
            UVW | {"n": [own] * 7},
            [3, 4] if may else [7],
        )
        for what, make, one, own in (("number", number, "<=5", 1), ("word", word, "uvw", "u"))
        for may in (False, True)
    },
    "a private number that is only asked whether it is missing": (
        [P, number("n", False, missing=True)],
        tree(("n", ("?", 1)), ("p", ("u", 2), ("vw", 3)), (), ()),
        UVW | {"n": [1] * 7},
        [3, 4],
    ),
}


@pytest.mark.parametrize(("attributes", "nodes", "columns", "sizes"), SPANS.values(), ids=SPANS)
def test_a_span_is_where_rows_may_come_to_rest(attributes, nodes, columns, sizes):
    said = model(attributes, nodes, spans=len(sizes), smallest=sizes[0])
    verdict = verify(said, columns)
    found = verdict.sizes
    assert [size for size, spans in found.histogram for _ in range(spans)] == sizes
    assert (found.rows, found.classes, found.smallest) == (sum(sizes), len(sizes), sizes[0])
    assert verdict.checks[0].finding == f"smallest of {len(sizes)} spans: {sizes[0]} rows"


SIX = {"p": list("uuuvvv"), "class": list("xxyyyy")}


@pytest.mark.parametrize(
    ("private", "sizes", "k", "told"),
    [
        (True, (3, 3), 3, "smallest of 2 spans: 3 rows"),
        (True, (3, 3), 4, "smallest of 2 spans: 3 rows; 6 rows are in 2 spans below 4"),
        (False, (1, 2, 3), 1, "smallest of 3 spans: 1 rows"),
        (False, (1, 2, 3), 3, "smallest of 3 spans: 1 rows; 3 rows are in 2 spans below 3"),
    ],
)
def test_a_public_class_is_part_of_the_span(private, sizes, k, told):
    said = model([P], tree(*BELOW), spans=len(sizes), smallest=sizes[0], private=private, k=k)
    verdict = verify(said, SIX)
    assert (verdict.checks[0].finding, verdict.checks[0].passed) == (told, "below" not in told)
    assert verdict.checks[0].name == f"{k}-anonymity of spans"
    assert [size for size, spans in verdict.sizes.histogram for _ in range(spans)] == list(sizes)
    assert verdict.checks[1].passed


@pytest.mark.parametrize(("spans", "smallest", "passed"), [(2, 3, True), (3, 3, False), (2, 2, False), (1, 4, False)])
def test_spans_are_as_the_model_says(spans, smallest, passed):
    said = model([P], tree(*BELOW), spans=spans, smallest=smallest)
    check = verify(said, {"p": list("uuuvvvv")}).checks[1]
    told = f"the model says {spans} spans, the smallest of {smallest} rows" + ("" if passed else "; recounted 2, 3")
    assert (check.name, check.passed, check.finding) == ("spans as published", passed, told)


def spread(*spans):
    """Rows of up to three spans with counts of the classes x, y and z."""
    cells = [(p, c, n) for p, counts in zip("uvw", spans, strict=False) for c, n in zip("xyz", counts, strict=False)]
    rows = [(p, c) for p, c, n in cells for _ in range(n)]
    return {"p": [p for p, _ in rows], "class": [c for _, c in rows]}


THREE = tree(("p", ("u", 1), ("v", 2), ("w", 3)), (), (), ())
NEAR = [1501, 1502, 0]
NEAR_L = 2 ** sum(-n / 3003 * math.log2(n / 3003) for n in NEAR[:2])
ENTROPY = [
    (2.0, [[1, 1], [3, 3]], True, "2.0000"),
    (2.0, [[1, 1], [3, 4]], False, "1.9796"),
    (1.5, [[1, 1], [1, 7]], False, "1.4576"),
    (3.0, [[2, 2, 2]], True, "3.0000"),
    (2.5, [[2, 2, 2], [1, 1, 0]], False, "2.0000"),
    (1.9, [[2, 2, 2], [1, 1, 0], [1, 1, 1]], True, "2.0000"),
    (2.0, [[1, 1], [5, 4], [1, 1]], False, "1.9877"),
    (1.0, [[4, 0]], True, "1.0000"),
    (float(f"{NEAR_L:.12f}") - 1e-10, [NEAR], True, "2.0000"),
    (float(f"{NEAR_L:.12f}") + 1e-10, [NEAR], False, "2.0000"),
]


@pytest.mark.parametrize(("least", "spans", "passed", "told"), ENTROPY)
def test_the_classes_of_a_span_are_diverse(least, spans, passed, told):
    check = verify(model([P], THREE, l=least, classes="xyz"), spread(*spans)).checks[1]
    assert check.name == f"entropy {least:g}-diversity of spans"
    assert (check.passed, check.finding) == (passed, f"smallest of all: {told}")


@pytest.mark.parametrize(
    ("cap", "spans", "passed", "told"),
    [
        (0.5, [[1, 1], [3, 3]], True, "0.5000"),
        (0.5, [[1, 1], [3, 4]], False, "0.5714"),
        (0.75, [[3, 1], [2, 3]], True, "0.7500"),
        (0.74, [[3, 1], [2, 3]], False, "0.7500"),
        (0.6, [[2, 3], [3, 2], [1, 1]], True, "0.6000"),
        (1, [[4, 0]], True, "1.0000"),
        (0.9, [[4, 0], [1, 1]], False, "1.0000"),
    ],
)
def test_no_class_of_a_span_is_too_frequent(cap, spans, passed, told):
    check = verify(model([P], THREE, max_confidence=cap), spread(*spans)).checks[1]
    assert check.name == f"confidence of at most {cap:g}"
    assert (check.passed, check.finding) == (passed, f"largest share: {told}")


SHOWN = [  # counts that two leaves show, of the rows [3, 1] and [2, 2]; what is asked; wrong and unsafe ones
    ([[3, 1], [2, 2]], {}, 0, 0),
    ([[3, 1], None], {}, 0, 0),
    ([None, None], {"k": 9}, 0, 0),
    ([[1, 3], [2, 2]], {}, 1, 0),
    ([[3, 1], [2, 3]], {}, 1, 0),
    ([[3, 2], [0, 0]], {}, 2, 0),
    ([[3, 1], [2, 2]], {"k": 4}, 0, 0),
    ([[3, 1], [2, 2]], {"k": 5}, 0, 2),
    ([[3, 1], None], {"k": 5}, 0, 1),
    ([[3, 1], [2, 3]], {"k": 5}, 1, 2),
    ([[3, 1], [2, 2]], {"l": 2.0}, 0, 1),
    ([[3, 1], [2, 2]], {"l": 1.5}, 0, 0),
    ([[3, 1], [2, 2]], {"max_confidence": 0.7}, 0, 1),
    ([[3, 1], [2, 2]], {"max_confidence": 0.75}, 0, 0),
    ([[3, 1], [2, 2]], {"private": False}, 0, 0),
    ([[3, 1], [2, 2]], {"private": False, "k": 2}, 0, 1),
    ([[3, 1], [2, 2]], {"private": False, "k": 3}, 0, 2),
    ([[3, 1], [2, 2]], {"further": [{"is": "confidence cap", "alpha": "0.7", "on": None}]}, 0, 1),
]


@pytest.mark.parametrize(("counts", "asked", "wrong", "unsafe"), SHOWN)
def test_counts_of_leaves_are_right_and_may_be_shown(counts, asked, wrong, unsafe):
    nodes = tree(*BELOW)
    for place, shown in enumerate(counts, start=1):
        nodes[place] |= {} if shown is None else {"counts": shown}
    verdict = verify(model([P], nodes, **asked), spread([3, 1], [2, 2]))
    [check] = [check for check in verdict.checks if check.name == "counts as recounted"]
    told = f"{sum(shown is not None for shown in counts)} of 2 leaves show counts"
    told += f"; {wrong} of them not as recounted" if wrong else ""
    told += f"; {unsafe} of them too small or too uneven to be shown" if unsafe else ""
    assert (check.finding, check.passed) == (told, not wrong and not unsafe)


@pytest.mark.parametrize(
    ("private", "k", "counts", "passed"),
    [(False, 3, [3, 0], True), (False, 3, [3, 1], False), (False, 1, [0, 0], False), (True, 1, [0, 0], False)],
)
def test_a_leaf_without_rows_shows_nothing(private, k, counts, passed):
    """Of a public class only those that have rows must have enough."""
    nodes = tree(("p", ("u", 1), ("v", 2)), (), ())
    nodes[1]["counts"] = counts
    rows = spread(counts) if any(counts) else {"p": ["v"], "class": ["x"]}
    checks = verify(model([P], nodes, private=private, k=k), rows).checks
    [check] = [check for check in checks if check.name == "counts as recounted"]
    assert check.passed is passed


@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        ([0, 0, 1, 1], 0),
        ([0, 0, 0, 1], 1),
        ([0, 0, 1, 0], 1),
        ([1, 0, 1, 1], 1),
        ([0, 1, 1, 1], 1),
        ([0, 0, 0, 0], 0),
        ([1, 1, 0, 1], 3),
    ],
)
def test_a_label_is_a_most_frequent_class_or_that_of_the_parent(labels, wrong):
    """Nobody arrives at the last leaf, whose parent is the one before; of that one both classes are as frequent."""
    nodes = tree(("p", ("u", 1), ("v", 2)), (), ("p", ("w", 3)), ())
    for node, label in zip(nodes, labels, strict=True):
        node["label"] = label
    [check] = [check for check in verify(model([P], nodes), spread([3, 1], [2, 2])).checks if "labels" in check.name]
    told = f"{wrong} of 4 nodes differ" if wrong else "all 4 nodes"
    assert (check.name, check.passed, check.finding) == ("labels are majorities", not wrong, told)


DOMAINS = [  # attributes after the public p, columns, rows outside of each domain
    ([Q], {"q": list("xyxyxyx")}, {}),
    ([Q], {"q": list("xyxyzzx")}, {"q": 2}),
    ([Q], {"q": [*"xyxyzx", None]}, {"q": 2}),
    ([word("q", False, missing=True, domain="xy")], {"q": [*"xyxyxx", None]}, {}),
    ([word("q", False, fill="x", domain="xy")], {"q": [*"xyxyxx", None]}, {}),
    ([word("q", False, fill="z", domain="xy")], {"q": [*"xyxyxx", None]}, {"q": 1}),
    ([word("q", True, domain="xy")], {"q": list("xyxyzzx")}, {}),
    ([number("n", False)], {"n": [1, 2, 3, 4, 5, 6, 7]}, {}),
    ([number("n", False)], {"n": [1, 2, 3, None, None, None, 7]}, {"n": 3}),
    ([number("n", False, missing=True)], {"n": [1, 2, 3, None, None, None, 7]}, {}),
    ([number("n", False), Q], {"n": [1, 2, 3, 4, 5, 6, None], "q": list("xyxyzzx")}, {"n": 1, "q": 2}),
    ([N, Q], {"n": [1, 2, 3, 4, 5, 6, None], "q": list("xyxyzzx")}, {"q": 2}),
]


@pytest.mark.parametrize(("attributes", "columns", "outside"), DOMAINS)
def test_private_values_are_in_their_domains(attributes, columns, outside):
    """One attribute after the other is tested, from the root on."""
    asked = {"q": ("x", "y"), "n": ("<=3", ">3")}
    nodes = [("p", ("u", 1), ("vw", 2)), ()]
    for each in attributes:
        first, last = asked[each["name"]]
        nodes += [(each["name"], (first, len(nodes) + 1), (last, len(nodes) + 2)), ()]
    check = verify(model([P, *attributes], tree(*nodes, ())), UVW | columns).checks[-1]
    listed = ", ".join(f"{name!r} ({rows} rows)" for name, rows in outside.items())
    told = f"values outside the domain: {listed}" if outside else "every private value is in its domain"
    assert (check.name, check.passed, check.finding) == ("private domains", not outside, told)


def test_a_label_is_not_that_of_the_parent_where_some_arrive():
    nodes = tree(*BELOW)
    for node in nodes:
        node["label"] = 1
    check = verify(model([P], nodes), spread([3, 0], [0, 4])).checks[-2]
    assert check.finding == "1 of 3 nodes differ"


def test_visits_are_counted_and_limited():
    """Three tuples visit the root and its two sons, one of them each leaf below."""
    attributes, nodes, columns, _ = SPANS["private before public"]
    said = model(attributes, nodes)
    assert verify(said, columns, most_visits=11).sizes.classes == 3
    with pytest.raises(ParameterError, match="more than 10 visits"):
        verify(said, columns, most_visits=10)


def test_tables_that_do_not_fit_are_refused():
    said = model([P], tree(*BELOW))
    with pytest.raises(SchemaError, match="no rows"):
        verify_spans(said, encoded(said, {"p": [], "class": []}))
    assert verify(said, {"p": ["u"]}).sizes.rows == 1
    numbered, table = (
        model([number("p", True)], tree(("p", ("<=3", 1)), ())),
        encoded(said, {"p": ["u"], "class": ["x"]}),
    )
    with pytest.raises(SchemaError, match="'p' is categorical here, but integer in the model"):
        verify_spans(numbered, table)
    for classes, unknown in ((["x", "z", "z"], 2), (["x", None, "y"], 1), (["z"] * 3, 3)):
        with pytest.raises(SchemaError, match=f"{unknown} rows have a class in 'class'"):
            verify(said, {"p": ["u"] * 3, "class": classes})
    assert verify(model([P], tree(*BELOW), classes=("x", None)), {"p": ["u"] * 2, "class": ["x", None]}).sizes.rows == 2


@pytest.mark.parametrize(
    ("attribute", "branches"),
    [(P, (("uv", 1), ("vw", 2))), (N, (("<=3", 1), (">2", 2))), (word("p", False), (("uv", 1), ("w", 2), ("w", 3)))],
)
def test_branches_that_overlap_are_refused(attribute, branches):
    said = model([attribute], tree((attribute["name"], *branches), *[()] * len(branches)))
    with pytest.raises(PlanError, match="branches that overlap"):
        verify(said, {attribute["name"]: [3] * 2 if attribute is N else ["v", "w"]})
