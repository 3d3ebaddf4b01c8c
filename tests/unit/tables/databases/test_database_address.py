"""Addresses and names: what is kept, what is shown, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import OutputError, ParameterError
from incrowd.tables.databases.tables import Address, Query, TableName, check_columns, is_address, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql:///clinic?table=visits", "postgresql:///clinic?table=visits"),
        ("postgres://host-x:5433/clinic?table=a.b", "postgresql:///clinic?table=a.b"),
        ("postgresql://user-x@host-x/clinic", "postgresql:///clinic"),
        ("postgresql://user-x@host-x,other-x:1/clinic?sslmode=require&table=t", "postgresql:///clinic?table=t"),
        ("postgresql://", "postgresql:///"),
        ("postgresql://host-x", "postgresql:///"),
        ("postgresql://host-x?table=t&user=user-x", "postgresql:///?table=t"),
        ("postgresql:///?service=service-x&table=t", "postgresql:///?table=t"),
        ("POSTGRESQL:///clinic", "postgresql:///clinic"),
        ("postgresql:///two%20words?table=two%20words", "postgresql:///two words?table=two words"),
        ("postgresql:///?dbname=clinic", "postgresql:///clinic"),
    ],
)
def test_only_database_and_table_are_shown(text, shown):
    address = Address.parse(text)
    assert str(address) == shown
    assert "-x" not in repr(address)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann:s3cret@host/clinic",
        "postgresql://ann:@host/clinic",
        "postgresql://:s3cret@/clinic",
        "postgresql://ann:s3#cret@host/clinic",
        "postgresql://ann:s3?cret@host/clinic",
        "postgresql://ann:s3/cret@host/clinic",
        "postgresql:///clinic?password=s3cret",
        "postgresql:///clinic?PASSWORD=s3cret",
        "postgresql:///clinic?%70assword=s3cret",
        "postgresql:///clinic?sslpassword=s3cret",
        "postgresql:///clinic?oauth_client_secret=s3cret",
        "postgresql:///clinic?table=t&password=",
        "postgresql://host/clinic%20password%3Ds3cret",
        "postgresql:///?dbname=postgresql://ann:s3cret@host/clinic",
    ],
)
def test_a_password_is_refused_and_not_repeated(text):
    with pytest.raises(ParameterError, match="PGPASSWORD, PGPASSFILE or PGSERVICE") as told:
        Address.parse(text)
    assert "s3" not in str(told.value)
    assert "ann" not in str(told.value)


def test_the_driver_gets_what_it_needs_and_nothing_of_ours():
    address = Address.parse("postgresql://user@host:5433/clinic?table=t&sslmode=require&client_encoding=LATIN1")
    assert address.connection == "postgresql://user@host:5433/clinic?sslmode=require&client_encoding=UTF8"
    assert address.at("s.u").connection == address.connection
    assert str(address.at("s.u")) == "postgresql:///clinic?table=s.u"
    assert address.at(None) is address


@pytest.mark.parametrize("given", ["visits.csv", "mysql:///x", "", None, 3, "postgresql", "file.postgresql://"])
def test_other_sources_are_no_addresses(given):
    assert not is_address(given)


def test_an_address_says_how_it_begins():
    with pytest.raises(ParameterError, match="begins with postgresql://"):
        Address.parse("mysql:///clinic")


@pytest.mark.parametrize("text", ["", ".", "a.", ".b", "a.b.c", 'a"b', '"a', "x" * 64, "é" * 32, "a\0b", '"".b'])
def test_names_that_the_server_would_change_are_refused(text):
    with pytest.raises(ParameterError):
        TableName.parse(text)


@given(name=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=15))
def test_a_quoted_name_is_read_back(name):
    table = TableName(name, "other")
    assert TableName.parse(table.sql) == table
    assert TableName.parse(str(table)) == table
    inner = quoted(name)[1:-1]
    assert inner.replace('""', "").count('"') == 0


@pytest.mark.parametrize("name", ["x" * 64, "ctid", "a\0b", ""])
def test_columns_that_the_server_cannot_keep_are_named(name):
    with pytest.raises(OutputError, match="Rename the column"):
        check_columns(["age", name])


def test_a_table_or_a_query_but_not_both():
    for arguments in (["postgresql:///clinic"], ["postgresql:///clinic?table=t", "SELECT 1"]):
        with pytest.raises(ParameterError, match=r"a table .* or a query, not both"):
            Query.of(*arguments)
    with pytest.raises(ParameterError, match="NUL"):
        Query.of("postgresql:///clinic", "SELECT '\0'")
    assert str(Query.of("postgresql://host-x", "SELECT 'Ann'")) == "a query of a database"
