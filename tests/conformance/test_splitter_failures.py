"""Every built-in strategy on the inputs that broke released splitters, and what each should have done."""

from __future__ import annotations

import bisect
import itertools
from pathlib import Path

import pytest
import regex

from chunkwise.chunkers import Strategy, get_strategy, strategies
from chunkwise.core import Chunk, Document
from chunkwise.documents import read
from chunkwise.testkit import check_chunker, check_chunks
from conformance.independent_check import problems
from conformance.splitter_inputs import FAMILY, HEADINGS, INPUTS, MARKDOWN, Input
from hash_embedder import HashEmbedder
from tables import cases

pytestmark = pytest.mark.unwatched  # the contract of every strategy is watched in test_contract.py

BY_NAME = {given.name: given for given in INPUTS}
STRATEGIES = sorted(set(strategies.builtin) - {"raptor"})
"""What raptor has summarized stands in no document; its chunks are whole sentences, as those of `sentences`."""

CHECKED = ("recursive", "sentences", "structure", "sections", "paragraphs")


def strategy_for(name: str, given: Input, **more: object) -> str:
    """The strategy's specification at the input's limit, overlap and tokenizer."""
    values: dict[str, object] = {"overlap": given.overlap, "tokenizer": given.tokenizer, **more}
    if name == "characters":  # the limit is in characters, whatever the input asks
        values = {"max_chars": given.limit, "overlap": given.overlap}
    elif name == "words":
        values = {"max_words": given.limit, "overlap": given.overlap}
    else:
        values["max_tokens"] = given.limit
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in values.items())})"


def chunks_of(name: str, given: Input, **more: object) -> list[Chunk]:
    document = Document("x", given.text, format=given.format)
    return list(get_strategy(strategy_for(name, given, **more)).chunks(document))


@pytest.mark.parametrize("name", STRATEGIES)
@cases("given", INPUTS)
def test_contract_and_our_own_checker_agrees(name: str, given: Input) -> None:
    # Where meaning cuts, any vectors will do: the contract holds whatever the model says.
    model = {"model": HashEmbedder()} if name in ("semantic", "cluster") else {}
    strategy = get_strategy(strategy_for(name, given), **model)
    assert strategy.limit is not None
    tokenizer, limit = strategy.limit
    document = Document("x", given.text, format=given.format)
    chunks = list(strategy.chunks(document))
    found = problems(given.text, chunks, limit, str(tokenizer), given.overlap)
    if name == "words":  # counted by chunkwise's own definition, which an outsider does not know
        found = [line for line in found if " tokens" not in line]
    assert not found, f"{len(found)} breaches: {found[:3]}"
    if name in CHECKED:
        check_chunks(document, chunks, limit=strategy.limit)


@cases("name", ["recursive", "structure"])
def test_csv_rows_are_not_cut_while_they_fit(name: str) -> None:
    given = BY_NAME["CSV rows"]
    for chunk in chunks_of(name, given):
        assert chunk.start == 0 or given.text[chunk.start - 1] == "\n"
        assert (
            given.text[chunk.end : chunk.end + 1] in ("", "\n") or given.text[chunk.end - 1] == "\n"
        )


def test_short_sentences_fill_chunks_and_no_more() -> None:
    chunks = chunks_of("sentences", BY_NAME["Yes. No."])
    assert len(chunks) >= 8
    assert all(50 <= chunk.token_count <= 100 for chunk in chunks[:-1])
    assert all(
        chunk.text.startswith(("Yes.", "No.")) and chunk.text.endswith(".") for chunk in chunks
    )


@cases("name", ["recursive", "structure", "sections", "sentences", "code"])
def test_fenced_python_keeps_its_indentation(name: str) -> None:
    given = Input("markdown", MARKDOWN, 400, format="markdown")
    joined = "".join(chunk.text for chunk in chunks_of(name, given))
    assert (
        "\n        # keep the flame even\n        if wick.length > 3:\n            wick.cut(3)\n"
        in joined
    )


@cases("name", STRATEGIES)
def test_table_code_and_image_are_all_there(name: str) -> None:
    joined = "".join(
        chunk.text for chunk in chunks_of(name, BY_NAME["Markdown with table, code, image"])
    )
    for part in ("trim daily", "never wet", "](lamp.png)", "def trim(wicks):"):
        assert "".join(part.split()) in "".join(joined.split())


def test_structure_keeps_a_table_and_a_fence_whole_while_they_fit() -> None:
    texts = [
        chunk.text for chunk in chunks_of("structure", Input("m", MARKDOWN, 80, format="markdown"))
    ]
    assert any("| part |" in text and "| glass |" in text for text in texts)
    assert any("```python" in text and "return wicks\n```" in text for text in texts)


@cases("name", ["structure", "sections", "paragraphs", "sentences"])
def test_tilde_fence_is_code_and_setext_headings_are_headings(name: str) -> None:
    chunks = chunks_of(name, Input("headings", HEADINGS, 16, format="markdown"))
    told = {title for chunk in chunks for title in chunk.section}
    assert "not a heading" not in told
    at = {word: _section_at(chunks, HEADINGS.index(word)) for word in ("brass", "soft cloth")}
    if name in ("structure", "sections"):
        assert at["brass"] == ("Care of the lamp", "Weekly work")
        assert at["soft cloth"] == ("Care of the lamp", "Weekly work", "Polish")


def _section_at(chunks: list[Chunk], position: int) -> tuple[str, ...]:
    starts = [chunk.start for chunk in chunks]
    return chunks[bisect.bisect_right(starts, position) - 1].section


