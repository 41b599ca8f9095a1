"""How fast the models that are here are on this machine, now: measured, for a second or two."""

from __future__ import annotations

import time

from chunkwise.base.errors import ChunkwiseError

_SECONDS = 0.5
_WRITTEN = 12
_SAMPLE = (
    "The ferry leaves the northern quay at six and returns before dusk; when fog hides the second "
    "buoy the crossing is put off, and the keeper writes the hour into the log. "
)


def tokens_a_second(name: str) -> dict[str, int]:
    """`tokens_per_second` read, and `written_per_second` of a language model; empty where it cannot be tried."""
    try:
        if name == "minilm":
            return {"tokens_per_second": _embedded()}
        if name == "smollm2":
            read, written = _read_and_written()
            return {"tokens_per_second": read, "written_per_second": written}
    except ChunkwiseError:  # its library is not here: `chunkwise doctor` says so
        return {}
    return {}


def _embedded() -> int:
    """Passages of about 200 tokens, every core at work."""
    from chunkwise.models.embed.minilm import MiniLM

    model = MiniLM()
    passage = _SAMPLE * 5
    tokens = len(model.token_starts(passage))
    model.embed([passage])
    done, began = 0, time.monotonic()
    while (took := time.monotonic() - began) < _SECONDS:
        model.embed([passage] * 8)
        done += 8 * tokens
    return round(done / took)


def _read_and_written() -> tuple[int, int]:
    """Of one short question, answered in a dozen tokens."""
    from chunkwise.models.llm.language_model import Request
    from chunkwise.models.llm.local import packaged

    asked = Request("", f"Tell this anew: {_SAMPLE}", max_tokens=_WRITTEN)
    _, read, written = packaged().timed(asked)
    return round(read), round(written)
