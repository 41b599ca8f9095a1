"""Options of the verbs, each declared once for Python, command line, files, HTTP and MCP tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from msgspec import Meta

from chunkwise.base.amounts import Money, parse_money, parse_time
from chunkwise.base.lazy_names import lazy_names
from chunkwise.base.schema import (
    Amount,
    Concurrency,
    Cosine,
    Count,
    Dollars,
    Name,
    Names,
    Option,
    Options,
    Port,
    Seconds,
    Share,
    schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from chunkwise.base.ray_workers import RayCluster as RayCluster
    from chunkwise.chunkers.read_chunks import ChunksSource
    from chunkwise.chunkers.registry import Chunker, Strategy
    from chunkwise.documents.loader import Loader
    from chunkwise.documents.loader import LoadOptions as LoadOptions
    from chunkwise.documents.ocr import Ocr
    from chunkwise.evaluation.scoring import Listeners as Listeners
    from chunkwise.metrics.judges.judge import Judge
    from chunkwise.metrics.metric import Metric
    from chunkwise.models.embed.embedder import Embedder, TokenEncoder
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.models.llm.language_model import LanguageModel
    from chunkwise.models.name_finder import NameFinder
    from chunkwise.models.rerank.reranker import Reranker
    from chunkwise.retrieval.indexing.lazy_models import NamedClient
    from chunkwise.retrieval.metadata_conditions import Where
    from chunkwise.retrieval.retrievers import Retriever
    from chunkwise.text.tokens.tokenizers import TokenizerLike

    File: TypeAlias = str | PathLike[str]
    MetricsLike: TypeAlias = str | Metric | Iterable[str | Metric]
    KindsLike: TypeAlias = str | Iterable[str]
    JudgesLike: TypeAlias = str | Judge | Sequence[str | Judge]
else:
    Chunker = ChunksSource = Embedder = LanguageModel = LlmClient = Loader = NameFinder = (
        NamedClient
    ) = Ocr = Any
    File = JudgesLike = KindsLike = MetricsLike = Reranker = Retriever = Strategy = TokenEncoder = (
        TokenizerLike
    ) = Where = Any
    _, __getattr__, _ = lazy_names(
        __name__,
        {
            "chunkwise.base.ray_workers": "RayCluster",
            "chunkwise.documents.loader": "LoadOptions",
            "chunkwise.evaluation.scoring": "Listeners",
        },
    )

__all__ = [
    "CalibrationOptions",
    "ChunkOptions",
    "FilterOptions",
    "GateOptions",
    "IndexOptions",
    "LintOptions",
    "Listeners",
    "LiveOptions",
    "LlmOptions",
    "LoadOptions",
    "RankingOptions",
    "RayCluster",
    "ScoreOptions",
    "SearchOptions",
    "ServerOptions",
    "TuneOptions",
    "WorkerOptions",
]

Vectors = Literal["late", "own", "both", "none"]
Graph = Literal["names", "relations"]
Against = Literal["labels", "spans"]
"""Ground truth: human labels, or the references of the questions."""
Accepted = Literal["documents", "questions", "generated"]


def parse_pages(text: str) -> tuple[int, int]:
    """Read `3` or `3-5`."""
    first, _, last = text.replace("–", "-").partition("-")
    if not (first.strip().isdecimal() and (last or first).strip().isdecimal()):
        raise ValueError("expected a page or a range such as 3-5")
    return int(first), int(last or first)


class ReadOptions(Options, group="Documents"):
    """How to read documents; formats and encodings are detected by default."""

    include: Annotated[Names, Option(
        "Read only files that match: '*.md', 'docs/**'", metavar="GLOB"
    )] = ()  # fmt: skip
    exclude: Annotated[Names, Option(
        "Skip files and folders that match: drafts, '*.log'", metavar="GLOB"
    )] = ()  # fmt: skip
    encoding: Annotated[Name | None, Option(
        "Encoding of text files, if not UTF-8: latin-1", metavar="NAME"
    )] = None  # fmt: skip
    text_field: Annotated[Name | None, Option(
        "Text field in JSON, JSONL and CSV", metavar="FIELD"
    )] = None  # fmt: skip
    id_field: Annotated[Name | None, Option(
        "Id field in JSON, JSONL and CSV", metavar="FIELD"
    )] = None  # fmt: skip
    title_field: Annotated[Name | None, Option(
        "Title field in JSON, JSONL and CSV", metavar="FIELD"
    )] = None  # fmt: skip
    loader: Annotated[str | Loader | None, Option(
        "Loader for every file: text, ./my.py:Class", metavar="NAME"
    )] = None  # fmt: skip
    keep_boilerplate: Annotated[bool, Option(
        "Keep navigation, headers and footers of HTML pages"
    )] = False  # fmt: skip
    ocr: Annotated[str | Ocr | None, Option(
        "OCR command for images: 'tesseract {} -'", metavar="COMMAND"
    )] = None  # fmt: skip
    limits: Annotated[Name | None, Option(
        "Memory and CPU time per file: memory=8GB,time=60s, none", metavar="LIMITS",
        default_text="memory=4GB,time=300s",
    )] = None  # fmt: skip


class WorkerOptions(Options, group="Workers"):
    """Parallel processes, local or on a cluster; results don't depend on them."""

    jobs: Annotated[Amount, Option(
        "Number of processes", flag="-j", metavar="N", default_text="by corpus size, up to 8"
    )] = 0  # fmt: skip
    engine: Annotated[Literal["local", "ray"], Option(
        "Local processes or a Ray cluster"
    )] = "local"  # fmt: skip
    address: Annotated[Name | None, Option(
        "Ray cluster: auto or HOST:6379", metavar="ADDRESS", default_text="start a local one"
    )] = None  # fmt: skip


