import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from incrowd.errors import Notice
from incrowd.report.facts import AttributeFacts, Facts
from incrowd.report.terminal import _LETTERS, MOST_ATTRIBUTES, bar, print_summary, summary
from incrowd.report.wording import ALL_FORMS, grouped
from incrowd.verification.verdict import Check, Verdict
from support.report_examples import example, sizes

FILES = {"release": "out/census-release.csv", "report": "out/report.html"}


def printed(facts: Facts, files: dict[str, str] = FILES, width: int = 120) -> str:
    file = io.StringIO()
    print_summary(facts, Console(file=file, width=width, color_system=None), files)
    return file.getvalue()


def both(facts: Facts) -> tuple[str, str]:
    return (summary(facts), printed(facts))


def test_the_summary_is_one_screen() -> None:
    said = summary(example())
    assert 12 <= len(said.splitlines()) <= 20
    assert max(map(len, said.splitlines())) <= 110


def test_both_say_the_same_facts() -> None:
    for said in both(example()):
        for words in (
            "Release of census.csv",
            "satisfies 10-anonymity, recounted independently from the written file",
            "10,430 of 10,434 rows released; 4 left out",
            "300; smallest 10 rows, largest 1,204 rows",
            "55.7 % of the quasi-identifier cells show something",
            "85.5 % before, 84.9 % after, 75.1 % by majority",
            "3,030 unseen rows",
            "income: 12 rows have no class; they count as a class of their own.",
            "marital-status",
            "census-release.csv",
        ):
            assert words in said


def test_each_attribute_has_its_bar() -> None:
    lines = {line.split()[0]: line for line in summary(example()).splitlines() if "[" in line}
    assert set(lines) == {attribute.name for attribute in example().attributes}
    assert "[##########..........]  49.7 %" in lines["sex"]
    assert "[....................]     0 %" in lines["native-country"]
    assert "[###########======...]  84.9 %" in lines["education"]


def test_the_terminal_shows_the_share_of_every_form() -> None:
    line = next(line for line in printed(example()).splitlines() if line.startswith("workclass"))
    assert "███████▓▓▓▓·········" in line
    assert [word for word in line.split() if word[0].isdigit()] == ["34.3", "20.1", "0", "0", "45.6"]


def test_files_are_listed_where_they_are() -> None:
    said = printed(example(), {"certificate": "/data/a/b.certificate.json"})
    assert "certificate" in said
    assert "/data/a/b.certificate.json" in said
    assert "certificate" not in printed(example(), {})


@given(st.lists(st.floats(0, 1), min_size=len(ALL_FORMS), max_size=len(ALL_FORMS)).filter(sum), st.integers(1, 60))
def test_a_bar_has_its_width_and_its_shares(parts: list[float], width: int) -> None:
    shares = {form: part / sum(parts) for form, part in zip(ALL_FORMS, parts, strict=True)}
    pieces = bar(shares, _LETTERS, width)
    assert sum(map(len, pieces.values())) == width
    for form, piece in pieces.items():
        assert set(piece) <= {_LETTERS[form]}
        assert abs(len(piece) - width * shares[form]) <= 1.01


def test_a_release_that_was_not_verified_says_so() -> None:
    failed = Verdict(sizes(), (Check("10-anonymity", False, "smallest class: 3 rows"),))
    for verdict, words in ((failed, "FAILED its verification"), (Verdict(sizes()), "NOT VERIFIED")):
        for said in both(example(verdict=verdict)):
            assert words in said
            assert "satisfies" not in said


def test_what_was_not_measured_is_said() -> None:
    for said in both(example(accuracy=None)):
        assert "not measured" in said


def test_no_notice_is_dropped() -> None:
    notices = tuple(Notice("x", f"column{i}", "was handled.") for i in range(40))
    for said in both(example(notices=notices)):
        assert all(f"column{i}" in said for i in range(40))
        assert said.count("was handled.") == 1


def test_notices_of_one_kind_are_one_sentence() -> None:
    looks = "released unchanged, although its drafted role is quasi-identifier"
    notices = [Notice("unnamed", name, f"{looks} ({name}).") for name in ("age", "sex", "zip")]
    (words,) = grouped(notices)
    assert words == "3 columns are released unchanged that others may know: age, sex and zip. State their roles."
    assert grouped(notices[:1]) == [f"age: {looks} (age)."]


def test_many_attributes_are_counted_not_listed() -> None:
    many = tuple(AttributeFacts(f"q{i:03}", {"value": 1.0}) for i in range(100))
    for said in both(example(attributes=many)):
        assert f"q{MOST_ATTRIBUTES - 1:03}" in said
        assert f"q{MOST_ATTRIBUTES:03}" not in said
        assert f"and {100 - MOST_ATTRIBUTES} more quasi-identifiers" in said


@pytest.mark.parametrize("name", ["[red]zip[/red]", "[/]", "zip :smile:", "[link=x]"])
def test_names_are_not_markup(name: str) -> None:
    facts = example(attributes=(AttributeFacts(name, {"value": 0.5}),), source=name)
    for said in both(facts):
        assert said.count(name) == 2


def test_names_cannot_steer_the_terminal() -> None:
    name = "zip\x1b[2J\r\u202e"
    facts = example(
        attributes=(AttributeFacts(name, {"value": 0.5}),),
        source=name,
        output=name,
        method=name,
        notices=(Notice("x", name, name),),
    )
    for said in (summary(facts), printed(facts, {name: name})):
        assert not set(said) & {"\x1b", "\r", "\u202e"}


def test_an_ascii_terminal_can_print_it() -> None:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding="ascii")
    print_summary(example(), Console(file=file, width=120), FILES)
    file.flush()
    assert b"#######====........." in buffer.getvalue()
    summary(example()).encode("ascii")


def test_a_narrow_terminal_loses_no_path() -> None:
    path = "/a/very/long/folder/name/" * 6 + "release.csv"
    said = printed(example(), {"release": path}, width=60)
    assert path in said.replace("\n", "").replace(" ", "")


def test_nothing_to_list_is_fine() -> None:
    for said in both(example(attributes=(), notices=(), output=None)):
        assert "satisfies 10-anonymity" in said
        assert "hidden" not in said


def test_the_word_is_not_used_as_a_claim() -> None:
    for said in both(example()):
        assert "anonymous" not in said.lower()
