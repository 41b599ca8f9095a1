"""`chunkwise.langchain` against LangChain itself, and LangChain's own suites (`make test-adapters` installs it)."""

import asyncio
import copy
import os
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.models import get_embedder
from chunkwise.options import SearchOptions
from integrations.small_index import (
    DOCUMENTS,
    QUESTION,
    STRATEGIES,
    STRATEGY,
    TEXTS,
    SharedWords,
    make_index,
    uncovered,
)

pytest.importorskip("langchain_core")
pytest.importorskip("langchain_text_splitters")
tests = pytest.importorskip("langchain_tests.integration_tests")
unit_tests = pytest.importorskip("langchain_tests.unit_tests")

from langchain_core.documents import Document  # noqa: E402
from langchain_core.runnables import RunnableLambda  # noqa: E402
from langchain_text_splitters import Language, TextSplitter  # noqa: E402

from chunkwise.langchain import (  # noqa: E402
    ChunkwiseEmbeddings,
    ChunkwiseReranker,
    ChunkwiseRetriever,
    ChunkwiseTextSplitter,
    documents_of,
)
from tables import cases  # noqa: E402


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("langchain"))


def check_documents(text: str, found: list[Document]) -> None:
    """Each is an exact place, in order, and together they leave nothing out."""
    spans = [(each.metadata["start_index"], each.metadata["end_index"]) for each in found]
    for document, (start, end) in zip(found, spans, strict=True):
        assert 0 <= start < end <= len(text)
        assert text[start:end] == document.page_content
    assert all(before < behind for before, behind in pairwise(spans))
    assert uncovered(text, spans) == ""


@cases("strategy", STRATEGIES)
def test_every_document_is_an_exact_place_of_any_text(strategy: str) -> None:
    splitter = ChunkwiseTextSplitter(strategy)
    for text in TEXTS.values():
        found = splitter.create_documents([text])
        check_documents(text, found)
        assert [each.page_content for each in found] == splitter.split_text(text)


@given(st.text(max_size=300), st.integers(5, 60), st.integers(0, 4))
def test_sizes_are_counted_as_langchain_counts_them(text: str, size: int, overlap: int) -> None:
    splitter = ChunkwiseTextSplitter(chunk_size=size, chunk_overlap=overlap)
    check_documents(text, splitter.create_documents([text]))
    words = ChunkwiseTextSplitter("sentences", chunk_size=size, length_function=_words)
    found = words.create_documents([text])
    check_documents(text, found)
    # A single grapheme may be larger than any limit, and is never cut.
    assert all(_words(each.page_content) <= size for each in found if len(each.page_content) > 40)


def _words(text: str) -> int:
    return len(text.split())


def test_the_limit_holds_with_overlap_and_no_start_is_missing() -> None:
    """Where the original says -1 for a share of its chunks, or the place of another occurrence."""
    text = "The same phrase again, and once more. " * 200
    found = ChunkwiseTextSplitter(chunk_size=100, chunk_overlap=30).create_documents([text])
    check_documents(text, found)
    assert max(len(each.page_content) for each in found) <= 100
    starts = [each.metadata["start_index"] for each in found]
    assert any(later < earlier + 100 for earlier, later in pairwise(starts))


def test_the_example_of_langchains_own_docs_needs_only_another_import() -> None:
    splitter = ChunkwiseTextSplitter(
        "recursive", chunk_size=100, chunk_overlap=20, length_function=len, is_separator_regex=False
    )
    assert isinstance(splitter, TextSplitter)
    assert splitter.strategy.label == (
        "recursive(max_tokens=100, overlap=20, tokenizer='characters')"
    )
    regex = ChunkwiseTextSplitter(
        "recursive", chunk_size=6, separators=[r"\d"], is_separator_regex=True
    )
    assert regex.split_text("aaaa1bbbb2cccc") == ["aaaa1", "bbbb2", "cccc"]


SEPARATORS = ["\n\n", "\n", ". ", " ", ""]


@cases(
    "made",
    [
        lambda: ChunkwiseTextSplitter(separators=SEPARATORS, chunk_size=60, chunk_overlap=12),
        lambda: ChunkwiseTextSplitter(SEPARATORS, chunk_size=60, chunk_overlap=12),
        lambda: ChunkwiseTextSplitter(
            separators=SEPARATORS, chunk_size=60, chunk_overlap=12, length_function=len, add_start_index=True,
            keep_separator=True, is_separator_regex=False, strip_whitespace=True,
        ),
    ],
)  # fmt: skip
def test_arguments_of_the_recursive_splitter_mean_recursive(
    made: Callable[[], ChunkwiseTextSplitter],
) -> None:
    splitter = made()
    named = ChunkwiseTextSplitter(
        "recursive", separators=tuple(SEPARATORS), chunk_size=60, chunk_overlap=12
    )
    assert splitter.strategy.label == named.strategy.label
    for text in TEXTS.values():
        check_documents(text, splitter.create_documents([text]))
        assert splitter.split_text(text) == named.split_text(text)
        assert all(each == each.strip() for each in splitter.split_text(text))


