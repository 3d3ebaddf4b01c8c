import csv
import io

import polars as pl
import pytest

from experiments.papers import printed
from incrowd.comparisons.datasets.catalog import (
    DATASETS,
    Dataset,
    FileShape,
    canonical_csv,
    find_dataset,
    parsed,
    rows_digest,
)
from incrowd.errors import ParameterError
from support.tic_tac_toe import as_csv, as_orange_file, endgames

NAMES = [
    "adult",
    "german-credit",
    "glass",
    "ionosphere",
    "credit-approval",
    "nursery",
    "pima",
    "tic-tac-toe",
    "vehicle",
    "waveform",
    "breast-cancer",
    "car",
]
CASES = pytest.mark.parametrize("dataset", DATASETS.values(), ids=lambda dataset: dataset.name)


def test_there_are_twelve_by_their_short_names() -> None:
    assert list(DATASETS) == NAMES


@CASES
def test_an_entry_agrees_with_itself(dataset: Dataset) -> None:
    assert len(set(dataset.columns)) == len(dataset.columns)
    assert dataset.columns[-1] == dataset.target == "class"
    assert set(dataset.numeric) <= set(dataset.inputs)
    assert set(dataset.identifiers) <= set(dataset.attributes)
    for name, attributes in dataset.attribute_sets.items():
        assert set(attributes) <= set(dataset.inputs)
        assert dataset.quasi_identifiers(name) == attributes
    assert dataset.quasi_identifiers() == dataset.inputs
    assert dataset.citation
    assert dataset.licence
    assert len(dataset.rows_sha256) == len(dataset.sha256) == 64
    assert all(name == name.strip().lower().replace(" ", "-") for name in (dataset.name, *dataset.aliases))


@CASES
def test_a_source_restores_the_canonical_bytes_wherever_the_package_kept_the_order(dataset: Dataset) -> None:
    source = dataset.source
    assert source is not None
    assert (source.sha256 == dataset.sha256) == (dataset.name != "waveform")
    assert all(len(member.sha256) == 64 for member in source.members)


def test_no_name_stands_for_two_data_sets() -> None:
    names = [name for dataset in DATASETS.values() for name in (dataset.name, *dataset.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", printed("kactus_table2")["case"].unique(maintain_order=True).to_list())
def test_the_names_of_the_paper_are_known(case: str) -> None:
    assert find_dataset(case).name in DATASETS


def test_the_sizes_are_the_printed_ones_but_for_the_papers_slips() -> None:
    slips = {"Glass": "attributes", "Japanese Credit": "rows", "Vehicle": "rows"}
    for row in printed("kactus_table1").iter_rows(named=True):
        dataset = find_dataset(row["dataset"].replace("TIT", "TTT"))
        slip = slips.get(row["dataset"])
        assert (dataset.rows == row["tuples_printed"]) == (slip != "rows")
        assert (len(dataset.inputs) == row["attributes_printed"]) == (slip != "attributes")
        share = 100 * len(dataset.numeric) / len(dataset.inputs)
        assert share == pytest.approx(row["numeric_percent_printed"], abs=0.01)


def test_quasi_identifiers_of_adult() -> None:
    adult = find_dataset("adult")
    free = {
        name: set(adult.inputs) - set(adult.quasi_identifiers(name)) for name in ("14/14", "11/14", "8/14", "iac-4")
    }
    assert free["14/14"] == set()
    assert free["11/14"] == {"relationship", "race", "capital-loss"}
    assert free["8/14"] == free["11/14"] | {"education", "education-num", "marital-status"}
    assert len(adult.quasi_identifiers("iac-8")) == len(adult.quasi_identifiers("categorical")) == 8
    assert set(adult.quasi_identifiers("iac-4")) == {"age", "sex", "race", "native-country"}
    counts = printed("adult_counts")
    assert adult.rows == counts.filter(pl.col("subset") == "all")["rows"].item()
    assert adult.train_rows == counts.filter(pl.col("subset").str.starts_with("train (")).get_column("rows").item()
    with pytest.raises(ParameterError, match=r"no quasi-identifier set '9/14'.*8/14"):
        adult.quasi_identifiers("9/14")


def test_breast_cancer_never_learns_from_the_sample_number() -> None:
    dataset = find_dataset("breast_cancer")
    assert dataset.identifiers == ("sample-code-number",)
    assert len(dataset.inputs) == 9


def test_pima_says_that_it_was_withdrawn() -> None:
    dataset = find_dataset("pima")
    assert "ithdrawn" in dataset.licence
    assert any("ithdrawn" in note for note in dataset.notes)


def test_an_unknown_name_is_told_near_ones() -> None:
    with pytest.raises(ParameterError, match="Did you mean nursery"):
        find_dataset("nursry")
    with pytest.raises(ParameterError, match="There are: adult, german-credit"):
        find_dataset("zzz")


def test_the_checksum_of_tic_tac_toe_is_that_of_all_its_games() -> None:
    """The rules of the game are a second source of this table."""
    dataset = find_dataset("ttt")
    rows = endgames()
    assert len(rows) == dataset.rows
    assert rows_digest(rows) == rows_digest(reversed(rows)) == dataset.rows_sha256


def test_a_member_becomes_the_canonical_csv() -> None:
    dataset = find_dataset("ttt")
    assert dataset.source is not None
    made = canonical_csv(dataset, [as_orange_file(endgames()).encode()], dataset.source.shape)
    assert made.decode() == as_csv(dataset.columns, endgames())


def test_restored_order_follows_the_domains() -> None:
    shape = FileShape(domains=(("low", "high"), ("b", "a")))
    dataset = find_dataset("car")
    made = canonical_csv(dataset, [b"high,a,1\nlow,a,2\n", b"high,b,3\nlow,b,4"], shape).decode()
    assert [row[-1] for row in csv.reader(io.StringIO(made))][1:] == ["4", "2", "3", "1"]


def test_leading_zeros_and_decimals_come_back() -> None:
    shape = FileShape(
        delimiter="\t", header=1, spelled=((0, ".2f"), (1, "05.0f"), (2, "02.0f")), translated=((2, "00", "0"),)
    )
    rows = list(parsed("head\n24.5\t202\t1\tyes\n?\t0\t0\tno\n", shape))
    assert rows == [["24.50", "00202", "01", "yes"], ["?", "00000", "0", "no"]]


def test_the_full_stop_behind_the_classes_of_adult_is_cut_off() -> None:
    source = find_dataset("adult").source
    assert source is not None
    text = "|1x3 Cross validator\n25, Private, <=50K.\n\n18, ?, >50K\n"
    assert list(parsed(text, source.shape)) == [["25", "Private", "<=50K"], ["18", "?", ">50K"]]
