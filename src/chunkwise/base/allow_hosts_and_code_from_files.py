"""Which hosts and which code a file may name, and how the user allows more: what others may have written is data.

An index, a row of a database, a recommendation and the folder of a sweep are data. Whoever reads a name from one marks
it as `Recorded`; `Registry`, where names become parts, refuses what only the user may name. A mark can get lost where
texts are put together; so what marked texts name is remembered, and a command follows it only where its own words, or a
file that they name as the user's own, name it too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from chunkwise.base.errors import ChunkwiseError, NotAllowed

ALLOW = "CHUNKWISE_ALLOW"
"""The variable that holds what recorded names may name, with commas between: `host:port`, `./file.py:Name`."""

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
            "CharacterTextSplitter RecursiveCharacterTextSplitter TokenTextSplitter MarkdownTextSplitter"
            " LatexTextSplitter PythonCodeTextSplitter JSFrameworkTextSplitter MarkdownHeaderTextSplitter"
            " ExperimentalMarkdownSyntaxTextSplitter HTMLHeaderTextSplitter".split()
        ),
        "llamaindex": frozenset(
            "SentenceSplitter TokenTextSplitter MarkdownNodeParser HTMLNodeParser JSONNodeParser"
            " SentenceWindowNodeParser HierarchicalNodeParser".split()
        ),
        "haystack": frozenset(
            "DocumentSplitter RecursiveDocumentSplitter MarkdownHeaderSplitter HierarchicalDocumentSplitter"
            " PythonCodeSplitter".split()
        ),
    }
)
"""Splitters of other packages that look at the text alone; others load models, or files, which a name may point to."""


class Recorded(str):
    """A name as a file or a table has it; its parts are recorded, too."""

    __slots__ = ("where",)
    where: str
    """Who says so: `the index kb`."""

    def __new__(cls, text: str, where: str) -> Recorded:
        made = super().__new__(cls, text)
        made.where = where
        return made

    def __reduce__(self) -> tuple[type[Recorded], tuple[str, str]]:
        return Recorded, (str.__str__(self), self.where)

    def __iter__(self) -> Iterator[str]:
        return (Recorded(each, self.where) for each in super().__iter__())

    def __radd__(self, before: str) -> str:
        return Recorded(before + str.__str__(self), self.where)


def _marked(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a text whose texts, alone or in a list, are recorded as the text is."""

    @wraps(method)
    def called(self: Recorded, *arguments: Any, **named: Any) -> Any:
        return _mark(method(self, *arguments, **named), self.where)

    return called


_PLAIN = frozenset(
    "__new__ __init__ __init_subclass__ __subclasshook__ __class__ __getattribute__ __setattr__ __delattr__ __dir__"
    " __doc__ __reduce__ __reduce_ex__ __getnewargs__ __getstate__ __repr__ __str__ __iter__ __hash__ __sizeof__"
    " __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __len__ __contains__ maketrans".split()
)
# All of them, those of later Pythons too: what is forgotten would make the user's own name of a recorded one. Texts
# that a pattern finds, and those an f-string or a `join` makes of several, are marked by `like`. `str` itself takes the
# mark away, as whoever makes a path or a line of JSON of one needs it; what it named is known all the same.
for _name in dir(str):
    if _name not in _PLAIN:
        setattr(Recorded, _name, _marked(getattr(str, _name)))


Value = TypeVar("Value")

_from_files: dict[str, str] = {}
"""What marked texts have named by an address or a path, and who said so."""
_from_user: set[str] | None = None
"""What the command at work names itself, in all its threads; None: no command is, and whoever calls is the user."""


@contextmanager
def named_by_user(value: object) -> Iterator[None]:
    """For as long as a command runs: these are its words."""
    global _from_user
    before, _from_user = _from_user, set()
    try:
        add_named_by_user(value)
        yield
    finally:
        _from_user = before


def add_named_by_user(value: object) -> None:
    """What a file says that the user wrote counts as what the command says."""
    if _from_user is not None:
        plain = (text for text in _texts(value) if not isinstance(text, Recorded))
        _from_user.update(_place(name) for text in plain for _, name in _by_place(text))


def recorded(value: Value, where: str) -> Value:
    """The same with every text in it marked: a text, or lists and tables of them."""
    for text in map(str.__str__, _texts(value)):
        for _, name in _by_place(text):
            _from_files[_place(name)] = where
    return _mark(value, where)


