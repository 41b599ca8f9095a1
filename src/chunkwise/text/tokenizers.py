"""The tokenizers there are, by the names users give them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from chunkwise.errors import InvalidParameter, UnknownName
from chunkwise.text.tokenizer import Tokenizer, TokenizerLike

__all__ = ["DEFAULT", "Tokenizer", "TokenizerLike", "get_tokenizer", "names"]

DEFAULT = "o200k_base"


def names() -> tuple[str, ...]:
    return ("o200k_base", "cl100k_base", "words", "characters")


def get_tokenizer(tokenizer: TokenizerLike) -> Tokenizer:
    """A tokenizer by name, by the path of a `tokenizer.json`, or made of a counting or encoding function."""
    if isinstance(tokenizer, str):
        return _by_name(tokenizer)
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if callable(tokenizer):
        from chunkwise.text.callable_tokenizer import CallableTokenizer

        return CallableTokenizer(tokenizer)
    raise InvalidParameter(
        f"tokenizer is {tokenizer!r}; a name ({', '.join(names())}), the path of a tokenizer.json, "
        "or a function from a text to a count or a list of tokens is needed"
    )


@lru_cache(maxsize=16)
def _by_name(name: str) -> Tokenizer:
    # Imported one by one: the vocabularies of the one nobody asked for stay on disk.
    if name in ("o200k_base", "cl100k_base"):
        from chunkwise.text.openai_tokenizer import OpenAITokenizer

        return OpenAITokenizer(name)
    if name == "words":
        from chunkwise.text.plain_tokenizers import Words

        return Words()
    if name == "characters":
        from chunkwise.text.plain_tokenizers import CodePoints

        return CodePoints()
    path = Path(name)
    if path.suffix == ".json" or path.is_dir():
        from chunkwise.text.huggingface_tokenizer import HuggingFaceTokenizer

        return HuggingFaceTokenizer(path / "tokenizer.json" if path.is_dir() else path)
    raise UnknownName(
        f"no tokenizer is named {name!r}; known: {', '.join(names())}, or the path of a tokenizer.json"
    )
