"""What another package for graphs asks of a language model, by a scripted one: run by that package's own interpreter.

PYTHON benchmarks/graph_peers.py lightrag-hku DOCUMENTS.jsonl FOLDER    # one line of JSON: calls, tokens, seconds

Texts come as JSON lines with `id` and `text`; needs `bpe-openai` beside the package, which counts tokens offline.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from types import ModuleType
from typing import Any

import bpe_openai
import numpy as np

_ENCODING = bpe_openai.get_encoding("o200k_base")
_NAME = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)+")
_MOST = 12
_WIDE = 64
"""Dimensions of vectors that are drawn, not computed: what an embedder costs is not counted."""


class Tokens:
    """What tiktoken would do; its file of words is not to be had offline."""

    name = "o200k_base"

    def encode(self, text: str, **_: Any) -> list[int]:
        return list(_ENCODING.encode(text))

    def decode(self, tokens: list[int], **_: Any) -> str:
        return str(_ENCODING.decode(list(tokens)) or "")

    def encode_batch(self, texts: list[str], **_: Any) -> list[list[int]]:
        return [self.encode(each) for each in texts]

    def decode_batch(self, rows: list[list[int]], **_: Any) -> list[str]:
        return [self.decode(each) for each in rows]


class Tally:
    """Of what was asked."""

    def __init__(self) -> None:
        self.calls = self.read = self.written = 0

    def said(self, asked: str, answer: str) -> str:
        self.calls += 1
        self.read += len(_ENCODING.encode(asked))
        self.written += len(_ENCODING.encode(answer))
        return answer


def names_in(text: str) -> list[str]:
    """At most a dozen, as our own scripted model names them."""
    return list(dict.fromkeys(_NAME.findall(text)))[:_MOST]


async def embedded(texts: list[str], **_: Any) -> Any:
    await asyncio.sleep(0)
    return np.random.default_rng(len(texts)).random((len(texts), _WIDE)).astype(np.float32)


def _asked(prompt: object, system: object, history: object) -> str:
    said = [each.get("content", "") for each in history or ()]  # type: ignore[attr-defined]
    return "\n".join(map(str, [system or "", *said, prompt]))


async def lightrag(texts: dict[str, str], folder: str, tally: Tally) -> None:
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc, Tokenizer

    async def model(
        prompt: str, system_prompt: str = "", history_messages: Any = None, **_: Any
    ) -> str:
        await asyncio.sleep(0)
        said = names_in(prompt) if not history_messages else []
        rows = [f"entity<|#|>{each}<|#|>organization<|#|>It is named here." for each in said]
        rows += [
            f"relation<|#|>{one}<|#|>{other}<|#|>beside<|#|>They stand together."
            for one, other in pairwise(said)
        ]
        answer = "\n".join([*rows, "<|COMPLETE|>"])
        return tally.said(_asked(prompt, system_prompt, history_messages), answer)

    rag = LightRAG(
        working_dir=folder, llm_model_func=model, tokenizer=Tokenizer("o200k_base", Tokens()),
        embedding_func=EmbeddingFunc(embedding_dim=_WIDE, max_token_size=8192, func=embedded),
    )  # fmt: skip
    await rag.initialize_storages()
    try:
        from lightrag.kg.shared_storage import initialize_pipeline_status

        await initialize_pipeline_status()
    except ImportError:  # later versions do it themselves
        pass
    await rag.ainsert(list(texts.values()), ids=list(texts))
    await rag.finalize_storages()


async def nano(texts: dict[str, str], folder: str, tally: Tally) -> None:
    """Without its communities: their clustering needs `graspologic`."""
    import tiktoken

    tiktoken.encoding_for_model = tiktoken.get_encoding = lambda *_: Tokens()
    from nano_graphrag import GraphRAG
    from nano_graphrag._storage import NetworkXStorage
    from nano_graphrag._utils import wrap_embedding_func_with_attrs

    async def model(
        prompt: str, system_prompt: Any = None, history_messages: Any = None, **_: Any
    ) -> str:
        await asyncio.sleep(0)
        text = prompt.rpartition("Text:")[2]
        said = names_in(text) if not history_messages else []
        rows = [f'("entity"<|>"{each}"<|>"organization"<|>"It is named here.")' for each in said]
        rows += [
            f'("relationship"<|>"{one}"<|>"{other}"<|>"They stand together."<|>5)'
            for one, other in pairwise(said)
        ]
        return tally.said(
            _asked(prompt, system_prompt, history_messages), "##".join(rows) + "<|COMPLETE|>"
        )

    class WithoutCommunities(NetworkXStorage):  # type: ignore[misc]
        async def clustering(self, algorithm: str) -> None:
            return None

        async def community_schema(self) -> dict[str, Any]:
            return {}

    rag = GraphRAG(
        working_dir=folder, best_model_func=model, cheap_model_func=model,
        graph_storage_cls=WithoutCommunities,
        embedding_func=wrap_embedding_func_with_attrs(embedding_dim=_WIDE, max_token_size=8192)(embedded),
    )  # fmt: skip
    await rag.ainsert(list(texts.values()))


async def fast(texts: dict[str, str], folder: str, tally: Tally) -> None:
    # Clients of two services that are not asked here, and that it imports all the same.
    for name, held in (
        ("genai", "GeminiLLMService GeminiEmbeddingService"),
        ("voyage", "VoyageAIEmbeddingService"),
    ):
        module = sys.modules[f"fast_graphrag._llm._llm_{name}"] = ModuleType(name)
        for each in held.split():
            setattr(module, each, None)
    import tiktoken

    tiktoken.encoding_for_model = tiktoken.get_encoding = lambda *_: Tokens()
    import xxhash

    digest = xxhash.xxh3_64_intdigest  # later versions take no text, and it gives them text
    xxhash.xxh3_64_intdigest = lambda each: digest(each.encode() if isinstance(each, str) else each)
    from fast_graphrag import GraphRAG
    from fast_graphrag._llm import BaseEmbeddingService, BaseLLMService

    class Model(BaseLLMService):  # type: ignore[misc]
        async def send_message(
            self, prompt: str, system_prompt: Any = None, history_messages: Any = None,
            response_model: Any = None, **_: Any,
        ) -> Any:  # fmt: skip
            await asyncio.sleep(0)
            said = names_in(prompt.rpartition("INPUT")[2]) if not history_messages else []
            made: dict[str, Any] = {}
            alias = getattr(response_model, "Model", None)
            wanted = alias or response_model
            fields = getattr(wanted, "model_fields", {})
            if "entities" in fields:
                made = {
                    "entities": [
                        {"name": each, "type": "organization", "desc": "It is named here."}
                        for each in said
                    ],
                    "relationships": [
                        {"source": one, "target": other, "desc": "They stand together."}
                        for one, other in pairwise(said)
                    ],
                }
                made["other_relationships"] = []
            elif "status" in fields:
                made = {"status": "done"}
            elif "groups" in fields:  # which names are the same: none
                made = {"groups": []}
            elif "description" in fields:
                made = {"description": "It is named here."}
            answer = json.dumps(made) if made else "It is named here."
            tally.said(_asked(prompt, system_prompt, history_messages), answer)
            own = wanted(**made) if made else answer
            own = alias.to_dataclass(own) if alias and made else own
            turn = [
                {"role": "user", "content": prompt},
                {"role": "assistant", "content": answer},
            ]
            return own, [*(history_messages or []), *turn]

    class Vectors(BaseEmbeddingService):  # type: ignore[misc]
        async def encode(self, texts: list[str], model: Any = None) -> Any:
            return await embedded(texts)

    config = GraphRAG.Config(
        llm_service=Model(model="scripted"), embedding_service=Vectors(embedding_dim=_WIDE, model="drawn")
    )  # fmt: skip
    rag = GraphRAG(
        working_dir=folder, domain="Contracts.", example_queries="Who signed?",
        entity_types=["organization", "person", "place"], config=config,
    )  # fmt: skip
    await rag.async_insert(list(texts.values()))


PEERS = {"lightrag-hku": lightrag, "nano-graphrag": nano, "fast-graphrag": fast}


def main() -> None:
    name, documents, folder = sys.argv[1:4]
    rows = map(json.loads, Path(documents).read_text(encoding="utf-8").splitlines())
    tally = Tally()
    began, clock = process_time(), perf_counter()
    asyncio.run(PEERS[name]({row["id"]: row["text"] for row in rows}, folder, tally))
    print(
        json.dumps({
            "version": version(name), "calls": tally.calls, "read": tally.read, "written": tally.written,
            "processor": process_time() - began, "clock": perf_counter() - clock,
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
