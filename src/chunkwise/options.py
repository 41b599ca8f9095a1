"""Option values of the verbs: each option is declared here once, for Python, command line, files, HTTP and tools."""

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
"""What is taken for the truth: people's labels, or the references of the questions."""
Accepted = Literal["documents", "questions", "generated"]


def parse_pages(text: str) -> tuple[int, int]:
    """Read `3` or `3-5`."""
    first, _, last = text.replace("–", "-").partition("-")
    if not (first.strip().isdecimal() and (last or first).strip().isdecimal()):
        raise ValueError("expected a page or a range such as 3-5")
    return int(first), int(last or first)


class ReadOptions(Options, group="Documents"):
    """How documents are read; formats and encodings are detected by default."""

    include: Annotated[Names, Option(
        "Only these files of folders: '*.md', 'docs/**'", metavar="GLOB"
    )] = ()  # fmt: skip
    exclude: Annotated[Names, Option(
        "Skip these files and folders: drafts, '*.log'", metavar="GLOB"
    )] = ()  # fmt: skip
    encoding: Annotated[Name | None, Option(
        "Encoding of text files that are not UTF-8: latin-1", metavar="NAME"
    )] = None  # fmt: skip
    text_field: Annotated[Name | None, Option(
        "Field with the text, in JSON, JSONL and CSV", metavar="FIELD"
    )] = None  # fmt: skip
    id_field: Annotated[Name | None, Option(
        "Field with the id, in JSON, JSONL and CSV", metavar="FIELD"
    )] = None  # fmt: skip
    title_field: Annotated[Name | None, Option(
        "Field with the title, in JSON, JSONL and CSV", metavar="FIELD"
    )] = None  # fmt: skip
    loader: Annotated[str | Loader | None, Option(
        "Read every file with this loader: text, ./my.py:Class", metavar="NAME"
    )] = None  # fmt: skip
    keep_boilerplate: Annotated[bool, Option(
        "Keep navigation, headers and footers of HTML pages"
    )] = False  # fmt: skip
    ocr: Annotated[str | Ocr | None, Option(
        "Command that reads pictures: 'tesseract {} -'", metavar="COMMAND"
    )] = None  # fmt: skip
    limits: Annotated[Name | None, Option(
        "Memory and CPU time per file: memory=8GB,time=60s or none", metavar="LIMITS",
        default_text="memory=4GB,time=300s",
    )] = None  # fmt: skip


class WorkerOptions(Options, group="Workers"):
    """How many processes share the work, on this machine or a cluster; results are the same."""

    jobs: Annotated[Amount, Option(
        "Number of processes", flag="-j", metavar="N", default_text="by size, up to 8"
    )] = 0  # fmt: skip
    engine: Annotated[Literal["local", "ray"], Option(
        "Processes on this machine, or a Ray cluster"
    )] = "local"  # fmt: skip
    address: Annotated[Name | None, Option(
        "Ray cluster: auto or HOST:6379", metavar="ADDRESS", default_text="one on this machine"
    )] = None  # fmt: skip


class LlmOption(Options, group="Language model"):
    """The language model that is asked."""

    llm: Annotated[str | LanguageModel | LlmClient | NamedClient | None, Option(
        "Language model: local, openai:NAME or a URL", metavar="NAME", variable="CHUNKWISE_LLM", common=True
    )] = None  # fmt: skip

    @property
    def llm_name(self) -> str | None:
        """The model that is given by name, as commands do."""
        return self.llm if isinstance(self.llm, str) else None


class LlmOptions(LlmOption, group="Language model"):
    """Which language model is asked, and its cost limit."""

    max_cost: Annotated[Dollars | None, Option(
        "Stop before the language model has cost more", metavar="DOLLARS"
    )] = None  # fmt: skip
    price: Annotated[Name | None, Option(
        "Dollars per million input and output tokens: 0.15/0.60", metavar="IN/OUT"
    )] = None  # fmt: skip
    concurrency: Annotated[Concurrency | None, Option(
        "Simultaneous requests", metavar="N", default_text="by model"
    )] = None  # fmt: skip
    dry_run: Annotated[bool, Option(
        "Estimate calls, tokens and dollars; send nothing"
    )] = False  # fmt: skip


class TokenizerOption(Options, group="Configuration"):
    """Which tokens are counted."""

    tokenizer: Annotated[Name | TokenizerLike | None, Option(
        "Counts tokens of budgets and hits: cl100k_base, words …", metavar="NAME",
        default_text="that of the index, else o200k_base",
    )] = None  # fmt: skip


