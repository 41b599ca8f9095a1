"""What "a token" means: the protocol every tokenizer follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


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
