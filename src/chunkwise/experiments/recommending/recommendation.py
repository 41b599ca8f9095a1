"""A choice as a file that commands take."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from textwrap import wrap

from chunkwise.atomic import replacing, says_what_it_writes
from chunkwise.errors import ChunkwiseError, InvalidParameter

_FORMAT = "chunkwise recommendation"
_WIDTH = 100
_LEAST = {"k": 1, "budget": 1, "neighbours": 0}
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class Recommendation:
    """How to cut, to index and to search."""

    strategy: str
    context: str = "none"
    model: str = "minilm"
    """What makes vectors, where there are any."""
    vectors: str = "late"
    retriever: str = "hybrid"
    k: int = 5
    budget: int | None = None
    """Tokens a question, for retrievers that fill a budget; None: `k` hits."""
    neighbours: int = 0

    def settings(self) -> dict[str, object]:
        """As the file names them; what has no meaning here is not among them."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.budget is None:
            del found["budget"]
        if self.vectors == "none":
            del found["model"]
        return found

    def options(self) -> dict[str, object]:
        """As the commands name them: a budget takes the place of a number of hits."""
        found = self.settings()
        k = found.pop("k")
        return found if "budget" in found else {**found, "count": k}


def write_recommendation(recommendation: Recommendation, path: Path, why: str) -> None:
    """TOML; the reason stands above it as a comment."""
    # A comment of TOML holds no control characters, and a label can be anyone's.
    plain = "".join(sign if sign.isprintable() else " " for sign in why)
    lines = [f"# {line}" for line in wrap(plain, _WIDTH, break_on_hyphens=False)]
    lines += ["", f"format = {json.dumps(_FORMAT)}", ""]
    for name, value in recommendation.settings().items():
        # A JSON string is one of TOML, but for the one control character that JSON lets stand.
        said = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f"{name} = {said}")
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_recommendation(path: Path) -> Recommendation:
    """What `write_recommendation` wrote, or a person did."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    except RecursionError:
        raise ChunkwiseError(f"{path} is no recommendation: it is nested too deeply") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ChunkwiseError(f"{path} is no TOML: {error}") from error
    if "sweep" in given:
        raise ChunkwiseError(
            f"{path} is the plan of a sweep, not what it recommends; chunkwise tune {path} makes recommendation.toml"
        )
    if given.pop("format", _FORMAT) != _FORMAT:
        raise ChunkwiseError(f"{path} is no recommendation; chunkwise tune writes one")
    known = [field.name for field in fields(Recommendation)]
    for name, value in given.items():
        if name not in known:
            raise InvalidParameter(f"{path}: {name!r} is not known; allowed: {', '.join(known)}")
        if name not in _LEAST:
            fits, needed = type(value) is str, "a text in quotes is"
        else:
            # An int of TOML has no limit, and no document has a billion tokens.
            fits = type(value) is int and _LEAST[name] <= value <= _MOST
            needed = f"a whole number from {_LEAST[name]} is"
        if not fits:
            raise InvalidParameter(f"{path}: {name} is {_short(value)}; {needed} needed")
    if "strategy" not in given:
        raise InvalidParameter(f'{path} names no strategy; write one: strategy = "structure"')
    return Recommendation(**given)


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}…"
