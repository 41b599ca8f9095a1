"""What a tokenizer is, and those there are by the names users give them; OpenAI's have a file of their own."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.base.wording import did_you_mean
from chunkwise.text.characters import SURROGATE, CharacterArrays


@runtime_checkable
class Tokenizer(Protocol):
    """Counts a text and says where its tokens start."""

    @property
    def name(self) -> str: ...

    @property
    def restart(self) -> re.Pattern[str] | None:
        """Matches, with no width, where a cut changes no token on either side; None: unknown."""

    def offsets(self, text: str) -> NDArray[np.int64]:
        """Code point at which each token starts, in order; tokens of one character share it."""

    def count(self, text: str) -> int: ...


CountOrEncode = Callable[[str], "int | Sequence[object]"]
TokenizerLike = str | Tokenizer | CountOrEncode


class WordTokenizer:
    """Runs without white space; each Han or kana character by itself."""

    name = "words"
    restart = re.compile(r"(?<=\S)(?=\s)|(?<=\s)(?=\S)")
    restart_sees_two = True

    def offsets(self, text: str) -> NDArray[np.int64]:
        return CharacterArrays(text).word_starts

    def count(self, text: str) -> int:
        return len(text.split()) if text.isascii() else len(self.offsets(text))


class CharacterTokenizer:
    """Unicode code points, as Python counts them."""

    name = "characters"
    restart = re.compile("")
    restart_sees_two = True

    def offsets(self, text: str) -> NDArray[np.int64]:
        return np.arange(len(text), dtype=np.int64)

    def count(self, text: str) -> int:
        return len(text)


class CallableTokenizer:
    """Token starts are estimated word by word; sizes are always asked of the function itself."""

    restart = None

    def __init__(self, function: CountOrEncode) -> None:
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self._function = function

    def count(self, text: str) -> int:
        answer = self._function(text)
        try:
            size = len(answer) if isinstance(answer, Sized) else operator.index(answer)
        except TypeError:
            size = -1
        if size < 0:
            raise InvalidParameter(
                f"the tokenizer {self.name} returned {answer!r} for {text[:40]!r}; expected "
                f"the number of tokens, or a list of tokens"
            )
        return size

    def offsets(self, text: str) -> NDArray[np.int64]:
        starts = CharacterArrays(text).word_starts
        ends = np.append(starts, len(text))[1:]
        sizes: dict[str, int] = {}
        spread = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            word = text[start:end]
            if word not in sizes:
                sizes[word] = self.count(word)
            # A word's tokens are taken to be of equal length.
            spread.append(np.linspace(start, end, sizes[word], endpoint=False).astype(np.int64))
        return np.concatenate(spread) if spread else np.zeros(0, dtype=np.int64)


class HuggingFaceTokenizer:
    """Counts without special tokens, truncation or padding: those belong to a model's input, not to the text."""

    restart = None

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        if not path.is_file():
            raise InvalidParameter(f"tokenizer is {str(path)!r}; no such file")
        self.name = str(path)
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception for a malformed file
            raise InvalidParameter(f"{path} is not a tokenizer.json: {error}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # text such as <|endoftext|> is text

    def _encode(self, text: str) -> Any:
        # Half a surrogate pair has no bytes; a stand-in of the same length keeps every offset.
        return self._tokenizer.encode(SURROGATE.sub("\ufffd", text), add_special_tokens=False)

    def count(self, text: str) -> int:
        return len(self._encode(text))

    def offsets(self, text: str) -> NDArray[np.int64]:
        starts = np.array([start for start, _ in self._encode(text).offsets], dtype=np.int64)
        # Normalisers that re-order marks may report a start twice or out of order.
        return np.maximum.accumulate(starts) if len(starts) else starts


__all__ = ["DEFAULT_TOKENIZER", "Tokenizer", "TokenizerLike", "get_tokenizer", "tokenizer_names"]

DEFAULT_TOKENIZER = "o200k_base"


def tokenizer_names() -> tuple[str, ...]:
    return ("o200k_base", "cl100k_base", "words", "characters")


MODELS: Mapping[str, str] = MappingProxyType(
    {
        "text-embedding-3-large": "cl100k_base",
        "text-embedding-3-small": "cl100k_base",
        "text-embedding-ada-002": "cl100k_base",
        "gpt-3.5-turbo": "cl100k_base",
        "gpt-4": "cl100k_base",
        "gpt-4-turbo": "cl100k_base",
        "gpt-4o": "o200k_base",
        "gpt-4o-mini": "o200k_base",
        "gpt-4.1": "o200k_base",
        "gpt-4.1-mini": "o200k_base",
        "gpt-4.1-nano": "o200k_base",
        "gpt-4.5-preview": "o200k_base",
        "gpt-5": "o200k_base",
        "gpt-5-mini": "o200k_base",
        "gpt-5-nano": "o200k_base",
        "o1": "o200k_base",
        "o1-mini": "o200k_base",
        "o3": "o200k_base",
        "o3-mini": "o200k_base",
        "o4-mini": "o200k_base",
    }
)
"""Models of OpenAI by the tokenizer that they read with."""

_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{4}|preview|latest)$")
"""Behind the name of a model: which of its versions it is."""


def canonical_name(name: str) -> str:
    """The tokenizer of a model, where `name` is one: `text-embedding-3-large` reads cl100k_base."""
    plain = name.strip().removeprefix("openai:")
    return MODELS.get(plain) or MODELS.get(_DATED.sub("", plain)) or name


def get_tokenizer(tokenizer: TokenizerLike) -> Tokenizer:
    """A tokenizer by name, by the path of a `tokenizer.json`, or made of a counting or encoding function."""
    if isinstance(tokenizer, str):
        return _by_name(tokenizer)
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if callable(tokenizer):
        return CallableTokenizer(tokenizer)
    raise InvalidParameter(
        f"tokenizer is {tokenizer!r}; expected a name ({', '.join(tokenizer_names())}), the path "
        "of a tokenizer.json, or a function from text to a token count or list"
    )


@lru_cache(maxsize=16)
def _by_name(name: str) -> Tokenizer:
    name = canonical_name(name)
    # Imported one by one: the vocabularies of the one nobody asked for stay on disk.
    if name in ("o200k_base", "cl100k_base"):
        from chunkwise.text.tokens.openai import OpenAITokenizer

        return OpenAITokenizer(name)
    if name == "words":
        return WordTokenizer()
    if name == "characters":
        return CharacterTokenizer()
    path = Path(name)
    if path.suffix == ".json" or (name.strip() and path.is_dir()):
        return HuggingFaceTokenizer(path / "tokenizer.json" if path.is_dir() else path)
    known = (
        f"known: {', '.join(tokenizer_names())}, an OpenAI model (text-embedding-3-large), "
        "or the path of a tokenizer.json"
    )
    raise UnknownName(
        f"unknown tokenizer {name!r}; {did_you_mean(name, (*tokenizer_names(), *MODELS), known)}"
    )