class ChunkOptions(Options, group="Configuration"):
    """How documents are cut; the default of an existing index is how it was made."""

    strategy: Annotated[str | Chunker | Strategy | None, Option(
        "How documents are cut", flag="-s", metavar="SPEC", default_text="structure",
        common=True,
    )] = None  # fmt: skip
    context: Annotated[Literal["none", "headings", "neighbors", "document"] | None, Option(
        "Text beside each chunk; the last two ask --llm", default_text="none"
    )] = None  # fmt: skip


class FilterOptions(Options, group="Filter"):
    """Which part of an index is searched; several conditions must all hold."""

    where: Annotated[Where, Option(
        "Only documents with this metadata: year=2024, 'price>=10'", metavar="CONDITION", repeated=True
    )] = ()  # fmt: skip
    documents: Annotated[Names, Option(
        "Only documents with these ids or patterns: '*.md'", long_flag="--only-document", metavar="ID"
    )] = ()  # fmt: skip
    sections: Annotated[Names, Option(
        "Only sections with these words in their headings", long_flag="--section", metavar="WORDS"
    )] = ()  # fmt: skip
    pages: Annotated[tuple[Count, Count] | None, Option(
        "Only these pages", metavar="3-5", parse=parse_pages
    )] = None  # fmt: skip
    level: Annotated[Amount | None, Option(
        "Only one RAPTOR level: 0 chunks, 1 summaries, 2 …", metavar="N"
    )] = None  # fmt: skip


class RankingOptions(Options, group="Search"):
    """How hits are ranked, and how many there are; an index can keep these for its searches."""

    retriever: Annotated[str | Retriever | None, Option(
        "bm25, multiscale, ./my.py:f …", flag="-r", metavar="SPEC",
        default_text="that of the index, else hybrid", common=True,
    )] = None  # fmt: skip
    k: Annotated[Count | None, Option(
        "Hits per question", flag="-k", long_flag="--top-k", metavar="N", default_text="that of the index, else 5",
        common=True,
    )] = None  # fmt: skip
    budget: Annotated[Count | None, Option(
        "Token budget per question, instead of -k", flag="-b", metavar="TOKENS", common=True
    )] = None  # fmt: skip
    reranker: Annotated[str | Reranker | None, Option(
        "Rerank the top hits: local, an endpoint …", metavar="NAME", common=True
    )] = None  # fmt: skip
    min_score: Annotated[float | None, Option(
        "Drop hits that score less; see the retriever's scale", metavar="SCORE"
    )] = None  # fmt: skip
    neighbors: Annotated[Amount, Option("Chunks added on each side of a hit", metavar="N")] = 0
    mmr: Annotated[Share | None, Option(
        "Diversity of hits: 1 = relevance only", metavar="0…1"
    )] = None  # fmt: skip
    naming: Annotated[Literal["on", "off"], Option(
        "Share of the budget for documents that a question names"
    )] = "on"  # fmt: skip

    def filled_from(self, kept: RankingOptions) -> Self:
        """Take what is not given from the options that an index keeps.

        A given retriever comes without the kept steps, which belong to the kept one; k and budget replace each other.
        """
        names = ["retriever", *STEPS] if self.retriever is None else []
        if self.k is None and self.budget is None:
            names += ["k", "budget"]
        given = self.changed()
        return replace(self, **{name: getattr(kept, name) for name in names if name not in given})


class SearchOptions(RankingOptions, FilterOptions, TokenizerOption):
    """How an index is searched."""


STEPS = tuple(
    name for name in RankingOptions.__annotations__ if name not in ("retriever", "k", "budget")
)
"""Options of what follows the ranking."""
SERVED_SEARCH_OPTIONS = tuple(
    field.name
    for field in schema(SearchOptions)
    if field.name not in ("reranker", "tokenizer", "pages")
)
"""Options that programs and assistants may set: the others load models, or have no form in an address."""


