"""One Chromium for all tests of a file; each page has a window of its own."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from support.new_user import opened_browser

Opened = Callable[..., tuple[Page, list[str]]]
Painted = Callable[..., set[tuple[int, ...]]]
_COLOURS = """async png => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const {data} = canvas.getImageData(0, 0, image.width, image.height);
  return [...new Set(new Uint32Array(data.buffer))].map(one => [one & 255, one >> 8 & 255, one >> 16 & 255]);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened_browser() as one:
        yield one


@pytest.fixture
def browse(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Open a page from a file; with what the console says of it."""
    windows: list[Page] = []

    def opened(html: str, width: int = 800, height: int = 1400, **look: Any) -> tuple[Page, list[str]]:
        file, said = tmp_path / f"page-{len(windows)}.html", list[str]()
        file.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": height}, **look)
        page.on("console", lambda message: said.append(message.text))
        page.goto(file.as_uri())
        windows.append(page)
        return page, said

    yield opened
    for page in windows:
        page.close()


@pytest.fixture
def painted(browse: Opened) -> Painted:
    """All colours that the browser paints of a page."""

    def colours(html: str, **look: Any) -> set[tuple[int, ...]]:
        page, _ = browse(html, **look)
        blank, _ = browse("")
        return {tuple(colour) for colour in blank.evaluate(_COLOURS, base64.b64encode(page.screenshot()).decode())}

    return colours
