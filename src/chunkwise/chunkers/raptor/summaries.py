"""Groups of texts summarised by a language model, all of a level together."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.chunkers.packing.cuts import clause_levels, sentence_levels
from chunkwise.chunkers.packing.packer import Packer
from chunkwise.core import Document
from chunkwise.models.llm.client import LlmClient, check_window
from chunkwise.models.llm.language_model import Reply, Request
from chunkwise.models.llm.prompt import fenced, load_prompt
from chunkwise.models.llm.written import cleaned_answer
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokens.tokenizers import TokenizerLike

_WORDS = 0.6
"""Words to ask for, a token allowed: a text has fewer, and what a model writes beyond the limit is cut off."""
_ROOM = 1.25
"""Tokens a model may write, of those allowed: every model counts by a tokenizer of its own."""
_ENDS = tuple(".!?…。！？।؟:;)\"'”’»]}|`*")
"""How a text ends that was not broken off."""


def summary_requests(groups: Sequence[Sequence[str]], limit: int) -> list[Request]:
    """What is asked for each group of texts."""
    prompt = load_prompt("summary")
    words = str(max(5, round(limit * _WORDS)))
    found = []
    for texts in groups:
        passages = "\n\n".join(fenced(text, number=at) for at, text in enumerate(texts, 1))
        system, user = prompt.filled(passages=passages, words=words)
        most = max(16, round(limit * _ROOM))
        found.append(Request(system, user, max_tokens=most, version=prompt.version))
    return found


def summaries(
    client: LlmClient, groups: Sequence[Sequence[str]], limit: int, tokenizer: TokenizerLike
) -> list[Reply]:
    """Of each group its summary of at most `limit` tokens, or the reason why there is none."""
    requests = summary_requests(groups, limit)
    for request in requests:
        try:
            check_window(client.model, request)
        except ChunkwiseError as error:
            raise InvalidParameter(
                f"too much text to be summarised at once: {error} (smaller max_tokens or branching)"
            ) from None
    return [_shortened(reply, limit, tokenizer) for reply in client.ask_all(requests)]


def _shortened(reply: Reply, limit: int, tokenizer: TokenizerLike) -> Reply:
    if not reply.is_answered:
        return reply
    said = cleaned_answer(str(reply.value))
    text = first_sentences(said, limit, tokenizer) if any(map(str.isalnum, said)) else ""
    return Reply(text) if text else Reply(reason="the model wrote nothing")


def first_sentences(text: str, limit: int, tokenizer: TokenizerLike) -> str:
    """As much as the limit allows, up to the end of a sentence where one is within reach."""
    if not text:
        return ""
    analyzed = Analyzed(Document("summary", text))
    levels = [*sentence_levels(analyzed), *clause_levels(analyzed)]
    piece = Packer(analyzed, analyzed.measure(tokenizer), limit, levels).pack(0, len(text))[0]
    if piece.end < len(text) or text.endswith(_ENDS):
        return text[piece.start : piece.end].strip()
    last = int(analyzed.sentences[-1])  # the model was broken off inside of it
    return text[:last].strip() or text
