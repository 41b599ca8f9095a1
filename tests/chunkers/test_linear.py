"""Time is linear in the text: the work is counted, not timed."""

from collections.abc import Callable
from cProfile import Profile
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise import Document
from chunkwise.chunkers import Strategy, strategies
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.chunkers.raptor import RaptorChunker
from chunkwise.chunkers.semantic import EmbeddingChunker
from chunkwise.chunkers.tokens import TokenChunker
from chunkwise.text.tokens.openai import OpenAITokenizer
from hash_embedder import HashEmbedder
from rule_summarizer import FirstSentences
from tables import cases

# Of signs alone no summary can be written, and that is told.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*failed:UserWarning"),
    pytest.mark.unwatched,
]

INPUTS: dict[str, Callable[[int], str]] = {
    "prose": lambda n: "The lamp is lit at dusk, and it burns till dawn. " * (n // 49),
    "no separators": lambda n: "abcdefghij" * (n // 10),
    "one line": lambda n: "word " * (n // 5),
    # Longer: from 4,096 signs on a run of white space is read a second time.
    "white space": lambda n: " " * (10 * n - 1) + "x",
    "headings": lambda n: "# Head\n\nText.\n\n" * (n // 15),
    "short lines": lambda n: "a b\n" * (n // 4),
    "list items": lambda n: "- item one\n" * (n // 11),
    "short sentences": lambda n: "Yes. No. " * (n // 9),
    "one far separator": lambda n: "word " * (n // 10) + "\n\n" + "word " * (n // 10),
    "nested headings": lambda n: "".join(f"{'#' * (i % 6 + 1)} H\n\n" for i in range(n // 7)),
    "table": lambda n: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * (n // 10),
    "families": lambda n: "👨‍👩‍👧‍👦 " * (n // 8),
    "combining marks": lambda n: "a\u0301\u0302\u0303 " * (n // 5),
    "one huge grapheme": lambda n: "a" + "\u0301" * n,
    "han": lambda n: "天地玄黃宇宙洪荒" * (n // 8),
    "open fences": lambda n: "```\ncode\n" * (n // 9),
}


class Recording(OpenAITokenizer):
    """Notes how many characters it was asked to look at."""

    def __init__(self) -> None:
        super().__init__("cl100k_base")
        self.characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return super().count(text)

    def offsets(self, text: str) -> NDArray[np.int64]:
        self.characters += len(text)
        return super().offsets(text)


@cache
def recording() -> Recording:
    """One for all: its tables take as long to make as a small text to cut."""
    return Recording()


CODE: dict[str, Callable[[int], str]] = {
    "classes": lambda n: "class A:\n    def f(self):\n        return g(1)\n\n" * (n // 45),
    "quotes": lambda n: '"a. ' * (n // 4),
    "open brackets": lambda n: "def f(\n" * (n // 7),
    "broken lines": lambda n: "\\\n" * (n // 2),
    "comments never closed": lambda n: "/* " * (n // 3),
}


def work(name: str, text: str, overlap: int, language: str = "") -> tuple[int, int]:
    """Function calls made, and characters handed to the tokenizer."""
    tokenizer = recording()
    before = tokenizer.characters
    cls = strategies.get(name)
    if issubclass(cls, SizedChunker | TokenChunker):
        model: dict[str, object] = {}
        if issubclass(cls, EmbeddingChunker | RaptorChunker):
            model["model"] = HashEmbedder()
        if issubclass(cls, RaptorChunker):
            model["llm"] = FirstSentences(most=20)
        chunker = cls(max_tokens=40, overlap=overlap, tokenizer=tokenizer, **model)
    else:
        chunker = cls(**{"max_chars" if name == "characters" else "max_words": 40}, overlap=overlap)
    strategy = Strategy(name, chunker)
    document = Document("x", text, format="code" if language else "markdown", language=language)
    watch = Profile()  # counts in C: a function of ours would take longer than what it counts
    chunks = watch.runcall(lambda: list(strategy.chunks(document)))
    assert chunks
    return sum(each.callcount for each in watch.getstats()), tokenizer.characters - before


@pytest.mark.parametrize("name", strategies.names())
@cases("kind", INPUTS)
def test_four_times_the_text_is_at_most_four_times_the_work(name: str, kind: str) -> None:
    small, large = INPUTS[kind](600), INPUTS[kind](2_400)
    # What is imported late and tables of characters met for the first time come here.
    work(name, INPUTS[kind](150), 10)
    # Where meaning cuts, overlap is only what is taken from the chunk before.
    for overlap in (10,) if name in ("semantic", "cluster", "raptor") else (0, 10):
        calls, characters = work(name, small, overlap)
        more_calls, more_characters = work(name, large, overlap)
        assert more_calls <= 4.4 * calls + 200, (overlap, calls, more_calls)
        assert more_characters <= 4.4 * characters + 200, (overlap, characters, more_characters)


@cases("name", strategies.names())
def test_a_text_is_tokenized_about_once(name: str) -> None:
    text = INPUTS["prose"](20_000)
    _, characters = work(name, text, 0)
    assert characters <= 1.6 * len(text)


@pytest.mark.usefixtures("large_inputs")
@cases("kind", CODE)
@cases("language", ["python", "java", "javascript"])
def test_a_grammar_is_asked_for_four_times_the_text_at_most_four_times(
    language: str, kind: str
) -> None:
    # Longer: a parser is stopped after some thousand signs. What it reads and logs are calls, too.
    small, large = CODE[kind](12_000), CODE[kind](48_000)
    calls, _ = work("code", small, 0, language)
    more_calls, _ = work("code", large, 0, language)
    assert more_calls <= 4.4 * calls, (calls, more_calls)