class IndexOptions(ChunkOptions, TokenizerOption, LlmOption, group="Configuration"):
    """How documents are indexed; the default of an existing index is how it was made."""

    embedder: Annotated[str | Embedder | None, Option(
        "Embedding model; none: BM25 only", flag="-e", metavar="NAME", default_text="minilm",
        common=True,
    )] = None  # fmt: skip
    vectors: Annotated[Vectors | None, Option(
        "late: one pass for any chunk size; own: each chunk", default_text="late"
    )] = None  # fmt: skip
    language: Annotated[Name | None, Option(
        "Stemming of BM25: en, de …, auto or none", metavar="CODE", default_text="auto"
    )] = None  # fmt: skip
    maxsim: Annotated[str | TokenEncoder | None, Option(
        "Token vectors for late interaction: colbert-small", metavar="NAME", default_text="none"
    )] = None  # fmt: skip
    graph: Annotated[bool | Graph | None, Option(
        "Store names for multi-hop questions; --llm: relations"
    )] = None  # fmt: skip
    names: Annotated[str | NameFinder | None, Option(
        "Name finder beside the rules: spacy, lac, ./my.py:Class", metavar="NAME", default_text="none"
    )] = None  # fmt: skip
    search: RankingOptions | None = None
    """Default options of searches; None: as before."""


class ScoreOptions(Options, group="Metrics"):
    """Which metrics are computed, and how hits are scored."""

    metrics: Annotated[MetricsLike, Option(
        "Metrics or groups: recall@5,mrr@5 …", flag="-m", metavar="NAMES", common=True
    )] = "all"  # fmt: skip
    judge: Annotated[JudgesLike | None, Option(
        "Also score with judges: llm, ./my.py:Class", metavar="NAMES", common=True
    )] = None  # fmt: skip
    answers: Annotated[File | None, Option(
        "Also score these answers with citations", metavar="FILE"
    )] = None  # fmt: skip
    split: Annotated[
        str, Option("Only questions of this split of the test set", metavar="NAME")
    ] = ""
    unit: Annotated[Literal["characters", "tokens"], Option(
        "Unit that overlaps of text are measured in"
    )] = "characters"  # fmt: skip
    relevance_threshold: Annotated[Share, Option(
        "Share of a reference that a relevant hit covers", metavar="SHARE"
    )] = 0.5  # fmt: skip
    similarity_threshold: Annotated[Cosine, Option(
        "Similarity from which a hit is relevant to that judge", metavar="COSINE"
    )] = 0.7  # fmt: skip
    seed: Annotated[Amount, Option("Seed of the language model that judges", metavar="N")] = 0


class LiveOptions(Options, group="Own pipeline"):
    """How a retriever or a pipeline of your own is asked."""

    timeout: Annotated[Seconds, Option(
        "Time limit of one question; slower ones have no score", metavar="SECONDS"
    )] = 60.0  # fmt: skip
    retrieved: Annotated[File | None, Option(
        "Keep its hits here; questions it has are not asked again", metavar="FILE", writes="any"
    )] = None  # fmt: skip


class TuneOptions(Options, group="Sweep"):
    """Which configurations are tried, how one is chosen, and the limits of time and cost."""

    objective: Annotated[Name, Option(
        "Metric that decides", metavar="METRIC", common=True
    )] = "recall@1000t"  # fmt: skip
    k: Annotated[Count, Option(
        "Hits per question", flag="-k", long_flag="--top-k", metavar="N", common=True
    )] = 5  # fmt: skip
    embedder: Annotated[str, Option(
        "Embedding model; none: BM25 only", flag="-e", metavar="NAME", common=True
    )] = "minilm"  # fmt: skip
    embedders: Annotated[Names, Option(
        "Other models, tried on the best", metavar="NAME", common=True
    )] = ()  # fmt: skip
    rerankers: Annotated[Names, Option(
        "Rerankers, tried on the best", long_flag="--reranker", metavar="NAME", common=True
    )] = ()  # fmt: skip
    maxsim: Annotated[str, Option(
        "Token vectors, tried on the best multi-scale retriever", metavar="NAME", default_text="none"
    )] = ""  # fmt: skip
    llm: Annotated[str, Option(
        "Language model that writes questions, and contexts of the best chunks", metavar="NAME", default_text="none",
        common=True,
    )] = ""  # fmt: skip
    query_log: Annotated[str, Option(
        "Log of questions that users asked, to generate questions from", metavar="FILE", common=True
    )] = ""  # fmt: skip
    at_least: Annotated[Names, Option(
        "Mean that the choice must have: precision=0.3", metavar="NAME=VALUE", common=True
    )] = ()  # fmt: skip
    tokenizer: Annotated[Name, Option("Counts tokens of budgets and sizes", metavar="NAME")] = (
        "o200k_base"
    )
    time: Annotated[Annotated[float, Meta(gt=0)], Option(
        "Time limit: '10 min', '90 s'", long_flag="--time-limit", metavar="TIME", parse=parse_time,
        default_text="5 min", common=True,
    )] = 300.0  # fmt: skip
    max_cost: Annotated[Money | None, Option(
        "Most that models may cost: '5 USD'", metavar="MONEY", parse=parse_money
    )] = None  # fmt: skip
    price: Annotated[Money | None, Option(
        "Price of a million tokens embedded: '0.02 USD'", metavar="MONEY", parse=parse_money
    )] = None  # fmt: skip
    exact: Annotated[bool, Option("Embed every chunk by itself, not only finalists'; slower")] = (
        False
    )
    finalists: Annotated[Amount, Option("Best configurations run again exactly", metavar="N")] = 0
    test_share: Annotated[Annotated[float, Meta(ge=0, lt=1)], Option(
        "Share of questions that judge and never choose", metavar="SHARE"
    )] = 0.0  # fmt: skip
    prior: Annotated[bool, Option(
        "Use what parameters did on public question sets", long_flag="--prior/--no-prior"
    )] = True  # fmt: skip
    seed: Annotated[Amount, Option("Seed of folds and confidence intervals", metavar="N")] = 0


