"""What a sentence is about, by its first words: a thing with a name, or nothing that could be asked for."""

from __future__ import annotations

import re

_OPENINGS = frozenset(
    "it this that these those there they he she we you i who what which where when why how here nobody somebody"
    " everyone everybody nothing everything all each every both none some many most few one two three if in on at for"
    " from with no not only as by to of and or but so then because although since while after before during until"
    " under over between the a an any such another other its their his her our my your note example result reason"
    " problem question answer everything"
    " es dies diese dieser dieses das der die er sie wir ihr man wer wo wann wie warum hier dort alle jeder jede"
    " niemand im am auf für mit von bei nach vor seit wenn weil aber und oder ein eine kein keine nur"
    " monday tuesday wednesday thursday friday saturday sunday".split()
)


def opens_anything(word: str) -> bool:
    """Whether any sentence could begin with it."""
    return word.lower() in _OPENINGS


def is_name(term: str, text: str) -> bool:
    """Several words with capitals, or one that has its capital inside sentences, too."""
    if " " in term:
        return True
    return re.search(rf"[^\W\d_,;] {re.escape(term)}\b", text) is not None


def as_inside(subject: str, text: str) -> str:
    """As it is written inside a sentence: with a small letter, unless it is a name."""
    first = subject.split(maxsplit=1)[0]
    small = first.lower()
    if small in ("the", "a", "an") or re.search(rf"\b{re.escape(small)}\b", text):
        return small + subject[len(first) :]
    return subject
