"""What a model wrote, as one plain line: no marks, no preamble, not too long. It is as untrusted as any text."""

from __future__ import annotations

import re

from chunkwise.text.characters import CLOSER, ENDER, FINAL, FULL_STOP, Characters
from chunkwise.text.measure import measure_of
from chunkwise.text.sentences import sentence_starts
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

MOST_TOKENS = 100
MOST_SENTENCES = 3
_LONGEST = 8_000
"""Characters that are looked at: no context needs more."""

# Thoughts that some models write before they answer; a mark that echoes a fence of the prompt; a fence of code.
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_ECHO = re.compile(
    r"</?(?:document|passage|place|before|after|context)(?: [0-9a-f]{8})?>", re.IGNORECASE
)
_CODE = re.compile(r"^\s*(?:```|~~~)[^\n`]*$|```", re.MULTILINE)
_ESCAPES = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b.?")
# Control characters, those that reorder a line or show nothing, and halves of surrogate pairs.
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_PREAMBLE = re.compile(
    r"(?:(?:sure|certainly|of course|okay|ok|absolutely)\b[^:.!?\n]{0,120}[.!:]\s*)?"
    r"(?:(?:here(?:'s|’s| is| are)|this is|below (?:is|are)|the following)\b[^:.!?]{0,80}"
    r"\b(?:context|sentences?|notes?|summary|description|answer)\b[^:.!?]{0,80}:"
    r"|\W{0,3}(?:short |brief |contextual |the |added )*(?:context|note|answer|sentences|summary)\W{0,3}:\W{0,2})\s*"
    r"|(?:sure|certainly|of course|okay)\b[^:.!?]{0,30}[:!]\s+",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "`": "`", "*": "*", "_": "_"}
_ENDS = FULL_STOP | ENDER | FINAL


def plain_answer(answer: str) -> str:
    """At most three sentences and a hundred tokens; empty where nothing is left."""
    text = _ECHO.sub(" ", _CODE.sub(" ", _THOUGHTS.sub(" ", answer[:_LONGEST])))
    text = " ".join(_CONTROL.sub("", _ESCAPES.sub("", text)).split())
    before = None
    while text != before:  # a preamble may stand inside quotes, and quotes behind a preamble
        before = text
        text = _unquoted(_PREAMBLE.sub("", text, count=1) if _PREAMBLE.match(text) else text)
    return _shortened(text) if any(map(str.isalnum, text)) else ""


def _unquoted(text: str) -> str:
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


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
