"""A choice as a file that commands take, and as code that does the same."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from chunkwise.atomic import replacing, says_what_it_writes
from chunkwise.errors import ChunkwiseError, InvalidParameter

_FORMAT = "chunkwise recommendation"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """How to cut, to index and to search."""

    strategy: str
    context: str = "none"
    model: str = "minilm"
    vectors: str = "late"
    retriever: str = "hybrid"
    k: int = 5
    budget: int | None = None
    """Tokens a question, for retrievers that fill a budget; None: `k` hits."""
    neighbours: int = 0

    def settings(self) -> dict[str, object]:
        """As the file names them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def options(self) -> dict[str, object]:
        """As the commands name them."""
        found = self.settings()
        k = found.pop("k")
        if self.budget is None:
            found["count"] = k
            del found["budget"]
        return found


def write_recommendation(recommendation: Recommendation, path: Path, why: str) -> None:
    """TOML; the reason stands above it as a comment."""
    lines = [f"# {line}" for line in why.splitlines()]
    lines += ["", f"format = {json.dumps(_FORMAT)}", ""]
    for field in fields(recommendation):
        value = getattr(recommendation, field.name)
        if value is not None:
            # A TOML string is a JSON string, apart from characters beyond the first plane.
            lines.append(f"{field.name} = {json.dumps(value, ensure_ascii=False)}")
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_recommendation(path: Path) -> Recommendation:
    """What `write_recommendation` wrote, or a person did."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ChunkwiseError(f"{path} is no TOML: {error}") from error
    if given.pop("format", _FORMAT) != _FORMAT:
        raise ChunkwiseError(f"{path} is no recommendation; chunkwise tune writes one")
    known = {field.name: field.type for field in fields(Recommendation)}
    for name, value in given.items():
        if name not in known:
            raise InvalidParameter(f"{path}: {name!r} is not known; allowed: {', '.join(known)}")
        wanted = int if name in ("k", "budget", "neighbours") else str
        if type(value) is not wanted:
            raise InvalidParameter(
                f"{path}: {name} is {value!r}; {'a whole number' if wanted is int else 'a text'} is needed"
            )
    if "strategy" not in given:
        raise InvalidParameter(f'{path} names no strategy; write one: strategy = "structure"')
    return Recommendation(**given)


def snippets(recommendation: Recommendation) -> dict[str, str]:
    """Code that does the same: with chunkwise itself, and with its chunks inside LangChain and LlamaIndex."""
    asked = f"k={recommendation.k}"
    if recommendation.budget is not None:
        asked = f"budget={recommendation.budget}"
    if recommendation.neighbours:
        asked += f", neighbours={recommendation.neighbours}"
    strategy, context = json.dumps(recommendation.strategy), json.dumps(recommendation.context)
    retriever = json.dumps(recommendation.retriever)
    return {
        "Python": (
            "import chunkwise\n\n"
            f'index = chunkwise.index("documents/", strategy={strategy}, context={context}, '
            f"vectors={json.dumps(recommendation.vectors)})\n"
            f'hits = index.search("your question", retriever={retriever}, {asked})\n'
        ),
        "LangChain": (
            "import chunkwise\n"
            "from langchain_core.documents import Document\n\n"
            "documents = [\n"
            "    Document(chunk.text, metadata={\"source\": chunk.doc_id, \"start_index\": chunk.start})\n"
            f'    for chunk in chunkwise.chunk("documents/", strategy={strategy})\n'
            "]\n"
        ),
        "LlamaIndex": (
            "import chunkwise\n"
            "from llama_index.core.schema import TextNode\n\n"
            "nodes = [\n"
            "    TextNode(text=chunk.text, start_char_idx=chunk.start, end_char_idx=chunk.end,\n"
            "             metadata={\"source\": chunk.doc_id, \"section\": chunk.section_path})\n"
            f'    for chunk in chunkwise.chunk("documents/", strategy={strategy})\n'
            "]\n"
        ),
    }  # fmt: skip
