"""Views are data: they go to JSON and back, a page made of what came back is the same page, and text stays text."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.report import page as pages
from chunkwise.report.page import fragment, page
from chunkwise.report.views.chunks import chunk_card, chunks_view
from chunkwise.report.views.view import View
from chunkwise.text.analyzed import Analyzed
from report.reading_pages import EVIL, Page
from tables import cases

HOSTILE = "{{ 7919*7907 }}{% raw %}{# gone #}${x}</textarea>" + EVIL
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
TEXT = "# Lamps\n\nThe lamp burns all night, the keeper says.\n\n## Posts\n\n- one lamp\n- two\n"


def chunked(word: str = "") -> tuple[Analyzed, list[Chunk]]:
    document = Document(f"a{word}.md", f"{TEXT}{word}", title=f"Lamps{word}", format="markdown")
    analyzed = Analyzed(document)
    return analyzed, list(get_strategy("recursive(max_tokens=12)").chunks(analyzed))


def of_chunks(word: str = "") -> View:
    return chunks_view([chunked(word)], f"recursive{word}", limit=12)


def of_chunk(word: str = "") -> View:
    return chunk_card(chunked(word)[1][0])


MAKERS = (of_chunks, of_chunk)
SHOWN = MAKERS


def html_of(view: View) -> list[str]:
    """Its page and its fragment, where it has them."""
    found = [page(view)] if view.page_template else []
    return found + ([fragment(view)] if view.fragment_template else [])


@cases("maker", SHOWN)
def test_hostile_text_adds_no_element_no_control_and_is_no_template(
    maker: Callable[[str], View],
) -> None:
    for html, calm in zip(html_of(maker(HOSTILE)), html_of(maker("lamp " * 40)), strict=True):
        tags = [[tag for tag, _ in Page(each).tags if tag != "wbr"] for each in (html, calm)]
        assert set(tags[0]) == set(tags[1])
        assert tags[0].count("script") == tags[1].count("script")
        assert "img" not in tags[0]
        assert not CONTROL.search(html)
        assert html.encode("utf-8")
        for _, attributes in Page(html).tags:
            assert not [name for name in attributes if name.startswith("on")]
        if maker is not of_chunks:  # whose script draws the text
            assert "document.title='owned'" in Page(html).text
            assert "{{ 7919*7907 }}{% raw %}{# gone #}${x}" in Page(html).text
        assert "62615533" not in html


@cases("maker", [of_chunks])
def test_the_policy_names_the_inline_texts_by_their_hashes(maker: Callable[[str], View]) -> None:
    html = page(maker(""))
    style = re.findall("<style>(.*?)</style>", html, re.S)
    script = re.findall("<script>(.*?)</script>", html, re.S)
    policy = Page(html).policy
    assert policy["default-src"] == "'none'"
    for name, texts in (("style-src", style), ("script-src", script)):
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts]
        assert policy.get(name, "") == "".join(f"'sha256-{own.decode()}'" for own in hashes)
    assert len(style) == 1
    assert len(script) == 1


def test_a_view_without_a_page_says_so() -> None:
    with pytest.raises(InvalidParameter, match="ChunkCard is not drawn"):
        page(of_chunk())


def test_views_hold_plain_values_only() -> None:
    def plain(value: object) -> bool:
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(own) for key, own in value.items())
        if isinstance(value, list):
            return all(map(plain, value))
        return value is None or type(value) in (str, int, float, bool)

    for maker in MAKERS:
        assert plain(maker("").to_dict())


def test_every_template_is_made_and_nothing_undefined_is_shown() -> None:
    environment = pages._environment()
    names = [each.name for each in (files("chunkwise.report") / "templates").iterdir()]
    assert len(names) > 4
    for name in names:
        assert name.endswith(".html.j2")
        assert environment.get_template(name).filename
    assert environment.autoescape is True
    for wrong in ("{{ nothing }}", "{{ view.nothing }}", "{{ missing }}"):
        with pytest.raises(Exception, match=r"undefined|no attribute|shows None"):
            environment.from_string(wrong).render(view=of_chunk(), missing=None)
    assert environment.from_string("{{ x }}").render(x="<a>\n \u202e'") == "&lt;a&gt; &#39;"


def test_an_error_names_the_line_of_the_template() -> None:
    """Line breaks are left out between tags; lines are still those of the file."""
    text, name, _ = pages._source(pages.OWN, "base.html.j2")
    assert text.count("\n") == Path(name).read_text("utf-8").count("\n")
    assert not re.search(r">\s*\n\s*<", text)


@pytest.mark.usefixtures("processes")
def test_templates_are_loaded_only_where_a_page_is_made() -> None:
    code = (
        "import sys, chunkwise, chunkwise.cli.main, chunkwise.report.page\n"
        "assert 'jinja2' not in sys.modules and 'markupsafe' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
