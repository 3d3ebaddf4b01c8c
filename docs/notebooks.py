"""Notebooks in MyST form, run when the site is built: the ``code-cell`` directive.

The cells of a page share names and a folder of their own. What they print, and what their last expression shows of
itself, stands below them; a cell that fails is an error of the build.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_TABLES = """<style>:host { font-size: 0.85rem; }
table.dataframe { border-collapse: collapse; border: 0; }
table.dataframe :is(td, th) { border: 0; border-bottom: 1px solid; padding: 0.2rem 0.6rem; }</style>"""
"""Data frames leave their look to the page around them."""


class Notebook:
    """What the cells of one page share."""

    def __init__(self, name: str) -> None:
        self.names: dict[str, Any] = {"__name__": name}
        self.folder = tempfile.TemporaryDirectory(prefix="incrowd-notebook-")

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """In the folder of the notebook; keys that it makes are not the reader's."""
        home = os.environ.get("XDG_CONFIG_HOME")
        os.environ["XDG_CONFIG_HOME"] = str(Path(self.folder.name) / "config")
        try:
            with contextlib.chdir(self.folder.name):
                yield
        finally:
            os.environ.pop("XDG_CONFIG_HOME")
            if home is not None:
                os.environ["XDG_CONFIG_HOME"] = home

    def run(self, source: str) -> tuple[str, Any]:
        """What a cell prints, and the value of its last line if that is an expression."""
        cell, value, printed = ast.parse(source), None, io.StringIO()
        last = cell.body[-1]
        if isinstance(last, ast.Expr):
            cell.body.pop()
        with self._inside(), contextlib.redirect_stdout(printed):
            exec(compile(cell, self.names["__name__"], "exec"), self.names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), self.names["__name__"], "eval"), self.names)
        return printed.getvalue(), value


class CodeCell(SphinxDirective):
    """A cell: its source, then what it gives."""

    has_content = True
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Run the cell after those above it on its page."""
        source = "\n".join(self.content)
        notebook = self.env.temp_data.setdefault("incrowd_notebook", None) or Notebook(self.env.docname)
        self.env.temp_data["incrowd_notebook"] = notebook
        try:
            printed, value = notebook.run(source)
        except Exception as error:
            raise self.error(f"the cell failed: {type(error).__name__}: {error}") from error
        block = nodes.literal_block(source, source, language="python")
        self.set_source_info(block)
        return [block, *_shown(printed, value)]


def _shown(printed: str, value: Any) -> Iterator[nodes.Node]:
    """Printed text, then the value as HTML if it can be, else as text."""
    html = value._repr_html_() if hasattr(value, "_repr_html_") else None
    text = printed + (repr(value) if value is not None and html is None else "")
    if text.strip():
        yield nodes.literal_block(text.rstrip(), text.rstrip(), language="text", classes=["output"])
    if html is not None:  # in a tree of its own, where neither style sheet reaches the other's elements
        inside = f'<template shadowrootmode="open">{_TABLES}{html}</template>'
        yield nodes.raw("", f'<div class="shown" tabindex="0">{inside}</div>', format="html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx asks for it."""
    app.add_directive("code-cell", CodeCell)
    return {"parallel_read_safe": False}
