"""Questions that make sense only beside the passage they were made from."""

from __future__ import annotations

import re
from collections.abc import Callable

from chunkwise.generating.candidate import words_in

_TEXT = (
    "text|passages?|excerpts?|extract|paragraph|article|authors?|writer|speaker|narrator|snippet|context|quotes?|"
    "sentence|statement|marks"
)
_PART = "document|section|table|list|chapter|page"
_POINTING = re.compile(
    rf"""\b(?:
    (?:according\s+to|in|from|by|of|based\s+on|per)\s+(?:the|this|that|these|both)\s+(?:\w+\s+)?(?:{_TEXT}|{_PART})\b
    | (?:the|this|these|both|two)\s+(?:given\s+|above\s+|provided\s+|following\s+|two\s+)?(?:{_TEXT})\b
    | (?:mentioned|described|discussed|listed|provided|given|shown|stated|said)\s+
      (?:above|below|here|in\s+(?:the|this)\s+(?:{_TEXT}|{_PART}))\b
    | the\s+(?:above|below|aforementioned|preceding|former|latter|following)\b
      (?!\s+(?:day|week|month|season|year|morning)s?\b)
    | (?:mentioned|above|below)\s*\?$
    | (?:passage|text|document|section|quote)\s+[12]\b
    | (?:this|these|those|such)\s+(?!year\b)\w+
    | (?:im|laut|aus)\s+(?:dem\s+)?(?:text|abschnitt|absatz|dokument|auszug)\b
    | (?:dieser|diese|dieses|diesem|diesen)\s+\w+ | der\s+autor(?:in)?\b
    | (?:dans|selon|d['’]après)\s+(?:le|ce|cette|la)\s+(?:texte|passage|section|document|extrait) | l['’]auteur\b
    | (?:en|según)\s+(?:el|este|esta|la)\s+(?:texto|pasaje|sección|documento|fragmento) | el\s+autor\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|hers?|er|ihn|ihm|ihr|ihre|ihnen|ils|elles|lui|leur)\b",
    re.IGNORECASE,
)
# "Is it allowed to …", "How long does it take to …": the word stands for nothing.
_STATE = "possible|allowed|permitted|forbidden|necessary|required|safe|legal|true"
_EMPTY = re.compile(
    rf"\bit\s+(?:take|cost|likely|mean|happen|rain|{_STATE})\b"
    rf"|\b(?:is|was|will|can|may|must)\s+it\s+(?:be\s+)?(?:{_STATE})\b",
    re.IGNORECASE,
)

IsRare = Callable[[frozenset[int]], bool]
"""Whether one of these terms is rare enough to say by itself what is meant."""


def needs_passage(question: str, language: str, is_rare: IsRare) -> bool:
    """Whether it points at a text, has a pronoun for something it does not name, or names nothing."""
    if _POINTING.search(question):
        return True
    named = words_in(question, language)
    # One ordinary word ("What is required?") could be about anything.
    if not named or (len(named) == 1 and not is_rare(named)):
        return True
    plain = _EMPTY.sub(" ", question)
    pronoun = _PRONOUN.search(plain)
    if pronoun is None:
        return False
    before = words_in(plain[: pronoun.start()], language)
    # Two content words before it: one of them can be what it stands for. "What colour is it?" has one.
    return len(before) < 2 and not (before and is_rare(before))
