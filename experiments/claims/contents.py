"""What the five documents have: every table, every figure, and what their text counts; and where ours is.

An item without a place says why in its note.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.claims.finding import COMPARED, TESTED, Beside, Figures, GoalOf, HeldByTest, PointOf, RowsOf, Where
from experiments.papers import IAC, KACTUS, KADET, TDR

THESIS = (
    "Azgın Hintoğlu: Suppressing Microdata to Prevent Classification Based Inference, thesis, Sabancı University 2011"
)
NOT_RUN, NOTHING = "not run", "nothing to measure"


@dataclass(frozen=True)
class Item:
    """A table, a figure or a claim: what it shows, what is printed there, and where ours is."""

    name: str
    shows: str
    printed: str
    where: Where | None = None
    note: str = ""
    verdict: str = NOT_RUN  # where there is nothing of ours


@dataclass(frozen=True)
class Contents:
    """A document, its items, and the page whose points are its claims."""

    title: str
    items: tuple[Item, ...]
    page: str | None = None


def _diagram(name: str, shows: str) -> Item:
    return Item(name, shows, "an illustration", verdict=NOTHING)


KACTUS_PAGE, KADET_PAGE, TDR_PAGE = "reproduction_kactus", "reproduction_kadet", "reproduction_tdr"
TABLE_4_PAGE, TABLE_6_PAGE = "reproduction_kactus_4", "reproduction_kactus_6"
IAC_PAGE, HIDING_PAGE, SETS_PAGE = "reproduction_iac", "reproduction_inference", "reproduction_inference_sets"
APART = ("number", "mean difference", "mean absolute", "within 2")


def _apart(table: str, page: str = KACTUS_PAGE) -> RowsOf:
    return RowsOf(page, "How far from the paper", "cells", table, APART)


def _behind(rival: str, page: str = KACTUS_PAGE) -> Figures:
    return Figures(page, rf"kACTUS minus[^|;:]*?{rival} ([+-][\d.]+)", first=True)


def _marks(number: int, rival: str, printed: str, which: str, page: str = KACTUS_PAGE) -> Item:
    better = f"kACTUS significantly better than {rival}" if which == "higher" else f"{rival} significantly better"
    return Item(f"Table {number}, text", better, printed, Figures(page, _MARKS[which].format(rival=rival)))


_MARKS = {
    "higher": r"^\| {rival} \| \d+ \| (\d+) \| \d+ \| \d+ \| \d+ \|$",
    "lower": r"^\| {rival} \| \d+ \| \d+ \| \d+ \| (\d+) \| \d+ \|$",
}

OF_KACTUS = (
    Item("Table 1", "data sets", "ten tables", Figures(KACTUS_PAGE, r"^- (\S+: [\d,]+ rows), (?=\d)")),
    Item("Table 2", "accuracy of kACTUS by k", "240 accuracies", _apart("Table 2")),
    Item(
        "Table 2",
        "cells that differ significantly from k = 1",
        "97 of 200",
        Figures(KACTUS_PAGE, r"^\| kACTUS \| 200 \| (\d+) \| \d+ \|$"),
    ),
    Item("Table 3", "rivals with taxonomies, Adult", "234 accuracies", _apart("Table 3")),
    Item("Table 3, abstract", "kACTUS ahead of TDS, in points", "3.5", _behind(r"TDS \(Table 3\)")),
    Item("Table 3, abstract", "kACTUS ahead of TDR, in points", "3.3", _behind(r"TDR \(Table 3\)")),
    Item(
        "Table 3, abstract",
        "kACTUS ahead of kADET, in points",
        "1.9",
        _behind(r"kADET \(Table 3\)"),
        "The printed cells give 2.4.",
    ),
    _marks(3, "TDS", "51 of 72", "higher"),
    _marks(3, "TDS", "1 of 72", "lower"),
    _marks(3, "TDR", "52 of 72", "higher"),
    _marks(3, "TDR", "2 of 72", "lower"),
    _marks(3, "kADET", "13 of 18", "higher"),
    Item("Table 4", "rivals without taxonomies, Adult", "234 accuracies", _apart("Table 4", TABLE_4_PAGE)),
    Item("Table 4, abstract", "kACTUS ahead of TDS, in points", "5.3", _behind(r"TDS \(Table 4\)", TABLE_4_PAGE)),
    Item("Table 4, abstract", "kACTUS ahead of TDR, in points", "4.3", _behind(r"TDR \(Table 4\)", TABLE_4_PAGE)),
    Item(
        "Table 4, abstract",
        "kACTUS ahead of kADET, in points",
        "3.1",
        _behind(r"kADET \(Table 4\)", TABLE_4_PAGE),
        "The printed cells give 3.6.",
    ),
    _marks(4, "TDS", "62 of 72", "higher", TABLE_4_PAGE),
    _marks(4, "TDR", "59 of 72", "higher", TABLE_4_PAGE),
    _marks(4, "TDR", "1 of 72", "lower", TABLE_4_PAGE),
    Item("Table 5", "Mondrian, Adult", "144 accuracies", _apart("Table 5")),
    Item("Table 5, text", "kACTUS ahead of Mondrian, in points", "7.84", _behind(r"Mondrian \(Table 5\)")),
    _marks(5, "Mondrian", "58 of 72", "higher"),
    _marks(5, "Mondrian", "0 of 72", "lower"),
    Item(
        "Table 6",
        "seconds by rows, k = 150",
        "7 to 69 for the tree, 44 to 483 for k-anonymity",
        RowsOf(TABLE_6_PAGE, "factor", "factor", "30", ("rows", "ours, CPU s", "printed / ours")),
        "All six sizes are on the page; which seven quasi-identifiers is not printed.",
    ),
    Item(
        "Table 6, text",
        "time is almost linear in the rows",
        "to the power 1.36 in print",
        GoalOf(TABLE_6_PAGE, "seconds grow with the rows"),
    ),
    Item(
        "Figures 1 to 4",
        "a tree of Adult, pruned step by step",
        "counts of each step",
        HeldByTest("golden/test_kactus_paper.py", "test_figures_1_to_4"),
    ),
    Item(
        "Figure 5", "kACTUS", "pseudocode", HeldByTest("golden/test_kactus_paper.py", "test_single_node_cases", TESTED)
    ),
    Item(
        "Figure 6", "numbers", "pseudocode", HeldByTest("golden/test_kactus_paper.py", "test_numeric_example", TESTED)
    ),
    _diagram("Figure 7", "how the experiments run"),
)
OF_KADET = (
    Item(
        "Table 1, Figures 1, 3",
        "a mortgage company, k = 3",
        "tree and trace",
        HeldByTest("golden/test_kadet_paper.py", "test_mortgage_with_k_3"),
    ),
    _diagram("Figure 2", "data structures"),
    Item("Figure 4", "error by k, ID3", "drawn", PointOf(KADET_PAGE, "with ID3 scores, the error is lower")),
    Item("Figure 5", "error by k, C4.5", "drawn", PointOf(KADET_PAGE, "with C4.5 scores, the error is lower")),
    Item("Figure 6", "people whose class is certain", "drawn", PointOf(KADET_PAGE, "with C4.5 scores, nobody")),
    Item("Figure 7", "confidence and error, ID3", "drawn", PointOf(KADET_PAGE, "with ID3 scores, no tree is useful")),
    Item("Figure 8", "confidence and error, C4.5", "drawn", PointOf(KADET_PAGE, "with C4.5 scores, trees are useful")),
    Item(
        "Section 4",
        "seconds of induction, all k",
        "below 4 (ID3), below 10 (C4.5)",
        PointOf(KADET_PAGE, "induction takes less"),
    ),
)
FUNG = "The figures are those of Fung, Wang, Yu, who describe the method at length."
OF_TDR = (
    Item(
        "Table 1",
        "the example table",
        "named, not shown",
        HeldByTest("golden/test_tdr_paper.py", "test_the_tables_have_the_papers_classes"),
        FUNG,
    ),
    Item(
        "Table 2",
        "information gain against score",
        "named, not shown",
        HeldByTest("golden/test_tdr_paper.py", "test_the_score_separates_the_classes_and_the_gain_hides_four_rows"),
        FUNG,
    ),
    _diagram("Figure 2", "a taxonomy tree of education"),
    Item(
        "Section 4",
        "TDR, and its trees of partitions",
        "pseudocode, a tree",
        HeldByTest("golden/test_tdr_paper.py", "test_partitions_after_hours_and_sex"),
    ),
    Item(
        "Section 5, first",
        "k-anonymous over a broad range without much loss",
        "no figure",
        PointOf(TDR_PAGE, "over a broad range of k and sets"),
        "The document shows no experiment; this one is ours. More of TDR by k: Table 3 of the kACTUS paper.",
    ),
    Item(
        "Section 5, second", "faster than a genetic algorithm", "no figure", note="The genetic algorithm is not here."
    ),
    Item("Section 5, third", "optimal anonymity is not best", "no figure", note="The optimal algorithm is not here."),
    Item(
        "Section 5, fourth",
        "scales well",
        "no figure",
        PointOf(TDR_PAGE, "seconds grow at most in proportion"),
        "Up to ten million rows: the page on performance.",
    ),
)
OF_IAC = (
    Item(
        "Table 1",
        "methods on one table, k = 10",
        "12 kinds of rows",
        HeldByTest("golden/test_iac_paper.py", "test_table_1"),
    ),
    _diagram("Table 2", "k-anonymity"),
    Item(
        "Table 3, Figure 1",
        "measures at each level, an example",
        "entropies, information",
        HeldByTest("golden/test_iac_paper.py", "test_example_1_measures"),
        "One printed entropy is of another histogram, as a second test shows.",
    ),
    Item(
        "Table 4",
        "suppression, an example",
        "divergence, information",
        HeldByTest("golden/test_iac_paper.py", "test_example_2_table_4b"),
    ),
    Item("Table 5", "Adult", "45,222 rows", Figures(IAC_PAGE, r"^- (adult: [\d,]+ rows, 8 of \d+ attributes known)")),
    Item(
        "Figure 2(a)",
        "best level of each attribute of Adult",
        "3, 2, 2, 2, 2 and three as they are",
        HeldByTest("golden/test_iac_paper.py", "test_adult_levels", COMPARED),
        "The test has each level, ours and the paper's; marital status differs.",
    ),
    Item("Figure 2(b)", "rows by size of group", "drawn", PointOf(IAC_PAGE, "around 2 % of the rows are unique")),
    Item("Figure 3(a)", "divergence by k", "drawn", PointOf(IAC_PAGE, "native country and race have the largest D_N")),
    Item("Figure 3(b)", "information by k", "drawn", PointOf(IAC_PAGE, "marital status and work class have the")),
    Item(
        "Figure 4",
        "accuracy by k, 8 quasi-identifiers",
        "drawn",
        PointOf(IAC_PAGE, "with 8 quasi-identifiers, IACk is better"),
    ),
    Item("Figure 5", "time by k", "drawn", PointOf(IAC_PAGE, "IACk takes less time at every k")),
    Item(
        "Figure 6",
        "accuracy by k, 4 quasi-identifiers",
        "drawn",
        PointOf(IAC_PAGE, "with 4 quasi-identifiers, IACk is better"),
    ),
)


def _worked(name: str, shows: str, test: str = "test_examples_against_naive_bayes", note: str = "") -> Item:
    return Item(name, shows, "each step", HeldByTest("golden/test_cell_hiding_thesis.py", test), note)


def _order(number: str, shows: str) -> Item:
    where = RowsOf(HIDING_PAGE, "Orders of the figures", "figure", f"{number}, {shows}", ("data", "as in the thesis"))
    return Item(f"Figure {number}", f"{shows}: pairs of methods in the printed order", "drawn", where)


OF_THESIS = (
    _diagram("Figures 1.1, 2.1, 3.1, 4.1", "focus, taxonomies of diseases and of algorithms"),
    _worked("Tables 1.1, 1.2, 3.1, 3.2, Figure 3.2", "DECP, an example"),
    _worked("Table 3.3, Figure 3.3", "INCP, an example"),
    _worked("Table 3.4, Figure 3.4", "DROPP, an example"),
    _worked("Table 3.5, Figures 3.5, 3.6", "HID3, an example", "test_example_5_against_id3"),
    Item(
        "Figure 3.7",
        "e-DECP",
        "pseudocode",
        HeldByTest("golden/test_cell_hiding_thesis.py", "test_e_decp_of_two_rows", TESTED),
        "No example in the thesis; this one was reckoned by hand.",
    ),
    Item(
        "Figure 3.8",
        "e-DROPP",
        "pseudocode",
        HeldByTest("property/test_cell_hiding.py", "test_many_attributes_of_one_row", TESTED),
        "No example in the thesis; properties are tested.",
    ),
    _worked("Figures 4.2, 4.3", "estimates from groups of values", "test_example_6_shares_groups_out"),
    _worked("Tables 4.1 to 4.5, Figure 4.4", "DECP-G, an example"),
    _worked("Tables 4.6, 4.7, Figure 4.5", "INCP-G, an example"),
    _worked("Tables 4.8 to 4.10, Figure 4.6", "DROPP-G, an example", note="Eight cells of Table 4.8 are misprints."),
    _worked(
        "Tables 4.11, 4.12, Figures 4.7, 4.8",
        "HID3-G, an example",
        "test_example_10_on_the_reconstructed_tree",
        "The tree is made anew from the text.",
    ),
    Item(
        "Figure 4.9",
        "e-DECP-G",
        "pseudocode",
        HeldByTest("property/test_cell_hiding.py", "test_e_decp_g_is_the_oracle_s", TESTED),
        "No example in the thesis; held to an oracle, cell by cell.",
    ),
    Item(
        "Figure 4.10",
        "e-DROPP-G",
        "pseudocode",
        HeldByTest("property/test_cell_hiding.py", "test_e_dropp_g_is_the_oracle_s", TESTED),
        "No example in the thesis; held to an oracle, cell by cell.",
    ),
    Item(
        "Table 5.1",
        "data sets",
        "699 rows, 1,728 rows",
        verdict=NOTHING,
        note="`incrowd datasets` has both, with these rows.",
    ),
    Item(
        "Table 5.2",
        "time for a cell, in DECP's",
        "0.98 to 1.31",
        Beside(HIDING_PAGE, "in DECP, thesis", (("in DECP", "in DECP, thesis"),), "times DECP's"),
        "Generalizing costs more here than printed.",
    ),
    Item(
        "Table 5.3",
        "per cent of cells hidden from each adversary",
        "36 shares",
        Beside(
            HIDING_PAGE,
            "Table 5.3",
            (("NB", "NB, thesis"), ("ID3", "ID3, thesis"), ("SVM", "SVM, thesis")),
            "points",
        ),
        "All cells, those with the most common value of a column included.",
    ),
    Item(
        "Table 5.3, text",
        "every method hides all cells from its own adversary",
        "100 %",
        GoalOf(HIDING_PAGE, "as in the thesis, every method hides all cells"),
    ),
    _order("5.1", "average direct distance"),
    _order("5.2", "direct distance"),
    _order("5.3", "SKLD"),
    _order("5.4", "ACMI"),
    _order("5.5", "SCE"),
    _order("5.6", "hybrids, average direct distance"),
    Item(
        "Figure 5.7",
        "cells changed at once, in those one by one",
        "about half",
        GoalOf(SETS_PAGE, "as in the thesis, the enhanced forms change nearly half"),
    ),
)
DOCUMENTS = (
    Contents(KACTUS, OF_KACTUS, KACTUS_PAGE),
    Contents(KADET, OF_KADET, KADET_PAGE),
    Contents(TDR, OF_TDR, TDR_PAGE),
    Contents(IAC, OF_IAC, IAC_PAGE),
    Contents(THESIS, OF_THESIS, HIDING_PAGE),
)
