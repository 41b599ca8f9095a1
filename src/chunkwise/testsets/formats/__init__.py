"""One format a file: what others write, and how it is written back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from chunkwise.errors import ChunkwiseError, UnknownName
from chunkwise.testsets.formats.format import CarriesDocuments, Format
from chunkwise.testsets.reading_json.json_entries import wide_problem
from chunkwise.testsets.reading_json.json_values import wide_encoding

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
