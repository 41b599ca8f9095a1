"""`pages`: one chunk per page where it fits."""

from hypothesis import given
from hypothesis import strategies as st

from chunkwise import Document
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunker, check_chunks

PAGES = [
    "First page.\n\nIts second paragraph.\n",
    "\n  \n",
    "Third page, two sentences. And more.\n",
]


def paged(texts: list[str]) -> Document:
    starts, text = [], ""
    for each in texts:
        starts.append(len(text))
        text += each
    return Document("slides", text, pages=tuple(starts))


def test_a_chunk_is_a_page() -> None:
    chunks = list(get_strategy("pages").chunks(paged(PAGES)))
    assert [(chunk.page, chunk.last_page) for chunk in chunks] == [(1, 1), (3, 3)]
    assert [chunk.text for chunk in chunks] == [PAGES[0].strip(), PAGES[2].strip()]


def test_a_large_page_is_split_at_its_paragraphs_first() -> None:
    found = [chunk.text for chunk in get_strategy("pages(max_tokens=5)").chunks(paged(PAGES))]
    assert found[:2] == ["First page.", "Its second paragraph."]


def test_an_overlap_reaches_into_the_page_before() -> None:
    _, second = get_strategy("pages(overlap_sentences=1)").chunks(paged([PAGES[0], PAGES[2]]))
    assert second.text.startswith("Its second paragraph.")


@given(st.lists(st.text(max_size=20), max_size=6), st.integers(1, 9))
def test_pages_of_any_text(texts: list[str], limit: int) -> None:
    document = paged(texts)
    strategy = get_strategy("pages", max_tokens=limit)
    check_chunks(document, list(strategy.chunks(document)))


def test_contract() -> None:
    check_chunker(get_strategy("pages").chunker)