class LlmOption(Options, group="Language model"):
    """The language model."""

    llm: Annotated[str | LanguageModel | LlmClient | NamedClient | None, Option(
        "Language model: local, openai:NAME or a URL", metavar="NAME", variable="CHUNKWISE_LLM", common=True
    )] = None  # fmt: skip

    @property
    def llm_name(self) -> str | None:
        """The model's name, if it was given by name."""
        return self.llm if isinstance(self.llm, str) else None


class LlmOptions(LlmOption, group="Language model"):
    """The language model and its cost limit."""

    max_cost: Annotated[Dollars | None, Option(
        "Cost limit of the language model", metavar="DOLLARS"
    )] = None  # fmt: skip
    price: Annotated[Name | None, Option(
        "Dollars per million input/output tokens: 0.15/0.60", metavar="IN/OUT"
    )] = None  # fmt: skip
    concurrency: Annotated[Concurrency | None, Option(
        "Concurrent requests", metavar="N", default_text="by model"
    )] = None  # fmt: skip
    dry_run: Annotated[bool, Option(
        "Estimate calls, tokens and cost without sending"
    )] = False  # fmt: skip


class TokenizerOption(Options, group="Configuration"):
    """The tokenizer that counts tokens."""

    tokenizer: Annotated[Name | TokenizerLike | None, Option(
        "Tokenizer for budgets and hits: cl100k_base, words …", metavar="NAME",
        default_text="as indexed, else o200k_base",
    )] = None  # fmt: skip


class ChunkOptions(Options, group="Configuration"):
    """How to chunk documents; an existing index keeps its stored options by default."""

    strategy: Annotated[str | Chunker | Strategy | None, Option(
        "Chunking strategy", flag="-s", metavar="SPEC", default_text="structure",
        common=True,
    )] = None  # fmt: skip
    context: Annotated[Literal["none", "headings", "neighbors", "document"] | None, Option(
        "Context indexed with each chunk; last two need --llm", default_text="none"
    )] = None  # fmt: skip


