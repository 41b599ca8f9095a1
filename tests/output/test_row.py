"""The columns of a chunk's row that are counted."""

from pathlib import Path

import pytest

from chunkwise import Document, get_strategy
from chunkwise.chunkers.headings_context import with_headings
from chunkwise.output.row import row_of
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokenizers import get_tokenizer

DOCUMENT = Document(
    "x", "# Alpha beta\n\nSome words are here.", "Internationalisation", format="markdown"
)


def row(strategy: object) -> dict[str, object]:
    analyzed = Analyzed(DOCUMENT)
    chunks = list(get_strategy(strategy).chunks(analyzed))  # type: ignore[arg-type]
    return dict(row_of(with_headings(chunks, analyzed)[-1]))


@pytest.mark.parametrize(
    ("strategy", "tokenizer"),
    [
        ("sentences(max_tokens=100)", "o200k_base"),
        ("sentences(max_tokens=100, tokenizer=cl100k_base)", "cl100k_base"),
        ("sentences(max_tokens=100, tokenizer=characters)", "characters"),
        ("characters(max_chars=100)", "characters"),
        ("words(max_words=50)", "words"),
    ],
)
def test_text_and_context_are_counted_alike(strategy: str, tokenizer: str) -> None:
    found = row(strategy)
    count = get_tokenizer(tokenizer).count
    assert (found["token_count"], found["context_token_count"]) == (
        count(str(found["text"])), count(str(found["context"])),
    )  # fmt: skip
    assert found["context"]


def test_a_label_runs_nobodys_code(tmp_path: Path) -> None:
    """Rows are written of chunks that were read from a file, too: what it calls its strategy is text."""
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    analyzed = Analyzed(DOCUMENT)
    for label in (
        f"{tmp_path}/own.py:Own",
        "sentences(tokenizer=my_count)",
        "no(",
        "",
        "raptor(llm='x:y')",
    ):
        [chunk, *_] = with_headings(list(get_strategy("sentences").chunks(analyzed)), analyzed)
        object.__setattr__(chunk, "strategy", label)
        assert row_of(chunk)["context_token_count"] == get_tokenizer("o200k_base").count(
            chunk.context
        )
    assert not (tmp_path / "ran").exists()
