"""Any embedder of the fastembed library, by its name there."""

from __future__ import annotations

import hashlib
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.models.embed.embedder import Kind, LibraryEmbedder
from chunkwise.text.characters import SURROGATE


def files_hash(folder: Path) -> str:
    """Of their names below the folder and their bytes, wherever the folder lies."""
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    for name, path in sorted(files.items()):
        if path.is_file():
            with path.open("rb") as file:
                held = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{name}\0{held}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


class FastembedEmbedder(LibraryEmbedder):
    """Loaded at first use; one text a call, since quantised models mix the texts of a batch."""

    def __init__(self, name: str, *, folder: str | Path | None = None) -> None:
        if not name:
            raise InvalidParameter("fastembed needs a model, such as 'BAAI/bge-small-en-v1.5'")
        self.name = name
        self.folder = Path(folder) if folder is not None else None

    def __repr__(self) -> str:
        return f"FastembedEmbedder({self.name!r})"

    @cached_property
    def _model(self) -> Any:
        try:
            from fastembed import TextEmbedding
        except ImportError:
            raise MissingExtra(f"the model {self.name!r}", "fastembed") from None
        there = {} if self.folder is None else {"specific_model_path": str(self.folder)}
        try:
            return TextEmbedding(self.name, **there)
        except Exception as error:  # hub, network, files: the library has no errors of its own
            first = (str(error).splitlines() or [""])[0][:300]
            raise ChunkwiseError(
                f"fastembed cannot load {self.name!r}: {type(error).__name__}: {first};"
                " for supported models see TextEmbedding.list_supported_models()"
            ) from error

    @cached_property
    def identity(self) -> str:
        """A release of the library names exact weights; of a folder of one's own the files are hashed."""
        _ = self._model
        files = "" if self.folder is None else f" files={files_hash(self.folder)}"
        return f"fastembed:{self.name}@{version('fastembed')}{files}"

    def _encode(self, texts: list[str], kind: Kind) -> NDArray[np.float32]:
        whole = [SURROGATE.sub("\ufffd", text) for text in texts]
        read = self._model.query_embed if kind == "query" else self._model.passage_embed
        rows = np.stack(list(read(whole, batch_size=1))).astype(np.float32)
        # Most models come normalised; those that do not would make scores that cannot be compared.
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)