def unmarked(value: Any) -> Any:
    """Questions and passages are texts, not names: nothing follows them."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple):
        return [unmarked(each) for each in value]
    if isinstance(value, dict):
        return {str(key): unmarked(each) for key, each in value.items()}
    return value


def _mark(value: Value, where: str) -> Value:
    made: Any = value
    if isinstance(value, str):
        made = Recorded(value, where)  # one that is marked already gets this mark
    elif isinstance(value, list | tuple):
        made = type(value)(_mark(each, where) for each in value)
    elif isinstance(value, dict):
        made = {key: _mark(each, where) for key, each in value.items()}
    return made


def like(name: str, text: str) -> str:
    """What was made of a name: recorded if that is."""
    return Recorded(text, name.where) if isinstance(name, Recorded) else text


def check_allowed(value: object) -> None:
    """Refuses what recorded texts in a value name that only the user may name, unless CHUNKWISE_ALLOW has it."""
    for text in _texts(value):
        for what, name in _by_place(text):
            where = text.where if isinstance(text, Recorded) else _lost_mark(name)
            if where and not _is_allowed(name):
                raise NotAllowed(
                    f"{where} names {what}, {name}; what is written there is data, and is not followed unless "
                    f"you name it yourself or allow it: --allow {quote(name)} ({ALLOW} in the environment)"
                )


def check_store(text: str, address: str) -> None:
    """Refuses to read from a store that a recorded text names, unless CHUNKWISE_ALLOW has it."""
    scheme, _, rest = address.partition("://")
    name = f"{scheme}://{rest.partition('/')[0].rpartition('@')[2]}"
    if isinstance(text, Recorded) and not _is_allowed(name):
        raise NotAllowed(
            f"{text.where} names a store that would be read with your credentials, {name}; what is written there is "
            f"data, and is not followed unless you allow it: --allow {quote(name)} ({ALLOW} in the environment)"
        )


def _lost_mark(name: str) -> str:
    """Who named it, where only files have and a command is at work; else empty."""
    place = _place(name)
    return "" if _from_user is None or place in _from_user else _from_files.get(place, "")


def to_allow(*names: str) -> list[str]:
    """What has to be allowed once these names are read from a file."""
    found = [name for text in names for _, name in _by_place(text)]
    return [name for name in dict.fromkeys(found) if not _is_allowed(name)]


def allowing(*names: str) -> str:
    """What is to be typed behind a command that reads these names from a file; empty: nothing."""
    return "".join(f" --allow {quote(name)}" for name in to_allow(*names))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))


def _by_place(text: str) -> Iterator[tuple[str, str]]:
    """What a name finds by an address or a path: what that is, and what would allow it."""
    whole = text.strip()
    for address in _ADDRESS.finditer(whole):
        scheme, host = _host(address[0] if address.start() else whole)
        if scheme != "https" or host not in PROVIDERS:
            what = "a server that would get your texts, and your key if there is one"
            host = host.rpartition("@")[2]  # no password in a message
            yield what, host if scheme == "https" else f"{scheme}://{host}"
    if text.strip().startswith(_COMMAND):
        yield "a command that would be run", text.strip()
        return
    bare = str.partition(text, "(")[0].strip()
    for reference in [bare] if ".py:" in bare else _CODE.findall(text):
        yield "code that would be run", reference
    if _ADDRESS.match(text):
        return  # servers like to call a model by its file's name
    library, _, name = str.partition(text, ":")
    if text.strip().lower().endswith(_WEIGHTS):
        yield "a model's file", text.strip()
    elif library in _LIBRARIES and os.path.exists(name):
        # What lies in such a folder says which classes are to be imported.
        yield "a model's folder", text
    elif library in _TEXT_SPLITTERS:
        splitter = str.partition(name, "(")[0].strip()
        if splitter not in _TEXT_SPLITTERS[library]:
            yield "a splitter that may load a model or a file", f"{library}:{splitter}"


def _host(address: str) -> tuple[str, str]:
    """Scheme and host, with all that stands around the host, as a client parses them."""
    try:
        parts = urlsplit(str(address))
        return parts.scheme, parts.netloc.lower()
    except ValueError:  # no client takes it
        scheme, _, rest = address.partition("://")
        return scheme.lower(), rest.lower()


def _is_allowed(name: str) -> bool:
    allowed = [each.strip() for each in os.environ.get(ALLOW, "").split(",")]
    return _place(name) in {_place(each) for each in allowed if each}


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
                f"{path} is a link, and nothing of ours is: it is not followed; remove it, or name another folder"
            )
