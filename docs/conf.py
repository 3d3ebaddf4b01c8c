"""The documentation site: ``make docs`` builds it with Sphinx, offline, into build/site.

The sources are the pages of this folder and those at the root of the repository, so that links between them lead
somewhere wherever they are read.
"""

from __future__ import annotations

import os

# the notebook about Spark runs for seconds: Java that starts quickly needs two thirds of the CPU
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

project = "incrowd"
html_title = "incrowd"

extensions = ["myst_parser", "docs.notebooks"]
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [".*", "build", "demo", "dist", "src", "tests", "bench", "experiments", "quality"]
root_doc = "docs/index"
nitpicky = True
myst_heading_anchors = 4

html_theme = "furo"
pygments_dark_style = "github-dark"  # that of the theme underlines imports as if they were links
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_extra_path = ["site/root"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"footer_icons": [], "top_of_page_buttons": []}
