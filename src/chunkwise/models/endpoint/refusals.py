"""A batch that a server refuses whole: halved until it is clear which text it does not take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from chunkwise.models.endpoint.error import EndpointError, first_words

Result = TypeVar("Result")

REFUSED = frozenset({400, 413, 422})
"""Bad request, too large, not processable: what servers say to too many or too long texts."""


def taken(
    ask: Callable[[Sequence[str]], Sequence[Result]], texts: Sequence[str], first: int = 0
) -> Iterator[tuple[int, list[Result] | EndpointError]]:
    """What `ask` gives for all at once, or in halves where that is refused, each with its first text's place.

    A single text that is refused comes as the error that names it; the others are still asked for.
    """
    try:
        found: list[Result] | EndpointError = list(ask(texts))
    except EndpointError as error:
        if error.status not in REFUSED:
            raise
        if len(texts) > 1:
            middle = len(texts) // 2
            yield from taken(ask, texts[:middle], first)
            yield from taken(ask, texts[middle:], first + middle)
            return
        found = EndpointError(
            error.endpoint,
            f"did not take the text that begins {first_words(texts[0])}; it {error.reason}",
            f"cut smaller chunks if it is too long for the model; {error.advice}",
            error.status,
        )
    yield first, found


def all_taken(
    ask: Callable[[Sequence[str]], Sequence[Result]], texts: Sequence[str]
) -> list[Result]:
    """The same where one text that is refused makes the others useless: its error is raised at once."""
    results: list[Result] = []
    for _, found in taken(ask, texts):
        if isinstance(found, EndpointError):
            raise found
        results.extend(found)
    return results