@cases("overlap", [0, 30])
def test_repeated_phrases_have_their_own_offsets(overlap: int) -> None:
    given = BY_NAME["repeated phrases"]._replace(overlap=overlap)
    chunks = chunks_of("recursive", given)
    period = len(given.text) // 80
    assert len({chunk.start for chunk in chunks}) == len(chunks)
    for before, after in itertools.pairwise(chunks):
        assert (
            before.start < after.start <= before.end + 1
        )  # next to, or overlapping, never an earlier twin
    assert chunks[-1].end > len(given.text) - period


@cases("overlap", [16, 32, 64])
@cases("name", ["recursive", "sentences", "tokens", "paragraphs"])
def test_license_overlaps_without_losing_its_place(name: str, overlap: int) -> None:
    given = BY_NAME[f"license, overlap {overlap}"]
    chunks = chunks_of(name, given)
    shared = [a.end - b.start for a, b in itertools.pairwise(chunks)]
    # Only whole pieces are repeated: 16 tokens hold none of the paragraphs `recursive` cuts at.
    assert (name, overlap) == ("recursive", 16) or any(amount > 0 for amount in shared)
    for amount, chunk in zip(shared, chunks[1:], strict=True):
        assert amount <= 0 or given.text[chunk.start : chunk.start + amount] == chunk.text[:amount]


@cases("name", ["recursive", "sentences", "tokens"])
def test_log_lines_each_have_one_place(name: str) -> None:
    given = BY_NAME["400 similar log lines"]
    chunks = chunks_of(name, given)
    assert "".join(given.text.split()) == "".join("".join(chunk.text.split()) for chunk in chunks)
    assert chunks == sorted(chunks, key=lambda chunk: chunk.start)


@cases("name", STRATEGIES)
def test_families_stay_together(name: str) -> None:
    for chunk in chunks_of(name, BY_NAME["family emoji, size 10"]):
        assert set(regex.findall(r"\X", chunk.text)) == {FAMILY}


@cases("name", STRATEGIES)
def test_special_tokens_are_text(name: str) -> None:
    assert "<|endoftext|>" in "".join(c.text for c in chunks_of(name, BY_NAME["special tokens"]))


@cases("name", STRATEGIES)
def test_nothing_gives_no_chunks(name: str) -> None:
    assert chunks_of(name, BY_NAME["empty"]) == []
    assert chunks_of(name, BY_NAME["white space"]) == []


def test_text_without_separators_fills_its_chunks() -> None:
    chunks = chunks_of("recursive", BY_NAME["no separators, characters"])
    assert {chunk.token_count for chunk in chunks[:-1]} == {100}


def test_html_in_text_keeps_its_order() -> None:
    given = BY_NAME["inline HTML tags"]
    joined = "".join("".join(chunk.text.split()) for chunk in chunks_of("recursive", given))
    assert joined == "".join(given.text.split())


PAGE = """<!DOCTYPE html><title>Lamps</title><body><h1>Care of <em>the</em> lamp</h1>
<p>Trim the <strong>wick</strong> before <b>dusk</b>, never <i>after <strong>the</strong> bell</i>.</p>
<div>Oil is in the <div>brass <strong>can</strong></div> by the door.</div>
<table><tr><th>part</th><th>count</th></tr><tr><td>glass</td><td><strong>two</strong></td></tr></table>
<ul><li>First <strong>light</strong><li>then log.</ul></body>"""
WORDS = """Care of the lamp Trim the wick before dusk , never after the bell . Oil is in the brass can by the door .
part count glass two First light then log ."""
MUCH = {"note": "nothing is as long as this note about the lamp " * 100, "tags": ["lamp"] * 500}


def made(name: str, like: str = "Yes. No.") -> Strategy:
    """The strategy at the limit and overlap of a named input."""
    # Where meaning cuts, any vectors will do: the contract holds whatever the model says.
    model = {"model": HashEmbedder()} if name in ("semantic", "cluster") else {}
    return get_strategy(strategy_for(name, BY_NAME[like]), **model)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """A page as the HTML loader reads it."""
    path: Path = tmp_path_factory.mktemp("html") / "lamps.html"
    path.write_text(PAGE, encoding="utf-8")
    (document,) = read(path)
    return document


def described(words: int = 400) -> Document:
    """A short text whose metadata is longer than any chunk of it may be."""
    text = "The lamp is lit at dusk. " * (words // 6)
    return Document("described", text, title="Lamp " * 200, metadata=MUCH)


ROWS = {each.text[:8_000]: each for each in INPUTS}
"""Each text once, as the limit is one here; long ones are held to the contract as a whole in test_peer_failures.py."""


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_row_through_the_kit(name: str, page: Document) -> None:
    rows = [Document(each.name, text, format=each.format) for text, each in ROWS.items()]
    check_chunker(made(name), [*rows, page, described()], overlap=False)


@cases("name", STRATEGIES)
def test_metadata_longer_than_a_chunk_takes_no_room(name: str) -> None:
    document = described()
    bare = Document("described", document.text)
    strategy = made(name, "Devanagari")
    chunks = list(strategy.chunks(document))
    assert len(chunks) > 1
    assert [c.span for c in chunks] == [c.span for c in strategy.chunks(bare)]
    assert all(chunk.document.metadata == MUCH for chunk in chunks)


@cases("name", STRATEGIES)
def test_words_of_a_page_keep_their_order(name: str, page: Document) -> None:
    chunks = made(name, "Devanagari").chunks(page)
    joined = "".join("".join(chunk.text.split()) for chunk in chunks)
    for sign in "|-*•":
        joined = joined.replace(sign, "")
    assert joined == "".join(WORDS.split())
