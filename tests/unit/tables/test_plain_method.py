"""Which method is taken where plain values are asked for by their form and no method is named."""

from __future__ import annotations

import pytest

from incrowd.tables.recipe import parse_recipe, recipe_of
from incrowd.tables.recipe_checks import DEFAULT_METHOD, PLAIN_METHOD


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({"form": "strict"}, PLAIN_METHOD),
        ({}, DEFAULT_METHOD),
        ({"form": "counts"}, DEFAULT_METHOD),
        ({"form": "strict", "method": DEFAULT_METHOD}, DEFAULT_METHOD),
        ({"form": "strict", "parameters": {"numeric": "levels"}}, DEFAULT_METHOD),
        ({"form": "strict", "lose": "2%"}, DEFAULT_METHOD),
        ({"form": "strict", "require": "k-map=3"}, DEFAULT_METHOD),
    ],
)
def test_plain_values_by_their_form_are_those_that_keep_most(options, method):
    assert recipe_of(options).method == method


def test_a_recipe_file_says_it_too():
    assert parse_recipe("form: strict", "r.yaml").method == PLAIN_METHOD
    assert parse_recipe(f"form: strict\nmethod: {DEFAULT_METHOD}", "r.yaml").method == DEFAULT_METHOD
