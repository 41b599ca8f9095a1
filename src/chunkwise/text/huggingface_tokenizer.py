"""Any Hugging Face `tokenizer.json`, from a file, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import InvalidParameter, MissingExtra
from chunkwise.text.characters import SURROGATE


class HuggingFaceTokenizer:
    """Counts without special tokens, truncation or padding: those belong to a model's input, not to the text."""

    restart = None

    def __init__(self, path: Path) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(f"the tokenizer {path}", "tokenizers") from None
        if not path.is_file():
            raise InvalidParameter(f"tokenizer is {str(path)!r}; no such file")
        self.name = str(path)
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception for a malformed file
            raise InvalidParameter(f"{path} is no tokenizer.json: {error}") from None
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
