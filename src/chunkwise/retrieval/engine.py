"""Where an index lives: what an engine does, and those there are, by the first word of an address."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.object_store import local_name
from chunkwise.base.registry import Registry
from chunkwise.base.secrets import mask_address, names_server
from chunkwise.base.wording import did_you_mean
from chunkwise.retrieval.searchable import Searchable
from chunkwise.retrieval.settings import Settings

if TYPE_CHECKING:
    from chunkwise.options import IndexOptions
    from chunkwise.retrieval.indexing.update import BuiltIndex, Reading

FOLDER = "folder"
"""The engine of what is no address."""
_SCHEME = re.compile(r"([a-z][a-z0-9.-]*)(?:\+[a-z0-9+.-]*)?://", re.IGNORECASE)


class Engine(Protocol):
    """Makes, opens and updates indexes at places of one kind; `testkit.check_engine` says what must hold.

    A place is a folder, or an address whose first word is the engine's name: `name://…`, or `name+more://…`.
    """

    def into(
        self,
        place: str,
        reading: Reading,
        requested: IndexOptions,
        *,
        rebuild: bool,
        wait: float,
    ) -> BuiltIndex[Searchable]:
        """Makes an index, or brings the one that is there up to date: all of it, or nothing.

        `wait` is for how many seconds another writer is waited for.
        """

    def open(self, place: str) -> Searchable:
        """The index that is there; an error says that there is none, and how one is made."""

    def settings(self, place: str) -> Settings | None:
        """What the index there was made with; None: there is none yet."""


registry = Registry(
    "engine",
    "chunkwise.engines",
    {
        FOLDER: "chunkwise.retrieval.local.engine:FolderEngine",
        "postgresql": "chunkwise.retrieval.postgres.index:PostgresEngine",
        "postgres": "chunkwise.retrieval.postgres.index:PostgresEngine",
        "lancedb": "chunkwise.retrieval.databases.lancedb:LanceEngine",
        "qdrant": "chunkwise.retrieval.databases.qdrant:QdrantEngine",
        "opensearch": "chunkwise.retrieval.databases.opensearch:OpenSearchEngine",
        "elasticsearch": "chunkwise.retrieval.databases.opensearch:OpenSearchEngine",
    },
    needs=("into", "open", "settings"),
    example="lancedb:///path",
)

EXAMPLES = "postgresql://user@host/database, lancedb:///path, qdrant://host:6333/collection or opensearch://host:9200/index"


def index_place(requested: str | os.PathLike[str]) -> Path | str:
    """A folder, or the address of an engine that there is."""
    name = local_name(os.fspath(requested))
    if not name or "\0" in name:
        raise InvalidParameter(f"the index path is {name!r}; expected a folder")
    if not names_server(name):
        return Path(name)
    match = _SCHEME.match(name)
    if match is None or match[1].lower() == FOLDER or match[1].lower() not in registry.names():
        raise _no_engine(name, match[1].lower() if match else "")
    return name


def engine_at(place: Path | str) -> Engine:
    """What keeps the index of a place."""
    if isinstance(place, Path):
        name = FOLDER
    else:
        match = _SCHEME.match(place)
        assert match is not None
        name = match[1].lower()
    made: Engine = registry.build(name, registry.get(name), {})
    return made


def open_source(place: str | os.PathLike[str]) -> Searchable:
    """The index at a place, for retrievers."""
    where = index_place(place)
    return engine_at(where).open(os.fspath(where))


def shown_place(place: str) -> str:
    """Without the password that an address can hold."""
    return mask_address(place) if names_server(place) else place


def _no_engine(place: str, scheme: str) -> ChunkwiseError:
    known: Sequence[str] = [name for name in registry.names() if name not in (FOLDER, "postgres")]
    hint = did_you_mean(scheme, known, "") if scheme else ""
    return InvalidParameter(
        f"the index path is {mask_address(place)!r}; {f'{hint} ' if hint else ''}expected a "
        f"folder or a URL: {EXAMPLES}"
    )
