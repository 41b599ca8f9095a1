"""One format of test sets a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError
from chunkwise.records.encoding import wide_encoding
from chunkwise.records.read import wide_problem
from chunkwise.testsets.formats.autorag import AutoragFormat
from chunkwise.testsets.formats.beir import BeirFormat
from chunkwise.testsets.formats.chroma import ChromaFormat
from chunkwise.testsets.formats.chunkwise import ChunkwiseFormat
from chunkwise.testsets.formats.legalbench import LegalbenchFormat
from chunkwise.testsets.formats.ragas import RagasFormat
from chunkwise.testsets.formats.ragchecker import RagcheckerFormat
from chunkwise.testsets.formats.registry import WHOLE, CarriesDocuments, Format
from chunkwise.testsets.formats.squad import SquadFormat
from chunkwise.testsets.formats.trec import TrecFormat

__all__ = ["FORMATS", "WHOLE", "CarriesDocuments", "Format", "detect"]

_ASKED: tuple[Format, ...] = (
    BeirFormat(), AutoragFormat(), SquadFormat(), LegalbenchFormat(), RagcheckerFormat(), ChromaFormat(),
    RagasFormat(), TrecFormat(), ChunkwiseFormat(),
)  # fmt: skip
"""In the order in which they are asked whether a file is theirs, the least choosy last."""
FORMATS: Mapping[str, Format] = {format.name: format for format in _ASKED}

_HEAD = 1 << 16
"""Bytes by which a format is known."""


def detect(path: str | Path) -> Format:
    """The format of a file or folder, by its name and how it begins."""
    path = Path(path)
    try:
        head = b"" if path.is_dir() else _head(path)
        for format in FORMATS.values():
            if format.accepts(path, head):
                return format
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ChunkwiseError(f"cannot read the questions in {path}: {why}") from error
    if (encoding := wide_encoding(head)) is not None:
        raise ChunkwiseError(wide_problem(str(path), encoding))
    raise ChunkwiseError(
        f"{path} has an unknown format (known: {', '.join(sorted(FORMATS))}); "
        "convert it: chunkwise testset convert FILE --from FORMAT --to chunkwise; or write JSON: "
        '[{"query": "How long is the guarantee?", "relevant_text": "guaranteed for five years"}]'
    )


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)
