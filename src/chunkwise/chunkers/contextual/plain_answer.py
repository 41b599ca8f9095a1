"""What a model wrote, as one plain line: no marks, no preamble, not too long. It is as untrusted as any text."""

from __future__ import annotations

from chunkwise.chunkers.cleaned_answer import cleaned_answer
from chunkwise.text.characters import CLOSER, ENDER, FINAL, FULL_STOP, Characters
from chunkwise.text.measure import measure_of
from chunkwise.text.sentences import sentence_starts
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

MOST_TOKENS = 100
MOST_SENTENCES = 3
_LONGEST = 8_000
"""Characters that are looked at: no context needs more."""
_ENDS = FULL_STOP | ENDER | FINAL


def plain_answer(answer: str) -> str:
    """At most three sentences and a hundred tokens; empty where nothing is left."""
    text = " ".join(cleaned_answer(answer[:_LONGEST]).split())
    return _shortened(text) if any(map(str.isalnum, text)) else ""


def _shortened(text: str) -> str:
    """Whole sentences as long as they fit; of a first one that is too long, whole words."""
    characters = Characters(text)
    ends = [*sentence_starts(characters).tolist(), len(text)]
    if len(ends) > 1 and not _is_ended(text):
        ends.pop()  # the model was stopped in the middle of it
    count = get_tokenizer(DEFAULT).count
    for end in reversed(ends[:MOST_SENTENCES]):
        found = text[:end].strip()
        if count(found) <= MOST_TOKENS:
            return found
    return _words(text)


def _words(text: str) -> str:
    measure = measure_of(text, get_tokenizer(DEFAULT))
    tokens = MOST_TOKENS
    while True:
        found = text[: measure.reach(0, tokens)]
        words = found.rpartition(" ")[0] or found
        if measure.tokenizer.count(words) <= MOST_TOKENS:
            return words.strip()
        tokens -= 1


def _is_ended(text: str) -> bool:
    last = Characters(text[-8:])
    kinds = last.kinds.tolist()
    while kinds and kinds[-1] & CLOSER and not kinds[-1] & _ENDS:
        kinds.pop()
    return bool(kinds) and bool(kinds[-1] & _ENDS)
