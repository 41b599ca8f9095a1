"""Source code, kept to the character; the language is told by the name or the first line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkwise.core import Document
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source
from chunkwise.records.encoding import decode

_SUFFIXES = {
    "bash": "bash zsh ksh",
    "c": "c h",
    "clojure": "clj cljs cljc",
    "cpp": "cpp hpp cc hh cxx hxx",
    "csharp": "cs",
    "css": "css scss less",
    "cuda": "cu cuh",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl",
    "fortran": "f90 f95",
    "fsharp": "fs fsx",
    "go": "go",
    "groovy": "groovy gradle",
    "haskell": "hs",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "nim": "nim",
    "ocaml": "ml mli",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "r": "r",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "sh": "sh",
    "solidity": "sol",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vue": "vue",
    "zig": "zig",
}
LANGUAGES = {f".{end}": name for name, ends in _SUFFIXES.items() for end in ends.split()}
_FILE_NAMES = {"makefile": "makefile", "dockerfile": "dockerfile", "rakefile": "ruby"}
_INTERPRETERS = {"python": "python", "node": "javascript", "bash": "bash", "sh": "sh"} | {
    name: name for name in ("ruby", "perl", "php", "lua")
}
_OTHER_NAMES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", "shell": "bash", "golang": "go"}
_SHEBANG = re.compile(rb"#![^\n]*?([a-z]+)[0-9.]*[ \t\r]*(?:\n|$)")


class CodeLoader:
    """By suffix; without one, by a shebang line or all its lines. Configuration files are plain text."""

    suffixes: tuple[str, ...] = tuple(LANGUAGES)
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        language = language_of(name, head)
        if language or suffix_of(name):
            return bool(language)
        # Imported here: its patterns take longer to compile than most files to read.
        from chunkwise.documents.formats.looks_like_code import looks_like_code

        return looks_like_code(head.decode("utf-8", "replace"))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        text = decode(data, source.origin, options.encoding)
        language = language_of(source.name, data[:256])
        yield Document(source.id, text, source=source.origin, format="code", language=language)


def language_of(name: str, head: bytes = b"") -> str:
    """In lower case, empty when it is not known to be code."""
    suffix = suffix_of(name)
    if suffix:
        return LANGUAGES.get(suffix, "")
    shebang = _SHEBANG.match(head[:256])
    if shebang:
        return _INTERPRETERS.get(shebang[1].decode(), "")
    return _FILE_NAMES.get(name.lower(), "")


def language_named(name: str) -> str:
    """The language people call by this name, as `language_of` writes it; empty when it is none."""
    name = name.strip().lower()
    name = _OTHER_NAMES.get(name, name)
    return name if name in _SUFFIXES else ""
