"""The peers, one small function per peer and row, made outside the timed part and imported only then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.vocabulary import encoding

Split = Callable[[str], Sequence[Any]]

TOKENS = 200
CHARACTERS = 1000


class Peer(NamedTuple):
    """A peer in a row; `make` raises ImportError where it is not installed."""

    row: str
    name: str
    make: Callable[[], Split]
    reference: bool = False
    """Shown, but does another job than the row's: no bar is set against it."""


def _langchain(name: str, **options: Any) -> Any:
    import langchain_text_splitters as langchain

    return getattr(langchain, name)(chunk_overlap=0, **options)


def langchain_tokens() -> Split:
    encoding()
    return _langchain(
        "TokenTextSplitter", encoding_name="cl100k_base", chunk_size=TOKENS
    ).split_text


def langchain_recursive() -> Split:
    return _langchain("RecursiveCharacterTextSplitter", chunk_size=CHARACTERS).split_text


def _langchain_recursive_tokens() -> Any:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    encoding()
    return RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        "cl100k_base", chunk_size=TOKENS, chunk_overlap=0
    )


def langchain_recursive_tokens() -> Split:
    return _langchain_recursive_tokens().split_text


def langchain_paragraphs() -> Split:
    return _langchain("CharacterTextSplitter", separator="\n\n", chunk_size=CHARACTERS).split_text


def langchain_markdown() -> Split:
    return _langchain("MarkdownTextSplitter", chunk_size=CHARACTERS).split_text


def _langchain_headers(inner: Any) -> Split:
    from langchain_text_splitters import MarkdownHeaderTextSplitter

    marks = [("#" * depth, f"h{depth}") for depth in range(1, 7)]
    outer = MarkdownHeaderTextSplitter(marks, strip_headers=False)
    return lambda text: inner.split_documents(outer.split_text(text))


def langchain_headers() -> Split:
    return _langchain_headers(_langchain("RecursiveCharacterTextSplitter", chunk_size=CHARACTERS))


def langchain_headers_tokens() -> Split:
    return _langchain_headers(_langchain_recursive_tokens())


def _chonkie(name: str, **options: Any) -> Split:
    import chonkie

    return getattr(chonkie, name)(**options).chunk  # type: ignore[no-any-return]


def chonkie_tokens() -> Split:
    return _chonkie("TokenChunker", tokenizer=encoding(), chunk_size=TOKENS)


def chonkie_sentences() -> Split:
    return _chonkie("SentenceChunker", tokenizer="character", chunk_size=CHARACTERS)


def chonkie_sentences_tokens() -> Split:
    return _chonkie("SentenceChunker", tokenizer=encoding(), chunk_size=TOKENS)


def chonkie_recursive() -> Split:
    return _chonkie("RecursiveChunker", tokenizer="character", chunk_size=CHARACTERS)


def chonkie_recursive_tokens() -> Split:
    return _chonkie("RecursiveChunker", tokenizer=encoding(), chunk_size=TOKENS)


def chonkie_fast() -> Split:
    return _chonkie("FastChunker", chunk_size=CHARACTERS)


def _chonkie_rules(*levels: list[str]) -> Any:
    from chonkie.types import RecursiveLevel, RecursiveRules

    kinds = [RecursiveLevel(delimiters=signs, include_delim="next") for signs in levels]
    words = RecursiveLevel(whitespace=True)
    return RecursiveRules(levels=[*kinds, words, RecursiveLevel()])


def _chonkie_markdown(**options: Any) -> Split:
    # The levels of chonkie's own Markdown recipe, which it would download.
    headings = [f"\n{'#' * depth} " for depth in range(1, 7)]
    marks = ["\n\n", "\n---", "\n```"]
    return _chonkie(
        "RecursiveChunker",
        rules=_chonkie_rules(headings, marks, ["\n"], [". ", "! ", "? "]),
        **options,
    )


def chonkie_markdown() -> Split:
    return _chonkie_markdown(tokenizer="character", chunk_size=CHARACTERS)


def chonkie_markdown_tokens() -> Split:
    return _chonkie_markdown(tokenizer=encoding(), chunk_size=TOKENS)


def chonkie_paragraphs() -> Split:
    rules = _chonkie_rules(["\n\n"], [". ", "! ", "? "])
    return _chonkie("RecursiveChunker", tokenizer="character", chunk_size=CHARACTERS, rules=rules)


def _llama(name: str, limit: int, count: Callable[[str], Sequence[Any]]) -> Split:
    encoding()
    from llama_index.core import node_parser

    splitter = getattr(node_parser, name)(chunk_size=limit, chunk_overlap=0, tokenizer=count)
    return splitter.split_text  # type: ignore[no-any-return]


def llama_tokens() -> Split:
    return _llama("TokenTextSplitter", TOKENS, encoding().encode)


def llama_sentences() -> Split:
    return _llama("SentenceSplitter", CHARACTERS, list)


def llama_sentences_tokens() -> Split:
    return _llama("SentenceSplitter", TOKENS, encoding().encode)


def llama_markdown() -> Split:
    encoding()
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    parser = MarkdownNodeParser()
    return lambda text: parser.get_nodes_from_documents([Document(text=text)])


