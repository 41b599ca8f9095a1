"""What a user may say about how documents are read."""

from __future__ import annotations

import io
from dataclasses import dataclass

from chunkwise.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Everything is found by itself when left out."""

    encoding: str | None = None
    """Of texts that are not UTF-8 and have no byte order mark."""
    text_field: str | None = None
    id_field: str | None = None
    title_field: str | None = None
    loader: str | None = None
    """Name of the loader for every file, whatever its name and content say."""
    max_bytes: int = 1 << 30
    """Of one file, or of one line of a file that is read line by line."""

    def __post_init__(self) -> None:
        if self.max_bytes < 1:
            raise InvalidParameter(f"max_bytes ({self.max_bytes}) must be at least 1")
        if self.encoding is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)  # refuses what is no text
            except LookupError:
                raise InvalidParameter(
                    f"encoding {self.encoding!r} is unknown; try utf-8, utf-16, latin-1 or cp1252"
                ) from None
