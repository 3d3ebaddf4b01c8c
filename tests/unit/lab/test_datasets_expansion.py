import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.errors import HeaderError, ParameterError
from incrowd.lab.datasets.expansion import expanded


def table(rows: int, attributes: int, seed: int = 0) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    columns = {f"q{i}": chance.integers(0, 50, rows) for i in range(attributes)}
    return pl.DataFrame(columns | {"class": chance.integers(0, 2, rows)})


def names(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if name != "class"]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 5), st.data())
def test_every_row_gets_its_variations(rows: int, attributes: int, sigma: int, data: st.DataObject) -> None:
    original = table(rows, attributes)
    rho = data.draw(st.integers(0, attributes))
    blocks = list(expanded(original, names(original), sigma, rho, seed=data.draw(st.integers(0, 9))))
    assert len(blocks) == sigma
    assert blocks[0].equals(original)
    for block in blocks:
        assert block.schema == original.schema
        assert block["class"].equals(original["class"])
        same = np.column_stack([(block[name] == original[name]).to_numpy() for name in names(original)])
        assert (same.sum(axis=1) >= rho).all()
        for name in names(original):
            assert set(block[name]) <= set(original[name])


def test_the_same_seed_gives_the_same_rows_and_a_smaller_sigma_the_first_blocks() -> None:
    original = table(200, 7)
    long = list(expanded(original, names(original), 4, seed=5))
    short = list(expanded(original, names(original), 2, seed=5))
    other = list(expanded(original, names(original), 2, seed=6))
    assert all(one.equals(same) for one, same in zip(short, long, strict=False))
    assert not other[1].equals(short[1])
    assert not long[1].equals(long[2])


def test_kept_attributes_are_drawn_evenly_and_values_uniformly_from_the_domain() -> None:
    """7 attributes with a value that is very frequent: draws follow the domain, not the frequencies."""
    rows = 20_000
    frequent = pl.Series([0] * (rows - 3) + [1, 2, 3])
    original = pl.DataFrame({f"q{i}": frequent for i in range(7)})
    _, block = expanded(original, names(original), 2, rho=3)
    for name in names(original):
        counts = dict(block[name].value_counts().iter_rows())
        drawn = rows * 4 / 7
        for value in (1, 2, 3):
            assert counts[value] == pytest.approx(drawn / 4, rel=0.1)
        assert counts[0] == pytest.approx(rows * 3 / 7 + drawn / 4, rel=0.05)


def test_missing_values_may_stay_and_are_never_drawn() -> None:
    original = pl.DataFrame({"a": ["x", None, "y"], "b": [None, None, None], "class": ["n", "y", "n"]})
    _, none_kept = expanded(original, ["a", "b"], 2, rho=0)
    assert none_kept["a"].null_count() == 0
    assert none_kept["b"].null_count() == 3
    _, all_kept = expanded(original, ["a", "b"], 2, rho=2)
    assert all_kept.equals(original)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"attributes": ["zip"]}, HeaderError, "no column 'zip'"),
        ({"sigma": 0}, ParameterError, "sigma"),
        ({"rho": 8}, ParameterError, "between 0 and 7"),
        ({"rho": -1}, ParameterError, "between 0 and 7"),
        ({"seed": -1}, ParameterError, "seed"),
    ],
)
def test_wrong_parameters_are_refused_at_once(arguments: dict, error: type, message: str) -> None:
    original = table(3, 7)
    with pytest.raises(error, match=message):
        expanded(original, **({"attributes": names(original), "sigma": 2} | arguments))
