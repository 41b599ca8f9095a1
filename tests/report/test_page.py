"""Templates are filled in by one set of rules: what is put into them is text, and nothing undefined is shown."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.report import page as pages
from chunkwise.report.cuts_page import ChunksView
from chunkwise.text.analyzed import Analyzed
from report.reading_pages import EVIL, Page

HOSTILE = "{{ 7919*7907 }}{% raw %}{# gone #}${x}</textarea>" + EVIL
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
TEXT = "# Lamps\n\nThe lamp burns all night, the keeper says.\n\n## Posts\n\n- one lamp\n- two\n"


def page_with(word: str) -> str:
    document = Analyzed(
        Document(f"a{word}.md", f"{TEXT}{word}", title=f"Lamps{word}", format="markdown")
    )
    chunks = list(get_strategy("recursive(max_tokens=12)").chunks(document))
    out = io.StringIO()
    ChunksView([(document, chunks)], f"recursive{word}", 12).write(out)
    return out.getvalue()


def test_hostile_text_adds_no_element_no_control_and_is_no_template() -> None:
    html, calm = page_with(HOSTILE), page_with("lamp " * 40)
    tags = [[tag for tag, _ in Page(each).tags if tag != "wbr"] for each in (html, calm)]
    assert set(tags[0]) == set(tags[1])
    assert tags[0].count("script") == tags[1].count("script")
    assert not CONTROL.search(html)
    assert html.encode("utf-8")
    for _, attributes in Page(html).tags:
        assert not [name for name in attributes if name.startswith("on")]
    assert "62615533" not in html


def test_the_policy_names_the_inline_texts_by_their_hashes() -> None:
    html = page_with("")
    policy = Page(html).policy
    assert policy["default-src"] == "'none'"
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[name] == f"'sha256-{digest}'"


def test_every_template_is_made_and_nothing_undefined_is_shown() -> None:
    environment = pages._environment()
    names = [each.name for each in (files("chunkwise.report") / "templates").iterdir()]
    assert len(names) == 4
    for name in names:
        assert name.endswith(".html.j2")
        assert environment.get_template(name).filename
    assert environment.autoescape is True
    for wrong in ("{{ nothing }}", "{{ view.nothing }}", "{{ missing }}"):
        with pytest.raises(Exception, match=r"undefined|no attribute|renders None"):
            environment.from_string(wrong).render(view=object(), missing=None)
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