@cases("language", list(Language))
def test_a_language_is_cut_as_code_or_told(language: Language) -> None:
    made = partial(ChunkwiseTextSplitter.from_language, chunk_size=40, chunk_overlap=0)
    splitter = made(language)
    label = splitter.strategy.label
    assert label.startswith("structure" if language is Language.MARKDOWN else "code"), label
    code = (
        "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n"
    )
    found = splitter.create_documents([code])
    check_documents(code, found)
    if language.value == "python":
        assert [each.page_content[:7] for each in found] == ["def one", "def two", "def thr"]
        assert "language='python'" in label
    assert made(language.value).strategy.label == label


def test_documents_keep_their_own_metadata_and_share_it_with_nobody() -> None:
    metadata = {"source": "a.md", "tags": ["x"], "section": "mine"}
    given_documents = [
        Document(page_content="# One\n\nText. More.", metadata=metadata),
        Document(page_content="", metadata={"source": "b"}),
    ]  # fmt: skip
    splitter = ChunkwiseTextSplitter("sentences(max_tokens=6, overlap=0)")
    found = splitter.split_documents(given_documents)
    assert len(found) > 1
    assert found == splitter.transform_documents(given_documents)
    for each in found:
        assert each.metadata["source"] == "a.md"
        assert each.metadata["section"] == "mine"
        assert each.metadata["tags"] is not metadata["tags"]
    plain = ChunkwiseTextSplitter(add_start_index=False).create_documents(["Some text."])
    assert plain[0].metadata == {}


def test_headings_and_parents_are_told() -> None:
    text = "# Harbour\n\n## Lamps\n\nLamps are lit at dusk. The keeper does it.\n"
    found = ChunkwiseTextSplitter("sections(max_tokens=12)").create_documents([text])
    assert found[-1].metadata["section"] == "Harbour > Lamps"
    children = ChunkwiseTextSplitter("parent_child(max_tokens=4)").create_documents([text])
    for each in children:
        start, end = each.metadata["parent_start"], each.metadata["parent_end"]
        assert each.page_content in text[start:end]


