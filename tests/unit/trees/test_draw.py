"""Drawings: text for terminals, pictures for pages."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from incrowd.trees.draw import draw_tree, to_svg, to_text
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Tree
from support.axes import RecordedAxes

SVG = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert(1)</script>\x00&"'


@pytest.fixture
def tree():
    return Tree(
        (
            Node("city", (Branch(Eq("city", EVIL), 1), Branch(In("city", frozenset("abcdefghij")), 2)), (3, 2)),
            Node(None, (), (0, 0)),
            Node("n", (Branch(Le("n", 3), 3), Branch(Gt("n", 3), 4), Branch(Missing("n"), 5)), (3, 1.5)),
            Node(None, (), (3, 0)),
            Node(None, (), (0, 1)),
            Node(None, (), (0, 0.5)),
        ),
        "ill",
        ("no", None),
    )


def words(svg):
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_text(tree):
    assert to_text(tree).splitlines() == [
        "city  [no: 3, (missing): 2]",
        '├─ = <script>alert(1)</script>\ufffd&": –  []',
        "└─ in {a, b, c, d, e, f, … 4 more}: n  [no: 3, (missing): 1.50]",
        "   ├─ <= 3: no  [no: 3]",
        "   ├─ > 3: (missing)  [(missing): 1]",
        "   └─ missing: (missing)  [(missing): 0.50]",
    ]


def test_text_can_hide_counts_and_depths(tree):
    assert to_text(tree, counts=False, max_depth=1).splitlines()[0] == "city"
    assert to_text(tree, counts=False, max_depth=1).splitlines()[2].endswith(": n … 3 nodes below")
    assert to_text(tree, counts=False, max_depth=0) == "city … 5 nodes below"


def test_picture_is_sound_xml_and_shows_all_nodes(tree):
    svg = to_svg(tree)
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    boxes = [rect for rect in root.iter(f"{SVG}rect") if rect.get("rx") == "6"]
    assert len(boxes) == len(tree.nodes)
    assert len(list(root.iter(f"{SVG}path"))) == len(tree.nodes) - 1
    assert "city" in words(svg)
    assert {"n = 5", "n = 4.50"} <= set(words(svg))


def test_boxes_do_not_overlap_and_stay_inside(tree):
    root = ElementTree.fromstring(to_svg(tree))
    boxes = [
        tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("rx") == "6"
    ]
    for place, (x, y, width, height) in enumerate(boxes):
        assert x + width <= float(root.get("width"))
        assert y + height <= float(root.get("height"))
        for x2, y2, width2, height2 in boxes[place + 1 :]:
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y


def test_picture_can_hide_counts_and_depths(tree):
    shallow = to_svg(tree, counts=False, max_depth=1)
    assert "n …" in words(shallow)
    assert not any("3" in text for text in words(shallow))
    assert len(list(ElementTree.fromstring(shallow).iter(f"{SVG}path"))) == 2


def test_many_classes_share_a_colour():
    many = Tree((Node(None, (), tuple(range(1, 13))),), "y", tuple(f"c{i}" for i in range(12)))
    assert "+ 4" in words(to_svg(many))


def test_axes_get_a_box_for_each_node_and_a_line_to_its_parent(tree):
    axes = RecordedAxes()
    draw_tree(tree, [None] * 6, caption=["what was promised"]).on(axes)
    boxes = [words for (_, _, words), named in axes.named("text") if "bbox" in named]
    assert boxes == ["city", "–", "n", "no", "(missing)", "(missing)"]
    assert len(axes.named("plot")) == 5
    written = [words for (_, _, words), named in axes.named("text") if "bbox" not in named]
    assert "<= 3" in written
    assert written[-1] == "what was promised"
    (left, right), (bottom, top) = axes.named("set_xlim")[0][0], axes.named("set_ylim")[0][0]
    for (x, y, _), _ in axes.named("text"):
        assert left <= x <= right
        assert top <= y <= bottom
