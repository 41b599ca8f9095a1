"""The peers as the conformance run calls them: every chunk with the offset the peer reports, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.vocabulary import encoding

Found = list[tuple[int | None, str]]
"""Reported start (None: the peer reports none) and text of each chunk."""
Spans = Callable[[str], Found]


def _length(tokenizer: str) -> Callable[[str], int]:
    if tokenizer == "characters":
        return len
    made = encoding(tokenizer)
    return lambda text: len(made.encode(text))


def chunkwise_with(name: str) -> Callable[[int, int, str], Spans]:
    def make(limit: int, overlap: int, tokenizer: str) -> Spans:
        from chunkwise.chunkers import get_strategy
        from chunkwise.core import Document

        found = get_strategy(
            f"{name}(max_tokens={limit}, overlap={overlap}, tokenizer={tokenizer})"
        )
        return lambda text: [(c.start, c.text) for c in found.chunks(Document("x", text))]

    return make


def _langchain(splitter: Any) -> Spans:
    def spans(text: str) -> Found:
        made = splitter.create_documents([text])
        return [(d.metadata.get("start_index"), d.page_content) for d in made]

    return spans


def langchain_recursive(limit: int, overlap: int, tokenizer: str) -> Spans:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return _langchain(RecursiveCharacterTextSplitter(
        chunk_size=limit, chunk_overlap=overlap, add_start_index=True, length_function=_length(tokenizer),
    ))  # fmt: skip


def langchain_token(limit: int, overlap: int, tokenizer: str) -> Spans:
    from langchain_text_splitters import TokenTextSplitter

    _tokens_only(tokenizer)
    encoding(tokenizer)
    return _langchain(TokenTextSplitter(
        encoding_name=tokenizer, chunk_size=limit, chunk_overlap=overlap, add_start_index=True
    ))  # fmt: skip


def langchain_headers(limit: int, overlap: int, tokenizer: str) -> Spans:
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    outer = MarkdownHeaderTextSplitter(
        [("#", "h1"), ("##", "h2"), ("###", "h3")], strip_headers=False
    )
    inner = RecursiveCharacterTextSplitter(
        chunk_size=limit, chunk_overlap=overlap, length_function=_length(tokenizer)
    )
    return lambda text: [
        (None, d.page_content) for d in inner.split_documents(outer.split_text(text))
    ]


def _chonkie(name: str, limit: int, overlap: int, tokenizer: str) -> Spans:
    import chonkie

    given = "character" if tokenizer == "characters" else encoding(tokenizer)
    options = {"chunk_overlap": overlap} if name != "RecursiveChunker" else {}
    chunker = getattr(chonkie, name)(tokenizer=given, chunk_size=limit, **options)
    return lambda text: [(c.start_index, c.text) for c in chunker.chunk(text)]


def chonkie_token(limit: int, overlap: int, tokenizer: str) -> Spans:
    return _chonkie("TokenChunker", limit, overlap, tokenizer)


def chonkie_sentence(limit: int, overlap: int, tokenizer: str) -> Spans:
    return _chonkie("SentenceChunker", limit, overlap, tokenizer)


def chonkie_recursive(limit: int, overlap: int, tokenizer: str) -> Spans:
    return _chonkie("RecursiveChunker", limit, overlap, tokenizer)


def chonkie_fast(limit: int, overlap: int, tokenizer: str) -> Spans:
    import chonkie

    if tokenizer != "characters":
        raise NotImplementedError("counts bytes")
    chunker = chonkie.FastChunker(chunk_size=limit)
    return lambda text: [(c.start_index, c.text) for c in chunker.chunk(text)]


def _llama(name: str, limit: int, overlap: int, tokenizer: str) -> Spans:
    made = encoding() if tokenizer == "characters" else encoding(tokenizer)
    from llama_index.core import Document, node_parser

    count: Any = list if tokenizer == "characters" else made.encode
    splitter = getattr(node_parser, name)(chunk_size=limit, chunk_overlap=overlap, tokenizer=count)

    def spans(text: str) -> Found:
        return [
            (n.start_char_idx, n.text)
            for n in splitter.get_nodes_from_documents([Document(text=text)])
        ]

    return spans


def llama_sentence(limit: int, overlap: int, tokenizer: str) -> Spans:
    return _llama("SentenceSplitter", limit, overlap, tokenizer)


def llama_token(limit: int, overlap: int, tokenizer: str) -> Spans:
    return _llama("TokenTextSplitter", limit, overlap, tokenizer)


def _sts(kind: str, limit: int, overlap: int, tokenizer: str) -> Spans:
    import semantic_text_splitter

    made = getattr(semantic_text_splitter, kind)
    if tokenizer == "characters":
        splitter = made(limit, overlap=overlap)
    else:
        splitter = made.from_tiktoken_model("gpt-4", limit, overlap=overlap)
    return lambda text: list(splitter.chunk_indices(text))


def sts_text(limit: int, overlap: int, tokenizer: str) -> Spans:
    return _sts("TextSplitter", limit, overlap, tokenizer)


def sts_markdown(limit: int, overlap: int, tokenizer: str) -> Spans:
    return _sts("MarkdownSplitter", limit, overlap, tokenizer)


def semchunk_text(limit: int, overlap: int, tokenizer: str) -> Spans:
    import semchunk

    chunker = semchunk.chunkerify(_length(tokenizer), limit)

    def spans(text: str) -> Found:
        texts, offsets = chunker(text, offsets=True, overlap=overlap or None)
        return [(start, part) for (start, _), part in zip(offsets, texts, strict=True)]

    return spans


def unstructured_basic(limit: int, overlap: int, tokenizer: str) -> Spans:
    from unstructured.chunking.basic import chunk_elements
    from unstructured.documents.elements import NarrativeText

    if tokenizer != "characters":
        raise NotImplementedError("run by characters only: by tokens its time is cubic")
    return lambda text: [
        (None, e.text)
        for e in chunk_elements(
            [NarrativeText(text)] if text else [], max_characters=limit, overlap=overlap
        )
    ]


def docling_hybrid(limit: int, overlap: int, tokenizer: str) -> Spans:
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.openai import OpenAITokenizer
    from docling_core.types.doc import DocItemLabel, DoclingDocument

    _tokens_only(tokenizer)
    chunker = HybridChunker(
        tokenizer=OpenAITokenizer(tokenizer=encoding(tokenizer), max_tokens=limit)
    )

    def spans(text: str) -> Found:
        document = DoclingDocument(name="x")
        document.add_text(DocItemLabel.PARAGRAPH, text)
        return [(None, chunk.text) for chunk in chunker.chunk(document)]

    return spans


def _tokens_only(tokenizer: str) -> None:
    if tokenizer == "characters":
        raise NotImplementedError("counts tokens only")


SPLITTERS: dict[str, Callable[[int, int, str], Spans]] = {
    "chunkwise recursive": chunkwise_with("recursive"),
    "chunkwise sentences": chunkwise_with("sentences"),
    "chunkwise structure": chunkwise_with("structure"),
    "langchain recursive": langchain_recursive,
    "langchain token": langchain_token,
    "langchain headers + recursive": langchain_headers,
    "chonkie recursive": chonkie_recursive,
    "chonkie token": chonkie_token,
    "chonkie sentence": chonkie_sentence,
    "chonkie fast": chonkie_fast,
    "llama-index sentence": llama_sentence,
    "llama-index token": llama_token,
    "semantic-text-splitter": sts_text,
    "semantic-text-splitter Markdown": sts_markdown,
    "semchunk": semchunk_text,
    "unstructured basic": unstructured_basic,
    "docling hybrid": docling_hybrid,
}
