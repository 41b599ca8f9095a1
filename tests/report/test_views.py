"""Views are data: they go to JSON and back, a page made of what came back is the same page, and text stays text."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from chunkwise.report.views.evaluation import evaluation_view

from chunkwise.answering.cited_answer import Citation, CitedAnswer, Claim
from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.core import Chunk, Document, Hit
from chunkwise.evaluation.lint import located
from chunkwise.metrics.cuts.boundary_issue_counts import CutTally
from chunkwise.profiling import profile
from chunkwise.report import page as pages
from chunkwise.report.page import fragment, page
from chunkwise.report.views.answer import answer_view
from chunkwise.report.views.chunks import chunk_card, chunks_view
from chunkwise.report.views.graph import overview_view
from chunkwise.report.views.hits import hits_view
from chunkwise.report.views.lint import LintSample, lint_view
from chunkwise.report.views.profile import profile_view
from chunkwise.report.views.tuning import tuning_view
from chunkwise.report.views.view import View
from chunkwise.retrieval import index
from chunkwise.retrieval.graph.names_and_neighbors import NameLookup
from chunkwise.text.analyzed import Analyzed
from report.evaluated_corpus import corpus, evaluated
from report.made_tuning import made_side_by_side, made_tuning
from report.reading_pages import EVIL, Page, changed
from tables import cases

HOSTILE = "{{ 7919*7907 }}{% raw %}{# gone #}${x}</textarea>" + EVIL
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
TEXT = "# Lamps\n\nThe lamp burns all night, the keeper says.\n\n## Posts\n\n- one lamp\n- two\n"


def chunked(word: str = "") -> tuple[Analyzed, list[Chunk]]:
    document = Document(f"a{word}.md", f"{TEXT}{word}", title=f"Lamps{word}", format="markdown")
    analyzed = Analyzed(document)
    return analyzed, list(get_strategy("recursive(max_tokens=12)").chunks(analyzed))


def of_evaluation(word: str = "") -> View:
    given = evaluated(12)
    kept = {*given.summary, *given.configuration, *given.data, *given.cost, "count", "hash", ""}
    text = changed(given, lambda own: own if own in kept else own + word)
    return evaluation_view(text, {own.id + word: own for own in corpus().values()})


def of_tuning(word: str = "") -> View:
    few = dataclasses.replace(made_tuning(), standings=made_tuning().standings[:9])
    told = dataclasses.replace(few, sentence=few.sentence + word, caveats=(word,))
    both = dataclasses.replace(made_side_by_side(5), chosen=f"x{word}")
    return tuning_view(told, side_by_side=both, code={f"Python{word}": f"a = 1  # {word}\n"})


def of_profile(word: str = "") -> View:
    return profile_view(profile([chunked(word)[0].document]), f"Lamps{word}")


def of_chunks(word: str = "") -> View:
    return chunks_view([chunked(word)], f"recursive{word}", limit=12)


def of_hits(word: str = "") -> View:
    _, chunks = chunked(word)
    hits = [
        Hit(own.document, own.start, own.end, 1 / rank, rank, own.token_count, own.section)
        for rank, own in enumerate(chunks, 1)
    ]
    return hits_view(hits, f"Where is the lamp?{word}")


def of_chunk(word: str = "") -> View:
    return chunk_card(chunked(word)[1][0])


def of_answer(word: str = "") -> View:
    place = Citation(
        1, f"a{word}", "a", 0, 9, f"the lamp{word}", section=(f"A{word}",), lines=(1, 2)
    )
    claims = (
        Claim(f"It burns.{word}", "supported", place),
        Claim(f"It is red.{word}", "quoted", place, is_moved=True, note=f"not said{word}"),
        Claim(f"It is blue.{word}", "unsupported", note=f"nowhere{word}"),
    )
    return answer_view(CitedAnswer(f"Where?{word}", claims, llm=f"m{word}", prompt=f"p{word}"))


def of_lint(word: str = "") -> View:
    analyzed, chunks = chunked(word)
    tally, sample = CutTally(), LintSample(4)
    sample.add(analyzed.document, len(chunks), located(analyzed, tally.add(analyzed, chunks)))
    return lint_view(sample, tally.cuts(), f"recursive{word}")


def of_names(word: str = "") -> View:
    text = f"The lamp of Anna Orme burns at Port Ansel.{word} Anna Orme{word} keeps it."
    documents = [Document(f"{at}{word}", text, title=f"Port Ansel{word}") for at in range(2)]
    lookup = NameLookup(index(documents, vectors="none", graph=True).source)
    every = lookup.overview()
    return overview_view(every, [lookup.details(own.name) for own in every.most_linked], word)


MAKERS = (
    of_evaluation, of_tuning, of_profile, of_chunks, of_hits, of_chunk, of_answer, of_lint,
    of_names,
)  # fmt: skip
SHOWN = [maker for maker in MAKERS if maker not in (of_lint,)]


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


@cases("maker", [of_evaluation, of_tuning, of_profile, of_chunks, of_names])
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
    assert len(script) == (0 if maker is of_profile else 1)


def test_a_view_without_a_page_says_so() -> None:
    with pytest.raises(InvalidParameter, match="AnswerView is not drawn"):
        page(of_answer())


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
    assert len(names) > 8
    for name in names:
        assert name.endswith(".html.j2")
        assert environment.get_template(name).filename
    assert environment.autoescape is True
    for wrong in ("{{ nothing }}", "{{ view.nothing }}", "{{ missing }}"):
        with pytest.raises(Exception, match=r"undefined|no attribute|shows None"):
            environment.from_string(wrong).render(view=of_hits(), missing=None)
    assert environment.from_string("{{ x }}").render(x="<a>\n \u202e'") == "&lt;a&gt; &#39;"


def test_an_error_names_the_line_of_the_template() -> None:
    """Line breaks are left out between tags; lines are still those of the file."""
    text, name, _ = pages._source(pages.OWN, "evaluation.html.j2")
    assert text.count("\n") == Path(name).read_text("utf-8").count("\n")
    assert not re.search(r">\s*\n\s*<", text)


@pytest.mark.usefixtures("processes")
def test_templates_are_loaded_only_where_a_page_is_made() -> None:
    code = (
        "import sys, chunkwise, chunkwise.cli.main, chunkwise.report.page\n"
        "assert 'jinja2' not in sys.modules and 'markupsafe' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
