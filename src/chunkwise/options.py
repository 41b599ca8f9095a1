"""Option values of the verbs: each option is declared here once, for Python, command line, files, HTTP and tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from chunkwise.base.lazy_names import lazy_names
from chunkwise.base.schema import (
    Amount,
    Concurrency,
    Count,
    Dollars,
    Name,
    Names,
    Options,
    Share,
    option,
)

if TYPE_CHECKING:
    from chunkwise.base.ray_workers import RayCluster as RayCluster
    from chunkwise.chunkers.registry import Chunker, Strategy
    from chunkwise.documents.loader import Loader
    from chunkwise.documents.ocr import Ocr
    from chunkwise.models.embed.embedder import Embedder, TokenEncoder
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.models.llm.language_model import LanguageModel
    from chunkwise.models.name_finder import NameFinder
    from chunkwise.models.rerank.reranker import Reranker
    from chunkwise.retrieval.indexing.lazy_models import NamedClient
    from chunkwise.retrieval.metadata_conditions import Where
    from chunkwise.retrieval.retrievers import Retriever
    from chunkwise.text.tokens.tokenizers import TokenizerLike
else:
    Chunker = Embedder = LanguageModel = LlmClient = Loader = NameFinder = NamedClient = Ocr = Any
    Reranker = Retriever = Strategy = TokenEncoder = TokenizerLike = Where = Any
    _, __getattr__, _ = lazy_names(__name__, {"chunkwise.base.ray_workers": "RayCluster"})

Vectors = Literal["late", "own", "both", "none"]
Graph = Literal["names", "relations"]


def parse_pages(text: str) -> tuple[int, int]:
    """Read `3` or `3-5`."""
    first, _, last = text.replace("–", "-").partition("-")
    if not (first.strip().isdecimal() and (last or first).strip().isdecimal()):
        raise ValueError("expected a page or a range such as 3-5")
    return int(first), int(last or first)


@dataclass(frozen=True, kw_only=True)
class ReadOptions(Options):
    """How documents are read; formats and encodings are detected by default."""

    include: Annotated[Names, option(
        "Only these files of folders: '*.md', 'docs/**'", metavar="GLOB", group="Documents", common=True,
    )] = ()  # fmt: skip
    exclude: Annotated[Names, option(
        "Skip these files and folders: drafts, '*.log'", metavar="GLOB", group="Documents", common=True,
    )] = ()  # fmt: skip
    encoding: Annotated[Name | None, option(
        "Encoding of text files that are not UTF-8: latin-1", metavar="NAME", group="Documents",
    )] = None  # fmt: skip
    text_field: Annotated[Name | None, option(
        "Field with the text, in JSON, JSONL and CSV", metavar="FIELD", group="Documents",
    )] = None  # fmt: skip
    id_field: Annotated[Name | None, option(
        "Field with the id, in JSON, JSONL and CSV", metavar="FIELD", group="Documents",
    )] = None  # fmt: skip
    title_field: Annotated[Name | None, option(
        "Field with the title, in JSON, JSONL and CSV", metavar="FIELD", group="Documents",
    )] = None  # fmt: skip
    loader: Annotated[str | Loader | None, option(
        "Read every file with this loader: text, ./my.py:Class", metavar="NAME", group="Documents",
    )] = None  # fmt: skip
    keep_boilerplate: Annotated[bool, option(
        "Keep navigation, headers and footers of HTML pages", group="Documents",
    )] = False  # fmt: skip
    ocr: Annotated[str | Ocr | None, option(
        "Command that reads pictures: 'tesseract {} -'", metavar="COMMAND", group="Documents",
    )] = None  # fmt: skip
    limits: Annotated[Name | None, option(
        "Memory and CPU time per file: memory=8GB,time=60s or none", metavar="LIMITS",
        default="memory=4GB,time=300s", group="Documents",
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WorkerOptions(Options):
    """How many processes share the work, on this machine or a cluster; results are the same."""

    jobs: Annotated[Amount, option(
        "Number of processes", flag="-j", metavar="N", default="by size, up to 8", group="Workers", common=True,
    )] = 0  # fmt: skip
    engine: Annotated[Literal["local", "ray"], option(
        "Processes on this machine, or a Ray cluster", group="Workers",
    )] = "local"  # fmt: skip
    address: Annotated[Name | None, option(
        "Ray cluster: auto or HOST:6379", metavar="ADDRESS", default="one on this machine", group="Workers",
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LlmOption(Options):
    """The language model that is asked."""

    llm: Annotated[str | LanguageModel | LlmClient | NamedClient | None, option(
        "Language model: local, PATH.gguf, openai:NAME or a URL", metavar="NAME", variable="CHUNKWISE_LLM",
        group="Language model", common=True,
    )] = None  # fmt: skip

    @property
    def llm_name(self) -> str | None:
        """The model that is given by name, as commands do."""
        return self.llm if isinstance(self.llm, str) else None


@dataclass(frozen=True, kw_only=True)
class LlmOptions(LlmOption):
    """Which language model is asked, and its cost limit."""

    max_cost: Annotated[Dollars | None, option(
        "Stop before the language model has cost more", metavar="DOLLARS", group="Language model", common=True,
    )] = None  # fmt: skip
    price: Annotated[Name | None, option(
        "Dollars per million input and output tokens: 0.15/0.60", metavar="IN/OUT", group="Language model",
    )] = None  # fmt: skip
    concurrency: Annotated[Concurrency | None, option(
        "Simultaneous requests", metavar="N", default="by model", group="Language model",
    )] = None  # fmt: skip
    dry_run: Annotated[bool, option(
        "Estimate calls, tokens and dollars; send nothing", group="Language model", common=True,
    )] = False  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TokenizerOption(Options):
    """Which tokens are counted."""

    tokenizer: Annotated[Name | TokenizerLike | None, option(
        "Counts tokens of budgets and hits: cl100k_base, words …", metavar="NAME",
        default="that of the index, else o200k_base", group="Search",
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ChunkOptions(Options):
    """How documents are cut; the default of an existing index is how it was made."""

    strategy: Annotated[str | Chunker | Strategy | None, option(
        "How documents are cut: 'sentences(max_tokens=200)'", flag="-s", metavar="SPEC", default="structure",
        group="Chunks", common=True,
    )] = None  # fmt: skip
    context: Annotated[Literal["none", "headings", "neighbours", "document"] | None, option(
        "Text beside each chunk; the last two ask --llm", default="none", group="Chunks", common=True,
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class IndexOptions(ChunkOptions, TokenizerOption, LlmOption):
    """How documents are indexed; the default of an existing index is how it was made."""

    embedder: Annotated[str | Embedder | None, option(
        "Embedding model: minilm, openai:NAME, a URL, none", flag="-e", metavar="NAME", default="minilm",
        group="Index", common=True,
    )] = None  # fmt: skip
    vectors: Annotated[Vectors | None, option(
        "late: whole document at once; own: each chunk", default="late", group="Index",
    )] = None  # fmt: skip
    language: Annotated[Name | None, option(
        "Stemming of BM25: en, de …, auto or none", metavar="CODE", default="auto", group="Index",
    )] = None  # fmt: skip
    maxsim: Annotated[str | TokenEncoder | None, option(
        "Token vectors for late interaction: colbert-small", metavar="NAME", default="none", group="Index",
    )] = None  # fmt: skip
    graph: Annotated[bool | Graph | None, option(
        "Store names for multi-hop questions; --llm: relations", group="Index", common=True,
    )] = None  # fmt: skip
    names: Annotated[str | NameFinder | None, option(
        "Name finder beside the rules: spacy, lac, ./my.py:Class", metavar="NAME", default="none", group="Index",
    )] = None  # fmt: skip

    @property
    def is_bm25_only(self) -> bool:
        """Whether no vectors are asked for, by either option."""
        return "none" in (self.vectors, self.embedder)


@dataclass(frozen=True, kw_only=True)
class FilterOptions(Options):
    """Which part of an index is searched; several conditions must all hold."""

    where: Annotated[Where, option(
        "Only documents with this metadata: year=2024, 'price>=10'", metavar="CONDITION", group="Filter",
        common=True, repeated=True,
    )] = ()  # fmt: skip
    documents: Annotated[Names, option(
        "Only documents with these ids or patterns: '*.md'", long_flag="--only-document", metavar="ID",
        group="Filter",
    )] = ()  # fmt: skip
    sections: Annotated[Names, option(
        "Only sections with these words in their headings", long_flag="--section", metavar="WORDS",
        group="Filter",
    )] = ()  # fmt: skip
    pages: Annotated[tuple[Count, Count] | None, option(
        "Only these pages", metavar="3-5", group="Filter", parse=parse_pages,
    )] = None  # fmt: skip
    level: Annotated[Amount | None, option(
        "Only one RAPTOR level: 0 chunks, 1 summaries, 2 …", metavar="N", group="Filter",
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SearchOptions(FilterOptions, TokenizerOption):
    """How an index is searched."""

    retriever: Annotated[str | Retriever | None, option(
        "bm25, dense, hybrid, multiscale, graph or ./my.py:search", flag="-r", metavar="SPEC",
        default="multiscale with a budget, else hybrid", group="Search", common=True,
    )] = None  # fmt: skip
    k: Annotated[Count | None, option(
        "Hits per question", flag="-k", long_flag="--top-k", metavar="N", default="5, none with a budget",
        group="Search", common=True,
    )] = None  # fmt: skip
    budget: Annotated[Count | None, option(
        "Token budget per question", flag="-b", metavar="TOKENS", default="1000 for multiscale",
        group="Search", common=True,
    )] = None  # fmt: skip
    reranker: Annotated[str | Reranker | None, option(
        "Rerank the top hits: local, maxsim or an endpoint", metavar="NAME", group="Search", common=True,
    )] = None  # fmt: skip
    min_score: Annotated[float | None, option(
        "Drop hits that score less; see the retriever's scale", metavar="SCORE", group="Search",
    )] = None  # fmt: skip
    neighbors: Annotated[Amount, option(
        "Chunks added on each side of a hit", metavar="N", group="Search",
    )] = 0  # fmt: skip
    mmr: Annotated[Share | None, option(
        "Diversity of hits: 1 = relevance only", metavar="0…1", group="Search",
    )] = None  # fmt: skip
