"""Engines by the first word of an address: ours, those of packages, and what is no engine."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.core import Document
from chunkwise.retrieval.engine import engine_at, index_place, registry
from tables import cases

DOCUMENTS = [Document("lamp.md", "# Lamp\n\nThe lamp is lit at dusk. It is red.")]


@cases(
    "place, engine",
    [
        ("kb", "FolderEngine"),
        ("a b/kb", "FolderEngine"),
        ("postgresql://h/d", "PostgresEngine"),
        ("POSTGRES://h/d", "PostgresEngine"),
        ("lancedb:///kb", "LanceEngine"),
        ("qdrant://h:6333/kb", "QdrantEngine"),
        ("qdrant+local:///kb", "QdrantEngine"),
        ("qdrant:///kb", "QdrantEngine"),
        ("qdrant+https://h/kb", "QdrantEngine"),
        ("lancedb+s3://bucket/kb", "LanceEngine"),
        ("opensearch+https://h/kb", "OpenSearchEngine"),
        ("elasticsearch://h:9200/kb", "OpenSearchEngine"),
    ],
)
def test_the_first_word_names_the_engine(place: str, engine: str) -> None:
    assert type(engine_at(index_place(place))).__name__ == engine


@cases(
    "place, said",
    [
        ("lancdb:///kb", "did you mean lancedb"),
        ("folder:///kb", "expected a folder or a URL"),
        ("mysql://ada:secret@host/db", r"'mysql://ada:\*\*\*@host/db'; expected a folder"),
        ("", "the index path is"),
    ],
)
def test_what_is_no_engine_is_told_without_the_password(place: str, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        index_place(place)


@cases(
    "place, said",
    [
        ("lancedb+ftp://bucket/kb", r"in object stores lancedb\+s3://bucket/path"),
        ("lancedb+s3:///kb", r"a bucket \(lancedb\+s3://bucket/path"),
        ("opensearch+ftp://h/kb", r"https://"),
        ("elasticsearch:///kb", "expected elasticsearch://host:9200/index"),
        ("opensearch://h/Kb", "index name 'Kb'"),
        ("opensearch://h/kb?kb=x", "option 'kb'"),
        ("lancedb://", "a folder .*or a bucket"),
        ("lancedb:///kb?nmae=x", "option 'nmae'; known: kb"),
        ("lancedb:///kb?kb=a/../b", "letters, digits"),
        ("qdrant+grpc://h/kb", "known: qdrant://, qdrant"),
        ("qdrant://", "qdrant://host:6333/collection"),
        ("qdrant+https:///kb", "or a server"),
        ("qdrant://h:port/kb", "expected a port up to 65535"),
        ("qdrant://h/a__b", "single _"),
        ("qdrant+local://?kb=x", r"qdrant\+local://\?kb=x; expected a folder"),
    ],
)
def test_addresses_that_say_too_little_or_too_much(place: str, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        chunkwise.open_index(place)


@pytest.mark.parametrize(
    ("place", "module", "extra"),
    [
        ("lancedb://{}/kb", "lancedb", "lancedb"),
        ("lancedb://{}/kb", "pyarrow", "lancedb"),
        ("qdrant://{}/kb", "qdrant_client", "qdrant"),
        ("opensearch://127.0.0.1:1/kb", "opensearchpy", "opensearch"),
    ],
)
def test_a_package_that_is_not_there_is_named_with_the_command_that_installs_it(
    place: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=re.escape(f"pip install 'chunkwise[{extra}]'")):
        chunkwise.index(DOCUMENTS, into=place.format(tmp_path), vectors="none")
    with pytest.raises(MissingExtra, match=re.escape(f"pip install 'chunkwise[{extra}]'")):
        chunkwise.open_index(place.format(tmp_path))


@pytest.mark.parametrize("place", ["lancedb://{}/kb", "qdrant+local://{}/kb"])
def test_looking_for_an_index_makes_nothing(place: str, tmp_path: Path) -> None:
    with pytest.raises(
        ChunkwiseError, match="no index here; create it: chunkwise index DOCUMENTS --into ADDRESS"
    ):
        chunkwise.open_index(place.format(tmp_path))
    if place.startswith("lancedb"):
        assert not list(tmp_path.iterdir())


def test_every_engine_has_what_one_needs() -> None:
    for name in registry.builtin:
        assert registry.build(name, registry.get(name), {})
