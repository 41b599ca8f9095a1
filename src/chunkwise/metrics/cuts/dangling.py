"""Openings that point back at text a chunk no longer has."""

from __future__ import annotations

import regex

# Words that refer back wherever they open a sentence; articles that only sometimes do are left out.
_ENGLISH = """
    this these those they them it its he she his her their such
    however therefore thus hence moreover furthermore nevertheless nonetheless consequently
    accordingly otherwise meanwhile instead similarly likewise conversely additionally also
    afterwards thereafter then but so yet
    as\\s+(?:mentioned|noted|stated|described|discussed|shown|explained|seen)(?:\\s+(?:above|before|earlier|previously))?
    (?:mentioned|described|shown|listed)\\s+above
    (?:the\\s+)?(?:former|latter|above|aforementioned|preceding)
    for\\s+this\\s+reason in\\s+(?:addition|contrast|other\\s+words|that\\s+case|this\\s+case)
    on\\s+the\\s+other\\s+hand as\\s+a\\s+result
    because\\s+of\\s+(?:this|that) after\\s+(?:this|that)
    that\\s+(?:is|was|means|said|makes|made|would|will|has|had)
"""
_GERMAN = """
    dies diese dieser dieses diesem diesen jene jener jenes jenem jenen er sie es ihm ihn ihr ihre
    daher deshalb deswegen darum somit folglich demnach jedoch allerdings dennoch trotzdem
    außerdem zudem ferner dabei dadurch dafür dagegen daran darauf daraus darin darüber damit danach
    davon dazu hierbei hierdurch hierfür hierzu hingegen ebenso ansonsten andernfalls
    aber denn
    wie\\s+(?:(?:bereits|schon)\\s+)?(?:oben\\s+)?(?:erwähnt|beschrieben|gezeigt|gesagt|dargestellt)
    (?:der|die|das)\\s+(?:obige|genannte|erstere|letztere)n?
    das\\s+(?:ist|war|hat|heißt|bedeutet|gilt|führt|macht|zeigt|wird|kann)
    aus\\s+diesem\\s+grund(?:e)? im\\s+gegensatz\\s+dazu
"""
_ROMANCE = """
    cela ceci celui-ci celle-ci ceux-ci ces cette ils elles cependant toutefois néanmoins
    ainsi donc comme\\s+(?:indiqué|mentionné)\\s+ci-dessus
    esto esta este estos estas eso esos esas ellos ellas además sin\\s+embargo por\\s+lo\\s+tanto
"""

_WORDS = "|".join((_ENGLISH + _GERMAN + _ROMANCE).split())
# Quotes, brackets and Markdown emphasis may stand before the word.
_DANGLING = regex.compile(
    rf"[\p{{Ps}}\p{{Pi}}\"'„>*_\s]*+(?:{_WORDS})(?![\w\p{{M}}])(?!['’]\w)", regex.IGNORECASE
)

LONGEST = 80
"""Characters of a chunk that have to be looked at."""


def opens_dangling(opening: str) -> bool:
    """Whether these first characters of a chunk refer to what came before them."""
    return _DANGLING.match(opening) is not None
