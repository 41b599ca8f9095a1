"""A choice as code that does the same: with chunkwise itself, and inside LangChain and LlamaIndex."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from chunkwise.experiments.recommending.recommendation import Recommendation
from chunkwise.models import DEFAULT

COMMANDS = "Command line"
"""What is no code of Python."""


def snippets(
    recommendation: Recommendation,
    documents: Sequence[str] = ("documents/",),
    file: str = "recommendation.toml",
) -> dict[str, str]:
    """By what they are for; all search alike, whatever was chosen: contexts, parents, several sizes at once.

    `documents` are the user's own; `file` holds the recommendation.
    """
    index = _index(recommendation, documents)
    search = _search(recommendation)
    return {
        COMMANDS: _commands(documents, file),
        "Python": (
            f'import chunkwise\n\n{index}\nhits = index.search("your question", {search})\n'
        ),
        "LangChain": (
            "import chunkwise\n"
            "from langchain_core.documents import Document\n"
            "from langchain_core.runnables import RunnableLambda\n\n"
            f"{index}\n\n\n"
            "def retrieve(question: str) -> list[Document]:\n"
            f"    hits = index.search(question, {search})\n"
            "    return [\n"
            '        Document(hit.text, metadata={"source": hit.doc_id, "start_index": hit.start})\n'
            "        for hit in hits\n"
            "    ]\n\n\n"
            "retriever = RunnableLambda(retrieve)\n"
        ),
        "LlamaIndex": (
            "import chunkwise\n"
            "from llama_index.core.retrievers import BaseRetriever\n"
            "from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode\n\n"
            f"{index}\n\n\n"
            "class ChunkwiseRetriever(BaseRetriever):\n"
            "    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:\n"
            f"        hits = index.search(query_bundle.query_str, {search})\n"
            "        return [\n"
            "            NodeWithScore(\n"
            "                node=TextNode(\n"
            "                    text=hit.text, start_char_idx=hit.start, end_char_idx=hit.end,\n"
            '                    metadata={"source": hit.doc_id},\n'
            "                ),\n"
            "                score=hit.score,\n"
            "            )\n"
            "            for hit in hits\n"
            "        ]\n\n\n"
            "retriever = ChunkwiseRetriever()\n"
        ),
        **_chunks(recommendation, documents),
    }


def _index(recommendation: Recommendation, documents: Sequence[str]) -> str:
    said = {"strategy": recommendation.strategy, "context": recommendation.context}
    said["vectors"] = recommendation.vectors
    if recommendation.vectors != "none" and recommendation.model != DEFAULT:
        said["model"] = recommendation.model
    told = "".join(f"    {name}={_text(value)},\n" for name, value in said.items())
    return f"index = chunkwise.index(\n    {_given(documents)},\n{told})"


def _commands(documents: Sequence[str], file: str) -> str:
    named, config = shlex.join(documents), shlex.quote(file)
    return (
        f"chunkwise index {named} --config {config} --into kb/\n"
        f'chunkwise search kb/ "your question" --config {config}\n'
    )


def _given(documents: Sequence[str]) -> str:
    """One path, or a list of them."""
    names = [_text(each) for each in documents]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _search(recommendation: Recommendation) -> str:
    asked = f"retriever={_text(recommendation.retriever)}, "
    asked += (
        f"k={recommendation.k}"
        if recommendation.budget is None
        else f"budget={recommendation.budget}"
    )
    return asked + (
        f", neighbours={recommendation.neighbours}" if recommendation.neighbours else ""
    )


def _chunks(recommendation: Recommendation, documents: Sequence[str]) -> dict[str, str]:
    """For a store of one's own; where chunks are not all there is to it, they would not do the same."""
    if recommendation.retriever.startswith("multiscale") or recommendation.context != "none":
        return {}
    return {
        "LangChain, for a store of your own": (
            "import chunkwise\n"
            "from langchain_core.documents import Document\n\n"
            "documents = [\n"
            '    Document(chunk.text, metadata={"source": chunk.doc_id, "start_index": chunk.start})\n'
            f"    for chunk in chunkwise.chunk({_given(documents)}, {_text(recommendation.strategy)})\n"
            "]\n"
        )
    }


def _text(value: str) -> str:
    """A JSON string is one of Python."""
    return json.dumps(value)