def llama_markdown_tokens() -> Split:
    encoding()
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser, SentenceSplitter

    parser = MarkdownNodeParser()
    inner = SentenceSplitter(
        chunk_size=TOKENS, chunk_overlap=0, tokenizer=encoding().encode, include_metadata=False
    )
    return lambda text: inner.get_nodes_from_documents(
        parser.get_nodes_from_documents([Document(text=text)])
    )


def sts_text() -> Split:
    from semantic_text_splitter import TextSplitter

    return TextSplitter(CHARACTERS).chunks


def sts_text_tokens() -> Split:
    from semantic_text_splitter import TextSplitter

    return TextSplitter.from_tiktoken_model("gpt-4", TOKENS).chunks


def sts_markdown() -> Split:
    from semantic_text_splitter import MarkdownSplitter

    return MarkdownSplitter(CHARACTERS).chunks


def sts_markdown_tokens() -> Split:
    from semantic_text_splitter import MarkdownSplitter

    return MarkdownSplitter.from_tiktoken_model("gpt-4", TOKENS).chunks


def semchunk_text() -> Split:
    import semchunk

    # Remembering sizes would answer the second round from the first.
    return semchunk.chunkerify(len, CHARACTERS, memoize=False)


def semchunk_text_tokens() -> Split:
    import semchunk

    return semchunk.chunkerify(encoding(), TOKENS, memoize=False)


def _elements(text: str) -> list[Any]:
    from unstructured.documents.elements import NarrativeText, Title

    parts = (part.strip() for part in text.split("\n\n"))
    return [(Title if part.startswith("#") else NarrativeText)(part) for part in parts if part]


def unstructured_title() -> Split:
    from unstructured.chunking.title import chunk_by_title

    return lambda text: chunk_by_title(_elements(text), max_characters=CHARACTERS)


def unstructured_basic() -> Split:
    from unstructured.chunking.basic import chunk_elements

    return lambda text: chunk_elements(_elements(text), max_characters=CHARACTERS)


def docling_hybrid() -> Split:
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.openai import OpenAITokenizer
    from docling_core.types.doc import DocItemLabel, DoclingDocument

    chunker = HybridChunker(tokenizer=OpenAITokenizer(tokenizer=encoding(), max_tokens=TOKENS))

    def split(text: str) -> list[Any]:
        document = DoclingDocument(name="x")
        for part in filter(None, (part.strip() for part in text.split("\n\n"))):
            if part.startswith("#"):
                document.add_heading(part.lstrip("# "), level=1)
            else:
                document.add_text(DocItemLabel.PARAGRAPH, part)
        return list(chunker.chunk(document))

    return split


PEERS: tuple[Peer, ...] = (
    Peer("tokens", "langchain token", langchain_tokens),
    Peer("tokens", "chonkie token", chonkie_tokens),
    Peer("tokens", "llama-index token", llama_tokens),
    Peer("sentences by characters", "chonkie sentence", chonkie_sentences),
    Peer("sentences by characters", "llama-index sentence", llama_sentences),
    Peer("sentences by tokens", "chonkie sentence", chonkie_sentences_tokens),
    Peer("sentences by tokens", "llama-index sentence", llama_sentences_tokens),
    Peer("recursive by characters", "langchain recursive", langchain_recursive),
    Peer("recursive by characters", "chonkie recursive", chonkie_recursive),
    Peer("recursive by characters", "semantic-text-splitter", sts_text),
    Peer("recursive by characters", "semchunk", semchunk_text),
    Peer("recursive by characters", "chonkie fast (bytes)", chonkie_fast, reference=True),
    Peer("recursive by tokens", "langchain recursive", langchain_recursive_tokens),
    Peer("recursive by tokens", "chonkie recursive", chonkie_recursive_tokens),
    Peer("recursive by tokens", "semantic-text-splitter", sts_text_tokens),
    Peer("recursive by tokens", "semchunk", semchunk_text_tokens),
    Peer("recursive, Markdown separators, by characters", "langchain Markdown", langchain_markdown),
    Peer("recursive, Markdown separators, by characters", "chonkie recursive", chonkie_markdown),
    Peer("recursive, Markdown separators, by tokens", "chonkie recursive", chonkie_markdown_tokens),
    Peer("structure by characters", "langchain headers + recursive", langchain_headers),
    Peer("structure by characters", "semantic-text-splitter Markdown", sts_markdown),
    Peer("structure by characters", "unstructured by title", unstructured_title),
    Peer(
        "structure by characters", "llama-index Markdown (no limit)", llama_markdown, reference=True
    ),
    Peer("structure by tokens", "langchain headers + recursive", langchain_headers_tokens),
    Peer("structure by tokens", "semantic-text-splitter Markdown", sts_markdown_tokens),
    Peer("structure by tokens", "llama-index Markdown + sentence", llama_markdown_tokens),
    Peer("structure by tokens", "docling hybrid", docling_hybrid),
    Peer("paragraphs", "langchain character (no limit)", langchain_paragraphs, reference=True),
    Peer("paragraphs", "chonkie recursive at blank lines", chonkie_paragraphs),
    Peer("paragraphs", "unstructured basic", unstructured_basic),
)
