"""A batch that a server refuses whole: halved until it is clear which text it does not take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from chunkwise.models.endpoint_error import EndpointError, first_words

Result = TypeVar("Result")

REFUSED = frozenset({400, 413, 422})
"""Bad request, too large, not processable: what servers say to too many or too long texts."""


def halved_when_refused(
    ask: Callable[[Sequence[str]], Sequence[Result]], texts: Sequence[str]
) -> list[Result]:
    """`ask` for all at once, or in halves where that is refused; one text that is refused is named."""
    try:
        return list(ask(texts))
    except EndpointError as error:
        if error.status not in REFUSED:
            raise
        if len(texts) == 1:
            raise EndpointError(
                error.endpoint,
                f"did not take the text that begins {first_words(texts[0])}; it {error.reason}",
                f"cut smaller chunks if it is too long for the model; {error.advice}",
                error.status,
            ) from None
    middle = len(texts) // 2
    return halved_when_refused(ask, texts[:middle]) + halved_when_refused(ask, texts[middle:])
