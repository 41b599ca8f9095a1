"""Build the site: Furo, MyST, offline search. Links in index.md are the table of contents."""

import re

from sphinx.application import Sphinx

from chunkwise import __version__

project = "chunkwise"
author = "the chunkwise authors"
version = release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # "…" in JSON and signatures
exclude_patterns = ["kubernetes.yaml"]
html_theme = "furo"
html_title = "chunkwise"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False


def list_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Make a table of contents of the links below each heading of the first page."""
    if name != "index":
        return
    for title, section in re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", source[0], re.M):
        pages = "\n".join(re.findall(r"^- \[[^]]+\]\((\S+)\.md\)", section, re.M))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", list_pages)
