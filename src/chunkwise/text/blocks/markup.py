"""Written markup other than Markdown: which scanner finds its blocks, and what a heading's words are."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from chunkwise.text.blocks.asciidoc import asciidoc_blocks, asciidoc_title
from chunkwise.text.blocks.blocks import Blocks
from chunkwise.text.blocks.org import org_blocks, org_title
from chunkwise.text.blocks.rst import rst_blocks, rst_title
from chunkwise.text.blocks.tex import tex_blocks, tex_title


class Markup(NamedTuple):
    """How the text of one format is read."""

    blocks: Callable[[str], Blocks]
    title: Callable[[str], str]
    """The words of a heading, of its text with all its marks."""


MARKUPS: dict[str, Markup] = {
    "rst": Markup(rst_blocks, rst_title),
    "tex": Markup(tex_blocks, tex_title),
    "asciidoc": Markup(asciidoc_blocks, asciidoc_title),
    "org": Markup(org_blocks, org_title),
}
