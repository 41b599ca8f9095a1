"""The engine of indexes in folders: opening one loads nothing of what builds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chunkwise.retrieval.local import manifest as manifest_module
from chunkwise.retrieval.local.index import LocalIndex, open_local_index
from chunkwise.retrieval.settings import Settings

if TYPE_CHECKING:
    from chunkwise.options import IndexOptions
    from chunkwise.retrieval.indexing.update import BuiltIndex, Reading


class FolderEngine:
    """An index in a folder."""

    def into(
        self,
        place: str,
        reading: Reading,
        requested: IndexOptions,
        *,
        rebuild: bool,
        wait: float,
    ) -> BuiltIndex[LocalIndex]:
        from chunkwise.retrieval.local.update import into_folder  # a search builds nothing

        return into_folder(Path(place), reading, requested, rebuild=rebuild, wait=wait)

    def open(self, place: str) -> LocalIndex:
        return open_local_index(Path(place))

    def settings(self, place: str) -> Settings | None:
        return folder_settings(Path(place))


def folder_settings(folder: Path) -> Settings | None:
    """What the index of a folder was made with; None: there is none yet."""
    if not (folder / manifest_module.MANIFEST_NAME).is_file():
        return None
    return manifest_module.read_manifest(folder).settings