class LintOptions(Options, group="Configuration"):
    """Which chunks are examined, and for what."""

    strategy: Annotated[str | Chunker | Strategy | None, Option(
        "How documents are cut; see `chunkwise list strategies`", flag="-s", metavar="SPEC", default_text="structure",
        common=True,
    )] = None  # fmt: skip
    chunks: Annotated[ChunksSource | None, Option(
        "Check these chunks of any tool: .jsonl, .csv or .parquet", metavar="FILE", common=True
    )] = None  # fmt: skip
    kinds: Annotated[KindsLike | None, Option(
        "Look only for these kinds of issues", metavar="KIND,…", common=True
    )] = None  # fmt: skip


Accept: TypeAlias = Annotated[tuple[Accepted, ...], Option(
    "Gate also on other documents or questions, or on generated questions", metavar="WHAT"
)]  # fmt: skip


class GateOptions(Options, group="Gate"):
    """When a run counts as worse than another."""

    min_effect: Annotated[Annotated[float, Meta(ge=0, lt=1)], Option(
        "A smaller difference counts as equal: 0.02", metavar="DIFFERENCE", common=True
    )] = 0.0  # fmt: skip
    no_new_zero: Annotated[bool, Option(
        "Exit with 4 where a question falls to 0 or no score", common=True
    )] = False  # fmt: skip
    accept: Accept = ()


class CalibrationOptions(Options, group="Judge"):
    """Which judgments with known truth are asked for."""

    against: Annotated[Against | None, Option(
        "What counts as the truth: labels or references (spans)", default_text="labels, if any", common=True
    )] = None  # fmt: skip
    count: Annotated[Annotated[int, Meta(ge=2)], Option(
        "Verdicts to ask for, half about relevant passages", metavar="N", common=True
    )] = 100  # fmt: skip
    seed: Annotated[Amount, Option("Seed that picks passages and makes intervals", metavar="N")] = 0
    strategy: Annotated[str | Chunker | Strategy | None, Option(
        "How irrelevant passages are cut", flag="-s", metavar="SPEC", default_text="sentences"
    )] = None  # fmt: skip


class ServerOptions(Options, group="Server"):
    """Where a server listens, and who is let in there."""

    port: Annotated[Port | None, Option(
        "Port on this machine", metavar="N", default_text="8420, or the next free one", common=True
    )] = None  # fmt: skip
    host: Annotated[Name, Option(
        "Address on this machine; others need --users", metavar="ADDRESS", common=True
    )] = "127.0.0.1"  # fmt: skip
    users: Annotated[Path | None, Option(
        "Who may come in; see `chunkwise serve users add`", metavar="FILE", common=True
    )] = None  # fmt: skip
    tls_cert: Annotated[Path | None, Option("Certificate (PEM), for https", metavar="FILE")] = None
    tls_key: Annotated[Path | None, Option(
        "Private key of the certificate (PEM)", metavar="FILE"
    )] = None  # fmt: skip
    proxy: Annotated[str, Option(
        "Answer only this address, of a proxy that speaks TLS", metavar="ADDRESS", default_text="none"
    )] = ""  # fmt: skip
    user_header: Annotated[str, Option(
        "Header in which the proxy names the user", metavar="NAME", default_text="none"
    )] = ""  # fmt: skip
    rate: Annotated[Annotated[int, Meta(ge=1, le=1_000_000)], Option(
        "Units per user and minute: search 1, answer 5, evaluation 30", metavar="N"
    )] = 1200  # fmt: skip
