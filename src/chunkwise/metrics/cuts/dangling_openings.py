"""Openings that point back: "However, …", "Dies gilt …", by the words of a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import regex

from chunkwise.text.language import UNKNOWN

# Words that refer back wherever they open a sentence. Those that only sometimes do are left out, as are subjects that
# stand for nothing: "It is forbidden", "Es ist verboten".
_IS = r"is|was|(?:has|had)\s+been|(?:will|would|may|might|can|could|should|must)\s+(?:not\s+)?be"
_ENGLISH = rf"""
    this these those they them its he she his her their such
    it(?!\s+(?:{_IS}|seems|appears|follows|takes|remains)\b)
    however therefore thus hence moreover furthermore nevertheless nonetheless consequently
    accordingly otherwise meanwhile instead similarly likewise conversely additionally also
    afterwards thereafter then but so yet
    as\s+(?:mentioned|noted|stated|described|discussed|shown|explained|seen)(?:\s+(?:above|before|earlier|previously))?
    (?:mentioned|described|shown|listed)\s+above
    (?:the\s+)?(?:former|latter|above|aforementioned|preceding)
    for\s+this\s+reason in\s+(?:addition|contrast|other\s+words|that\s+case|this\s+case)
    on\s+the\s+other\s+hand as\s+a\s+result
    because\s+of\s+(?:this|that) after\s+(?:this|that)
    that\s+(?:is|was|means|said|makes|made|would|will|has|had)
"""
# "Sie" and "Ihre" at the start of a sentence address the reader as often as not; "damit" refers back before a verb
# ("Damit ist …") and opens a clause before anything else ("Damit Sie …").
_IST = "|".join(
    "ist sind war waren wird werden wurde wurden kann können muss müssen soll sollen sollte gilt geht".split()
)
_GERMAN = rf"""
    dies diese dieser dieses diesem diesen jene jener jenes jenem jenen er ihm ihn
    es(?!\s+(?:{_IST}|gibt|gab|darf|dürfen|sei|empfiehlt|handelt|besteht|bestehen|bleibt|lohnt|genügt|reicht)\b)
    daher deshalb deswegen darum somit folglich demnach jedoch allerdings dennoch trotzdem
    außerdem zudem ferner dabei dadurch dafür dagegen daran darauf daraus darin darüber danach
    damit(?=\s+(?:{_IST}|lässt|lassen|hat|haben|beginnt|endet|entfällt|steht|stehen|verbunden)\b)
    davon dazu hierbei hierdurch hierfür hierzu hingegen ebenso ansonsten andernfalls
    aber denn
    wie\s+(?:(?:bereits|schon)\s+)?(?:oben\s+)?(?:erwähnt|beschrieben|gezeigt|gesagt|dargestellt)
    (?:der|die|das)\s+(?:obige|genannte|erstere|letztere)n?
    das\s+(?:ist|war|hat|heißt|bedeutet|gilt|führt|macht|zeigt|wird|kann)
    aus\s+diesem\s+grund(?:e)? im\s+gegensatz\s+dazu
"""
_FRENCH = r"""
    cela ceci celui-ci celle-ci ceux-ci ces cette ils elles cependant toutefois néanmoins
    ainsi donc comme\s+(?:indiqué|mentionné)\s+ci-dessus
"""
_SPANISH = r"""
    esto esta este estos estas eso esos esas ellos ellas además sin\s+embargo por\s+lo\s+tanto
"""
_WORDS: Mapping[str, str] = MappingProxyType(
    {"en": _ENGLISH, "de": _GERMAN, "fr": _FRENCH, "es": _SPANISH}
)

LONGEST = 80
"""Characters of a chunk that have to be looked at."""


@cache
def dangling_in(language: str) -> Callable[[str], bool] | None:
    """Says of the first characters of a chunk whether they refer to what came before; None: no words are known.

    A text too short to tell its language is looked at as an English one.
    """
    words = _WORDS.get("en" if language == UNKNOWN else language)
    if words is None:
        return None
    # Quotes, brackets and Markdown emphasis may stand before the word.
    found = regex.compile(
        rf"[\p{{Ps}}\p{{Pi}}\"'„>*_\s]*+(?:{'|'.join(words.split())})(?![\w\p{{M}}])(?!['’]\w)",
        regex.IGNORECASE,
    )
    return lambda opening: found.match(opening) is not None
