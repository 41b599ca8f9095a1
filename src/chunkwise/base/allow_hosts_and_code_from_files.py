"""Which hosts and which code a file may name, and how the user allows more: what others may have written is data.

An index, a row of a database, a recommendation and the folder of a sweep are data. Whoever reads one passes it to
`distrust`, which remembers the hosts, code and model files that it names. Where a name becomes a part or an address,
`check_allowed` refuses these unless the user named or allowed them as well. The user's names are the words of the
command at work, or, if there is none, what a caller outside of chunkwise passes to it.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from urllib.parse import urlsplit

from chunkwise.base.errors import ChunkwiseError, NotAllowed

ALLOW = "CHUNKWISE_ALLOW"
"""The variable that holds what files may name, with commas between: `host:port`, `./file.py:Name`."""

PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "api.openai.com": "OPENAI_API_KEY",
        "api.cohere.com": "COHERE_API_KEY",
        "api.jina.ai": "JINA_API_KEY",
        "api.mistral.ai": "MISTRAL_API_KEY",
        "api.voyageai.com": "VOYAGE_API_KEY",
    }
)
"""Hosts whose keys are meant for them, whoever names them; by the variable that holds the key."""

# Amid a text a quote ends an address. What it ended is looked at once more, by itself, where it becomes a part.
_ADDRESS = re.compile(r"https?://[^/?#\s'\"]*", re.IGNORECASE)
# From the first sign of a word only, or each of a long one would be tried as its first.
_CODE = re.compile(r"(?<![^\s'\"(),=])[^\s'\"(),=]*\.py:\w*")
_COMMAND = "command:"
_WEIGHTS = (".onnx", ".gguf")
_LIBRARIES = ("sentence-transformers", "fastembed")
_TEXT_SPLITTERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "langchain": frozenset(
            "CharacterTextSplitter RecursiveCharacterTextSplitter TokenTextSplitter "
            "MarkdownTextSplitter LatexTextSplitter PythonCodeTextSplitter "
            "JSFrameworkTextSplitter MarkdownHeaderTextSplitter "
            "ExperimentalMarkdownSyntaxTextSplitter HTMLHeaderTextSplitter".split()
        ),
        "llamaindex": frozenset(
            "SentenceSplitter TokenTextSplitter MarkdownNodeParser HTMLNodeParser JSONNodeParser"
            " SentenceWindowNodeParser HierarchicalNodeParser".split()
        ),
        "haystack": frozenset(
            "DocumentSplitter RecursiveDocumentSplitter MarkdownHeaderSplitter "
            "HierarchicalDocumentSplitter PythonCodeSplitter".split()
        ),
    }
)
"""Splitters of other packages that look at the text alone; others load models, or files, which a name may point to."""


_distrusted: dict[str, str] = {}
"""What files have named by an address or a path, and which file it was."""
_trusted: set[str] = set()
"""What the user has named."""
_is_command = False
"""Whether a command is at work, in all threads: only its words, and files it names as the user's, are the user's."""
PARTS = (
    "strategy", "retriever", "reranker", "metric", "metrics", "objective", "tokenizer", "embedder", "judge",
    "llm", "loader",
)  # fmt: skip
"""Fields of requests that may name parts."""
_ADAPTERS = ("dspy", "haystack", "integrations", "langchain", "llamaindex", "pytest_plugin")
"""Modules of ours that pass on what the user gave them."""


@contextmanager
def named_by_user(value: object) -> Iterator[None]:
    """For as long as a command runs: these are its words."""
    global _trusted, _is_command
    before, _trusted, _is_command = (_trusted, _is_command), set(), True
    try:
        trust(value)
        yield
    finally:
        _trusted, _is_command = before


def trust(value: object) -> None:
    """The user wrote this: what it names may be followed."""
    _trusted.update(_place(name) for text in texts_in(value) for _, name in _by_place(text))


def trust_caller(*values: object) -> None:
    """Trusts what a function was given, if no command is at work and its caller is not chunkwise itself."""
    if _is_command:
        return
    package, _, module = sys._getframe(2).f_globals.get("__name__", "").partition(".")
    if package != "chunkwise" or module in _ADAPTERS:
        trust(values)


def distrust(value: object, origin: str) -> None:
    """A file that somebody else may have written has this; `origin` is its name in messages: `the index kb`."""
    for text in texts_in(value):
        for _, name in _by_place(text):
            _distrusted[_place(name)] = origin


def check_allowed(value: object, origin: str = "") -> None:
    """Refuses what a value names that only the user may name, unless CHUNKWISE_ALLOW has it.

    Args:
        value: A text, or lists and tables of them.
        origin: Who wrote it, if that is known not to be the user; empty: what only files have named is refused.
    """
    for text in texts_in(value):
        for what, name in _by_place(text):
            place = _place(name)
            where = origin or ("" if place in _trusted else _distrusted.get(place, ""))
            if where and not _is_allowed(name):
                raise NotAllowed(
                    f"{where} names {what}, {name}; files are data and not trusted with this: "
                    f"allow it with --allow {quote(name)} ({ALLOW} in the environment)"
                )


def check_store(address: str, origin: str) -> None:
    """Refuses to read from a store that only the file `origin` names, unless CHUNKWISE_ALLOW has it."""
    scheme, _, rest = address.partition("://")
    name = f"{scheme}://{rest.partition('/')[0].rpartition('@')[2]}"
    if not _is_allowed(name):
        raise NotAllowed(
            f"{origin} names a store that would be read with your credentials, {name}; allow "
            f"it with --allow {quote(name)} ({ALLOW} in the environment)"
        )


def to_allow(*names: str) -> list[str]:
    """What has to be allowed once these names are read from a file."""
    texts = [name for text in names for _, name in _by_place(text)]
    return [name for name in dict.fromkeys(texts) if not _is_allowed(name)]


def allowing(*names: str) -> str:
    """What is to be typed behind a command that reads these names from a file; empty: nothing."""
    return "".join(f" --allow {quote(name)}" for name in to_allow(*names))


def texts_in(value: object) -> Iterator[str]:
    """Every text in lists, tables and option values, and in the parameters of specifications."""
    if isinstance(value, str):
        yield value
        yield from _parameters(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, dict):
        yield from texts_in(list(value.values()))
    elif type(value).__module__.startswith("chunkwise.") and is_dataclass(value):
        yield from texts_in([getattr(value, field.name) for field in fields(value)])


def _parameters(text: str) -> Iterator[str]:
    bracket = text.partition("(")[2]
    if "'" not in bracket and '"' not in bracket:
        return
    try:
        call = ast.parse(f"_({bracket.strip()}", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # nothing is made of it
    for node in ast.walk(call):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from texts_in(node.value)


def _by_place(text: str) -> Iterator[tuple[str, str]]:
    """What a name finds by an address or a path: what that is, and what would allow it."""
    whole = text.strip()
    for address in _ADDRESS.finditer(whole):
        scheme, host = _host(address[0] if address.start() else whole)
        if scheme != "https" or host not in PROVIDERS:
            what = "a server that would receive your texts and key"
            host = host.rpartition("@")[2]  # no password in a message
            yield what, host if scheme == "https" else f"{scheme}://{host}"
    if text.strip().startswith(_COMMAND):
        yield "a command that would run", text.strip()
        return
    bare = text.partition("(")[0].strip()
    for reference in [bare] if ".py:" in bare else _CODE.findall(text):
        yield "code that would run", reference
    if _ADDRESS.match(text):
        return  # servers like to call a model by its file's name
    library, _, name = text.partition(":")
    if text.strip().lower().endswith(_WEIGHTS):
        yield "a model's file", text.strip()
    elif library in _LIBRARIES and os.path.exists(name):
        # What lies in such a folder says which classes are to be imported.
        yield "a model's folder", text
    elif library in _TEXT_SPLITTERS:
        splitter = name.partition("(")[0].strip()
        if splitter not in _TEXT_SPLITTERS[library]:
            yield "a splitter that may load a model or a file", f"{library}:{splitter}"


def _host(address: str) -> tuple[str, str]:
    """Scheme and host, with all that stands around the host, as a client parses them."""
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.netloc.lower()
    except ValueError:  # no client takes it
        scheme, _, rest = address.partition("://")
        return scheme.lower(), rest.lower()


def _is_allowed(name: str) -> bool:
    allowed = [part.strip() for part in os.environ.get(ALLOW, "").split(",")]
    return _place(name) in {_place(item) for item in allowed if item}


def _place(name: str) -> str:
    """One spelling for all ways to write a path; an address stays as it is, and so does a command."""
    if name.startswith(_COMMAND):
        return name
    kind, mark, rest = name.rpartition(":") if ".py:" in name else ("", "", "")
    if mark:
        return f"{os.path.realpath(kind)}:{rest}"
    if name.lower().endswith(_WEIGHTS):
        return os.path.realpath(name)
    return name.lower()


def refuse_links(paths: Iterable[Path]) -> None:
    """For a folder of ours that somebody else may have filled: what is written there is to stay there."""
    for path in paths:
        if path.is_symlink():
            raise ChunkwiseError(
                f"{path} is a symbolic link, which chunkwise doesn't follow; remove it, or use "
                "another folder"
            )
