"""Find the chunking that works for your documents, and prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from chunkwise import ext as ext
    from chunkwise import options as options
    from chunkwise.answering.ask import ask as ask
    from chunkwise.answering.cited_answer import CitedAnswer as CitedAnswer
    from chunkwise.base.errors import ChunkwiseError as ChunkwiseError
    from chunkwise.base.version import __version__ as __version__
    from chunkwise.chunkers.chunk import chunk as chunk
    from chunkwise.chunkers.chunk import chunk_text as chunk_text
    from chunkwise.core import Chunk as Chunk
    from chunkwise.core import Document as Document
    from chunkwise.core import Hit as Hit
    from chunkwise.core import Query as Query
    from chunkwise.core import Reference as Reference
    from chunkwise.core import Span as Span
    from chunkwise.documents import read as read
    from chunkwise.evaluation.compare import compare as compare
    from chunkwise.evaluation.comparison_result import Comparison as Comparison
    from chunkwise.evaluation.evaluate import evaluate as evaluate
    from chunkwise.evaluation.gate import gate as gate
    from chunkwise.evaluation.lint import lint as lint
    from chunkwise.evaluation.results import Results as Results
    from chunkwise.evaluation.results import read_results as read_results
    from chunkwise.profiling import profile as profile
    from chunkwise.records.tables import to_arrow as to_arrow
    from chunkwise.records.tables import to_pandas as to_pandas
    from chunkwise.retrieval.indexes import Index as Index
    from chunkwise.retrieval.indexes import index as index
    from chunkwise.retrieval.indexes import open_index as open_index
    from chunkwise.testsets.generate.generate import generate_questions as generate_questions
    from chunkwise.tracking.history import history as history
    from chunkwise.tuning.tune import TuneResult as TuneResult
    from chunkwise.tuning.tune import tune as tune
    from chunkwise.vector_databases.push import push as push
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "chunkwise.answering.ask": "ask",
            "chunkwise.answering.cited_answer": "CitedAnswer",
            "chunkwise.base.errors": "ChunkwiseError",
            "chunkwise.base.version": "__version__",
            "chunkwise.chunkers.chunk": "chunk chunk_text",
            "chunkwise.core": "Chunk Document Hit Query Reference Span",
            "chunkwise.documents": "read",
            "chunkwise.evaluation.compare": "compare",
            "chunkwise.evaluation.comparison_result": "Comparison",
            "chunkwise.evaluation.evaluate": "evaluate",
            "chunkwise.evaluation.gate": "gate",
            "chunkwise.evaluation.lint": "lint",
            "chunkwise.evaluation.results": "Results read_results",
            "chunkwise.profiling": "profile",
            "chunkwise.records.tables": "to_arrow to_pandas",
            "chunkwise.retrieval.indexes": "Index index open_index",
            "chunkwise.testsets.generate.generate": "generate_questions",
            "chunkwise.tracking.history": "history",
            "chunkwise.tuning.tune": "TuneResult tune",
            "chunkwise.vector_databases.push": "push",
            "chunkwise.ext": "",
            "chunkwise.options": "",
        },
    )
