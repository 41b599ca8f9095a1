"""Separators in order of preference, for text and for the main programming languages."""

from __future__ import annotations

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