class FilterOptions(Options, group="Filter"):
    """Which part of an index to search; all conditions must hold."""

    where: Annotated[Where, Option(
        "Filter by metadata: year=2024, 'price>=10'", metavar="CONDITION", repeated=True
    )] = ()  # fmt: skip
    documents: Annotated[Names, Option(
        "Filter by document id or pattern: '*.md'", long_flag="--only-document", metavar="ID"
    )] = ()  # fmt: skip
    sections: Annotated[Names, Option(
        "Filter by words in section headings", long_flag="--section", metavar="WORDS"
    )] = ()  # fmt: skip
    pages: Annotated[tuple[Count, Count] | None, Option(
        "Filter by pages", metavar="3-5", parse=parse_pages
    )] = None  # fmt: skip
    level: Annotated[Amount | None, Option(
        "Filter by RAPTOR level: 0 chunks, 1 summaries, 2 …", metavar="N"
    )] = None  # fmt: skip


class RankingOptions(Options, group="Search"):
    """How to rank hits, and how many to return; an index can store these as defaults."""

    retriever: Annotated[str | Retriever | None, Option(
        "bm25, multiscale …", flag="-r", metavar="SPEC",
        default_text="as indexed, else hybrid", common=True,
    )] = None  # fmt: skip
    k: Annotated[Count | None, Option(
        "Hits per question", flag="-k", long_flag="--top-k", metavar="N", default_text="as indexed, else 5",
        common=True,
    )] = None  # fmt: skip
    budget: Annotated[Count | None, Option(
        "Token budget per question, instead of -k", flag="-b", metavar="TOKENS", common=True
    )] = None  # fmt: skip
    reranker: Annotated[str | Reranker | None, Option(
        "Reranker for the top hits: local, a URL …", metavar="NAME", common=True
    )] = None  # fmt: skip
    min_score: Annotated[float | None, Option(
        "Drop hits below this score (scales differ by retriever)", metavar="SCORE"
    )] = None  # fmt: skip
    neighbors: Annotated[
        Amount, Option("Neighboring chunks added on each side of a hit", metavar="N")
    ] = 0
    mmr: Annotated[Share | None, Option(
        "Maximal marginal relevance: 1 relevance, 0 diversity", metavar="0…1"
    )] = None  # fmt: skip
    naming: Annotated[Literal["on", "off"], Option(
        "Reserve budget for documents named in the question"
    )] = "on"  # fmt: skip

    def filled_from(self, kept: RankingOptions) -> Self:
        """Fill in missing options from those stored in an index.

        A given retriever doesn't inherit stored steps, which belong to the stored retriever; k and budget exclude each
        other.
        """
        names = ["retriever", *STEPS] if self.retriever is None else []
        if self.k is None and self.budget is None:
            names += ["k", "budget"]
        given = self.changed()
        return replace(self, **{name: getattr(kept, name) for name in names if name not in given})


class SearchOptions(RankingOptions, FilterOptions, TokenizerOption):
    """How to search an index."""


STEPS = tuple(
    name for name in RankingOptions.__annotations__ if name not in ("retriever", "k", "budget")
)
"""Options applied after ranking."""
SERVED_SEARCH_OPTIONS = tuple(
    field.name
    for field in schema(SearchOptions)
    if field.name not in ("reranker", "tokenizer", "pages")
)
"""Options that programs and assistants may set: the others load models, or can't be expressed in a URL."""


class IndexOptions(ChunkOptions, TokenizerOption, LlmOption, group="Configuration"):
    """How to index documents; an existing index keeps its stored options by default."""

    embedder: Annotated[str | Embedder | None, Option(
        "Embedding model; none: BM25 only", flag="-e", metavar="NAME", default_text="minilm",
        common=True,
    )] = None  # fmt: skip
    vectors: Annotated[Vectors | None, Option(
        "Late chunking, per-chunk embeddings (own), or both", default_text="late"
    )] = None  # fmt: skip
    language: Annotated[Name | None, Option(
        "Stemming language for BM25: en, de …, auto, none", metavar="CODE", default_text="auto"
    )] = None  # fmt: skip
    maxsim: Annotated[str | TokenEncoder | None, Option(
        "Token encoder for late interaction: colbert-small", metavar="NAME", default_text="none"
    )] = None  # fmt: skip
    graph: Annotated[bool | Graph | None, Option(
        "Graph of names for multi-hop questions; relations: --llm"
    )] = None  # fmt: skip
    names: Annotated[str | NameFinder | None, Option(
        "Additional name finder: spacy, lac, ./my.py:Class", metavar="NAME", default_text="none"
    )] = None  # fmt: skip
    search: RankingOptions | None = None
    """Search options stored in the index; None keeps the stored ones."""


