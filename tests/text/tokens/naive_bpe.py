"""OpenAI's encodings written down as plainly as possible: split by the published pattern, merge the lowest rank."""

import base64
import gzip
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import regex

# tiktoken_ext/openai_public.py
PATTERNS = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k_base": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


@cache
def ranks(name: str) -> dict[bytes, int]:
    spec = find_spec("bpe_openai")
    assert spec is not None
    assert spec.origin is not None
    words = gzip.decompress(
        (Path(spec.origin).parent / "data" / f"{name}.tiktoken.gz").read_bytes()
    ).split()
    return {
        base64.b64decode(token): int(rank)
        for token, rank in zip(words[::2], words[1::2], strict=True)
    }


def merge(piece: bytes, rank: dict[bytes, int]) -> list[bytes]:
    parts = [piece[n : n + 1] for n in range(len(piece))]
    while True:
        pairs = [
            (rank[pair], n)
            for n in range(len(parts) - 1)
            if (pair := parts[n] + parts[n + 1]) in rank
        ]
        if not pairs:
            return parts
        n = min(pairs)[1]
        parts[n : n + 2] = [parts[n] + parts[n + 1]]


def encode(name: str, text: str) -> list[bytes]:
    pieces = regex.findall(PATTERNS[name], text)
    assert "".join(pieces) == text
    return [token for piece in pieces for token in merge(piece.encode(), ranks(name))]


def offsets(name: str, text: str) -> list[int]:
    """The character each token's first byte belongs to."""
    owner = [n for n, char in enumerate(text) for _ in char.encode()]
    starts, at = [], 0
    for token in encode(name, text):
        starts.append(owner[at])
        at += len(token)
    return starts
