"""The documentation site: built without a warning, complete by itself, searched and followed without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from support.chromium import find_chromium
from support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "embed": "src",
    "object": "data",
    "link": "href",
}
STYLED = re.compile(r"(?:url\(|@import)\s*[\"']?(?!data:)([^\"')\s;]+)")
pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """What a page loads, where its links lead, and where links may lead on it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.loads, self.links, self.names = path, list[str](), list[str](), {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.names.add(values.get("id", ""))
        self.loads += [values[LOADED[tag]]] if LOADED.get(tag) in values else []
        self.loads += STYLED.findall(values.get("style", ""))
        self.links += [values["href"]] if tag == "a" and "href" in values else []

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self.loads += STYLED.findall(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as ``make docs`` builds it: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    words = ["--quiet", "--fail-on-warning", "--conf-dir", "docs", "--doctree-dir", f"{folder}-trees", ".", str(folder)]
    environment = os.environ | {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def outside(loads: Iterator[tuple[Path, str]]) -> list[tuple[str, str]]:
    return [
        (path.name, load) for path, load in loads if urlsplit(load).netloc or urlsplit(load).scheme not in ("", "data")
    ]


def test_nothing_is_loaded_from_other_hosts(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > 60
    assert outside((path, load) for path, page in pages.items() for load in page.loads) == []
    styles = [*site.rglob("*.css"), *site.rglob("*.svg")]
    assert outside((path, load) for path in styles for load in STYLED.findall(path.read_text(encoding="utf-8"))) == []
    scripts = [path.read_text(encoding="utf-8") for path in site.rglob("*.js") if path.name != "searchindex.js"]
    assert not [script for script in scripts if re.search(r"(fetch|import|open)\([\"'`](https?:)?//", script)]


def test_every_link_within_the_site_leads_somewhere(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not parts.scheme and not (target.exists() and _named(pages, target, unquote(parts.fragment))):
                broken.append((path.name, link))
    assert not broken


def _named(pages: dict[Path, Page], target: Path, name: str) -> bool:
    return target not in pages or name in pages[target].names


def test_the_search_answers_without_a_network(site: Path, tmp_path: Path) -> None:
    chromium = find_chromium()
    assert chromium is not None, "make browser"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]
    flags += [f"--user-data-dir={tmp_path}", "--host-resolver-rules=MAP * ~NOTFOUND"]
    address = f"{(site / 'search.html').as_uri()}?q=quasi-identifier"
    shown = subprocess.run(
        [chromium, *flags, address], capture_output=True, text=True, timeout=PATIENCE, check=True
    ).stdout
    found = re.findall(r'href="(docs/[\w/]+\.html)', shown.split('id="search-results"')[1])
    assert "docs/glossary.html" in found
    assert len(set(found)) > 5


def test_a_cell_that_fails_is_an_error_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Page\n\n```{code-cell} python\n1 / 0\n```\n", encoding="utf-8")
    (tmp_path / "conf.py").write_text('extensions = ["myst_parser", "docs.notebooks"]\n', encoding="utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", str(tmp_path), str(tmp_path / "built")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode != 0
    assert "the cell failed: ZeroDivisionError" in built.stderr