class ScoreOptions(Options, group="Metrics"):
    """Metrics and scoring rules."""

    metrics: Annotated[MetricsLike, Option(
        "Metrics or groups: recall@5,mrr@5", flag="-m", metavar="NAMES", common=True
    )] = "all"  # fmt: skip
    judge: Annotated[JudgesLike | None, Option(
        "Also score with judges: llm, ./my.py:Class", metavar="NAMES", common=True
    )] = None  # fmt: skip
    answers: Annotated[File | None, Option(
        "Answers with citations to score", metavar="FILE"
    )] = None  # fmt: skip
    split: Annotated[str, Option("Split of the test set to use", metavar="NAME")] = ""
    unit: Annotated[Literal["characters", "tokens"], Option(
        "Unit of text overlap"
    )] = "characters"  # fmt: skip
    relevance_threshold: Annotated[Share, Option(
        "Share of a reference that a relevant hit must cover", metavar="SHARE"
    )] = 0.5  # fmt: skip
    similarity_threshold: Annotated[Cosine, Option(
        "Minimum similarity of a relevant hit", metavar="COSINE"
    )] = 0.7  # fmt: skip
    seed: Annotated[Amount, Option("Random seed of the LLM judge", metavar="N")] = 0


class LiveOptions(Options, group="Your pipeline"):
    """How to call your own retriever or pipeline."""

    timeout: Annotated[Seconds, Option(
        "Time limit per question; slower ones are unscored", metavar="SECONDS"
    )] = 60.0  # fmt: skip
    retrieved: Annotated[File | None, Option(
        "Save hits to resume later; saved questions are skipped", metavar="FILE", writes="any"
    )] = None  # fmt: skip


class TuneOptions(Options, group="Sweep"):
    """Search space, selection, and limits of time and cost."""

    objective: Annotated[Name, Option(
        "Metric to maximize", metavar="METRIC", common=True
    )] = "recall@1000t"  # fmt: skip
    k: Annotated[Count, Option(
        "Hits per question", flag="-k", long_flag="--top-k", metavar="N", common=True
    )] = 5  # fmt: skip
    embedder: Annotated[str, Option(
        "Embedding model; none: BM25 only", flag="-e", metavar="NAME", common=True
    )] = "minilm"  # fmt: skip
    embedders: Annotated[Names, Option(
        "Other embedding models to try", metavar="NAME", common=True
    )] = ()  # fmt: skip
    rerankers: Annotated[Names, Option(
        "Rerankers to try on the best configurations", long_flag="--reranker", metavar="NAME", common=True
    )] = ()  # fmt: skip
    maxsim: Annotated[str, Option(
        "Token encoder to try with multi-scale retrieval", metavar="NAME", default_text="none"
    )] = ""  # fmt: skip
    llm: Annotated[str, Option(
        "Model for questions, contexts", metavar="NAME", default_text="none",
        common=True,
    )] = ""  # fmt: skip
    query_log: Annotated[str, Option(
        "Log of questions that users asked", metavar="FILE", common=True
    )] = ""  # fmt: skip
    at_least: Annotated[Names, Option(
        "Minimum mean of another metric: precision=0.3", metavar="NAME=VALUE", common=True
    )] = ()  # fmt: skip
    tokenizer: Annotated[Name, Option("Tokenizer for budgets and chunk sizes", metavar="NAME")] = (
        "o200k_base"
    )
    time: Annotated[Annotated[float, Meta(gt=0)], Option(
        "Time limit: '10 min', '90 s'", long_flag="--time-limit", metavar="TIME", parse=parse_time,
        default_text="5 min", common=True,
    )] = 300.0  # fmt: skip
    max_cost: Annotated[Money | None, Option(
        "Cost limit of all models: '5 USD'", metavar="MONEY", parse=parse_money
    )] = None  # fmt: skip
    price: Annotated[Money | None, Option(
        "Embedding price per million tokens: '0.02 USD'", metavar="MONEY", parse=parse_money
    )] = None  # fmt: skip
    exact: Annotated[bool, Option("Embed every chunk separately (slower)")] = False
    test_share: Annotated[Annotated[float, Meta(ge=0, lt=1)], Option(
        "Share of questions held out for testing", metavar="SHARE"
    )] = 0.0  # fmt: skip
    prior: Annotated[bool, Option(
        "Use a prior from public test sets", long_flag="--prior/--no-prior"
    )] = True  # fmt: skip
    seed: Annotated[Amount, Option("Random seed of folds and intervals", metavar="N")] = 0


