"""Lines of chunks: the rows of all of them, whatever they share, and little work for each."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise import Document
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.write_chunks import _json_row, chunk_lines
from chunkwise.core import Chunk, Span
from chunkwise.records.write import json_line
from how_many import examples
from untimed import lines_run

TEXT = (
    '# A "quoted" one\n\nIt is lit at dusk.\n\n## Below\n\nIt burns.\x00\ud800 \u2028\n\n'
    "| a | b |\n|---|---|\n| 1 | 2 |\n"
)


def chunks_of(document: Document, strategy: str = "paragraphs") -> list[Chunk]:
    return list(get_strategy(strategy).chunks(document))


@settings(max_examples=examples(40), deadline=None)
@given(
    st.text(max_size=5),
    st.dictionaries(
        st.text(max_size=3), st.none() | st.text(max_size=3) | st.integers(), max_size=2
    ),
    st.sampled_from([(), (0, 9)]),
    st.sampled_from(
        [
            {},
            {"parent": Span(0, 5)},
            {"context": "a > b"},
            {"context_token_count": -1},
            {"context_token_count": 7},
        ]
    ),
    st.sampled_from(["paragraphs", "tokens(max_tokens=3)", "structure(max_tokens=9)"]),
)
def test_a_line_is_that_of_the_row(
    id: str,
    metadata: dict[str, object],
    pages: tuple[int, ...],
    more: dict[str, object],
    strategy: str,
) -> None:
    document = Document(
        id, TEXT, title=id, source=id, format="markdown", metadata=metadata, pages=pages
    )
    chunks = chunks_of(document, strategy)
    chunks += [replace(chunk, **more) for chunk in chunks]  # type: ignore[arg-type]
    chunks += chunks_of(replace(document, id="other"), "sentences")
    chunks.append(
        replace(chunks[0], summary="Short.", summarized=(Span(0, 3), Span(4, 9)), level=1)
    )
    chunks.append(replace(chunks[0], outline=None))
    assert list(chunk_lines(chunks)) == [json_line(_json_row(chunk)) for chunk in chunks]


def test_few_lines_are_run_for_each_of_many_tiny_chunks() -> None:
    chunks = chunks_of(Document("d", "a\n\n" * 1000))
    list(chunk_lines(chunks[:1]))
    assert lines_run(lambda: list(chunk_lines(chunks))) < 30 * len(chunks)
