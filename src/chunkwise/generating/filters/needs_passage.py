"""Questions that make sense only beside the passage they were made from."""

from __future__ import annotations

import re
from collections.abc import Callable

from chunkwise.generating.candidate import words_in

# "The context menu", "the statement of account", "the author Selma Lagerlöf" are things of their own.
_NAMED = r"(?!\s+(?-i:[A-ZÀ-ÞΑ-ΩА-Я])|\s+of\b)"
_TEXT = (
    rf"(?:text|passages?|excerpts?|extract|paragraph|article|authors?|writer|speaker|narrator|snippet){_NAMED}|"
    rf"(?:quotes?|sentence|statement|marks){_NAMED}|"
    r"context(?!\s+(?:menus?|windows?|switch\w*|managers?|variables?|lengths?|keys?)\b)"
)
_PART = "document|section|table|list|chapter|page"
_POINTED = "given|above|provided|following|same|present|attached|accompanying|shown|quoted|first|second|last|two"
"""What may stand before a part of a text that is pointed at: "the waiting list" is a list of its own."""
_TIME = "day|week|month|season|year|morning|evening|night|summer|winter|spring|autumn"
_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_POINTING = re.compile(
    rf"""\b(?:
    (?:according\s+to|in|from|by|of|based\s+on|per)\s+(?:the|this|that|these|both)\s+
      (?:(?:{_POINTED})\s+)?(?:{_TEXT}|(?:{_PART})(?!\s+of\b))\b
    | (?:the|this|these|both|two)\s+(?:given\s+|above\s+|provided\s+|following\s+|two\s+)?(?:{_TEXT})\b
    | (?:mentioned|described|discussed|listed|provided|given|shown|stated|said)\s+
      (?:above|below|here|in\s+(?:the|this)\s+(?:{_TEXT}|{_PART}))\b
    | the\s+(?:above|below|aforementioned|preceding|former|latter|following)\b
      (?!\s+(?:{_TIME}|{_WEEKDAY})s?\b)
    | (?:mentioned|above|below)\s*\?$
    | (?:passage|text|document|section|quote)\s+[12]\b
    | (?:this|these)\s+(?!year\b)\w+ | such\s+(?!as\b)\w+ | those\s+(?!who\b|whose\b|that\b|which\b|of\b|in\b)\w+
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