class LintOptions(Options, group="Configuration"):
    """Which chunks to check, and for which issues."""

    strategy: Annotated[str | Chunker | Strategy | None, Option(
        "Chunking strategy", flag="-s", metavar="SPEC", default_text="structure",
        common=True,
    )] = None  # fmt: skip
    chunks: Annotated[ChunksSource | None, Option(
        "Chunks of any tool to check: .jsonl, .csv, .parquet", metavar="FILE", common=True
    )] = None  # fmt: skip
    kinds: Annotated[KindsLike | None, Option(
        "Kinds of issues to report", metavar="KIND,…", common=True
    )] = None  # fmt: skip


Accept: TypeAlias = Annotated[tuple[Accepted, ...], Option(
    "Allow differing documents or questions, or unreviewed generated questions", metavar="WHAT"
)]  # fmt: skip


class GateOptions(Options, group="Gate"):
    """When a run counts as a regression."""

    min_effect: Annotated[Annotated[float, Meta(ge=0, lt=1)], Option(
        "Ignore differences below this: 0.02", metavar="DIFFERENCE", common=True
    )] = 0.0  # fmt: skip
    no_new_zero: Annotated[bool, Option(
        "Exit with status 4 if a question falls to 0 or loses its score", common=True
    )] = False  # fmt: skip
    accept: Accept = ()


class CalibrationOptions(Options, group="Judge"):
    """Which verdicts to request, and the ground truth to compare them with."""

    against: Annotated[Against | None, Option(
        "Ground truth: human labels, or references (spans)", default_text="labels, if any", common=True
    )] = None  # fmt: skip
    count: Annotated[Annotated[int, Meta(ge=2)], Option(
        "Number of verdicts, half about relevant passages", metavar="N", common=True
    )] = 100  # fmt: skip
    seed: Annotated[Amount, Option("Random seed of passages and intervals", metavar="N")] = 0
    strategy: Annotated[str | Chunker | Strategy | None, Option(
        "Chunking strategy of irrelevant passages", flag="-s", metavar="SPEC", default_text="sentences"
    )] = None  # fmt: skip


class ServerOptions(Options, group="Server"):
    """Where a server listens, and who has access."""

    port: Annotated[Port | None, Option(
        "Port", metavar="N", default_text="8420, or the next free one", common=True
    )] = None  # fmt: skip
    host: Annotated[Name, Option(
        "Host to bind; other than localhost needs --users", metavar="ADDRESS", common=True
    )] = "127.0.0.1"  # fmt: skip
    users: Annotated[Path | None, Option(
        "User accounts; see `chunkwise serve users add`", metavar="FILE", common=True
    )] = None  # fmt: skip
    tls_cert: Annotated[Path | None, Option("TLS certificate (PEM)", metavar="FILE")] = None
    tls_key: Annotated[Path | None, Option(
        "TLS private key (PEM)", metavar="FILE"
    )] = None  # fmt: skip
    proxy: Annotated[str, Option(
        "Accept requests only from this TLS proxy", metavar="ADDRESS", default_text="none"
    )] = ""  # fmt: skip
    user_header: Annotated[str, Option(
        "HTTP header with the user name, set by the proxy", metavar="NAME", default_text="none"
    )] = ""  # fmt: skip
    rate: Annotated[Annotated[int, Meta(ge=1, le=1_000_000)], Option(
        "Rate limit in units per minute: search 1, answer 5, evaluation 30", metavar="N"
    )] = 1200  # fmt: skip
