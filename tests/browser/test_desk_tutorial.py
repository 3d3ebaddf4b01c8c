"""The tutorial at the desk, followed in a browser: its pictures are of the way that it tells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.desk_pictures import PICTURES, take_pictures

PAGE = Path(__file__).parents[2] / "docs" / "tutorial_desk.md"


@pytest.mark.slow
def test_the_tutorial_at_the_desk_can_be_followed_to_a_signed_release(tmp_path: Path) -> None:
    shown = re.findall(r"\(pictures/desk/([\w-]+\.png)\)", PAGE.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir())
    assert take_pictures(tmp_path / "pictures") == sorted(shown)
