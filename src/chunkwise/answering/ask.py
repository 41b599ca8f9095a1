"""`chunkwise.ask`: a question to documents or an index, answered by a language model that must cite."""

from __future__ import annotations

from chunkwise.answering.answer import answer_question
from chunkwise.answering.answered import Answered
from chunkwise.answering.asking import Form
from chunkwise.answering.sources import index_of
from chunkwise.core import Advance
from chunkwise.documents import OnSkip
from chunkwise.errors import InvalidParameter
from chunkwise.models import get_language_model
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import LanguageModel
from chunkwise.models.reranker import Reranker
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.making.gather import Material
from chunkwise.retrieval.retrievers import Retriever


def ask(
    source: Material | Index,
    question: str,
    llm: str | LanguageModel | LlmClient = "local",
    *,
    k: int | None = None,
    budget: int | None = None,
    retriever: str | Retriever | None = None,
    rerank: str | Reranker | None = None,
    only: Filter = EVERYTHING,
    neighbours: int = 0,
    form: Form | None = None,
    on_skip: OnSkip | None = None,
    advance: Advance | None = None,
) -> Answered:
    """An answer out of an index, or out of documents, which are indexed in memory.

    The model reads at most `k` passages (5 where there is no budget) of at most `budget` tokens in all. What it claims
    is held against them: `claims` have a state each, and a place where they have one. `llm` is a name as `--llm`
    takes it, a model, or a client with a limit on what may be spent.
    """
    if not isinstance(question, str) or not question.strip():
        raise InvalidParameter(f"the question is {question!r}; write what you want to know")
    client = llm if isinstance(llm, LlmClient) else LlmClient(get_language_model(llm))
    made = index_of(source, retriever, on_skip, advance)
    hits = made.search(
        question, k=k, budget=budget, retriever=retriever, rerank=rerank, only=only, neighbours=neighbours
    )  # fmt: skip
    return answer_question(question, hits, client, form=form)
