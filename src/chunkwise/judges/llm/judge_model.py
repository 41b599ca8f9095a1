"""A language model as a judge: who is asked, what it said so far, and how much it can read at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from chunkwise.judges.llm.verdict_store import VerdictStore
from chunkwise.models.kept.vector_cache import VectorCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Request, Schema
from chunkwise.models.llm.prompt import Prompt
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

_FOR_TEXT = 0.6
"""Of a model's window, for passages; its own tokenizer may count a third more than ours."""
_FOR_CLAIMS = 0.15
MOST = 50
"""Labels in one answer: longer lists lose count."""
_LABEL_TOKENS = 12


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """Shared by all judgements of one evaluation."""

    client: LlmClient
    verdicts: VerdictStore
    seed: int = 0

    @classmethod
    def of(cls, client: LlmClient, cache: VectorCache | None = None, seed: int = 0) -> JudgeModel:
        return cls(client, VerdictStore(client.identity, cache or client.cache), seed)

    def anew(self) -> JudgeModel:
        """The same model, with nothing planned yet."""
        return JudgeModel(self.client, self.verdicts.anew(), self.seed)

    def request(self, prompt: Prompt, schema: Schema, labels: int, **values: str) -> Request:
        """A filled prompt that is answered with so many labels."""
        system, user = prompt.filled(**values)
        return Request(
            system, user, schema, max_tokens=16 + _LABEL_TOKENS * labels, version=prompt.version
        )

    def shuffled(self, texts: Sequence[str], asked: str) -> list[str]:
        """In an order that says nothing of their ranks; the same for the same seed and question."""
        found = list(texts)
        Random(f"{self.seed}\n{asked}").shuffle(found)
        return found

    def groups(self, texts: Sequence[str]) -> list[list[str]]:
        """Passages in their order, as many together as the model can read at once."""
        return self._groups(texts, _FOR_TEXT)

    def claim_groups(self, claims: Sequence[str]) -> list[list[str]]:
        """The same of what is held against passages."""
        return self._groups(claims, _FOR_CLAIMS)

    def too_long(self, text: str) -> str:
        """Why a passage cannot be read even alone; empty: it can."""
        window = self.client.model.window
        if window is None or (size := _tokens(text)) <= _FOR_TEXT * window:
            return ""
        return f"a text of {size:,} tokens is too long for a model that holds {window:,}"

    def _groups(self, texts: Sequence[str], share: float) -> list[list[str]]:
        window = self.client.model.window
        found: list[list[str]] = []
        used = 0
        for text in texts:
            size = 0 if window is None else _tokens(text)
            full = window is not None and used + size > share * window
            if not found or full or len(found[-1]) == MOST:
                found.append([])
                used = 0
            found[-1].append(text)
            used += size
        return found


def labels_schema(count: int, labels: Sequence[str]) -> Schema:
    """Exactly one of the labels for each number from 1 on, and nothing else."""
    names = [str(number) for number in range(1, count + 1)]
    one = {"type": "string", "enum": list(labels)}
    return {
        "type": "object",
        "properties": dict.fromkeys(names, one),
        "required": names,
        "additionalProperties": False,
    }


def _tokens(text: str) -> int:
    return get_tokenizer(DEFAULT).count(text)
