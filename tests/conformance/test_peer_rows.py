"""The kit's own check of every strategy on every input that broke a released splitter."""

from __future__ import annotations

from pathlib import Path

import pytest
from peer_inputs import INPUTS
from test_peer_failures import BY_NAME, STRATEGIES, strategy_for

from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.core import Document
from chunkwise.documents import read
from chunkwise.testkit import check_chunker
from hash_embedder import HashEmbedder

pytestmark = pytest.mark.unwatched  # the contract of every strategy is watched in test_contract.py

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


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_row_through_the_kit(name: str, page: Document) -> None:
    rows = [Document(each.name, text, format=each.format) for text, each in ROWS.items()]
    check_chunker(made(name), [*rows, page, described()], overlap=False)


@pytest.mark.parametrize("name", STRATEGIES)
def test_metadata_longer_than_a_chunk_takes_no_room(name: str) -> None:
    document = described()
    bare = Document("described", document.text)
    strategy = made(name, "Devanagari")
    chunks = list(strategy.chunks(document))
    assert len(chunks) > 1
    assert [c.span for c in chunks] == [c.span for c in strategy.chunks(bare)]
    assert all(chunk.document.metadata == MUCH for chunk in chunks)


@pytest.mark.parametrize("name", STRATEGIES)
def test_words_of_a_page_keep_their_order(name: str, page: Document) -> None:
    chunks = made(name, "Devanagari").chunks(page)
    joined = "".join("".join(chunk.text.split()) for chunk in chunks)
    for sign in "|-*•":
        joined = joined.replace(sign, "")
    assert joined == "".join(WORDS.split())
