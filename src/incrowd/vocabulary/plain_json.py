"""JSON that was written by a program and may have been damaged, or made to harm, since."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def read_plain_json(text: str | bytes) -> Any:
    """The data of a JSON document; raises ValueError if it is none, has a key twice, or is nested too deeply.

    Examples
    --------
    >>> read_plain_json('{"k": [5, null]}')
    {'k': [5, None]}
    >>> read_plain_json('{"k": 5, "k": 2}')
    Traceback (most recent call last):
    ...
    ValueError: a key is there twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a key is there twice")
    return data
