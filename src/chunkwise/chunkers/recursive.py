"""Separators in order of preference, merged up to the limit; lists of them for text, Markdown and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import (
    ArrayCuts,
    CutLevel,
    NearCuts,
    PagedCuts,
    before_cut,
)
from chunkwise.chunkers.packing.fragments import without_fragments
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import CharacterArrays, Points
from chunkwise.text.graphemes import Graphemes
from chunkwise.text.positions import merge_sorted

Level = tuple[str, ...]
"""Separators of equal rank."""

_WORDS: tuple[Level, ...] = ((" ", "\t", "\u3000"),)
_SENTENCES: Level = (". ", "? ", "! ", ".\n", "?\n", "!\n", "。", "！", "？", "।", "؟", "۔")

TEXT: tuple[Level, ...] = (("\n\n", "\r\n\r\n"), ("\n", "\r"), _SENTENCES, *_WORDS)

MARKDOWN: tuple[Level, ...] = (
    *((f"\n{'#' * depth} ",) for depth in range(1, 7)),
    ("\n```", "\n~~~"),
    ("\n---\n", "\n***\n", "\n___\n"),
    *TEXT,
)


def _code(*levels: Level) -> tuple[Level, ...]:
    return (*levels, ("\n\n", "\r\n\r\n"), ("\n", "\r"), *_WORDS)


LANGUAGES: dict[str, tuple[Level, ...]] = {
    "python": _code(("\nclass ",), ("\ndef ", "\nasync def "), ("\n    def ", "\n    async def ", "\n\tdef ")),
    "javascript": _code(
        ("\nexport ", "\nclass "), ("\nfunction ", "\nasync function "), ("\nconst ", "\nlet ", "\nvar "),
    ),
    "typescript": _code(
        ("\nexport ", "\nnamespace "), ("\ninterface ", "\nenum ", "\ntype ", "\nclass ", "\nabstract class "),
        ("\nfunction ", "\nasync function "), ("\nconst ", "\nlet ", "\nvar "),
    ),
    "java": _code(
        ("\npublic class ", "\nclass ", "\ninterface ", "\nenum ", "\nrecord "),
        ("\n    public ", "\n    protected ", "\n    private ", "\n    static "),
    ),
    "go": _code(("\nfunc ", "\ntype "), ("\nvar ", "\nconst ")),
    "rust": _code(
        ("\nmod ", "\npub mod ", "\nimpl ", "\nimpl<"),
        ("\nfn ", "\npub fn ", "\nasync fn ", "\npub async fn ", "\nstruct ", "\npub struct ", "\nenum ", "\npub enum ",
         "\ntrait ", "\npub trait "),
        ("\n    fn ", "\n    pub fn "),
    ),
    "c": _code(("\nstruct ", "\ntypedef ", "\nenum ", "\nunion "), ("\nstatic ", "\nvoid ", "\nint ", "\nchar ")),
    "cpp": _code(("\nnamespace ",), ("\nclass ", "\nstruct ", "\ntemplate"), ("\nvoid ", "\nint ", "\nstatic ")),
    "csharp": _code(("\nnamespace ",), ("\npublic class ", "\nclass ", "\ninterface ", "\nenum "),
                    ("\n    public ", "\n    protected ", "\n    private ", "\n    internal ")),
    "ruby": _code(("\nmodule ", "\nclass "), ("\ndef ", "\n  def ")),
    "php": _code(
        ("\nnamespace ",), ("\nclass ", "\ninterface ", "\ntrait "), ("\nfunction ", "\n    public function "),
    ),
    "swift": _code(("\nclass ", "\nstruct ", "\nenum ", "\nprotocol ", "\nextension "), ("\nfunc ", "\n    func ")),
    "kotlin": _code(("\nclass ", "\ndata class ", "\nobject ", "\ninterface "), ("\nfun ", "\n    fun ")),
    "scala": _code(("\nclass ", "\nobject ", "\ntrait "), ("\ndef ", "\n  def ")),
}  # fmt: skip


def separators_for(format: str, language: str) -> tuple[Level, ...]:
    """The list for a document: by its programming language, else Markdown's or plain text's."""
    if format == "code":
        return LANGUAGES.get(language, _code())
    return MARKDOWN if format == "markdown" else TEXT


class SeparatorPositions:
    """Where separators occur in a text, each found among the places of all but its last character."""

    def __init__(self, characters: CharacterArrays, levels: Sequence[Level]) -> None:
        self._characters = characters
        self._known: dict[str, NDArray[np.int64]] = {}
        self._behind: dict[str, Points] = {}
        # All that separators begin with is found in one pass.
        first = sorted({separator[0] for level in levels for separator in level})
        self._known[""] = characters.places("".join(first))

    def of(self, separator: str) -> NDArray[np.int64]:
        """The start of each occurrence, of overlapping ones too."""
        known, behind = self._known, self._behind
        points = self._characters.points
        for end, char in enumerate(separator):
            before, longer = separator[:end], separator[: end + 1]
            if longer in known:
                continue
            places = known[before]
            if before not in behind:
                behind[before] = points.take(places + end, mode="clip")
            result = places[behind[before] == ord(char)]
            known[longer] = result[: result.searchsorted(len(points) - end)]
        return known[separator]


def separator_cuts(
    places: SeparatorPositions, separators: Sequence[str], graphemes: Graphemes
) -> ArrayCuts:
    """Cuts of one level, found when it is first reached."""
    return ArrayCuts(
        lambda: graphemes.keep(
            merge_sorted(
                *(places.of(separator) + before_cut(separator) for separator in separators)
            )
        )
    )


_SHORT = 50_000
"""Characters of a text in which separators are sought one by one sooner than all at once."""


@dataclass(frozen=True, kw_only=True)
class RecursiveChunker(SizedChunker):
    """Blank lines, lines, sentences, words: the coarsest separator that fits, pieces merged up to the limit.

    Use it as the common default, made exact. `separators` names a list or is your own, coarsest first.
    """

    separators: str | tuple[str, ...] = param(
        "auto",
        "auto (by format), text, markdown, a programming language, or a list, coarsest first",
    )
    regex: bool = param(False, "custom separators are regular expressions")

    def __post_init__(self) -> None:
        super().__post_init__()
        known = {"auto", "text", "markdown", *LANGUAGES}
        if isinstance(self.separators, str):
            if self.separators not in known:
                raise InvalidParameter(
                    f"separators is {self.separators!r}; allowed: {', '.join(sorted(known))}, or "
                    "a list"
                )
            if self.regex:
                raise InvalidParameter(
                    f"regex needs separators as a list, not {self.separators!r}; pass a list or omit regex"
                )
        elif not isinstance(self.separators, tuple | list) or not all(
            isinstance(item, str) for item in self.separators
        ):
            raise InvalidParameter(f"separators is {self.separators!r}; expected a list of texts")
        elif not any(self.separators):
            raise InvalidParameter(
                f"separators is {list(self.separators)!r}; expected at least one non-empty "
                "separator"
            )
        elif self.regex:
            for item in self.separators:
                try:
                    re.compile(item)
                except re.error as error:
                    raise InvalidParameter(
                        f"separators: {item!r} is not a regular expression: {error}"
                    ) from None

    @property
    def in_segments(self) -> bool:
        """What a regular expression looks at may be anywhere."""
        return not self.regex

    def split(self, document: Analyzed) -> Sequence[Piece]:
        # Tokens before cuts: to find them takes most, and the less else is held.
        document.measure(self.tokenizer).before(len(document.text))
        packer = self.packer(document, self._levels, nested=True)
        return self.join_small_chunks(document, packer.pack(0, len(document.text)))

    def _levels(self, document: Analyzed) -> list[CutLevel]:
        separators = self.separators if isinstance(self.separators, str) else (*self.separators,)

        def find() -> list[CutLevel]:
            levels = self._separator_levels(document)
            # A row of a CSV that is too large is cut between its cells, a cell between its sentences.
            rows = [
                ArrayCuts(lambda: document.cells),
                ArrayCuts(lambda: document.sentences_in_rows),
            ]
            is_table = document.document.format == "table"
            return [*without_fragments(document, levels), *(rows if is_table else ()), *levels]

        return document.keep(("recursive", separators, self.regex), find)

    def _separator_levels(self, document: Analyzed) -> list[CutLevel]:
        text, characters, graphemes = document.text, document.characters, document.graphemes
        if self.regex and not isinstance(self.separators, str):
            return [
                ArrayCuts(partial(_matches, text, graphemes, pattern))
                for pattern in self.separators
                if pattern
            ]
        # Most texts have few of the separators, and each level is asked about all the time.
        lists = self._lists(document)
        if len(text) <= _SHORT:
            near = (NearCuts(text, level, graphemes) for level in lists)
            return [level for level in near if level.separators]
        # Words are many, and few are asked about.
        words = [level for level in lists if " " in level and max(map(len, level)) == 1]
        places = SeparatorPositions(characters, [level for level in lists if level not in words])
        levels = [
            PagedCuts(partial(_signs, characters, graphemes, level))
            if level in words
            else separator_cuts(places, level, graphemes)
            for level in lists
        ]
        return [level for level in levels if isinstance(level, PagedCuts) or len(level.positions)]

    def _lists(self, document: Analyzed) -> tuple[Level, ...]:
        if not isinstance(self.separators, str):
            # An empty last separator, as other splitters write it, is what happens anyway.
            return tuple((item,) for item in self.separators if item)
        named = {"text": TEXT, "markdown": MARKDOWN, **LANGUAGES}
        if self.separators in named:
            return named[self.separators]
        return separators_for(document.document.format, document.document.language)


def _signs(
    characters: CharacterArrays, graphemes: Graphemes, signs: Sequence[str], start: int, end: int
) -> NDArray[np.int64]:
    """Cuts from one position to before another, at separators of one character."""
    result = []
    for sign in signs:
        shift = before_cut(sign)
        result.append(characters.places(sign, max(start - shift, 0), end - shift) + shift)
    return graphemes.keep(merge_sorted(*result))


def _matches(text: str, graphemes: Graphemes, pattern: str) -> NDArray[np.int64]:
    """Cuts before white space and behind anything else a pattern matches, as for literal separators."""
    cuts = {
        match.start() if match.group()[:1].isspace() or not match.group() else match.end()
        for match in re.finditer(pattern, text)
    }
    return graphemes.keep(np.array(sorted(cuts), dtype=np.int64))
