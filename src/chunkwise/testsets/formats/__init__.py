"""One format a file: what a format is, which there are, and which one a file is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Final, Protocol, runtime_checkable

from chunkwise.base.errors import ChunkwiseError, UnknownName
from chunkwise.core import Document
from chunkwise.testsets.reading_json.json_entries import wide_problem
from chunkwise.testsets.reading_json.json_values import wide_encoding
from chunkwise.testsets.testset import Draft, TestSet, Unreadable

WHOLE: Final = -1
"""The end of a reference to a whole document whose length the file does not say."""


class Format(Protocol):
    """One way of writing questions down."""

    name: ClassVar[str]
    about: ClassVar[str]
    """What it is, for whom does not know the name: one line."""

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this is of the format, by name and first bytes; those of a folder are empty."""
        ...

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        """The questions in their order; an entry that is none goes by, a file that is none is an error."""
        ...

    def write(
        self, testset: TestSet, documents: Sequence[Document] | None, path: Path
    ) -> list[str]:
        """Writes what the format can hold; a line for each thing that it cannot."""
        ...


@runtime_checkable
class CarriesDocuments(Protocol):
    """A format whose files hold the texts that are asked about."""

    def documents(self, path: Path) -> Iterator[Document | Unreadable]: ...


__all__ = ["FORMATS", "CarriesDocuments", "Format", "detect"]

_HEAD = 1 << 16

_CLASSES = {
    "beir": "BeirFormat",
    "autorag": "AutoragFormat",
    "squad": "SquadFormat",
    "legalbench": "LegalbenchFormat",
    "ragchecker": "RagcheckerFormat",
    "chroma": "ChromaFormat",
    "ragas": "RagasFormat",
    "trec": "TrecFormat",
    "chunkwise": "ChunkwiseFormat",
}
"""The class of each, in a module of its name; asked in this order, the least choosy last."""


class _Formats(Mapping[str, Format]):
    """Formats by name; a module is imported when its format is asked for."""

    def __getitem__(self, name: str) -> Format:
        if name not in _CLASSES:
            raise UnknownName(f"no format {name!r}; there are {', '.join(sorted(_CLASSES))}")
        module = import_module(f"{__name__}.{name}")
        made: Format = getattr(module, _CLASSES[name])()
        return made

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


FORMATS: Mapping[str, Format] = _Formats()


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
        f"{path} is of no format that is known ({', '.join(sorted(_CLASSES))}); "
        "say which: chunkwise testset convert FILE --from FORMAT --to chunkwise; the simplest form is JSON: "
        '[{"query": "How long is the guarantee?", "relevant_text": "guaranteed for five years"}]'
    )


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)
