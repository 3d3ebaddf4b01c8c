"""What a learner is called: its word in the catalog, with the parameters that are not as usual."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any


def called(word: str, learner: Any) -> str:
    """The word of a learner, followed by its unusual parameters.

    Examples
    --------
    >>> from incrowd.lab.learners.naive_bayes import NaiveBayes
    >>> called("nb", NaiveBayes()), called("nb", NaiveBayes(laplace=0.5))
    ('nb', 'nb(laplace=0.5)')
    """
    unusual = {field.name: getattr(learner, field.name) for field in fields(learner) if field.default is not MISSING}
    usual = {field.name: field.default for field in fields(learner)}
    return with_parameters(word, {name: value for name, value in unusual.items() if value != usual[name]})


def with_parameters(word: str, parameters: dict[str, Any]) -> str:
    """A word with parameters in brackets, as :func:`incrowd.lab.learners.catalog.find_learner` reads it."""
    inside = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return f"{word}({inside})" if inside else word