@cases(
    "made, message",
    [
        (lambda: ChunkwiseTextSplitter(chunk_size=10, chunk_overlap=20), "must be smaller than"),
        (lambda: ChunkwiseTextSplitter("words", length_function=_words), "length_function doesn't apply to words"),
        (lambda: ChunkwiseTextSplitter("sentences", nothing=1), "has no parameter 'nothing'"),
        (lambda: ChunkwiseTextSplitter("sentence"), "did you mean sentences"),
        (
            lambda: ChunkwiseTextSplitter(chunkwise.ext.get_strategy("words"), chunk_size=3),
            "strategy object",
        ),
        (lambda: ChunkwiseTextSplitter().create_documents(["a"], [{}, {}]), "2 metadatas for 1 text"),
        (lambda: ChunkwiseTextSplitter(SEPARATORS, keep_separator=False), "leave out keep_separator"),
        (lambda: ChunkwiseTextSplitter(SEPARATORS, keep_separator="end"), "leave out keep_separator"),
        (lambda: ChunkwiseTextSplitter(SEPARATORS, strip_whitespace=False), "leave out keep_separator"),
        (lambda: ChunkwiseTextSplitter("sentences", separators=["x"]), "has no parameter 'separators'"),
        (lambda: ChunkwiseTextSplitter(is_separator_regex=True), "regex needs a list of separators, not"),
        (lambda: ChunkwiseTextSplitter.from_language("pyton"), "did you mean python"),
        (lambda: ChunkwiseTextSplitter.from_language("zzz"), "known: cpp, go, java"),
        (lambda: ChunkwiseTextSplitter.from_tiktoken_encoder("cl100k_bse"), "did you mean cl100k_base"),
        (lambda: ChunkwiseTextSplitter.from_tiktoken_encoder("latin"), "known: "),
        (lambda: ChunkwiseTextSplitter.from_tiktoken_encoder(model_name="gtp-4o-mini"), "did you mean gpt-4o-mini"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(made: Callable[[], object], message: str) -> None:
    with pytest.raises(ChunkwiseError, match=message):
        made()


TOKENS: Any = {}, {"encoding_name": "cl100k_base"}, {"model_name": "gpt-4o"}


@cases("named", TOKENS)
def test_sizes_in_tokens_need_no_network(named: dict[str, str]) -> None:
    splitter = ChunkwiseTextSplitter.from_tiktoken_encoder(**named, chunk_size=20, chunk_overlap=5)
    assert isinstance(splitter, ChunkwiseTextSplitter)
    for text in TEXTS.values():  # <|endoftext|> among them
        found = splitter.create_documents([text])
        check_documents(text, found)
        assert all(chunk.token_count <= 20 for chunk in splitter.chunks(text)) or "\u0301" in text


def test_sizes_in_tokens_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """LlamaIndex brings the vocabularies along that tiktoken would fetch."""
    llama = pytest.importorskip("llama_index.core")
    tiktoken = pytest.importorskip("tiktoken")
    folder = Path(os.fspath(llama.__path__[0])) / "_static" / "tiktoken_cache"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", os.fspath(folder))
    text = "Ships pay by weight; <|endoftext|> is text, and so is 👨‍👩‍👧. " * 30
    encoding = tiktoken.get_encoding("cl100k_base")
    splitter = ChunkwiseTextSplitter.from_tiktoken_encoder(
        "cl100k_base", chunk_size=40, chunk_overlap=10
    )
    found = splitter.create_documents([text])
    check_documents(text, found)
    sizes = [len(encoding.encode(each.page_content, disallowed_special=())) for each in found]
    assert 20 < max(sizes) <= 40


def test_files_become_documents_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One\n\nText of it. More of it.\n")
    found = documents_of(chunkwise.chunk(tmp_path, "sentences(max_tokens=6, overlap=0)"))
    assert {each.metadata["source"] for each in found} == {"a.md"}
    text = (tmp_path / "a.md").read_text()
    for each in found:
        assert text[each.metadata["start_index"] : each.metadata["end_index"]] == each.page_content


SEARCHES: list[dict[str, Any]] = [
    {}, {"k": 1}, {"k": 3, "retriever": "bm25"}, {"budget": 30}, {"k": 4, "neighbors": 1},
    {"k": 3, "where": {"year": {">=": 2021}}}, {"k": 3, "documents": ("lamps*",)},
    {"k": 3, "where": "topics=oil"}, {"k": 2, "reranker": SharedWords()},
]  # fmt: skip


def plain_search(place: Path, settings: dict[str, Any]) -> list[chunkwise.Hit]:
    return chunkwise.open_index(place).search(QUESTION, options=SearchOptions(**settings))


@pytest.mark.parametrize("settings", SEARCHES, ids=str)
def test_a_retriever_finds_what_the_index_finds(place: Path, settings: dict[str, Any]) -> None:
    texts = {each.id: each.text for each in DOCUMENTS}
    hits = plain_search(place, settings)
    made = ChunkwiseRetriever(index=place, **settings)
    asked = ChunkwiseRetriever(index=chunkwise.open_index(place))
    for found in (
        made.invoke(QUESTION),
        asked.invoke(QUESTION, **settings),
        asyncio.run(made.ainvoke(QUESTION)),
        asyncio.run(asked.ainvoke(QUESTION, **settings)),
        made.batch(["nothing of it", QUESTION])[1],
        asyncio.run(made.abatch([QUESTION, "bread"]))[0],
        dict(made.batch_as_completed(["bread", QUESTION]))[1],
        next(iter(made.stream(QUESTION))),
    ):
        assert hits
        assert [
            (each.metadata["doc_id"], each.metadata["start_index"], each.metadata["score"])
            for each in found
        ] == [(hit.doc_id, hit.start, pytest.approx(hit.score)) for hit in hits]
        for each in found:
            place_in = slice(each.metadata["start_index"], each.metadata["end_index"])
            assert texts[each.metadata["doc_id"]][place_in] == each.page_content


def test_a_retriever_stands_in_a_chain_and_follows_its_fields(place: Path) -> None:
    retriever = ChunkwiseRetriever(index=str(place), k=1)
    chain = retriever | RunnableLambda(lambda found: [each.metadata["source"] for each in found])
    assert chain.invoke(QUESTION) == ["lamps.md"]
    retriever.k = 2
    assert len(chain.invoke(QUESTION)) == 2
    assert len(retriever.model_copy(update={"k": 3}).invoke(QUESTION)) == 3
    assert len(copy.deepcopy(retriever).invoke(QUESTION)) == 2


def test_a_place_or_a_setting_that_is_wrong_is_told_at_once(place: Path, tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="no index"):
        ChunkwiseRetriever(index=tmp_path / "nothing")
    with pytest.raises(ValueError, match="nothing"):
        ChunkwiseRetriever(index=place, nothing=1)
    with pytest.raises(TypeError, match="budge"):
        ChunkwiseRetriever(index=place).invoke(QUESTION, budge=3)


def test_langchains_documents_are_indexed_as_they_are() -> None:
    documents = [
        Document(page_content=each.text, metadata={"source": each.id, **each.metadata}) for each in DOCUMENTS
    ]  # fmt: skip
    documents += [
        Document(page_content="The lamps of another page.", metadata={"source": "lamps.md"})
    ]
    retriever = ChunkwiseRetriever.from_documents(documents, STRATEGY, vectors="none", k=9)
    found = retriever.invoke("lamps", where={"source": "lamps.md"})
    assert len({each.metadata["doc_id"] for each in found}) == 2
    assert {each.metadata["source"] for each in found} == {"lamps.md"}
    assert found[0].metadata["year"] == 2020 or found[1].metadata["year"] == 2020


def test_what_a_splitter_of_langchain_made_is_indexed() -> None:
    source = chunkwise.Document("lamps.md", "Lamps are lit at dusk. They are trimmed at dawn.")
    split = [
        Document(page_content=source.text[start:end], metadata={"source": source.id, "start_index": start})
        for start, end in ((0, 22), (23, 48))
    ]  # fmt: skip
    made = chunkwise.index([source], chunks=split, vectors="none")
    assert [(chunk.start, chunk.end) for chunk in made.chunks()] == [(0, 22), (23, 48)]


def test_embeddings_are_those_of_the_embedder() -> None:
    embeddings = ChunkwiseEmbeddings("minilm")
    own = get_embedder("minilm")
    texts = ["Lamps are lit at dusk.", "", "half \ud83d of a pair"]
    assert embeddings.embed_documents(texts) == own.embed(texts, "passage").tolist()
    assert embeddings.embed_query(QUESTION) == own.embed([QUESTION], "query")[0].tolist()
    assert embeddings.embed_documents([]) == []


def test_a_compressor_orders_documents_anew(place: Path) -> None:
    first = ChunkwiseRetriever(index=place, k=5).invoke("keeper of ropes counts")
    reranker = ChunkwiseReranker(reranker=SharedWords(), top_n=2)
    found = reranker.compress_documents(first, "keeper of ropes counts")
    assert len(found) == 2
    assert found[0].page_content.startswith("A keeper of ropes counts them")
    scores = [each.metadata["relevance_score"] for each in found]
    assert scores == sorted(scores, reverse=True)
    assert "relevance_score" not in first[0].metadata
    assert reranker.compress_documents([], "anything") == []
    assert asyncio.run(
        reranker.acompress_documents(first, QUESTION)
    ) == reranker.compress_documents(first, QUESTION)
    blended = ChunkwiseReranker(reranker="maxsim").compress_documents(first, QUESTION)
    assert {each.page_content for each in blended} == {each.page_content for each in first}


def test_a_compressor_stands_behind_a_retriever(place: Path) -> None:
    module = pytest.importorskip("langchain_classic.retrievers")
    both = module.ContextualCompressionRetriever(
        base_compressor=ChunkwiseReranker(reranker=SharedWords(), top_n=1),
        base_retriever=ChunkwiseRetriever(index=place, k=5),
    )
    assert both.invoke("who lights the lamps")[0].metadata["source"] == "lamps.md"


class TestRetrieverSuite(tests.RetrieversIntegrationTests):  # type: ignore[misc, name-defined]
    """LangChain's own."""

    @pytest.fixture(autouse=True)
    def _at(self, place: Path) -> None:
        self.place = place

    @property
    def retriever_constructor(self) -> type[ChunkwiseRetriever]:
        return ChunkwiseRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self.place}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


class TestEmbeddingsUnitSuite(unit_tests.EmbeddingsUnitTests):  # type: ignore[misc, name-defined]
    """LangChain's own."""

    @property
    def embeddings_class(self) -> type[ChunkwiseEmbeddings]:
        return ChunkwiseEmbeddings


class TestEmbeddingsSuite(tests.EmbeddingsIntegrationTests):  # type: ignore[misc, name-defined]
    """LangChain's own."""

    @property
    def embeddings_class(self) -> type[ChunkwiseEmbeddings]:
        return ChunkwiseEmbeddings
