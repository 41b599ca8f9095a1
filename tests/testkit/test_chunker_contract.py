"""The contract of every strategy: on hostile documents, and on whatever hypothesis thinks of."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkwise import Document
from chunkwise.chunkers import Strategy, strategies
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunker, check_chunks
from chunkwise.testkit.hostile import hostile_documents
from hash_embedder import HashEmbedder
from how_many import examples
from rule_summarizer import FirstSentences
from tables import cases

# Of signs alone no summary can be written, and that is told.
pytestmark = pytest.mark.filterwarnings("ignore:.*failed:UserWarning")

SIZED = [name for name in strategies.names() if name not in ("characters", "words", "tokens")]
TOKENIZERS = ("o200k_base", "cl100k_base", "words", "characters")
BY_MEANING = ("semantic", "cluster", "raptor")


def made(spec: str) -> Strategy:
    """The contract does not depend on how good a model is: one that costs nothing will do."""
    model: dict[str, object] = {"model": HashEmbedder()} if spec.startswith(BY_MEANING) else {}
    if spec.startswith("raptor"):
        model |= {"llm": FirstSentences(), "branching": 40, "summary_tokens": 12}
    return get_strategy(spec, **model)


def sized_specs(size: int) -> list[str]:
    return [
        f"{name}(max_tokens={size}, overlap=0, tokenizer={TOKENIZERS[(number + size) % 4]})"
        for number, name in enumerate(["tokens", *SIZED])
    ]


def specs_without_overlap() -> list[str]:
    found = ["characters(max_chars=7)", "characters(max_chars=100)", "words(max_words=5)"]
    found += ["words(preset=small, overlap=0)"]
    return [*found, *sized_specs(90)]


def specs_with_overlap() -> list[str]:
    found = ["characters(max_chars=20, overlap=19)", "words(max_words=9, overlap=4)"]
    found += ["tokens(max_tokens=20, overlap=19)", "tokens(max_tokens=5, overlap='40%')"]
    for number, name in enumerate(SIZED):
        tokenizer = TOKENIZERS[number % 4]
        found.append(f"{name}(max_tokens=15, overlap=7, tokenizer={tokenizer})")
        # Each strategy with one of the other units in turn: on any text, below, they are tried with every one.
        other = (
            "max_tokens=60, overlap_sentences=2, min_tokens=20",
            "max_tokens=40, overlap_words=3",
        )
        found.append(f"{name}({other[number % 2]})")
    return found


def held_to_the_contract(strategy: Strategy, most: int, *, overlap: bool) -> None:
    """On both ends of the hostile documents, which are as hostile as the rest of them."""
    for whole in hostile_documents():
        text, third = whole.text, most // 3
        short = text if len(text) <= most else text[: 2 * third] + text[-third:]
        document = replace(whole, text=short)
        chunks = list(strategy.chunks(document))
        check_chunks(
            document,
            chunks,
            limit=strategy.limit,
            overlap=overlap,
            summary_limit=strategy.summary_limit,
        )


@cases("spec", specs_without_overlap())
def test_contract_without_overlap(spec: str) -> None:
    check_chunker(made(spec), overlap=False)


@pytest.mark.unwatched
@pytest.mark.parametrize("spec", sized_specs(12))
def test_contract_of_small_chunks(spec: str) -> None:
    held_to_the_contract(made(spec), 300, overlap=False)


@pytest.mark.unwatched
@pytest.mark.parametrize("spec", sized_specs(1))
def test_contract_where_every_token_is_a_chunk(spec: str) -> None:
    held_to_the_contract(made(spec), 66, overlap=False)


@pytest.mark.unwatched
@pytest.mark.parametrize("spec", specs_with_overlap())
def test_contract_with_overlap(spec: str) -> None:
    held_to_the_contract(made(spec), 300, overlap=True)


PIECES = st.sampled_from(
    [
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        ".",
        ". ",
        "? ",
        "! ",
        "…",
        "。",
        "।",
        ",",
        "; ",
        ": ",
        "'",
        '"',
        "(",
        ")",
        "a",
        "Word",
        "word",
        "Dr",
        "e.g",
        "U.S",
        "3",
        "12",
        "٣",
        "é",
        "e\u0301",
        "ß",
        "文",
        "字",
        "है",
        "ไทย",
        "한국",
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "👍🏽",
        "\u200d",
        "\u0301",
        "\ufeff",
        "\x00",
        "\ud800",
        "\u2028",
        "<|endoftext|>",
        "# ",
        "\n# Head\n",
        "\n## Sub\n\n",
        "\n===\n",
        "\n---\n",
        "```\n",
        "~~~\n",
        "\n- ",
        "\n* ",
        "\n1. ",
        "\n2) ",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "|",
        "\n    code\n",
        "> ",
        "**",
        "_",
        "`",
        "[x](y)",
        "internationalisation",
    ]
)
TEXTS = st.lists(PIECES, max_size=80).map("".join) | st.text(max_size=200)
FORMATS = st.sampled_from(
    [("text", ""), ("markdown", ""), ("pdf", ""), ("code", "python"), ("code", "")]
)


@st.composite
def configurations(draw: st.DrawFn) -> tuple[str, bool]:
    """A specification and whether it overlaps."""
    name = draw(st.sampled_from(["characters", "words", "tokens", *SIZED]))
    size = draw(st.integers(1, 40))
    overlap = draw(st.sampled_from([0, 0, size // 3, size - 1]))
    if name in ("characters", "words"):
        unit = {"characters": "max_chars", "words": "max_words"}[name]
        return f"{name}({unit}={size}, overlap={overlap})", overlap > 0
    tokenizer = draw(st.sampled_from(TOKENIZERS))
    if name == "tokens":
        return f"tokens(max_tokens={size}, overlap={overlap}, tokenizer={tokenizer})", overlap > 0
    unit = draw(st.sampled_from(["overlap", "overlap_words", "overlap_sentences"]))
    least = draw(st.integers(0, size))
    spec = f"{name}(max_tokens={size}, {unit}={overlap}, min_tokens={least}, tokenizer={tokenizer})"
    return spec, overlap > 0


@settings(max_examples=examples(150), deadline=None)
@given(text=TEXTS, kind=FORMATS, configuration=configurations())
@example(
    text="a\n\n\xa0\u0301\ndef f(x):\n    1.\n    code\n",
    kind=("org", ""),
    configuration=("structure(max_tokens=3, overlap=0)", False),
)
@example(text=")", kind=("code", "python"), configuration=("paragraphs(max_tokens=2)", False))
@example(text=")", kind=("code", "python"), configuration=("semantic(max_tokens=1)", False))
def test_contract_on_any_text(
    text: str, kind: tuple[str, str], configuration: tuple[str, bool]
) -> None:
    spec, overlaps = configuration
    strategy = made(spec)
    document = Document("any", text, format=kind[0], language=kind[1])
    chunks = list(strategy.chunks(document))
    check_chunks(
        document,
        chunks,
        limit=strategy.limit,
        overlap=overlaps,
        summary_limit=strategy.summary_limit,
    )
    # On hostile documents the kit looks at a second run.
    assert chunks == list(strategy.chunks(document))


def test_a_callable_tokenizer_is_obeyed_however_strange() -> None:
    rng = random.Random(7)
    text = "".join(rng.choice("ab. \n") for _ in range(600))
    from chunkwise.chunkers.recursive import RecursiveChunker
    from chunkwise.chunkers.sentences import SentenceChunker

    for count in (
        len,
        lambda t: len(t) // 3 + 2,
        lambda t: t.split(),
        lambda t: 5 if "a" in t else 1,
    ):
        for chunker in (
            RecursiveChunker(max_tokens=9, tokenizer=count),
            SentenceChunker(max_tokens=9, tokenizer=count),
        ):
            strategy = get_strategy(chunker)
            document = Document("any", text)
            check_chunks(document, list(strategy.chunks(document)), limit=strategy.limit)


def test_overlap_repeats_about_as_much_as_asked() -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(200))
    for spec, low, high in (
        ("sentences(max_tokens=60, overlap=20)", 10, 20),
        ("tokens(max_tokens=60, overlap=20)", 20, 20),
        ("recursive(max_tokens=60, overlap=20)", 8, 20),
    ):
        strategy = get_strategy(spec)
        chunks = list(strategy.chunks(Document("x", text)))
        measure = [
            strategy_count(spec, text[after.start : before.end])
            for before, after in pairwise(chunks)
        ]
        assert all(low <= size <= high + 1 for size in measure), (spec, measure)


def strategy_count(spec: str, text: str) -> int:
    from chunkwise.text.tokens.tokenizers import get_tokenizer

    limit = get_strategy(spec).limit
    assert limit is not None
    return get_tokenizer(limit[0]).count(text)


@cases("name", strategies.names())
def test_an_empty_document_has_no_chunks(name: str) -> None:
    assert list(get_strategy(name).chunks(Document("x", ""))) == []
    assert list(get_strategy(name).chunks(Document("x", " \n\t\u3000"))) == []
